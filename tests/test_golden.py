"""Four small problems on which the evidence and errors of other packages are known.

sinc: 100 points, noise sd 0.1, RBF with gamma 1/9. friedman: Friedman #1, 240 rows, noise sd 1,
RBF with gamma 0.5. The test sets hold 1000 noise-free targets. ripley: the two classes of Ripley's
mixture, 250 rows to train on and 1000 to test on, RBF with gamma 4. iris: 100 and 50 rows, inputs
standardised over all of them, RBF with gamma 0.25. The other packages have no flat intercept.
"""

from typing import NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from benchmarks.staged import load_staged
from relvec import RVC, RVR
from relvec.basis import RBF, Bias, Concatenate
from relvec.datasets import sinc
from relvec.likelihoods import Bernoulli
from tests.support import needs
from tests.support.laplace import DenseMode
from tests.support.reference import log_evidence

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


# Classes


@pytest.fixture
def ripley():
    train, test = (needs.staged(load_staged, "ripley", file) for file in ("train.csv", "test.csv"))
    return Problem(train.X, train.y, test.X, test.y, 4.0)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    X, order = StandardScaler().fit_transform(X), np.random.default_rng(1).permutation(150)
    train, test = order[:100], order[100:]
    return Problem(X[train], y[train], X[test], y[test], 0.25)


def classify(problem, **parameters):
    model = RVC(gamma=problem.gamma, fit_intercept=False, random_state=0, **parameters)
    return model.fit(problem.X, problem.y)


@pytest.mark.parametrize("starts", [{}, {"n_starts": MANY_STARTS}], ids=["default", "many"])
def test_ripleys_mixture(ripley, starts):
    """The best evidence that is known is -72.77, with four vectors."""
    model = classify(ripley, **starts)
    Phi, t = model.basis_.transform(ripley.X), ripley.y[:, None]
    dense = DenseMode(Phi, t, Bernoulli(), model.weight_precision_, False, np.ones(len(t)))
    assert model.log_evidence_ == pytest.approx(dense.log_evidence, abs=1e-6)
    assert dense.log_evidence >= -72.9
    assert (model.predict(ripley.X_test) != ripley.y_test).mean() <= 0.098
    assert len(model.relevance_) <= 6


def mean_log_probability(probabilities, y):
    return np.log(probabilities[np.arange(len(y)), y]).mean()


def test_iris_by_one_softmax(iris):
    """Of 50 flowers two are wrong; with the mode plugged in other packages reach -0.140."""
    model = classify(iris, multi_class="multinomial", proba="mode", n_starts=MANY_STARTS)
    assert (model.predict(iris.X_test) != iris.y_test).mean() <= 0.04
    plugged_in = model.predict_proba(iris.X_test)
    assert mean_log_probability(plugged_in, iris.y_test) >= -0.14


def test_probabilities_of_iris_are_averages_over_the_posterior(iris):
    model, draws = classify(iris, multi_class="multinomial"), 100_000
    (machine,) = model.fit_result_.outputs
    Phi = model.basis_.transform(iris.X_test)
    outputs = machine.posterior.sample(Phi, draws, np.random.RandomState(0))
    rows = outputs.transpose(1, 2, 0)
    average = np.array([machine.likelihood.probabilities(row).mean(axis=0) for row in rows])
    found = model.predict_proba(iris.X_test)
    expected = mean_log_probability(average, iris.y_test)
    assert mean_log_probability(found, iris.y_test) == pytest.approx(expected, abs=0.005)
    np.testing.assert_allclose(found, average, atol=0.01)
