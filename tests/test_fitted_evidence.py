"""The evidence of fitted models is the log density of the data under C, on every kernel.

By `scipy.stats.multivariate_normal` where the condition of C is at most 1e9, and in 60 digits above
that, where the former no longer knows.
"""

import numpy as np
import pytest

from relvec import RVR
from relvec.basis import KERNELS, RBF, Bias, Columns, Concatenate, Laplacian
from tests.support import reference
from tests.support.covering import covering
from tests.support.rows import cauchy

WIDEST = 1e9
CASES = {
    **{name: name for name in KERNELS},
    "callable": cauchy,
    "bias, columns and two kernels": Concatenate([Bias(), Columns(), RBF(1.0), Laplacian(0.5)]),
    "wide": RBF(1e-3),
    "narrow": RBF(30.0),
}

pytestmark = pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")


def data(kernel):
    draw = np.random.RandomState(6)
    X = draw.uniform(-2, 2, size=(30, 2))
    y = 0.5 + np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * draw.standard_normal(30)
    return (cauchy(X, X) if kernel == "precomputed" else X), y


def density(model, X, y, copies=1):
    """Log density of the data under the covariance that a fitted model describes."""
    Phi = np.repeat(model.basis_.transform(X), copies, axis=0)
    y, alpha, beta = np.repeat(y, copies), model.weight_precision_, 1 / model.noise_variance_
    condition = np.linalg.cond(np.eye(len(y)) / beta + (Phi / alpha) @ Phi.T)
    judge = reference.log_evidence_dense if condition <= WIDEST else reference.log_evidence_exact
    return judge(Phi, y, alpha, beta, fit_intercept=model.fit_intercept)


def close(expected, known=0.0):
    """Within 1e-8·max(1, |L|), or as far as it is known."""
    return pytest.approx(expected, rel=1e-8, abs=max(1e-8, known))


def rounding(model, X, y):
    """Change of the evidence, to first order, when each value of a function is rounded.

    Very wide kernels have weights of 10⁸ and more.
    """
    residual, weights = np.abs(y - model.predict(X)).sum(), np.abs(model.dual_coef_).sum()
    return np.finfo(float).eps * residual * weights / model.noise_variance_


@pytest.mark.parametrize(
    ("name", "fit_intercept", "noise_variance"),
    covering(CASES, [False, True], [None, 1e-2, 1e-3, 1e-6]),
)
def test_log_evidence_is_the_density_of_the_data(name, fit_intercept, noise_variance):
    X, y = data(name)
    model = RVR(CASES[name], fit_intercept=fit_intercept, noise_variance=noise_variance).fit(X, y)
    known = rounding(model, X, y)
    assert model.log_evidence_ == close(density(model, X, y), known)
    assert model.log_evidence(X, y) == close(model.log_evidence_, known)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_log_evidence_of_other_data_is_their_density(name, fit_intercept):
    X, y = data(name)
    model = RVR(CASES[name], fit_intercept=fit_intercept, noise_variance=0.01).fit(X, y)
    other, target = X[:12] * 1.1, y[:12][::-1]
    assert model.log_evidence(other, target) == close(density(model, other, target))


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear_spline"])
def test_log_evidence_counts_copies(name, fit_intercept):
    X, y = data(name)
    copies = np.arange(30) % 4
    model = RVR(name, fit_intercept=fit_intercept).fit(X, y, sample_weight=copies)
    assert model.log_evidence_ == close(density(model, X, y, copies))


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear_spline"])
def test_unit_of_the_target_adds_its_logarithm(name, fit_intercept):
    """One for each observation, or each contrast; powers of two round nothing."""
    X, y = data(name)
    plain, scaled = (RVR(name, fit_intercept=fit_intercept).fit(X, 2.0**e * y) for e in (0, 30))
    n = 30 - fit_intercept
    assert plain.log_evidence_ - n * 30 * np.log(2) == pytest.approx(scaled.log_evidence_)
    np.testing.assert_allclose(scaled.weight_precision_, plain.weight_precision_ * 2.0**-60)


def test_evidence_of_contrasts_ignores_the_level_of_the_target():
    X, y = data("rbf")
    plain, shifted = RVR().fit(X, y), RVR().fit(X, y + 1000)
    assert shifted.log_evidence_ == pytest.approx(plain.log_evidence_, abs=1e-6)
    assert shifted.intercept_ - plain.intercept_ == pytest.approx(1000, abs=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_evidence_of_data_on_which_a_kept_function_vanishes(rng, fit_intercept):
    X = rng.standard_normal((50, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.standard_normal(50)
    model = RVR(kernel=Columns(), fit_intercept=fit_intercept).fit(X, y)
    other = X[:20] * [0, 1, 1]
    assert model.log_evidence(other, y[:20]) == close(density(model, other, y[:20]))
