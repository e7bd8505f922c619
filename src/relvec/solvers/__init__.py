"""Solvers: the search for the precisions that maximise the evidence."""

from relvec.solvers.base import Pass, Solution, Solver
from relvec.solvers.sequential import Sequential

#: Names that an estimator's ``solver`` takes.
SOLVERS: dict[str, type[Solver]] = {"sequential": Sequential}

__all__ = ["SOLVERS", "Pass", "Sequential", "Solution", "Solver"]
