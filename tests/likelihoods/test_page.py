"""The likelihood on the page about adding one: its code, as it stands there, in a module."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.special import polygamma
from scipy.stats import nbinom

from relvec import RVR
from relvec._design import DenseDesign
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.laplace import LaplaceEvidence
from relvec.likelihoods.quadrature import expectation
from tests.support.differences import derivative
from tests.support.pages import python_blocks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extend" / "likelihood.md"
SHAPE = 5.0


@pytest.fixture(scope="module")
def Gamma():  # noqa: N802 -- a class
    """Whose module can be imported, as those of users can."""
    module = ModuleType("positive_numbers")
    sys.modules[module.__name__] = module
    exec(compile(python_blocks(PAGE)[0][0], str(PAGE), "exec"), vars(module))
    yield module.Gamma
    del sys.modules[module.__name__]


def drawn(rng, n=300):
    X = np.sort(rng.uniform(-3, 3, (n, 1)), axis=0)
    return X, rng.gamma(SHAPE, np.exp(1 + np.sin(2 * X[:, 0])) / SHAPE)


@pytest.fixture(scope="module")
def data():
    return drawn(np.random.default_rng(1))


@pytest.fixture(scope="module")
def model(Gamma, data):
    return RVR(likelihood=Gamma()).fit(*data)


def test_the_class_is_short():
    code = python_blocks(PAGE)[0][0]
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 40


def test_the_shape_is_learnt_within_its_standard_error(Gamma):
    """Over several draws: Fisher's information of the shape is N(ψ′(k) − 1/k)."""
    error = 1 / np.sqrt(300 * (polygamma(1, SHAPE) - 1 / SHAPE))
    found = []
    for seed in range(4):
        model = RVR(likelihood=Gamma()).fit(*drawn(np.random.default_rng(seed)))
        found.append((model.fit_result_.outputs[0].likelihood.k - SHAPE) / error)
    assert np.abs(found).max() < 3
    assert abs(np.mean(found)) < 1.5


def test_the_learnt_shape_is_the_best_for_the_posterior(Gamma, model, data):
    X, y = data
    learnt = model.fit_result_.outputs[0].likelihood
    mean, std = model.predict_latent(X, return_std=True)
    again = learnt.learn(y[:, None], mean[:, None], std[:, None, None] ** 2, np.ones(len(y)))
    assert again.k == pytest.approx(learnt.k, rel=1e-3)


def test_evidence_gradient_is_that_of_differences(Gamma, rng):
    Phi = rng.standard_normal((60, 4))
    t = rng.gamma(3.0, np.exp(0.5 * Phi[:, :1]) / 3.0)
    inference = LaplaceEvidence(DenseDesign(Phi.copy(), center=True), t, Gamma(3.0))

    def at(log_alpha):
        return inference.at(Hyperparameters(np.arange(4), np.exp(log_alpha)))

    place = np.log([0.5, 2.0, 1.0, 30.0])
    expected = derivative(lambda log_alpha: at(log_alpha).log_evidence, place, step=1e-2)
    np.testing.assert_allclose(at(place).evidence_gradient(), expected, atol=1e-6)


@pytest.mark.parametrize("coverage", [0.5, 0.95])
def test_intervals_hold(model, coverage):
    X, y = drawn(np.random.default_rng(7), 1500)
    lower, upper = model.predict_interval(X, coverage)
    held = np.mean((lower < y) & (y < upper))
    assert held == pytest.approx(coverage, abs=0.03)


def test_predictions_are_those_of_draws(model):
    X = np.array([[-1.0], [0.5]])
    mean, std = model.predict(X, return_std=True)
    _, covariance = model.predict(X, return_cov=True)
    drawn = model.sample_y(X, 40_000, random_state=0, noise=True)
    np.testing.assert_allclose(drawn.mean(axis=1), mean, rtol=0.02)
    np.testing.assert_allclose(drawn.std(axis=1), std, rtol=0.03)
    np.testing.assert_allclose(covariance.diagonal(), std**2)


def test_it_is_stored_by_its_name(model, data):
    skops = pytest.importorskip("skops.io")
    from relvec.storage import TRUSTED

    stored = skops.dumps(model)
    read = skops.loads(stored, trusted=[*TRUSTED, "positive_numbers.Gamma"])
    np.testing.assert_array_equal(read.predict(data[0]), model.predict(data[0]))


def test_the_expectation_over_nodes_is_that_of_quadrature(rng):
    names = {}
    blocks = [code for code, _ in python_blocks(PAGE) if "def expected_log_prob" in code]
    exec(compile("import numpy as np\n" + blocks[0], str(PAGE), "exec"), names)
    t, mean = rng.poisson(5.0, (6, 1)).astype(float), rng.standard_normal((6, 1))
    variance, r = rng.uniform(0.1, 0.5, (6, 1, 1)), 4.0

    def log_prob(y, t):
        return nbinom(r, r / (r + np.exp(y))).logpmf(t)

    expected = expectation(log_prob, mean, variance[:, 0], t)[:, 0]
    found = names["expected_log_prob"](r, t, mean, variance)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_targets_out_of_its_support_are_refused(Gamma, data):
    X, y = data
    with pytest.raises(ValueError, match=r"y has a minimum of 0, expected numbers > 0"):
        RVR(likelihood=Gamma()).fit(X, np.where(y < y.mean(), 0.0, y))


def test_it_is_tagged_as_positive(Gamma):
    assert RVR(likelihood=Gamma()).__sklearn_tags__().target_tags.positive_only
