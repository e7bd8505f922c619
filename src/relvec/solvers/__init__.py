"""Solvers: the search for the precisions that maximise the evidence."""

from relvec._evidence.hyperparameters import Hyperparameters
from relvec.solvers.base import LocalOptimum, Pass, Solution, Solver, Status
from relvec.solvers.forward import Sequential
from relvec.solvers.newton import newton_ascent
from relvec.solvers.updates import EM, FixedPoint, Variational

#: Names that an estimator's ``solver`` takes.
SOLVERS: dict[str, type[Solver]] = {
    "sequential": Sequential,
    "fixed_point": FixedPoint,
    "em": EM,
    "variational": Variational,
}

__all__ = [
    "EM",
    "SOLVERS",
    "FixedPoint",
    "Hyperparameters",
    "LocalOptimum",
    "Pass",
    "Sequential",
    "Solution",
    "Solver",
    "Status",
    "Variational",
    "newton_ascent",
]
