"""Worth of exchanges, against the dense evidence maximised over the precision of who comes."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from relvec._design.dense import DenseDesign
from relvec._evidence.exact import ExactEvidence
from relvec._evidence.exchanges import Exchanges
from relvec._evidence.hyperparameters import Hyperparameters
from relvec.likelihoods import Gaussian
from relvec.solvers.base import LocalOptimum
from relvec.solvers.exchange import better_exchange
from tests.support import problems
from tests.support.problems import Problem

#: Functions of which none is one that the target is made of, and two that are, with their α.
WRONG, MIXED = [1, 3, 7], [0, 7, 5, 8]
BETA = 60.0


def found(problem, active, alpha, penalty=0.0):
    """Exchanges beside some functions, as many as there are."""
    model, hyper = problem.exact(), Hyperparameters(np.array(active), alpha, BETA)
    state = model.at(hyper)
    return Exchanges(model.frame, state, penalty)


def without(active, alpha, gone):
    stays = [i for i in range(len(active)) if i not in gone]
    return [active[i] for i in stays], alpha[stays]


def most(problem, active, alpha, come):
    """Highest dense evidence over the precision of the last of the functions."""

    def evidence(log_alpha):
        return problem.evidence([*active, come], np.append(alpha, np.exp(log_alpha)), BETA)

    peaks = [
        minimize_scalar(lambda x: -evidence(x), bounds=(low, low + 4), method="bounded").fun
        for low in range(-10, 14, 4)
    ]
    return -min(peaks)


@pytest.fixture(params=[False, True], ids=["no intercept", "intercept"])
def problem(request, rng):
    return problems.draw(rng, request.param)


@pytest.mark.parametrize("active", [WRONG, MIXED], ids=["wrong", "mixed"])
def test_worth_of_each_exchange_is_the_rise_of_the_dense_evidence(problem, active):
    alpha = np.linspace(0.5, 3.0, len(active))
    before, seen = problem.evidence(active, alpha, BETA), found(problem, active, alpha).singles(9)
    assert len(seen) > 1
    for one in seen:
        gone = one.gone[one.gone >= 0].tolist()
        stay, left = without(active, alpha, gone)
        expected = most(problem, stay, left, one.come[0]) - before
        assert one.worth == pytest.approx(expected, rel=1e-6, abs=1e-6)
        after = problem.evidence([*stay, one.come[0]], np.append(left, one.alpha), BETA)
        assert after - before == pytest.approx(one.worth, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("active", [WRONG, MIXED], ids=["wrong", "mixed"])
def test_no_exchange_of_one_function_is_worth_more_than_the_best(problem, active):
    alpha = np.linspace(0.5, 3.0, len(active))
    before, best = problem.evidence(active, alpha, BETA), found(problem, active, alpha).singles(1)
    for position in range(len(active)):
        stay, left = without(active, alpha, [position])
        for come in set(range(9)) - set(active):
            assert most(problem, stay, left, come) - before <= best[0].worth + 1e-6


@pytest.mark.parametrize("active", [WRONG, MIXED], ids=["wrong", "mixed"])
def test_worth_of_an_exchange_for_two_is_the_rise_of_the_dense_evidence(problem, active):
    alpha = np.linspace(0.5, 3.0, len(active))
    double = found(problem, active, alpha).best_double(9)
    stay, left = without(active, alpha, double.gone[double.gone >= 0].tolist())
    functions, precisions = [*stay, *double.come.tolist()], np.append(left, double.alpha)
    rise = problem.evidence(functions, precisions, BETA) - problem.evidence(active, alpha, BETA)
    assert double.worth == pytest.approx(rise, rel=1e-9, abs=1e-9)
    best = most(problem, functions[:-1], precisions[:-1], functions[-1])
    assert best == pytest.approx(problem.evidence(functions, precisions, BETA), abs=1e-6)


def test_each_function_costs_a_penalty(problem):
    alpha = np.linspace(0.5, 3.0, len(MIXED))
    for free in found(problem, MIXED, alpha).singles(9):
        same = [
            one
            for one in found(problem, MIXED, alpha, penalty=0.25).singles(9)
            if one.come == free.come and (one.gone == free.gone).all()
        ]
        for one in same:
            assert one.worth - free.worth == pytest.approx(0.25 * ((one.gone >= 0).sum() - 1))


def test_targets_share_the_precision_of_a_candidate(rng):
    """The sum over the targets, each with its own noise."""
    both = [problems.draw(rng, center=True) for _ in range(2)]
    Phi = both[0].Phi
    parts = [Problem(Phi, one.t, True) for one in both]
    t = np.stack([part.t for part in parts], axis=1)
    model = ExactEvidence(DenseDesign(Phi.copy(), center=True), t, Gaussian())
    alpha, betas = np.array([2.0, 0.5, 1.0]), [60.0, 9.0]
    state = model.at(Hyperparameters(np.array(WRONG), alpha, np.array(betas)))

    def evidence(active, precisions):
        return sum(p.evidence(active, precisions, b) for p, b in zip(parts, betas, strict=True))

    seen = Exchanges(model.frame, state, 0.0).singles(9)
    assert seen
    for one in seen:
        stay, left = without(WRONG, alpha, one.gone[one.gone >= 0].tolist())
        after = evidence([*stay, one.come[0]], np.append(left, one.alpha))
        assert one.worth == pytest.approx(after - evidence(WRONG, alpha), rel=1e-8, abs=1e-8)
        for factor in (0.9, 1.1):
            other = evidence([*stay, one.come[0]], np.append(left, factor * one.alpha))
            assert other < after + 1e-9


def test_many_candidates_are_looked_at_block_by_block(problem, monkeypatch):
    alpha = np.linspace(0.5, 3.0, len(MIXED))
    whole = found(problem, MIXED, alpha).singles(9)
    monkeypatch.setattr("relvec._evidence.exchanges.ENTRIES", 8)
    parts = found(problem, MIXED, alpha).singles(9)
    assert [one.worth for one in parts] == pytest.approx([one.worth for one in whole])


class Better:
    """An evidence model in which an exchange is always worth it."""

    there = Hyperparameters.empty(np.ones(1))

    def exchanges(self, hyper, least, penalty):
        return self.there, []


@pytest.mark.parametrize(
    ("worth", "n_functions", "improves"),
    [
        ([0.0], [1], True),
        ([0.0, -0.9], [1, 1], True),
        ([0.0, -1.1], [1, 1], False),
        ([-1.1, 0.0], [1, 1], True),
        ([0.0, -0.9], [2, 3], False),
        ([0.0, -1.1], [3, 2], True),
    ],
)
def test_a_start_that_ends_well_under_another_is_not_improved(worth, n_functions, improves):
    """Where a function has a price of half a nat, ends are compared less their prices."""
    ends = [
        LocalOptimum(Hyperparameters(np.arange(n), np.ones(n), np.ones(1)), evidence, ())
        for n, evidence in zip(n_functions, worth, strict=True)
    ]
    found = better_exchange(Better(), ends, tol=0.1, penalty=0.5)
    assert found is (Better.there if improves else None)
