"""What every solver takes and returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from relvec._design.base import Design
from relvec._evidence.base import SparseModel
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._numerics.priors import UNIFORM, Gamma
from relvec._numerics.typing import Array
from relvec._runner.runner import Runner
from relvec.exceptions import NotConvergedWarning, RelvecWarning
from relvec.likelihoods.base import Likelihood


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
        Time since the fit began.
    machine : int
        Number of the machine, where an estimator trains several.
    """

    start: int
    log_evidence: float
    n_active: int
    noise_variance: float
    seconds: float
    machine: int = 0


@dataclass(frozen=True)
class Solution(SparseModel):
    """What a solver found: a model, and how the search for it went.

    Attributes
    ----------
    history : list of Pass
        Passes of the ascent that ended in this model.
    n_iter : int
        Passes of all starts together.
    notes : tuple of RelvecWarning
        What the user should know, worst first; empty if there is nothing.
    summary : str
        How the search ended.
    """

    history: list[Pass]
    n_iter: int
    notes: tuple[RelvecWarning, ...]
    summary: str

    @classmethod
    def of(cls, accepted: SparseModel, **search: Any) -> Self:
        """Add to a model what is known of the search."""
        return cls(**vars(accepted), **search)

    @property
    def status(self) -> str:
        """The diagnosis in words."""
        return "; ".join([*map(str, self.notes), self.summary])


@dataclass(frozen=True)
class Solver(ABC):
    """Search for the precisions, and with them the functions, that maximise the evidence.

    Parameters
    ----------
    tol : float
        Nats of log evidence that a function must be worth.
    max_iter : int
        Passes of all starts together.
    n_starts : int
        Starts, of which the evidence picks the best.
    charge : float
        Nats that every function is charged with where starts are compared: −log of the prior odds
        that it matters.
    verbose : int
        Positive: print a row a pass.
    alpha_prior : Gamma
        Prior of every weight's precision in the users' units.
    progress : Runner
        Makes the passes, so that a fit may be told of, interrupted and resumed.
    """

    tol: float = 0.03
    max_iter: int = 1000
    n_starts: int = 1
    charge: float = 0.0
    verbose: int = 0
    alpha_prior: Gamma = UNIFORM
    progress: Runner = field(default_factory=Runner, compare=False, repr=False)

    def stopped(self) -> tuple[RelvecWarning, ...]:
        """What is to be said of a search that did not come to rest.

        Of the user or a callback that ended the fit it speaks itself, for all its searches at once.
        """
        if self.progress.stopped:
            return ()
        stopped = f"stopped after max_iter={self.max_iter} passes; raise max_iter"
        return (NotConvergedWarning(stopped),)

    @abstractmethod
    def solve(self, design: Design, t: Array, likelihood: Likelihood) -> Solution:
        """Fit the candidates of `design` to the target `t` (n_samples, …) under `likelihood`."""

    def resume(
        self, design: Design, t: Array, likelihood: Likelihood, hyper: Hyperparameters
    ) -> Solution:
        """Fit from a model on, whose precisions are those of the candidates as they are.

        A solver that begins with all functions begins again.
        """
        del hyper
        return self.solve(design, t, likelihood)
