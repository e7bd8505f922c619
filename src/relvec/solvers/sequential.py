"""The fast sequential solver: batches of exact additions and joint Newton steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.utils.random import sample_without_replacement

from relvec._design.base import EVERY, Design, in_units
from relvec._evidence import Hyperparameters, evidence_model
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array, RowVector
from relvec._runner.runner import Runner
from relvec.likelihoods.base import Likelihood
from relvec.solvers.base import Solution, Solver
from relvec.solvers.forward import ForwardSelection, LocalOptimum
from relvec.solvers.report import AGREEMENT, notes

#: Weights up to which a start by updates of all functions is affordable: a pass costs their cube.
MAX_WEIGHTS = 800
#: Rows that a search begins with where a look at all is a pass.
FEW_ROWS = 16_000


@dataclass(frozen=True)
class Sequential(Solver):
    """Greedy ascent of the evidence from several starts that share the cached work.

    A pass adds a batch of functions, each the exact best given the earlier ones, takes Newton steps
    in (log α, log β), and deletes what is not worth `tol` (Tipping & Faul 2003 take one action at a
    time). Learning the noise from an empty model lets it swallow the signal, so it is held until
    the first convergence. Where few directions span the dictionary, a start from all functions
    at once comes first; it costs little there, and finds what additions alone do not.
    Further starts begin bottom-up, then where MacKay's updates lead from all functions if they are
    not too many, then leave the best model so far with the noise held at half or twice what was
    learnt there.
    """

    def __post_init__(self) -> None:
        if not self.alpha_prior.uniform:
            prior = (self.alpha_prior.shape, self.alpha_prior.rate)
            raise ValueError(
                f"alpha_prior={prior}, expected (0, 0) with solver='sequential': under any other "
                "prior of the precisions what a function is worth has no closed form, and with a "
                "rate none could be left out; use solver='fixed_point', 'em' or 'variational'"
            )

    def solve(self, design: Design, t: Array, likelihood: Likelihood) -> Solution:
        """Maximise the evidence; see `Solver.solve`."""
        search = self._search(design, t, likelihood)
        openings = self._openings(search, design.shape[1] * likelihood.n_outputs)
        if search.inference.evaluation_is_a_pass:
            begun = self.progress.once(partial(self._of_few_rows, design, t, likelihood))
            if begun is not None:
                openings.insert(0, partial(search.onward, begun))
        endings: list[LocalOptimum] = []
        for start in range(self.n_starts):
            if start and search.exhausted():
                break
            if start < len(openings):
                begin = openings[start]
            else:
                begin = partial(search.leave, self._best(endings).hyper)
            self._make(search, partial(begin, start), endings)
        return self._solution(search, endings)

    def _of_few_rows(
        self, design: Design, t: RowVector, likelihood: Likelihood
    ) -> Hyperparameters | None:
        """The model of some rows in memory, from which few passes over all are left.

        None where they cannot stand for all: a class may be too rare to be among them.
        """
        rows = sample_without_replacement(
            design.shape[0], min(FEW_ROWS, design.shape[0]), random_state=0
        )
        few, (some,) = design.subset(np.sort(rows), t)
        try:
            likelihood.check(some)
        except ValueError:
            return None
        alone = replace(self, n_starts=1, verbose=0, progress=Runner())
        found = alone.solve(few, some, likelihood)
        alpha = in_units(found.alpha, design.weight_unit[found.active])
        return Hyperparameters.of_functions(design, found.active, alpha, np.ones(1))

    def _make(
        self,
        search: ForwardSelection,
        begin: Callable[[], LocalOptimum],
        endings: list[LocalOptimum],
    ) -> None:
        """Make a start; if Ctrl-C ends it, where it came to is its ending."""
        search.reached = None
        with self.progress.interruptible(lambda: bool(endings or search.reached)):
            endings.append(begin())
            return
        search.exhausted()
        if search.reached:
            endings.append(search.reached)

    def resume(
        self, design: Design, t: Array, likelihood: Likelihood, hyper: Hyperparameters
    ) -> Solution:
        """Maximise the evidence from a model on; see `Solver.resume`."""
        search, endings = self._search(design, t, likelihood), list[LocalOptimum]()
        begun = hyper.in_units(design.weight_unit[hyper.active])
        self._make(search, partial(search.onward, begun, 0), endings)
        return self._solution(search, endings)

    def _search(self, design: Design, t: Array, likelihood: Likelihood) -> ForwardSelection:
        return ForwardSelection(
            evidence_model(likelihood, design, t),
            tol=self.tol,
            max_iter=self.max_iter,
            verbose=self.verbose > 0,
            progress=self.progress,
        )

    def _openings(
        self, search: ForwardSelection, n_weights: int
    ) -> list[Callable[[int], LocalOptimum]]:
        openings: list[Callable[[int], LocalOptimum]] = [search.bottom_up]
        opening: Hyperparameters | None = self.progress.once(search.inference.low_rank_start)
        if opening is not None:
            openings.insert(0, partial(search.top_down, opening))
        if n_weights <= MAX_WEIGHTS:
            openings.append(search.by_updates)
        return openings

    def _solution(self, search: ForwardSelection, endings: list[LocalOptimum]) -> Solution:
        best = self._best(endings)
        agreed = sum(self._judged(best) - self._judged(e) <= AGREEMENT for e in endings)
        hyper = with_opposite(search.inference.design, best.hyper)
        accepted = search.inference.finalize(hyper)
        return Solution.of(
            accepted,
            history=best.history,
            n_iter=search.n_iter,
            notes=notes(
                search.inference,
                best.hyper,
                accepted,
                believed=search.inference.user_evidence(best.log_evidence),
                stopped=self.stopped() if search.out_of_passes else None,
            ),
            summary=f"{'stopped' if search.out_of_passes else 'converged'}: {agreed} of "
            f"{len(endings)} starts within {AGREEMENT:g} nat of the best",
        )

    def _judged(self, ending: LocalOptimum) -> float:
        """Log evidence of a start less what its functions are charged with."""
        return ending.log_evidence - self.charge * len(ending.hyper.alpha)

    def _best(self, endings: list[LocalOptimum]) -> LocalOptimum:
        """The best of some endings; of those that rounding does not tell apart, the first."""
        most = max(map(self._judged, endings))
        least = most - ROUNDINGS * abs(most)
        return next(ending for ending in endings if self._judged(ending) >= least)


def with_opposite(design: Design, hyper: Hyperparameters) -> Hyperparameters:
    """Let the only function share its place with the candidate that is its exact opposite.

    Of two points beside an intercept both functions say the same of the rows, up to the sign.
    Nothing in the data prefers one, though they differ elsewhere; half the prior variance for each
    leaves the evidence as it is, and mirror images have mirrored predictions.
    """
    if len(hyper.active) != 1 or not design.groups.single:
        return hyper
    rows = design.columns(hyper.active), design.row_weights
    (cosine,) = design.sum_rows(_products, *rows, index=EVERY)
    opposite = np.flatnonzero(1 + cosine < ROUNDINGS)
    if len(opposite) != 1:
        return hyper
    return replace(hyper, alpha=2 * hyper.alpha).add(opposite, 2 * hyper.alpha)


def _products(columns: Array, function: Array, weights: Array) -> tuple[Array, ...]:
    return ((weights * function[:, 0]) @ columns,)
