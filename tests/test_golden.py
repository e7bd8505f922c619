"""Two small problems on which the evidence and errors of other packages are known.

sinc: 100 points, noise sd 0.1, RBF with gamma 1/9. friedman: Friedman #1, 240 rows, noise sd 1,
RBF with gamma 0.5. The test sets hold 1000 noise-free targets.
"""

from typing import NamedTuple

import numpy as np
import pytest

from relvec import RVR
from relvec.basis import RBF, Bias, Concatenate
from relvec.datasets import sinc
from tests.reference import log_evidence

MANY_STARTS = 20


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    gamma: float


def friedman(X):
    smooth = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return smooth + 10 * X[:, 3] + 5 * X[:, 4]


@pytest.fixture(scope="module")
def problems():
    """Both problems come from one stream, in the order in which they were first drawn."""
    draw = np.random.default_rng(0)
    x, x_test = np.linspace(-10.0, 10.0, 100), np.linspace(-10.0, 10.0, 1000)
    y = sinc(x) + 0.1 * draw.standard_normal(100)
    X, X_test = draw.random((240, 10)), draw.random((1000, 10))
    return {
        "sinc": Problem(x[:, None], y, x_test[:, None], sinc(x_test), 1 / 9),
        "friedman": Problem(
            X, friedman(X) + draw.standard_normal(240), X_test, friedman(X_test), 0.5
        ),
    }


def test_inputs_are_the_ones_that_other_packages_saw(problems):
    """A change of NumPy's stream would show here and not as a change of evidence."""
    for name, ends in {
        "sinc": [-0.041829088979597646, -0.19455413258067977],
        "friedman": [16.97855676549352, 23.584914564631333],
    }.items():
        np.testing.assert_allclose(problems[name].y[[0, -1]], ends, rtol=1e-12)
    ends_of_test = [11.2402548798835, 13.26243870630195]
    np.testing.assert_allclose(problems["friedman"].y_test[[0, -1]], ends_of_test, rtol=1e-12)


def fit(problem, *, intercept="none", **parameters):
    """`intercept` is "none", "bias" (a penalised function of the dictionary) or "flat"."""
    kernel = RBF(gamma=problem.gamma)
    if intercept == "bias":
        kernel = Concatenate([Bias(), kernel])
    model = RVR(kernel=kernel, fit_intercept=intercept == "flat", random_state=0, **parameters)
    return model.fit(problem.X, problem.y)


@pytest.mark.parametrize(
    ("name", "intercept", "starts", "at_least"),
    [
        ("sinc", "none", {}, 80.2),
        ("sinc", "none", {"n_starts": MANY_STARTS}, 80.6),
        ("friedman", "none", {}, -492.0),
        ("friedman", "none", {"n_starts": MANY_STARTS}, -488.0),
        ("friedman", "bias", {}, -486.0),
        ("friedman", "bias", {"n_starts": MANY_STARTS}, -481.0),
    ],
)
def test_log_evidence(problems, name, intercept, starts, at_least):
    problem = problems[name]
    model = fit(problem, intercept=intercept, **starts)
    recomputed = log_evidence(
        model.basis_.transform(problem.X),
        problem.y,
        model.weight_precision_,
        1 / model.noise_variance_,
    )
    assert model.log_evidence_ == pytest.approx(recomputed, rel=1e-8)
    assert recomputed >= at_least


@pytest.mark.parametrize(
    ("name", "intercept", "at_most"),
    [
        ("sinc", "none", 0.0372),
        ("sinc", "flat", 0.0341),
        ("friedman", "none", 1.767),
        ("friedman", "bias", 1.767),
        ("friedman", "flat", 1.767),
    ],
)
def test_error_on_the_test_set(problems, name, intercept, at_most):
    problem = problems[name]
    error = fit(problem, intercept=intercept).predict(problem.X_test) - problem.y_test
    assert np.sqrt(np.mean(error**2)) <= at_most
