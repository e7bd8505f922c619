"""Functions that share a precision, against dense evidences, differences and searches."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import helmert
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from relvec._design import DenseDesign
from relvec._evidence import evidence_model
from relvec._evidence.exact import ExactEvidence
from relvec._evidence.gains import kept_after_deletions
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.laplace import LaplaceEvidence
from relvec._fitting.alternating import fit
from relvec._numerics.groups import Groups
from relvec.likelihoods import Bernoulli, Categorical, Gaussian, Poisson
from relvec.solvers import FixedPoint, Sequential
from tests.support.differences import derivative
from tests.support.laplace import rise, targets

#: Groups of one to four functions, whose members do not lie side by side.
LABELS = np.array([3, 0, 7, 3, 1, 0, 3, 5, 1, 5, 3, 7])
#: Position of every candidate's group.
GROUP = np.array([2, 0, 4, 2, 1, 0, 2, 3, 1, 3, 2, 4])


@dataclass
class Grouped:
    """Candidates in groups, and one or several targets with Gaussian noise."""

    Phi: np.ndarray
    t: np.ndarray
    center: bool

    @cached_property
    def design(self):
        return DenseDesign(self.Phi.copy(), center=self.center, groups=LABELS)

    @cached_property
    def inference(self):
        return ExactEvidence(self.design, self.t, Gaussian())

    @cached_property
    def standard(self):
        """Contrasts of columns, one unit a group, and of targets of unit norm."""
        contrasts = helmert(len(self.t)) if self.center else np.eye(len(self.t))
        columns, t = contrasts @ self.Phi, contrasts @ self.t
        square = (columns**2).sum(axis=0)
        unit2 = np.array([square[g == GROUP].mean() for g in GROUP])
        return columns / np.sqrt(unit2), t / np.linalg.norm(t, axis=0)

    def evidence(self, hyper):
        """Log density of the targets with C = I/β + Σ_g Φ_gΦ_gᵀ/α_g."""
        columns, t = self.standard
        active = columns[:, hyper.active]
        C = (active / hyper.alpha[hyper.group]) @ active.T
        return sum(
            multivariate_normal.logpdf(one, cov=C + np.eye(len(C)) / beta)
            for one, beta in zip(t.T, hyper.beta, strict=True)
        )


@pytest.fixture(params=[1, 2], ids=["one target", "two targets"])
def problem(request, center, rng):
    Phi = rng.standard_normal((25, 12)) + 0.4 * rng.standard_normal((25, 1))
    Phi *= 10.0 ** rng.uniform(-2, 2, 5)[GROUP] * rng.uniform(0.5, 2, 12)
    weights = rng.standard_normal((12, request.param)) * np.isin(GROUP, [1, 2, 4])[:, None]
    t = (Phi / Phi.std(axis=0)) @ weights + 0.5 * rng.standard_normal((25, request.param))
    return Grouped(Phi, t, center)


def of_groups(which, alpha, n_noises=0):
    """Hyperparameters with some groups active, and a noise precision for each target."""
    groups = Groups(GROUP)
    index, group = groups.members(np.array(which))
    beta = 40.0 * 1.5 ** np.arange(n_noises) if n_noises else 1.0
    return Hyperparameters(index, np.array(alpha), beta, group)


@pytest.fixture
def hyper(problem):
    return of_groups([2, 0, 3], [0.5, 20.0, 3.0], problem.t.shape[1])


# Hyperparameters

VARYING = DenseDesign(np.eye(10, 12)[:, 2:] + np.eye(10), center=True)


def test_a_precision_a_function_is_the_default():
    hyper = Hyperparameters(np.array([4, 2]), np.array([1.0, 3.0]))
    assert_array_equal(hyper.group, [0, 1])
    assert hyper.each is hyper.alpha
    assert_array_equal(hyper.keep(np.array([1])).active, [2])
    assert_array_equal(hyper.sorted(VARYING).active, [2, 4])
    assert_array_equal(hyper.sorted(VARYING).each, [3, 1])


def test_groups_are_kept_and_added_whole():
    hyper = Hyperparameters(
        np.array([9, 4, 2, 7]), np.array([1.0, 3.0]), 1.0, np.array([1, 0, 1, 1])
    )
    assert_array_equal(hyper.each, [3, 1, 3, 3])
    assert_array_equal(hyper.total(np.array([1.0, 10, 100, 1000])), [10, 1101])
    assert_array_equal(hyper.keep(np.array([1])).active, [9, 2, 7])
    swapped = hyper.keep(np.array([1, 0]))
    assert_array_equal(swapped.active, [9, 2, 7, 4])
    assert_array_equal(swapped.each, [3, 3, 3, 1])
    longer = hyper.add(np.array([1, 0, 3]), np.array([5.0, 7.0]), np.array([1, 0, 0]))
    assert_array_equal(longer.each, [3, 1, 3, 3, 7, 5, 5])
    assert_array_equal(hyper.sorted(VARYING).active, [2, 4, 7, 9])
    assert_array_equal(hyper.sorted(VARYING).each, [3, 1, 3, 3])


def test_functions_that_are_constant_go_if_others_of_their_group_do_not():
    design = DenseDesign(np.eye(10) * (np.arange(10) % 3 > 0), center=True)
    alpha, group = np.array([1.0, 3.0]), np.array([0, 1, 1, 0])
    some = Hyperparameters(np.array([4, 0, 2, 3]), alpha, 1.0, group).sorted(design)
    assert_array_equal(some.active, [2, 4])
    assert_array_equal(some.each, [3, 1])
    none = Hyperparameters(np.array([4, 0, 3, 5]), alpha, 1.0, group).sorted(design)
    assert_array_equal(none.active, [0, 3, 4, 5])


def test_functions_with_a_precision_each_take_their_order():
    hyper = Hyperparameters(np.array([9, 4]), np.array([1.0, 3.0]), 1.0, np.array([1, 0]))
    assert_array_equal(hyper.alpha, [3, 1])
    assert_array_equal(hyper.group, [0, 1])


@pytest.mark.parametrize("alpha", [np.ones(1), np.ones(3)])
def test_precisions_that_are_no_match_are_refused(alpha):
    with pytest.raises(ValueError, match="2 functions have"):
        Hyperparameters(np.array([9, 4]), alpha)


def test_a_constant_function_has_the_unit_of_its_group(rng):
    """It was scaled to zero, but the precision that it shares is that of the others."""
    Phi = 100 * rng.standard_normal((20, 4))
    Phi[:, [0, 3]] = 2.0
    design = DenseDesign(Phi.copy(), center=True, groups=np.array([0, 0, 0, 1]))
    unit = design.weight_unit
    norm2 = ((Phi[:, 1:3] - Phi[:, 1:3].mean(axis=0)) ** 2).sum(axis=0).mean()
    assert_allclose(unit, np.append(np.full(3, norm2**-0.5), 1.0))
    shared = Hyperparameters(np.arange(3), np.ones(1), group=np.zeros(3, dtype=np.intp))
    assert_allclose(shared.in_units(1 / unit[:3]).alpha, [norm2])


def test_groups_of_labels_are_numbered_in_their_order():
    groups = Groups.of_labels(LABELS)
    assert_array_equal(groups.label, GROUP)
    assert not groups.single
    assert_array_equal(groups.sizes, [2, 2, 4, 2, 2])
    assert_array_equal(groups.members(np.array([4, 1]))[0], [2, 11, 4, 8])
    assert_array_equal(groups.restrict(np.array([0, 2, 3])).label, [0, 1, 0])
    assert groups.restrict(np.array([1, 2, 4])).count == 3


# Gaussian noise


def test_columns_of_a_group_have_one_unit(problem):
    columns, _ = problem.standard
    assert_allclose((problem.design.columns(slice(None)) ** 2).sum(axis=0), problem.design.norm2)
    assert_allclose(problem.design.norm2, (columns**2).sum(axis=0), rtol=1e-10)
    assert_allclose(Groups(GROUP).total(problem.design.norm2), Groups(GROUP).sizes)


def test_evidence_is_the_dense_one(problem, hyper):
    state = problem.inference.at(hyper)
    assert state.log_evidence == pytest.approx(problem.evidence(hyper), rel=1e-10)
    moved = replace(hyper, alpha=2 * hyper.alpha, beta=3 * hyper.beta)
    assert state.move(moved).log_evidence == pytest.approx(problem.evidence(moved), rel=1e-10)
    fewer = state.keep(np.array([2, 0]))
    assert fewer.log_evidence == pytest.approx(problem.evidence(fewer.hyper), rel=1e-10)
    assert_array_equal(np.sort(fewer.hyper.active), [0, 3, 6, 7, 9, 10])


def test_gradient_and_hessian_are_derivatives(problem, hyper):
    k = len(hyper.alpha)

    def moved(logs):
        values = np.exp(logs)
        return replace(hyper, alpha=values[:k], beta=values[k:])

    logs = np.log(np.concatenate([hyper.alpha, hyper.beta]))
    state = problem.inference.at(hyper)
    gradient = derivative(lambda x: problem.evidence(moved(x)), logs)
    assert_allclose(state.gradient(), gradient, rtol=1e-6, atol=1e-7)
    hessian = derivative(lambda x: problem.inference.at(moved(x)).gradient(), logs)
    assert_allclose(state.hessian(), hessian, rtol=1e-6, atol=1e-7)


def test_deletion_costs_are_differences(problem, hyper):
    state = problem.inference.at(hyper)
    costs = [
        problem.evidence(hyper) - problem.evidence(hyper.keep(np.delete(np.arange(3), i)))
        for i in range(3)
    ]
    assert_allclose(state.deletion_costs(), costs, rtol=1e-8)


@pytest.mark.parametrize("factor", [0.05, 1, 1000])
def test_groups_go_as_with_each_posterior_recomputed(problem, factor):
    """Whether the data determine little or much."""
    hyper = of_groups([0, 1, 2, 3, 4], np.geomspace(1e2, 1e4, 5), problem.t.shape[1])
    hyper = replace(hyper, beta=hyper.beta * factor)
    state = slow = problem.inference.at(hyper)
    tol = np.sort(state.deletion_costs())[2]
    while (cost := slow.deletion_costs()).min() < tol:
        slow = slow.keep(np.delete(np.arange(len(cost)), cost.argmin()))
    left = kept_after_deletions(state.variances, state.means, hyper, tol)
    assert 0 < len(left) < 5
    assert_array_equal(hyper.keep(left).active, slow.hyper.active)


def test_gains_are_those_of_the_best_precision(problem):
    hyper = of_groups([2], [0.5], problem.t.shape[1])
    scores = problem.inference.scores(problem.inference.at(hyper))
    assert scores.gain[2] == 0
    for g in (0, 1, 3, 4):
        index, group = Groups(GROUP).members(np.array([g]))
        found = highest(
            lambda x, index=index, group=group: problem.evidence(
                hyper.add(index, np.exp([x]), group)
            )
        )
        expected = max(0.0, found - problem.evidence(hyper))
        assert scores.gain[g] == pytest.approx(expected, rel=1e-5, abs=1e-6)


def highest(evidence):
    """The highest place of a grid of log α, and then between its neighbours."""
    grid = np.linspace(-12, 15, 400)
    at = int(np.clip(np.argmax([evidence(x) for x in grid]), 1, 398))
    found = minimize_scalar(lambda x: -evidence(x), bounds=grid[[at - 1, at + 1]], method="bounded")
    return -found.fun


def test_added_groups_are_each_the_best_given_the_earlier(problem):
    hyper = of_groups([2], [0.5], problem.t.shape[1])
    state = problem.inference.at(hyper)
    scores = problem.inference.scores(state)
    longer = scores.added(hyper, np.array([4, 0, 1, 3]), 1e-3)
    assert len(longer.alpha) >= 3
    while len(longer.alpha) > len(hyper.alpha):
        hyper = longer.keep(np.arange(len(hyper.alpha) + 1))
        index = hyper.active[hyper.group == len(hyper.alpha) - 1]
        before = hyper.keep(np.arange(len(hyper.alpha) - 1))
        gain = problem.inference.scores(problem.inference.at(before)).gain
        assert gain.argmax() == GROUP[index[0]]
        assert_array_equal(np.flatnonzero(gain.argmax() == GROUP), np.sort(index))
        rise = problem.evidence(hyper) - problem.evidence(before)
        assert rise == pytest.approx(gain.max(), rel=1e-6)


def test_what_is_reported_is_in_the_users_units(problem, hyper):
    found = problem.inference.finalize(hyper)
    assert_array_equal(found.active, np.sort(hyper.active))
    alpha = np.atleast_2d(found.alpha)
    for g in np.unique(GROUP[found.active]):
        shared = alpha[:, GROUP[found.active] == g]
        assert_allclose(shared, shared[:, :1] * np.ones(shared.shape[1]), rtol=1e-12)
    known = Gaussian(found.likelihood.noise_variance)
    kept = problem.design.restrict(found.active)
    again = evidence_model(known, kept, problem.t).log_evidence(found.alpha)
    assert again == pytest.approx(found.log_evidence, rel=1e-10)


def test_groups_of_one_are_functions(center, rng):
    Phi, t = rng.standard_normal((20, 6)), rng.standard_normal((20, 1))
    labels = np.array([5, 3, 4, 0, 2, 1])
    alone, grouped = (
        ExactEvidence(DenseDesign(Phi.copy(), center=center, groups=g), t, Gaussian())
        for g in (None, labels)
    )
    hyper = Hyperparameters(np.array([4, 1]), np.array([0.5, 2.0]), 3.0)
    one, other = alone.at(hyper), grouped.at(hyper)
    assert_allclose(other.gradient(), one.gradient(), rtol=1e-12)
    assert_allclose(other.deletion_costs(), one.deletion_costs(), rtol=1e-12)
    gain, expected = grouped.scores(other).gain, alone.scores(one).gain
    assert_allclose(gain[labels], expected, rtol=1e-12, atol=1e-15)


# Laplace's method


@pytest.fixture(params=[Bernoulli(), Poisson(), Categorical(3)], ids=lambda x: type(x).__name__)
def latent(request, center, rng):
    Phi = rng.standard_normal((60, 12)) * 10.0 ** rng.uniform(-1, 1, 5)[GROUP]
    t = targets(request.param, (Phi / Phi.std(axis=0))[:, :3] @ [1.0, -0.6, 0.4])
    design = DenseDesign(Phi, center=center, groups=LABELS)
    return LaplaceEvidence(design, t, request.param)


def test_derivatives_of_a_group_are_sums_over_its_functions(latent):
    hyper = of_groups([2, 0, 3], [0.5, 2.0, 0.3])
    state = latent.at(hyper)
    alone = latent.at(Hyperparameters(hyper.active, hyper.each))
    same = hyper.group[:, None] == np.arange(3)
    assert state.log_evidence == pytest.approx(alone.log_evidence, rel=1e-12)
    assert_allclose(state.gradient(), same.T @ alone.gradient(), rtol=1e-9)
    assert_allclose(state.hessian(), same.T @ alone.hessian() @ same, rtol=1e-9)

    def evidence(logs):
        return latent.at(replace(hyper, alpha=np.exp(logs))).log_evidence

    slope = derivative(evidence, np.log(hyper.alpha))
    assert_allclose(state.evidence_gradient(), slope, rtol=1e-4, atol=1e-5)


def test_deletions_cost_what_a_gaussian_posterior_says(latent):
    """½[log|V| + mᵀV⁻¹m] with the block V of the weights of a group."""
    hyper = of_groups([2, 0, 3], [0.5, 2.0, 0.3])
    state, n_outputs = latent.at(hyper), latent.likelihood.n_outputs
    for g, cost in enumerate(state.deletion_costs()):
        where = np.repeat(hyper.group == g, n_outputs)
        V, m = state.variances[0][np.ix_(where, where)], state.mean.ravel()[where]
        expected = 0.5 * (np.linalg.slogdet(V)[1] + m @ np.linalg.solve(V, m))
        assert cost == pytest.approx(expected, rel=1e-9)
    fewer = state.keep(np.array([0, 2]))
    fresh = latent.at(hyper.keep(np.array([0, 2])))
    assert fewer.log_evidence == pytest.approx(fresh.log_evidence, abs=1e-4)


def test_gains_are_those_of_the_curvature_of_the_state(latent):
    """ℓ of the weights of a group, for all outputs, where a fixed curvature does not mislead."""
    hyper = of_groups([2], [0.3])
    state = latent.at(hyper)
    scores = latent.scores(state)
    assert scores.gain[2] == 0
    log_alpha = np.linspace(-15, 15, 3001)
    for g in (0, 1, 3, 4):
        S, Q, u, _ = scores.factors(np.array([g]))
        promised = Q[0] @ Q[0] - np.trace(S[0])
        misled = promised > 0 and promised - Q[0] @ u[0] <= 0
        best = 0.0 if misled else max(rise(np.exp(log_alpha), S[0], Q[0]).max(), 0.0)
        assert scores.gain[g] == pytest.approx(best, rel=1e-3, abs=1e-4)
        columns = Groups(GROUP).members(np.array([g]))[0]
        by_function = Hyperparameters(hyper.active, hyper.each)
        single = LaplaceEvidence(ungrouped(latent.design), latent.t, latent.likelihood)
        apart = single.scores(single.at(by_function))
        own, quality = (part[columns] for part in apart.factors(slice(None))[:2])
        R = own.shape[1]
        for i in range(len(columns)):
            block = S[0][i * R : (i + 1) * R, i * R : (i + 1) * R]
            assert_allclose(block, own[i], rtol=1e-6, atol=1e-8)
        assert_allclose(Q[0], quality.ravel(), rtol=1e-6, atol=1e-8)


def ungrouped(design):
    """The same candidates, in the same units, each a group of its own."""
    alone = design.restrict(np.arange(design.shape[1]))
    alone.groups = Groups(np.arange(design.shape[1]))
    return alone


def test_groups_that_are_added_raise_the_evidence(latent):
    nothing = latent.at(Hyperparameters.empty(1.0))
    scores = latent.scores(nothing)
    longer = scores.added(nothing.hyper, np.argsort(-scores.gain)[:3], 0.5)
    assert len(longer.alpha) >= 1
    assert_array_equal(
        np.bincount(longer.group),
        Groups(GROUP).sizes[GROUP[longer.active]][np.unique(longer.group, return_index=True)[1]],
    )
    assert latent.at(longer).log_evidence > nothing.log_evidence + 0.5


# Solvers

SOLVERS = pytest.mark.parametrize(
    "solver", [Sequential(tol=3.0), FixedPoint(tol=3.0)], ids=lambda s: type(s).__name__
)
SIZES = [4, 1, 6, 3, 5, 2, 4, 6]


@SOLVERS
@pytest.mark.parametrize(
    "likelihood", [Gaussian(), Bernoulli(), Poisson()], ids=lambda x: type(x).__name__
)
def test_solvers_find_blocks(solver, likelihood, rng):
    """Two groups of many small weights, none of which matters much alone."""
    labels = np.repeat(np.arange(len(SIZES)), SIZES)
    order = rng.permutation(len(labels))
    labels = labels[order]
    Phi = rng.standard_normal((300, len(labels)))
    f = Phi @ (np.isin(labels, [2, 4]) * rng.choice([-0.4, 0.4], len(labels)))
    t = f + 0.5 * rng.standard_normal(300)
    t = t[:, None] if isinstance(likelihood, Gaussian) else targets(likelihood, f)
    found = fit(likelihood, solver, DenseDesign(Phi, center=True, groups=labels), t)
    kept = np.unique(labels[found.active])
    assert_array_equal(kept, [2, 4])
    assert_array_equal(found.active, np.flatnonzero(np.isin(labels, kept)))
    for g in kept:
        assert_allclose(
            found.alpha[labels[found.active] == g],
            found.alpha[labels[found.active] == g][0],
            rtol=1e-12,
        )


@SOLVERS
def test_solvers_weigh_whole_kernels(solver, rng):
    """More functions than directions: groups of all functions of a smooth kernel of one input."""
    X = rng.uniform(-3, 3, (60, 3))
    kernels = [np.exp(-((x[:, None] - x) ** 2)) for x in X.T]
    t = np.sin(2 * X[:, 1]) + 0.1 * rng.standard_normal(60)
    labels = np.repeat([0, 1, 2], 60)
    design = DenseDesign(np.hstack(kernels), center=True, groups=labels)
    found = fit(Gaussian(), solver, design, t[:, None])
    assert_array_equal(np.unique(labels[found.active]), [1])
    mean = found.posterior.latent_mean(np.hstack(kernels)[:, found.active])[:, 0]
    assert np.sqrt(np.mean((mean - np.sin(2 * X[:, 1])) ** 2)) < 0.1
    assert found.likelihood.noise_variance == pytest.approx(0.01, rel=0.5)
