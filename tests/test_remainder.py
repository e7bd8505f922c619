"""A Gaussian process for what is left, against that of scikit-learn and dense formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec._design import DenseDesign
from relvec._evidence.exact import ExactEvidence
from relvec._evidence.hyperparameters import Hyperparameters
from relvec.basis import RBF, Bias, Columns, Concatenate, Process, Sigmoid
from relvec.likelihoods import Gaussian
from tests.support.differences import derivative
from tests.support.reference import log_evidence_dense

GAMMA, NOISE = 0.4, 0.04


@pytest.fixture(name="rows")
def wave(rng):
    X = rng.uniform(-3, 3, (60, 1))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=60)


@pytest.fixture(name="alone")
def process_alone(rows):
    """Nothing but a process with all rows as centres, and noise that is known."""
    kernel = Process(RBF(gamma=GAMMA), 60)
    return RVR(kernel=kernel, noise_variance=NOISE, fit_intercept=False).fit(*rows)


def test_alone_it_is_the_process_of_scikit_learn(alone, rows):
    X, y = rows
    amplitude = 1 / alone.weight_precision_[0]
    kernel = kernels.ConstantKernel(amplitude) * kernels.RBF(np.sqrt(0.5 / GAMMA))
    other = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=None).fit(X, y)
    later = np.linspace(-3, 3, 50)[:, None]
    mean, std = other.predict(later, return_std=True)
    found, spread = alone.predict_latent(later, return_std=True)
    assert_allclose(found, mean, atol=1e-8)
    assert_allclose(spread, std, atol=1e-7)
    assert alone.log_evidence_ == pytest.approx(other.log_marginal_likelihood_value_, abs=1e-6)


def test_its_amplitude_has_the_highest_evidence(alone, rows):
    X, y = rows
    kernel = kernels.ConstantKernel(1.0) * kernels.RBF(np.sqrt(0.5 / GAMMA))
    other = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=None).fit(X, y)
    logs = np.log([1 / alone.weight_precision_[0], np.sqrt(0.5 / GAMMA)])
    slope = derivative(lambda a: other.log_marginal_likelihood(np.append(a, logs[1])), logs[:1])
    assert slope == pytest.approx(0, abs=1e-3)


def test_away_from_the_data_error_bars_are_those_of_the_process(rows):
    model = RVR(gamma=GAMMA, remainder="process").fit(*rows)
    alpha = model.weight_precision_[np.array(model.basis_.terms()) == "process"]
    _, std = model.predict_latent([[1e3]], return_std=True)
    process = model.basis_.parts_[-1]
    posterior = model.fit_result_.outputs[0].posterior
    intercept = posterior.latent_covariance(np.zeros((1, len(posterior.mean))))[0, 0, 0]
    expected = (1 - process.unspanned_) / alpha[0] + intercept
    assert std[0] ** 2 == pytest.approx(expected, rel=1e-9)
    without = RVR(gamma=GAMMA).fit(*rows)
    assert std > 3 * without.predict_latent([[1e3]], return_std=True)[1]


@pytest.fixture(name="few")
def few_centres(rng):
    """A process whose centres do not span it, in two dimensions."""
    X = rng.normal(size=(80, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=80)
    model = RVR(kernel=Columns(), gamma=2.0, remainder=RBF(gamma=2.0), remainder_centers=20)
    return model.fit(X, y), 2 * rng.normal(size=(6, 2))


def test_variance_beside_the_centres_is_in_every_prediction(few):
    model, later = few
    ((position, variance),) = model.basis_.unspanned(later).items()
    assert variance.max() > 0.5
    beside = variance / model.weight_precision_[position]
    latent = model.predict_latent(later, return_std=True)[1]
    Phi = model.basis_.transform(later)
    spread = model.fit_result_.outputs[0].posterior.latent_covariance(Phi)[:, 0, 0]
    assert_allclose(latent**2, spread + beside, rtol=1e-9)
    std = model.predict(later, return_std=True)[1]
    covariance = model.predict(later, return_cov=True)[1]
    assert_allclose(covariance.diagonal(), std**2, rtol=1e-10)
    assert_allclose(std**2, latent**2 + model.noise_variance_, rtol=1e-10)


@pytest.mark.parametrize("kernel", ["effects", Columns()], ids=["effects", "columns"])
def test_there_are_as_many_centres_as_the_noise_asks_for(kernel, rng):
    X = rng.normal(size=(300, 6))
    rough, y = RBF(gamma=0.1).fit(X).evaluate(X), rng.normal(size=300)
    rough = np.linalg.cholesky(rough + 1e-9 * np.eye(300)) @ y
    for noise, more in [(0.05, True), (2.0, False)]:
        model = RVR(kernel, remainder=Process(RBF(gamma=0.1)), noise_variance=noise**2)
        model.fit(X, rough + noise * rng.normal(size=300))
        process = model.basis_.parts_[-1]
        assert (len(process.root_) > 200) == more
        left = process.unspanned_ / model.weight_precision_[-1]
        assert left <= 0.2 * model.noise_variance_


def test_draws_have_the_covariance_that_is_predicted(few):
    model, later = few
    draws = model.sample_y(later, n_samples=40_000, random_state=0, noise=True)
    mean, covariance = model.predict(later, return_cov=True)
    assert_allclose(draws.mean(axis=1), mean, atol=0.03)
    assert_allclose(np.cov(draws), covariance, atol=0.03)


@pytest.mark.parametrize("center", [False, True])
def test_evidence_and_gradient_of_groups_are_the_dense_ones(center, rng):
    X = rng.normal(size=(40, 2))
    basis = Concatenate([Process(RBF(gamma=0.5), 7), Columns(), Process(RBF(gamma=2.0), 5)])
    basis = basis.place(X, None, None)
    Phi, groups = basis.evaluate(X), basis.groups
    t = rng.normal(size=40)
    design = DenseDesign(Phi.copy(), center=center, groups=groups)
    model = ExactEvidence(design, t[:, None], Gaussian())
    alpha, beta = np.array([0.5, 2.0, 8.0, 0.1]), 1.7
    target_scale = np.linalg.norm(t - t.mean() * center)

    def hyper(logs):
        return Hyperparameters(np.arange(len(groups)), np.exp(logs[:-1]), np.exp(logs[-1]), groups)

    def dense(logs):
        own = hyper(logs)
        each = own.each / design.weight_unit**2
        beta = float(np.exp(logs[-1]))
        return log_evidence_dense(Phi, t / target_scale, each, beta, fit_intercept=center)

    logs = np.log(np.append(alpha, beta))
    state = model.at(hyper(logs))
    assert state.log_evidence == pytest.approx(dense(logs), abs=1e-8)
    assert_allclose(state.gradient(), derivative(dense, logs), rtol=1e-6, atol=1e-7)


def test_all_rows_are_spanned_by_blocks_as_in_memory(rng):
    X = rng.normal(size=(150, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=150)
    parameters = {"gamma": 0.5, "remainder": "process", "remainder_centers": 30}
    one, other = (RVR(**parameters, memory_limit=m).fit(X, y) for m in (1e9, 1e4))
    assert one.log_evidence_ == pytest.approx(other.log_evidence_, abs=1e-5)
    for a, b in zip(*(model.predict(X, return_std=True) for model in (one, other)), strict=True):
        assert_allclose(a, b, atol=1e-6)


def test_a_kernel_that_is_no_covariance_is_a_group_of_its_functions(rows):
    X, y = rows
    model = RVR(gamma=2.0, remainder=Sigmoid(gamma=0.5, coef0=-1.0)).fit(X, y)
    process = model.basis_.parts_[-1]
    if len(process.terms_):
        assert_allclose(process.root_, np.eye(len(process.root_)))
    assert model.basis_.unspanned(X) == {}
    assert np.isfinite(model.predict(X, return_std=True)).all()


def test_any_other_basis_stands_for_itself(rows):
    X, y = rows
    model = RVR(gamma=2.0, remainder=Bias(), fit_intercept=False).fit(X, y + 10)
    assert "bias" in model.basis_.names()


@pytest.mark.parametrize("n_targets", [1, 2])
def test_beside_columns_the_weights_are_those_of_the_columns(n_targets, rng):
    X = rng.normal(size=(80, 5))
    y = 3 * X[:, [3]] * np.ones(n_targets) + np.cos(2 * X[:, [1]])
    y = (y + 0.1 * rng.normal(size=(80, n_targets))).squeeze()
    model = SparseBayesianRegressor(remainder="process", remainder_centers=60).fit(X, y)
    assert np.flatnonzero(model.coef_.reshape(n_targets, 5).any(axis=0)).tolist() == [3]
    process = model.basis_.parts_[1].evaluate(X) @ model.dual_coef_[..., 1:].T
    assert_allclose(X @ model.coef_.T + process + model.intercept_, model.predict(X))
    alone = SparseBayesianRegressor().fit(X, y)
    assert model.log_evidence_ > alone.log_evidence_ + 10


def test_beside_columns_it_goes_where_they_are_enough(rng):
    X = rng.normal(size=(100, 5))
    y = X[:, 0] - X[:, 3] + 0.5 * rng.normal(size=100)
    beside, alone = (
        SparseBayesianRegressor(remainder=given).fit(X, y) for given in ("process", None)
    )
    assert beside.log_evidence_ == pytest.approx(alone.log_evidence_, abs=1e-8)
    assert_allclose(beside.coef_, alone.coef_, rtol=1e-6)
    labels = y > 0
    model = SparseBayesianClassifier(remainder=RBF(gamma=0.1)).fit(X, labels)
    assert np.flatnonzero(model.coef_).tolist() == [0, 3]


@pytest.mark.parametrize("likelihood", ["poisson", "student_t"])
def test_it_goes_with_other_noise(likelihood, rows):
    X, y = rows
    y = np.round(np.exp(1 + y)) if likelihood == "poisson" else y
    model = RVR(kernel=Columns(), likelihood=likelihood, remainder="process").fit(X, y)
    assert "process" in model.basis_.terms()
    far, near = model.predict_latent([[50.0], [0.0]], return_std=True)[1]
    assert far > 3 * near


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_become_uncertain_away_from_the_data(n_classes, multi_class, rng):
    X = rng.normal(size=(120, 2))
    y = np.digitize(X[:, 0] ** 2 + X[:, 1], [0.7, 2.0][: n_classes - 1])
    model = RVC(kernel=Columns(), remainder="process", multi_class=multi_class).fit(X, y)
    assert "process" in model.basis_.terms()
    assert model.score(X, y) > 0.85
    assert model.predict_proba([[30.0, 30.0]]).max() < model.predict_proba(X).max()


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("remainder", {"remainder": "gp"}),
        ("remainder", {"remainder": 1}),
        ("remainder", {"remainder": "process", "augment": True}),
        ("remainder", {"remainder": "process", "kernel": "precomputed"}),
        ("remainder_centers", {"remainder": "process", "remainder_centers": 0}),
        ("remainder_centers", {"remainder": "process", "remainder_centers": 1.5}),
    ],
)
def test_bad_parameters_are_named(name, parameters, rows):
    X, y = rows
    X = X @ X.T if parameters.get("kernel") == "precomputed" else X
    with pytest.raises((ValueError, TypeError), match=f"^{name}="):
        RVR(**parameters).fit(X, y)
