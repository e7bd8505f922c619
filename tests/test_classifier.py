"""Predictions of RVC: probabilities, decisions and machines agree with one another."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, log_expit, softmax
from scipy.stats import norm

from relvec import RVC
from relvec.basis import RBF, Bias, Columns, Concatenate
from relvec.exceptions import EmptyModelWarning
from tests.support.covering import covering
from tests.support.inputs import clouds, noisy_border, threshold
from tests.support.machines import at_the_mode

SIZES = {2: (30, 30), 3: (30, 20, 25), 5: (15, 12, 18, 10, 14)}
MACHINES = [(2, "multinomial"), (3, "multinomial"), (5, "multinomial"), (3, "ovr"), (5, "ovr")]


def fitted(n_classes, multi_class, **parameters):
    """A model of classes that overlap, its rows and other ones."""
    X, y = clouds(*SIZES[n_classes], spread=1.2)
    model = RVC(multi_class=multi_class, **parameters).fit(X, y)
    return model, X, y, np.random.RandomState(0).uniform(-3, 8, size=(25, 2))


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
@pytest.mark.parametrize(
    ("kind", "kernel", "fit_intercept"),
    covering(
        MACHINES,
        ["rbf", "linear", "linear_spline", Concatenate([Bias(), Columns(), RBF()])],
        [True, False],
    ),
)
def test_plug_in_probabilities_are_those_of_the_functions(kind, kernel, fit_intercept):
    n_classes, multi_class = kind
    model, _, _, query = fitted(
        n_classes, multi_class, kernel=kernel, fit_intercept=fit_intercept, proba="mode"
    )
    outputs = 1 if n_classes == 2 else n_classes
    assert model.dual_coef_.shape == (outputs, len(model.relevance_))
    assert model.intercept_.shape == (outputs,)
    assert fit_intercept or not model.intercept_.any()
    functions = model.basis_.transform(query) @ model.dual_coef_.T + model.intercept_
    decision = model.decision_function(query).reshape(functions.shape)
    np.testing.assert_allclose(decision, functions, rtol=1e-9, atol=1e-9)
    if n_classes == 2:
        p = expit(np.hstack([-functions, functions]))
    elif multi_class == "ovr":
        p = expit(functions) / expit(functions).sum(axis=1, keepdims=True)
    else:
        p = softmax(functions, axis=1)
        np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(model.intercept_.sum(), 0, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(query), p, rtol=1e-7, atol=1e-300)


@pytest.mark.parametrize("proba", ["integrated", "mode"])
@pytest.mark.parametrize(("n_classes", "multi_class"), MACHINES)
def test_decisions_rank_as_the_probabilities_do(n_classes, multi_class, proba):
    model, X, _, query = fitted(n_classes, multi_class, proba=proba)
    rows = np.vstack([X, query])
    decision, p = model.decision_function(rows), model.predict_proba(rows)
    np.testing.assert_array_equal(model.predict(rows), p.argmax(axis=1))
    if n_classes == 2:
        np.testing.assert_allclose(decision, np.log(p[:, 1]) - np.log(p[:, 0]), rtol=1e-9)
    elif multi_class == "ovr":
        np.testing.assert_allclose(
            p, expit(decision) / expit(decision).sum(axis=1, keepdims=True), rtol=1e-9
        )
    else:
        np.testing.assert_allclose(softmax(decision, axis=1), p, rtol=1e-9)
        np.testing.assert_allclose(decision.sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(model.predict_log_proba(rows), np.log(p), rtol=1e-12)


def latent_moments(model):
    """Mean and variance of the log-odds of rows, from the posterior of the weights."""
    (machine,) = model.fit_result_.outputs

    def moments(X):
        Phi = model.basis_.transform(X)
        mean = machine.posterior.latent_mean(Phi)[:, 0]
        return mean, machine.posterior.latent_covariance(Phi)[:, 0, 0]

    return moments


@pytest.mark.parametrize("gap", [0.0, 1.0])
@pytest.mark.parametrize(
    ("kernel", "fit_intercept"), [("rbf", True), ("linear", True), ("laplacian", False)]
)
def test_two_classes_are_integrated_over_the_posterior(kernel, fit_intercept, gap):
    X, above = threshold(at=0.0, n=30)
    X = X + gap * np.where(above, 1, -1)[:, None]
    model = RVC(kernel=kernel, fit_intercept=fit_intercept).fit(X, above)
    query = np.linspace(-5, 5, 7)[:, None]
    mean, variance = latent_moments(model)(query)
    for p, m, v in zip(model.predict_proba(query), mean, variance, strict=True):
        sd = np.sqrt(v)
        for own, sign in zip(p, (-1, 1), strict=True):
            by_hand, _ = quad(
                lambda z, s=sign, m=m, sd=sd: norm.pdf(z) * expit(s * (m + sd * z)),
                -40,
                40,
                points=[-8, 0, 8, np.clip(-m / sd, -39, 39)] if sd > 0 else [0],
                epsabs=1e-12,
                limit=400,
            )
            assert own == pytest.approx(by_hand, abs=2e-8)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_several_classes_are_integrated_over_the_posterior(n_classes):
    model, _, _, query = fitted(n_classes, "multinomial")
    (machine,) = model.fit_result_.outputs
    draws = machine.posterior.sample(
        model.basis_.transform(query), 100_000, np.random.RandomState(1)
    )
    functions = machine.likelihood.functions(np.moveaxis(draws, 0, 2))
    sampled = softmax(functions, axis=2).mean(axis=1)
    np.testing.assert_allclose(model.predict_proba(query), sampled, atol=5e-3)
    plug_in = at_the_mode(model).predict_proba(query)
    assert np.abs(plug_in - sampled).max() > 0.02, "the two ways must differ to be told apart"


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
@pytest.mark.parametrize(
    ("kernel", "fit_intercept", "weights"),
    covering(["rbf", "laplacian", "linear_spline"], [True, False], [None, np.arange(75) % 4]),
)
def test_one_against_the_rest_is_a_binary_machine_for_every_class(kernel, fit_intercept, weights):
    X, y = clouds(*SIZES[3], spread=1.2)
    given = {"kernel": kernel, "fit_intercept": fit_intercept}
    model = RVC(multi_class="ovr", **given).fit(X, y, sample_weight=weights)
    alone = [RVC(**given).fit(X, y == k, sample_weight=weights) for k in range(3)]
    assert model.log_evidence_ == pytest.approx(sum(one.log_evidence_ for one in alone), rel=1e-12)
    assert model.n_iter_ == sum(one.n_iter_ for one in alone)
    used = [one.relevance_ for one in alone]
    np.testing.assert_array_equal(model.relevance_, np.unique(np.concatenate(used)))
    for k, one in enumerate(alone):
        mine = np.isin(model.relevance_, one.relevance_)
        np.testing.assert_array_equal(np.isfinite(model.weight_precision_[k]), mine)
        assert not model.dual_coef_[k, ~mine].any()
        np.testing.assert_allclose(model.dual_coef_[k, mine], one.dual_coef_[0], rtol=1e-10)
        np.testing.assert_allclose(model.intercept_[k], one.intercept_[0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(
            model.weight_precision_[k, mine], one.weight_precision_, rtol=1e-10
        )
    own = np.column_stack([one.predict_proba(X)[:, 1] for one in alone])
    np.testing.assert_allclose(
        model.predict_proba(X), own / own.sum(axis=1, keepdims=True), rtol=1e-9
    )


def test_two_classes_are_one_machine_however_it_is_asked_for():
    X, y = noisy_border()
    multinomial, ovr = (RVC(multi_class=how).fit(X, y) for how in ("multinomial", "ovr"))
    np.testing.assert_array_equal(multinomial.predict_proba(X), ovr.predict_proba(X))
    assert multinomial.weight_precision_.shape == ovr.weight_precision_.shape


@pytest.mark.parametrize(
    ("kernel", "proba", "distance"),
    covering(["linear_spline", "linear"], ["integrated", "mode"], [1, 10, 1e3, 1e5]),
)
@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")  # the class between
def test_far_out_one_against_the_rest_still_has_probabilities(kernel, proba, distance):
    """Even where all its machines say that a row is of the rest, beyond double precision."""
    X = np.random.RandomState(0).standard_normal((40, 2))
    y = np.clip(1.5 * X[:, 0] + 1.5, 0, 2.9).astype(int)
    model = RVC(kernel=kernel, multi_class="ovr", proba=proba).fit(X, y)
    p = model.predict_proba(distance * X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    decision = model.decision_function(distance * X)
    decided = decision.argmax(axis=1)  # also between machines that are all certain of their class
    np.testing.assert_array_equal(p[np.arange(40), decided], p.max(axis=1))
    np.testing.assert_array_equal(model.predict(distance * X), model.classes_[decided])


@pytest.mark.parametrize(("n_classes", "multi_class"), MACHINES)
def test_history_has_the_passes_of_every_machine(n_classes, multi_class):
    model, X, y, _ = fitted(n_classes, multi_class)
    numbers = range(n_classes if multi_class == "ovr" else 1)
    assert len(model.fit_result_.outputs) == len(numbers)
    order = [row.machine for row in model.history_]
    assert order == sorted(order)
    last = [[row for row in model.history_ if row.machine == number][-1] for number in numbers]
    assert sum(row.log_evidence for row in last) == pytest.approx(model.log_evidence_, abs=1e-6)
    assert [row.n_active for row in last] == [len(one.columns) for one in model.fit_result_.outputs]
    assert all(np.isnan(row.noise_variance) for row in model.history_)
    assert all(a.seconds <= b.seconds for a, b in pairwise(model.history_) if a[-1] == b[-1])
    assert model.n_iter_ >= len(model.history_)
    assert "converged" in model.status_
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, abs=1e-6)


@pytest.mark.parametrize(("n_classes", "multi_class"), MACHINES)
def test_evidence_of_shuffled_labels_is_lower(n_classes, multi_class, rng):
    model, X, y, _ = fitted(n_classes, multi_class)
    assert model.log_evidence(X, rng.permutation(y)) < model.log_evidence_ - 10


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_evidence_needs_labels_that_were_fitted(multi_class, fit_intercept):
    X, y = clouds(15, 15, 15)
    names = np.array(["red", "green", "blue"])[y]
    model = RVC(multi_class=multi_class, fit_intercept=fit_intercept).fit(X, names)
    with pytest.raises(ValueError, match=r"(?s)'amber'.*red"):
        model.log_evidence(X, np.where(names == "red", "amber", names))
    with pytest.raises(ValueError, match="class"):
        model.log_evidence(X[y > 0], names[y > 0])


@pytest.mark.parametrize("n_starts", [1, 3])
def test_more_starts_never_end_lower(n_starts):
    X, y = noisy_border(seed=3)
    one, more = RVC().fit(X, y), RVC(n_starts=n_starts).fit(X, y)
    assert more.log_evidence_ >= one.log_evidence_ - 1e-6
    assert more.n_iter_ >= one.n_iter_
    assert f"of {n_starts + 1} starts" in more.status_, "with the tempered one"


def test_a_model_without_functions_predicts_the_shares(rng):
    """What no function of the rows can tell apart: rows that are all equal."""
    X, y = np.full((40, 2), 3.0), rng.permutation(np.repeat([0, 1, 2], [20, 10, 10]))
    with pytest.warns(EmptyModelWarning):
        model = RVC(proba="mode").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), np.tile([0.5, 0.25, 0.25], (40, 1)))
    assert model.dual_coef_.shape == (3, 0)
    assert model.relevance_vectors_.shape[0] == 0


def test_probabilities_far_out_keep_their_digits():
    """The rarer class of a linear machine without spread falls like the exponential function."""
    X, above = threshold(n=200)
    X = X + np.random.RandomState(0).standard_normal((200, 1))
    model = RVC(kernel="linear", proba="mode").fit(X, above)
    query = np.array([[-20.0], [20.0], [100.0]])
    functions = query @ model.coef_.T + model.intercept_
    expected = log_expit(np.hstack([-functions, functions]))
    np.testing.assert_allclose(model.predict_log_proba(query), expected, rtol=1e-9, atol=1e-15)
