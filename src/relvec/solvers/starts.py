"""Starts of forward selection, their stages, and its state between two passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._evidence.base import WarmStart
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._numerics.typing import Array
from relvec.solvers.backward import BackwardState
from relvec.solvers.base import LocalOptimum, Pass

#: Stages of each kind of start. Of them "hold", "release", "ascend", "refine", "update", "delete
#: large group" and "exchange" make passes; the others lead from one to the next.
IMPROVED = ("delete large group", "exchange", "polish")
FROM_LOW_RANK = ("ascend", "delete copies", "refine", *IMPROVED)
FROM_FEW = ("ascend", "refine", *IMPROVED)
BOTTOM_UP = ("add first", "hold", "release", *IMPROVED)
BOTTOM_UP_PENALISED = ("add first", "hold", "release", "delete copies", *IMPROVED)
FROM_NOTHING = ("empty", "ascend", "delete copies", *IMPROVED)
FROM_UPDATES = ("update", *FROM_LOW_RANK)
FROM_BEST = ("perturb noise", "hold", "release", *IMPROVED)


@dataclass(frozen=True)
class Start:
    """A start that is still to be made: its stages, and the model it begins with, if any.

    In the last one, where functions have to be worth more, `price` says how many nats.
    """

    stages: tuple[str, ...]
    hyper: Hyperparameters | None = None
    price: float = 0.0

    @property
    def n_groups(self) -> int:
        """Groups of functions in the model that it begins with."""
        return 0 if self.hyper is None else len(self.hyper.alpha)


@dataclass(frozen=True)
class ForwardState:
    """Forward selection between two passes."""

    starts: tuple[Start, ...]  # starts that are still to be made
    #: what is left of the present start, its present stage first; none where it has ended
    stages: tuple[str, ...]
    hyper: Hyperparameters  # where the next pass begins
    best: Hyperparameters  # where the best pass of the present start ended
    log_evidence: float = -np.inf  # there, in the design's units
    history: tuple[Pass, ...] = ()  # passes that led there
    endings: tuple[LocalOptimum, ...] = ()  # where earlier starts ended
    n_iter: int = 0  # passes of all starts so far
    warm: WarmStart | None = None  # what the last pass knew of the weights
    best_warm: WarmStart | None = None  # what the best pass of the present start knew of them
    #: (n_candidates,), gains of candidates when they were last scored, see `CandidateScores`
    known: Array | None = None
    #: whether the next pass is the best whatever its evidence: it compares with no earlier one
    fresh: bool = True
    thorough: bool = False  # whether the next pass goes on to full convergence
    exact: bool = False  # whether the evidence model has stopped to neglect parts of functions
    updates: BackwardState | None = None  # state of the stage "update"
    price: float = 0.0  # nats that functions have to be worth, if more than `tol`
    only: bool = False  # whether the search begins where it was told to, and nowhere else

    @property
    def reached(self) -> tuple[LocalOptimum, ...]:
        """Ends of all starts so far, of the present one too if it has made a pass."""
        present = LocalOptimum(self.best, self.log_evidence, self.history)
        return (*self.endings, present) if self.history or not self.endings else self.endings

    def changed(self, **fields: Any) -> ForwardState:
        """Return the state with other values in some fields."""
        other = object.__new__(ForwardState)  # many a pass: a tenth of what `replace` takes
        vars(other).update(vars(self), **fields)
        return other

    def ascending(
        self, hyper: Hyperparameters, warm: WarmStart | None = None, *, fresh: bool = True
    ) -> ForwardState:
        """Make the next pass from some hyperparameters, of whose candidates nothing is known."""
        return self.changed(hyper=hyper, warm=warm, known=None, thorough=False, fresh=fresh)

    def after_stage(self) -> ForwardState:
        """Leave the present stage."""
        return self.changed(stages=self.stages[1:])

    def next_start(self) -> ForwardState:
        """Begin the next start."""
        start, *later = self.starts
        hyper = start.hyper or self.hyper
        return self.ascending(hyper).changed(
            best=hyper,
            best_warm=None,
            log_evidence=-np.inf,
            history=(),
            starts=tuple(later),
            stages=start.stages,
            price=start.price,
        )
