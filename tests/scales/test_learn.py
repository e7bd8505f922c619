"""Estimators with learnt input scales."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_friedman1

from relvec import RVC, RVR
from relvec._fitting.scales import LEAST_GAIN, PATIENCE, Fit, alternated
from relvec.basis import (
    RBF,
    Columns,
    Concatenate,
    Laplacian,
    Matern32,
    PolynomialKernel,
    RationalQuadratic,
    Sigmoid,
)

SCALED = [RBF, Matern32, RationalQuadratic, Laplacian, PolynomialKernel, Sigmoid]


@pytest.fixture(scope="module")
def sinc():
    """A hundred points of a sinc in noise, and an input besides that has nothing to do with it."""
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.uniform(-10, 10, 100), rng.uniform(-1, 1, 100)])
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_normal(100)


@pytest.fixture(scope="module")
def relevant(sinc):
    """Scales learnt one by one."""
    return RVR(gamma="ard").fit(*sinc)


def worth(model):
    """Log evidence less ½ log N for every function, as docs/guide/scales.md has it."""
    return model.log_evidence_ - 0.5 * np.log(100) * len(model.relevance_)


def test_one_scale_is_near_the_best_of_a_grid(sinc):
    """No width of a grid is worth more than the learnt one."""
    X, y = sinc[0][:, :1], sinc[1]
    learnt = RVR(gamma="evidence").fit(X, y)
    grid = [RVR(gamma=g).fit(X, y) for g in np.geomspace(0.005, 2, 12)]
    assert worth(learnt) > max(map(worth, grid)) - 1
    assert isinstance(learnt.gamma_, float)
    assert learnt.log_evidence_ >= RVR().fit(X, y).log_evidence_


def test_inputs_that_do_not_matter_have_no_scale(sinc, relevant):
    """Their scale is zero exactly, and so is their relevance."""
    assert relevant.gamma_.shape == (2,)
    assert relevant.gamma_[0] > 0 == relevant.gamma_[1]
    expected = np.sqrt(relevant.gamma_) * sinc[0].std(axis=0)
    np.testing.assert_allclose(relevant.feature_relevance_, expected, rtol=1e-12)
    other = sinc[0] + [0.0, 5.0]
    np.testing.assert_array_equal(relevant.predict(other), relevant.predict(sinc[0]))


def test_log_evidence_is_that_of_the_fixed_scales(sinc, relevant):
    """Learning the scales changes nothing in what the numbers mean."""
    given = clone(relevant).set_params(gamma=relevant.gamma_)
    assert relevant.log_evidence(*sinc) == pytest.approx(relevant.log_evidence_, abs=1e-6)
    assert given.fit(*sinc).log_evidence_ == pytest.approx(relevant.log_evidence_, abs=2)


def test_units_of_inputs_and_targets_do_not_matter(sinc, relevant):
    """Each input and the target in other units: the same model in those units."""
    X, y = sinc
    units = np.array([1e3, 1e-5])
    moved = RVR(gamma="ard").fit(X * units + [0.0, 3.0], 100 * y - 7)
    np.testing.assert_allclose(moved.gamma_ * units**2, relevant.gamma_, rtol=1e-3)
    np.testing.assert_allclose(moved.feature_relevance_, relevant.feature_relevance_, rtol=1e-3)
    found = (moved.predict(X * units + [0.0, 3.0]) + 7) / 100
    np.testing.assert_allclose(found, relevant.predict(X), atol=1e-3)


def test_order_of_the_rows_does_not_matter(sinc, relevant):
    """A permutation of the rows leads to the same model."""
    order = np.random.RandomState(1).permutation(100)
    moved = RVR(gamma="ard").fit(sinc[0][order], sinc[1][order])
    np.testing.assert_allclose(moved.predict(sinc[0]), relevant.predict(sinc[0]), atol=1e-3)


def test_weights_are_copies(sinc):
    """A row with weight 2 is the row twice, one with weight 0 is absent."""
    X, y = sinc[0][:60], sinc[1][:60]
    copies = np.random.RandomState(2).randint(0, 3, 60)
    weighted = RVR(gamma="ard").fit(X, y, sample_weight=copies)
    repeated = RVR(gamma="ard").fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-3)


def test_linear_terms_beside_a_kernel(sinc):
    """Section 4.3: sinc(x₁) + 0.1x₂ in a dictionary of inputs, their squares and a kernel."""
    rng = np.random.RandomState(5)
    X = rng.uniform(-10, 10, (100, 2))
    f = np.sinc(X[:, 0] / np.pi) + 0.1 * X[:, 1]
    kernel = [Columns(), RBF(gamma="ard")]
    model = RVR(kernel).fit(X, f + 0.1 * rng.standard_normal(100))
    names = model.basis_.names()
    slope = model.dual_coef_[[name.endswith("x1") for name in names]]
    assert slope == pytest.approx([0.1], abs=0.01)
    assert not any(name.endswith("x0") for name in names)
    assert len(names) <= 10
    eta = model.basis_.parts_[1].gamma_
    assert eta[1] <= 0.01 * eta[0]
    assert np.mean((model.predict(X) - f) ** 2) < 0.004


@pytest.mark.slow
def test_friedman_1():
    """Five inputs of ten matter, and the error is far under that of one width."""
    X, y = make_friedman1(n_samples=240, noise=1.0, random_state=0)
    queries, truth = make_friedman1(n_samples=1000, noise=0.0, random_state=1)
    one, each = RVR().fit(X, y), RVR(gamma="ard").fit(X, y)
    assert (each.feature_relevance_[:5] > 0).all()
    assert (each.feature_relevance_[5:] < 0.02).all()
    errors = [np.mean((model.predict(queries) - truth) ** 2) for model in (one, each)]
    assert errors[1] < 0.2 * errors[0]
    assert len(each.relevance_) < 0.5 * len(one.relevance_)


@pytest.mark.parametrize("kernel", SCALED)
def test_every_scaled_kernel_learns(sinc, kernel):
    """None has less evidence than at the scale that the data suggest."""
    X = sinc[0][:40]
    y = sinc[1][:40] + 0.1 * X[:, 0]
    learnt = RVR(kernel(gamma="evidence")).fit(X, y)
    start = kernel(gamma="evidence").fit(X).gamma_
    assert learnt.log_evidence_ >= RVR(kernel(gamma=start)).fit(X, y).log_evidence_ - 1e-6


@pytest.mark.parametrize("combine", ["sum", "product", "beside"])
def test_parts_of_a_basis_learn_their_own(sinc, combine):
    """Sums, products and mixed dictionaries hold as many scales as their kernels."""
    X, y = sinc[0][:40], sinc[1][:40]
    parts = [RBF(gamma="evidence"), Laplacian(gamma="evidence")]
    kernel = {
        "sum": parts[0] + parts[1],
        "product": parts[0] * parts[1],
        "beside": Concatenate(parts),
    }[combine]
    model = RVR(kernel).fit(X, y)
    gammas = [part.gamma_ for part in model.basis_.parts_]
    starts = [part.fit(X).gamma_ for part in parts]
    assert model.basis_.n_hyper == 2
    assert len(model.relevance_)
    assert np.isfinite(model.predict(X)).all()
    assert gammas != pytest.approx(starts, rel=0.01)


def test_classes(sinc):
    """Two and three classes of which one input alone tells."""
    X = sinc[0][:70]
    for y in (np.sign(np.sin(X[:, 0])), np.digitize(X[:, 0], [-4, 4])):
        model = RVC(gamma="ard").fit(X, y)
        assert model.feature_relevance_[0] > 3 * model.feature_relevance_[1]
        assert model.score(X, y) > 0.9


def test_classes_that_can_be_told_apart():
    """Precisions stay where eq. 16 has them: no input scale makes the classes a matter of faith."""
    X, y = load_iris(return_X_y=True)
    for gamma in ("evidence", "ard"):
        assert RVC(gamma=gamma).fit(X, y).score(X, y) > 0.9


def test_one_against_the_rest_shares_the_scales(sinc):
    """All machines have the kernel of one estimator."""
    X = sinc[0][:60]
    model = RVC(gamma="evidence", multi_class="ovr").fit(X, np.digitize(X[:, 0], [-4, 4]))
    assert isinstance(model.gamma_, float)
    assert len(model.fit_result_.outputs) == 3
    assert model.score(X, np.digitize(X[:, 0], [-4, 4])) > 0.9


def test_counts(sinc):
    """A log rate of one input."""
    X = sinc[0]
    y = np.random.RandomState(0).poisson(np.exp(1 + np.cos(X[:, 0] / 2)))
    model = RVR(gamma="ard", likelihood="poisson").fit(X, y)
    assert model.feature_relevance_[0] > 3 * model.feature_relevance_[1]


def test_an_input_that_does_not_vary_has_no_scale(sinc):
    """Nothing can be learnt of it, and nothing depends on it."""
    X, y = np.column_stack([sinc[0][:, 0], np.full(100, 7.0)]), sinc[1]
    model = RVR(gamma="ard").fit(X, y)
    assert model.gamma_[1] == 0
    assert model.feature_relevance_[1] == 0
    np.testing.assert_array_equal(model.predict(X), model.predict(X + np.array([0.0, 1.0])))


def test_no_function_leaves_nothing_that_matters():
    """Where the targets do not vary no function is kept, and no input matters."""
    with pytest.warns(UserWarning, match="predicts a constant"):
        model = RVR(gamma="ard").fit(np.random.RandomState(0).standard_normal((20, 3)), np.ones(20))
    assert not len(model.relevance_)
    np.testing.assert_array_equal(model.feature_relevance_, np.zeros(3))


def test_known_noise_stays(sinc):
    """The noise is no part of what is learnt, where it is given."""
    model = RVR(gamma="evidence", noise_variance=0.01).fit(*sinc)
    assert model.noise_variance_ == 0.01


@pytest.mark.parametrize("solver", ["fixed_point", "em"])
def test_other_solvers_learn_scales_too(sinc, solver):
    """Whatever finds the functions, the scales are learnt around it."""
    X, y = sinc[0][:40], sinc[1][:40]
    model = RVR(gamma="evidence", solver=solver).fit(X, y)
    assert model.log_evidence_ >= RVR(solver=solver).fit(X, y).log_evidence_ - 1e-6


def in_rounds(*gains):
    """A fit whose rounds of ascent gain so much."""
    fit = SimpleNamespace(active=[0], penalised_evidence=-sum(gains))
    evidence = SimpleNamespace(ascended=lambda steps, precisions: (None, None))
    fit.problem = SimpleNamespace(
        runner=SimpleNamespace(stopped=False, interruptible=nullcontext),
        config=SimpleNamespace(max_iter=len(gains)),
        likelihood=SimpleNamespace(quadratic=True),
    )
    fit.kept = lambda: evidence
    fit.refitted = lambda kept: in_rounds(*gains[1:])
    return fit


@pytest.mark.parametrize(
    ("gains", "beside", "ends"),
    [
        ([8.0, 4.0], -np.inf, 0.0),  # at the last round
        ([8.0, 0.9 * LEAST_GAIN, 4.0], -np.inf, -4.0),  # at what is nothing
        ([8.0, -1.0, 4.0], -np.inf, -3.0),  # before a fall
        ([8.0, 4.0], -4.0 + 0.9 * PATIENCE * 8.0, 0.0),  # with a chance to catch up
        ([8.0, 4.0], -4.0 + 1.1 * PATIENCE * 8.0, -4.0),  # without
    ],
)
def test_rounds_end_where_they_gain_nothing_or_too_little_to_catch_up(gains, beside, ends):
    assert alternated(in_rounds(*gains), beside=beside).penalised_evidence == pytest.approx(ends)


@pytest.mark.parametrize("believed", [True, False])
def test_fits_compare_by_their_evidence_less_a_penalty_for_all_that_was_chosen(believed):
    """Three scales, and four functions of which two outputs use one both."""
    data = SimpleNamespace(bic_penalty=2.0)
    problem = SimpleNamespace(data=data, believable=lambda log_evidence: believed)
    outputs = [
        SimpleNamespace(log_evidence=value, active=np.array(active))
        for value, active in [(-10.0, [1, 4]), (5.0, [0, 4, 7])]
    ]
    found = Fit(problem, SimpleNamespace(n_hyper=3), outputs).penalised_evidence
    assert found == (-5.0 - 2.0 * (3 + 4) if believed else -np.inf)
