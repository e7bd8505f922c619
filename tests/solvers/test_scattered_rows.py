"""The sequential search where the rows are elsewhere and a look at them costs a pass."""

from dataclasses import replace

import numpy as np
import pytest

from relvec._evidence import laplace as laplace_evidence
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.laplace import LaplaceEvidence
from relvec._fitting.alternating import fit
from relvec.likelihoods import Bernoulli, Categorical, Poisson
from relvec.solvers import FixedPoint, Sequential, Variational
from tests.support import laplace
from tests.support.scattered import Scattered


def solve(solver, problem, design):
    t = design.scatter(problem.t) if isinstance(design, Scattered) else problem.t
    return fit(problem.likelihood, solver, design, t)


@pytest.fixture(params=[Bernoulli(), Categorical(3), Poisson()], ids=lambda row: type(row).__name__)
def problem(request):
    return laplace.smooth(request.param, True, n=60, width=1.5)


@pytest.mark.parametrize("solver", [Sequential(), FixedPoint(tol=0.1)])
def test_the_same_starts_end_in_the_same_model(problem, solver, monkeypatch):
    """With looks that cost nothing the search is the same, wherever the rows are."""
    monkeypatch.setattr(Scattered, "evaluation_is_a_pass", False)
    monkeypatch.setattr(LaplaceEvidence, "low_rank_starts", lambda self: ())
    one, other = (
        solve(solver, problem, design) for design in (problem.design, Scattered(problem.design))
    )
    np.testing.assert_array_equal(other.active, one.active)
    np.testing.assert_allclose(other.alpha, one.alpha, rtol=1e-6)
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-8)


def test_the_bound_of_two_classes_is_climbed_to_the_same_model():
    problem = laplace.smooth(Bernoulli(), True, n=40, width=1.5)
    designs = problem.design, Scattered(problem.design)
    one, other = (solve(Variational(max_iter=10_000), problem, design) for design in designs)
    np.testing.assert_array_equal(other.active, one.active)
    np.testing.assert_allclose(other.alpha, one.alpha, rtol=1e-6)


def test_a_search_that_begins_with_few_rows_ends_as_well_as_one_with_all(problem, monkeypatch):
    """Nothing is left that is worth `tol`; the evidence is that of the other way within a nat."""
    monkeypatch.setattr(laplace_evidence, "FEW_ROWS", 30)
    design, solver = Scattered(problem.design), Sequential()
    found = solve(solver, problem, design)
    reference = solve(replace(solver, n_starts=3), problem, problem.design)
    assert found.log_evidence > reference.log_evidence - 1
    assert not found.warnings
    inference = problem.inference
    alpha = found.alpha * problem.design.weight_unit[found.active] ** 2
    point = inference.at(Hyperparameters(found.active, alpha))
    assert inference.scores(point).gain.max() < solver.tol


def test_a_class_too_rare_for_few_rows_is_found_with_all(monkeypatch):
    problem = laplace.smooth(Bernoulli(), True, n=120, width=1.5)
    monkeypatch.setattr(laplace_evidence, "FEW_ROWS", 10)
    t, drawn = np.zeros((120, 1)), []
    t[50:58] = 1.0
    rare = replace(problem, t=t)
    subset = Scattered.subset

    def noted(design, rows, *vectors):
        drawn.append(rows)
        return subset(design, rows, *vectors)

    monkeypatch.setattr(Scattered, "subset", noted)
    found = solve(Sequential(), rare, Scattered(rare.design))
    assert not t[drawn[0]].any()
    reference = solve(Sequential(n_starts=3), rare, rare.design)
    assert found.log_evidence > reference.log_evidence - 1
