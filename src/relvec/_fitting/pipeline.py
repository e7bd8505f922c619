"""The fit as one pipeline of values: data → placed basis → [scales] → design → search → result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from relvec._fitting.augmentation import check_augmentable
from relvec._fitting.centers import LOOKED_AT, choose_centers, distinct, looked_at
from relvec._fitting.correlated_rows import CorrelatedData
from relvec._fitting.correlation import correlated
from relvec._fitting.data import TrainingData
from relvec._fitting.noise import learn_noise
from relvec._fitting.problem import FitConfig, Problem
from relvec._fitting.residuals import with_underfit
from relvec._fitting.result import FitResult
from relvec._fitting.scales import learn_scales
from relvec._fitting.stages import in_stages
from relvec._numerics.linalg import NotPositiveDefiniteError, single_threaded
from relvec._runner.runner import Runner
from relvec.basis import Basis, Centers, Precomputed
from relvec.likelihoods import Likelihood
from relvec.solvers import Solution

#: Rows on which scales are learnt where the candidates at all of them are not stored.
SCALE_ROWS = 2000
#: Error of weights that float64 has no digits for.
NO_DIGITS = (
    "no digits of float64 are left for the weights: X, y or sample_weight reach over too many "
    "orders of magnitude for functions so much alike"
)


def fit(
    data: TrainingData,
    basis: Basis,
    likelihood: Likelihood,
    config: FitConfig,
    runner: Runner,
    noise: Callable[[Basis], Basis] | None = None,
) -> FitResult:
    """Fit validated data with all candidates, as `place` returns them, and drive the searches.

    Where the noise is to be learnt, `noise` makes of the candidates of the function, their scales
    learnt, those of the log variance. OverflowError says that no digits of float64 are left for the
    weights.
    """
    data = data.without_unused()
    data.check(likelihood)
    problem = Problem(data, likelihood, config, runner)
    rows_correlated = isinstance(data, CorrelatedData)
    staged = data.learns_scales(basis) or data.has_stages(basis)
    staged = staged or noise is not None or rows_correlated
    # Of several outputs, or of several searches, there is no model in between.
    preview = None if staged or len(data.targets) > 1 else partial(_preview, problem, basis)
    n_tasks = None if staged else problem.n_tasks
    with single_threaded(), runner.fitting(n_tasks, preview) as conclude:
        try:
            search = partial(_searched, basis)
            if rows_correlated:
                basis, solutions = correlated(problem, search)
            elif staged:
                basis, solutions = search(problem)
            else:
                solutions = problem.solve(basis)
            if noise is not None:
                solutions = learn_noise(problem, basis, solutions, noise(basis))
        except NotPositiveDefiniteError as error:
            raise OverflowError(NO_DIGITS) from error
        if not all(np.isfinite(solution.log_evidence) for solution in solutions):
            raise OverflowError(NO_DIGITS)
        result = FitResult.of(problem, basis, solutions, runner.warning)
        result = with_underfit(result, data, config.order)
        conclude(result)
    return result


def _searched(basis: Basis, problem: Problem) -> tuple[Basis, list[Solution]]:
    """Functions with what their basis learns, and the solution of every output."""
    if problem.data.learns_scales(basis):
        return scaled(problem, basis)
    if problem.data.has_stages(basis):
        return in_stages(problem, basis)
    return basis, problem.solve(basis)


def _preview(problem: Problem, basis: Basis, solution: Solution) -> FitResult:
    """Return the result of the only search as it is."""
    return FitResult.of(problem, basis, [solution], None)


def scaled(problem: Problem, basis: Basis) -> tuple[Basis, list[Solution]]:
    """Learn the scales, on some of the rows if not all fit in memory, and fit every output."""
    if problem.data.fits_in_memory(basis):
        return learn_scales(problem, basis)
    basis, _ = learn_scales(problem.on_rows(SCALE_ROWS), basis)
    return basis, problem.solve(basis)


def place(data: TrainingData, basis: Basis, config: FitConfig, runner: Runner) -> Basis:
    """Return all candidates, centred on some of the rows, at scales that the rows suggest."""
    data.check_range()
    draw, needed = config.random_state, basis.centred or basis.follows_rows
    some = looked_at(config.centers, len(data.used), draw, runner.once, needed=needed)
    rows = data.used[some]
    X, positions = data.inputs_at(rows)
    if basis.centred and not isinstance(basis, Precomputed):
        positions = distinct(X, positions)
    centers = choose_centers(
        config.centers,
        positions,
        X,
        draw,
        capped=basis.centred,
        n_rows=len(data.used) if len(data.used) > LOOKED_AT else None,
        once=runner.once,
    )
    if (centers.rows >= 0).any():
        centers = Centers(centers.points, data.row_numbers(centers.rows, rows))
    where, weights = data.rows_at(rows) if basis.follows_rows else data.placement()
    placed = basis.place(where, centers, weights)
    if config.augment:
        check_augmentable(placed)
    return placed
