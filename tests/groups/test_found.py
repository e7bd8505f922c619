"""What groups find: blocks that matter, directions of sources, variances of random effects."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from relvec import SparseBayesianRegressor
from tests.support import needs


@pytest.mark.parametrize(("n_rows", "n_groups"), [(60, 20), (100, 60)])
def test_blocks_that_matter_are_found(n_rows, n_groups):
    """Three groups of five columns among many, more columns than rows."""
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(n_groups), 5)
        X = rng.standard_normal((n_rows, 5 * n_groups))
        truth = np.sort(rng.choice(n_groups, 3, replace=False))
        weights = np.isin(labels, truth) * rng.standard_normal(5 * n_groups)
        y = X @ weights + 0.5 * rng.standard_normal(n_rows)
        model = SparseBayesianRegressor(groups=labels).fit(X, y)
        found += np.array_equal(np.unique(labels[model.relevance_]), truth)
    assert found >= 9


def test_directions_of_sources_are_found_from_one_snapshot():
    """Real and imaginary part of a complex amplitude share a precision, as its phase is anything.

    Twenty sensors at half a wavelength, 181 angles, three sources of equal size and noise 20 dB
    below each.
    """
    degrees, found = np.arange(-90, 91), 0
    steering = np.exp(1j * np.pi * np.outer(np.arange(20), np.sin(np.deg2rad(degrees))))
    X = np.block([[steering.real, -steering.imag], [steering.imag, steering.real]])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        truth = sources(rng)
        amplitudes = np.exp(2j * np.pi * rng.uniform(size=3))
        noise = rng.normal(size=(20, 2)) @ [1, 1j] * np.sqrt(0.5) * 0.1
        snapshot = steering[:, truth] @ amplitudes + noise
        model = SparseBayesianRegressor(groups=np.tile(degrees, 2), fit_intercept=False)
        model.fit(X, np.concatenate([snapshot.real, snapshot.imag]))
        power = np.hypot(*model.coef_.reshape(2, -1))
        highest = np.sort(np.argsort(-power)[:3])
        found += bool((power[highest] > 0).all() and (np.abs(highest - truth) <= 1).all())
    assert found >= 9


def sources(rng):
    """Positions of three angles, two beams of the array or more apart."""
    while True:
        chosen = np.sort(rng.choice(np.arange(30, 151), 3, replace=False))
        if np.diff(np.sin(np.deg2rad(chosen - 90.0))).min() > 0.2:
            return chosen


@pytest.mark.parametrize("factors", [["batch"], ["batch", "operator"]])
@pytest.mark.parametrize("seed", range(3))
def test_variances_of_random_effects_are_those_of_restricted_likelihood(factors, seed):
    """Levels of a factor are a group, and with a flat intercept the evidence is that likelihood.

    It is the density of the contrasts, where statsmodels has that of the errors of the generalised
    least squares: they differ by ½ log N.
    """
    mixed = needs.library("statsmodels.regression.mixed_linear_model")
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"batch": rng.integers(0, 8, 120), "operator": rng.integers(0, 6, 120)})
    effects = 1.5 * rng.normal(size=8)[table.batch] + 0.7 * rng.normal(size=6)[table.operator]
    table["y"] = 3 + effects + rng.normal(size=120)
    parts = {name: f"0 + C({name})" for name in factors}
    design = mixed.MixedLM.from_formula(
        "y ~ 1", table, groups=np.ones(120), re_formula="0", vc_formula=parts
    )
    expected = design.fit(reml=True, method=["bfgs"], gtol=1e-9)
    X = pd.get_dummies(table[factors].astype(str), dtype=float)
    model = SparseBayesianRegressor(groups="categories", tol=1e-6).fit(X, table.y)
    variances = 1 / model.group_relevance_["weight_precision"].to_numpy()
    assert_allclose(variances, expected.vcomp, rtol=1e-4)
    assert model.noise_variance_ == pytest.approx(expected.scale, rel=1e-4)
    assert model.log_evidence_ == pytest.approx(expected.llf + 0.5 * np.log(120), abs=1e-6)
