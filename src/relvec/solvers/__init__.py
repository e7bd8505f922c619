"""Solvers: the search for the precisions that maximise the evidence."""

from relvec.solvers.alternating import fit
from relvec.solvers.base import Pass, Solution, Solver
from relvec.solvers.fixed_point import EM, FixedPoint
from relvec.solvers.sequential import Sequential
from relvec.solvers.variational import Variational

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
    "Pass",
    "Sequential",
    "Solution",
    "Solver",
    "Variational",
    "fit",
]
