"""Learn noise that varies with the inputs: searches for the function and for the log variance.

Targets have noise of variance σ²e^g(x), and g is a sparse function like y(x). Given the posterior
of g, rows have known precisions beside a common one, and the function is fitted as ever; given that
of the function, g is fitted to the expected squares of the noise by Laplace's method. Both
posteriors together have a lower bound of the log evidence, eq. R13, by which the alternation ends,
and by which constant noise, where it begins, is left or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from relvec._design import Design
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.posterior import Posterior
from relvec._evidence.scale_mixture import predictor_moments
from relvec._fitting.alternating import fit, hyper_of
from relvec._fitting.noise_model import LearntNoise, NoisySolution
from relvec._fitting.problem import Problem
from relvec._numerics.floats import SMALLEST
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis
from relvec.exceptions import NotConvergedWarning
from relvec.likelihoods import Likelihood
from relvec.likelihoods.chi_squared import ChiSquared
from relvec.solvers import Sequential, Solution
from relvec.solvers.base import first_of_best

#: Rounds at most, and the first ones, in which the search for the function begins anew, too: its
#: model may be the one that another noise led to.
ROUNDS, ANEW = 50, 2


def learn_noise(
    problem: Problem, basis: Basis, constant: Sequence[Solution], candidates: Basis
) -> list[Solution]:
    """Solution of every output, one a target, from that with constant Gaussian noise on.

    The basis has the candidates of the function, `candidates` those of the log variance.
    """
    data = problem.data
    functions = data.candidates(basis, problem.likelihood)
    squares = replace(data, intercept=True).candidates(candidates, ChiSquared())
    return [
        NoiseAlternation(problem, functions, squares, candidates, t).run(solution)
        for t, solution in zip(data.targets.values(), constant, strict=True)
    ]


class NoiseAlternation:
    """Rounds of a search for the log variance and one for the function, of a target t (n, 1).

    Of the designs at the same rows `squares` has the candidates of the log variance.
    """

    def __init__(
        self, problem: Problem, functions: Design, squares: Design, candidates: Basis, t: Array
    ) -> None:
        self.problem, self.functions, self.squares = problem, functions, squares
        self.candidates, self.t = candidates, t
        self.solver = problem.config.solver(functions)
        #: nats that functions have to be worth: one more of y(x), and one of the log variance
        self.price = problem.data.bic_penalty
        self.price_of_noise = max(float(np.log(max(squares.groups.count, 1))), self.price)
        self._begun: Hyperparameters | None = None

    def run(self, constant: Solution) -> Solution:
        """Solution with the highest bound, or with constant noise where that does not pay."""
        runner, at, best = self.problem.runner, constant, constant
        with runner.interruptible():
            for number in range(0 if runner.stopped else ROUNDS):
                found = self._log_variance(at)
                if not len(found.active):
                    break
                at = self._next(at, found, anew=number < ANEW)
                rise = at.log_evidence - best.log_evidence
                best = at if rise > 0 else best
                if rise < self.solver.tol or runner.stopped:
                    break
        return best if self._is_worth(best, constant) else constant

    def _log_variance(self, solution: Solution) -> Solution:
        """Search for the log variance given the posterior of the function, eq. R12."""
        assert isinstance(solution.posterior, Posterior)
        mean, covariance = predictor_moments(self.functions, solution.posterior, solution.active)
        square = (self.t - mean) ** 2 + covariance[:, 0]
        mean_square = np.average(square[:, 0], weights=self.squares.row_weights)
        square = np.maximum(square / max(mean_square, SMALLEST), SMALLEST)
        solver = Sequential(tol=self.price_of_noise, max_iter=self.solver.max_iter)
        found = fit(ChiSquared(), solver, self.squares, square, self._begun, self.problem.runner)
        self._begun = self._hyper(found, ChiSquared(), self.squares, square)
        return found

    def _next(self, at: Solution, found: Solution, *, anew: bool) -> Solution:
        """Search for the function given the log variance that was `found`."""
        data, runner = self.problem.data, self.problem.runner
        assert isinstance(found.posterior, Posterior)
        kept = self.candidates.restrict(found.active)
        noise = LearntNoise.of(
            kept, found.posterior, found.alpha, found.well_determined, data.X, data.weights
        )
        rows = self.functions.with_precision(noise.relative_precision(data.X))
        begun = self._hyper(at, at.likelihood, rows, self.t)
        tried = [
            fit(self.problem.likelihood, self.solver, rows, self.t, start, runner)
            for start in [begun, None][: 1 + anew]
        ]
        evidences = [one.log_evidence for one in tried]
        best = tried[first_of_best(evidences, data.total_weight)]
        bound = best.log_evidence - noise.cost(data.X, data.weights)
        row = best.history[-1]._replace(log_evidence=bound, start=at.history[-1].start)
        unfinished = [note for note in found.warnings if isinstance(note, NotConvergedWarning)]
        searched = vars(best) | {
            "log_evidence": bound,
            "history": [*at.history, row],
            "n_iter": at.n_iter + found.n_iter + sum(one.n_iter for one in tried),
            "warnings": (*unfinished, *best.warnings),
        }
        return NoisySolution(**searched, noise=noise)

    def _hyper(
        self, found: Solution, likelihood: Likelihood, design: Design, t: Array
    ) -> Hyperparameters | None:
        """Hyperparameters of a solution for a design of all candidates; None without functions."""
        if not len(found.active):
            return None
        kept = design.restrict(found.active)
        return replace(hyper_of(found, likelihood, kept, t), active=found.active)

    def _is_worth(self, found: Solution, constant: Solution) -> bool:
        """Return whether the bound pays for all functions that constant noise does without."""
        if not isinstance(found, NoisySolution):
            return False
        label = self.functions.groups.label
        more = _count(label[found.active]) - _count(label[constant.active])
        price = self.price_of_noise * _count(found.noise.basis.groups) + self.price * max(more, 0)
        return bool(found.log_evidence - constant.log_evidence > price)


def _count(labels: Index) -> int:
    """Number of different labels."""
    return len(np.unique(labels))
