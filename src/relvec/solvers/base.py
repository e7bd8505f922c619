"""Base class of the solvers, and the solution that they return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from relvec._design.base import EVERY, Design
from relvec._evidence import EvidenceModel, SparseModel, evidence_model
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.noise import LEAST_FREEDOM, NOISE_FLOOR
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.priors import UNIFORM, Gamma
from relvec._numerics.typing import Array
from relvec.exceptions import (
    Advice,
    EmptyModelWarning,
    NoiseFloorWarning,
    NotConvergedWarning,
    PrecisionWarning,
    RelvecWarning,
)
from relvec.likelihoods.base import Likelihood

#: Evidences that are this close, in nats, are those of one optimum.
AGREEMENT = 1.0


class Pass(NamedTuple):
    """One pass of a solver: a row of ``history_``.

    Attributes
    ----------
    start : int
        Number of the start, from 0.
    log_evidence : float
        Log evidence after the pass, in the users' units.
    n_active : int
        Functions in the model.
    noise_variance : float
        σ² in squared units of the target, of several targets the geometric mean; NaN for
        likelihoods without noise.
    seconds : float
        Time since the fit began; NaN until a `Runner` has seen the pass.
    machine : int
        Number of the machine, where an estimator trains several.
    """

    start: int
    log_evidence: float
    n_active: int
    noise_variance: float
    seconds: float = float("nan")
    machine: int = 0


def evidence_rounding(log_evidence: float, n: float) -> float:
    """Return what rounding may move the log evidence of n observations by, in nats."""
    return ROUNDINGS * (n + abs(log_evidence))


def first_of_best(log_evidences: Sequence[float], n: float) -> int:
    """Return which of some log evidences of n observations is the largest, rounding aside.

    Of those that rounding does not tell apart it is the first; NaN is less than any other.
    """
    values = np.where(np.isnan(log_evidences), -np.inf, log_evidences)
    most = float(values.max())
    return int(np.argmax(values >= most - evidence_rounding(most, n)))


def rows_up_to(rows: tuple[Pass, ...], log_evidence: float, n: float) -> tuple[Pass, ...]:
    """Return the rows of a history that are not above a log evidence of n observations.

    Rounding aside: what comes to rest where it begins may end a last digit lower.
    """
    most = log_evidence + evidence_rounding(log_evidence, n)
    return tuple(row for row in rows if row.log_evidence <= most)


@dataclass(frozen=True)
class Status:
    """End of a search.

    Attributes
    ----------
    code : str
        ``"converged"``, ``"max_iter"``, ``"interrupted"`` (Ctrl-C), ``"callback"``, or
        ``"running"`` of a search that goes on.
    text : str
        The same in words.
    starts : int
        Starts that were made.
    agreed : int
        Starts whose evidence is within a nat of the best, which is one of them; 0 where one was
        made or asked for, which has none to agree with.
    """

    code: str
    text: str
    starts: int = 1
    agreed: int = 0


@dataclass(frozen=True)
class Solution(SparseModel):
    """Model that a solver found, with the way there.

    Attributes
    ----------
    history : list of Pass
        Passes of the start that ended in this model.
    n_iter : int
        Passes of all starts together.
    warnings : tuple of RelvecWarning
        What the user should know, worst first; empty if there is nothing.
    status : Status
        How the search ended.
    """

    history: list[Pass]
    n_iter: int
    warnings: tuple[RelvecWarning, ...]
    status: Status

    @classmethod
    def of(cls, model: SparseModel, **search: Any) -> Self:
        """Add to a model what is known of the search."""
        return cls(**vars(model), **search)


class State(Protocol):
    """State of a search between two passes: a frozen dataclass.

    Attributes
    ----------
    n_iter : int
        Passes of all starts so far.
    history : tuple of Pass
        Those that led to the best model of the present start.
    """

    @property
    def n_iter(self) -> int:
        """See above."""

    @property
    def history(self) -> tuple[Pass, ...]:
        """See above."""


@dataclass(frozen=True)
class LocalOptimum:
    """End of a start.

    Attributes
    ----------
    hyper : Hyperparameters
    log_evidence : float
        In the design's units.
    history : tuple of Pass
        The passes that led there.
    """

    hyper: Hyperparameters
    log_evidence: float
    history: tuple[Pass, ...]


@dataclass(frozen=True)
class Solver(ABC):
    """Search for the precisions, and with them the functions, that maximise the evidence.

    A search is a state that each pass replaces by the next. A solver has parameters and no state,
    and knows no row, file or clock: a `Runner` makes the passes, and tells of them.

    Parameters
    ----------
    tol : float
        Nats of log evidence that a function must gain.
    max_iter : int
        Passes of all starts together.
    n_starts : int
        Starts, of which the evidence picks the best.
    multiplicity_penalty : float
        Nats that every function costs where starts are compared: −log of the prior odds that it
        matters.
    alpha_prior : Gamma
        Prior of every weight's precision in the users' units.
    """

    tol: float = 0.03
    max_iter: int = 1000
    n_starts: int = 1
    multiplicity_penalty: float = 0.0
    alpha_prior: Gamma = UNIFORM

    def evidence_model(self, likelihood: Likelihood, design: Design, t: Array) -> EvidenceModel:
        """Evidence of models of the candidates, for a target t of shape (n_samples, n_targets)."""
        return evidence_model(likelihood, design, t)

    @abstractmethod
    def init(self, model: EvidenceModel, start: Hyperparameters | None = None) -> Any:
        """State before the first pass, see `State`.

        A search from a `start`, whose precisions are those of the candidates as they are, makes no
        other. Solvers that begin with all functions do so whatever the start.
        """

    @abstractmethod
    def step(self, model: EvidenceModel, state: Any) -> Any:
        """State after one pass more, with a row of history if the pass found a better model."""

    @abstractmethod
    def done(self, state: Any) -> bool:
        """Return whether no pass is left to be made."""

    @abstractmethod
    def result(self, model: EvidenceModel, state: Any) -> Solution:
        """Best model so far, of any state after the first pass."""

    def restore(self, model: EvidenceModel, state: Any) -> None:
        """Prepare a new evidence model for a state that passes on an equal one led to."""
        del model, state

    def solve(self, model: EvidenceModel, start: Hyperparameters | None = None) -> Solution:
        """Make all passes, unwatched."""
        state = self.init(model, start)
        while not self.done(state):
            state = self.step(model, state)
        return self.result(model, state)

    def not_converged(self) -> NotConvergedWarning:
        """Warning of a search that ran out of passes."""
        return NotConvergedWarning(
            f"stopped after max_iter={self.max_iter} passes", Advice("raise {}", "max_iter")
        )

    def row(
        self, model: EvidenceModel, start: int, log_evidence: float, hyper: Hyperparameters
    ) -> Pass:
        """Row of history of a pass, with its log evidence in the users' units."""
        noise_variance = model.noise_variance(hyper.beta)
        return Pass(start, log_evidence, len(hyper.active), noise_variance)

    def solution(
        self,
        model: EvidenceModel,
        best: LocalOptimum,
        n_iter: int,
        status: Status,
        believed: float | None = None,
    ) -> Solution:
        """Solution of a search whose best model is known.

        Parameters
        ----------
        model : EvidenceModel
        best : LocalOptimum
        n_iter : int
        status : Status
        believed : float, default=None
            Log evidence in the users' units that the search saw there, by default as in `best`.
        """
        found = model.finalize(best.hyper)
        if believed is None:
            believed = model.user_evidence(best.log_evidence)
        told: list[RelvecWarning] = []
        if status.code == "max_iter":
            told.append(self.not_converged())
        elif status.code == "converged":
            told += _warnings_of(model, best.hyper, found)
        if believed - found.log_evidence > max(AGREEMENT, 1e-6 * abs(believed)):
            told.append(
                PrecisionWarning(
                    f"the search believed in a log evidence of {believed:.6g} but the kept "
                    f"functions have {found.log_evidence:.6g}: digits were lost",
                    Advice("use a narrower kernel (a larger {})", "gamma"),
                    Advice("a larger {} where there is one", "noise_variance"),
                )
            )
        return Solution.of(
            found, history=list(best.history), n_iter=n_iter, warnings=tuple(told), status=status
        )


def _warnings_of(
    model: EvidenceModel, hyper: Hyperparameters, found: SparseModel
) -> list[RelvecWarning]:
    """Warnings of a model at which a search came to rest."""
    if not len(found.active):
        text = "no basis function raises the evidence, so the model predicts a constant"
        return [EmptyModelWarning(text, Advice("check y"), Advice("check {}", "gamma"))]
    if model.noise.held:
        return []
    if (hyper.beta >= model.noise.beta_max).any():
        return [
            NoiseFloorWarning(
                f"noise at its floor, {NOISE_FLOOR:g} of the variance of y: the targets are "
                "noise-free or interpolated",
                Advice("set {} if you know it", "noise_variance"),
            )
        ]
    # of the target whose weights use up most
    used, n = float(np.atleast_2d(found.well_determined).sum(axis=1).max()), model.n
    if n - used + 2 * model.noise.prior.shape <= LEAST_FREEDOM * n:
        return [
            NoiseFloorWarning(
                f"the kept functions use up {used:.1f} of {n:g} observations and leave too few "
                "to learn the noise from",
                Advice("use a wider kernel (a smaller {})", "gamma"),
                Advice("set {} if you know it", "noise_variance"),
            )
        ]
    return []


def with_opposite(design: Design, hyper: Hyperparameters) -> Hyperparameters:
    """Let the only function share its place with the candidate that is its exact opposite.

    Of two points beside an intercept both functions say the same of the rows, up to the sign.
    Nothing in the data prefers one, though they differ elsewhere; half the prior variance for each
    leaves the evidence as it is, and mirror images have mirrored predictions.
    """
    if len(hyper.active) != 1 or not design.groups.single:
        return hyper
    rows = design.columns(hyper.active), design.row_weights
    _, (cosine,) = design.weighted_sums(_weighted, *rows, index=EVERY)
    opposite = np.flatnonzero(1 + cosine < ROUNDINGS)
    if len(opposite) != 1:
        return hyper
    return replace(hyper, alpha=2 * hyper.alpha).add(opposite, 2 * hyper.alpha)


def _weighted(function: Array, weights: Array) -> tuple[Array, Array]:
    return np.empty((0, len(weights))), (weights * function[:, 0])[None]
