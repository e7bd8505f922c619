"""Exchange of functions: moves that additions and deletions, one at a time, do not make."""

from __future__ import annotations

from collections.abc import Sequence

from relvec._evidence.base import EvidenceModel
from relvec._evidence.hyperparameters import Hyperparameters
from relvec.solvers.base import AGREEMENT, LocalOptimum
from relvec.solvers.newton import newton_ascent, promised

#: What an exchange has to be worth, in units of what a function has to: most fits leave one that is
#: worth a little, such as that of a function for its neighbour.
WORTH = 1.5


def better_exchange(
    model: EvidenceModel, ends: Sequence[LocalOptimum], tol: float, penalty: float
) -> Hyperparameters | None:
    """Hyperparameters after an exchange by which the evidence rises by `WORTH` times `tol`.

    It begins at the last of the `ends` of starts, unless another is over a nat better, or is much
    the same model: exchanges, each a pass, lead from one to where they led from that.
    Candidates come and active functions go. The best exchange of which that is known beforehand is
    taken, or else the first of a few that a Newton step in the other precisions makes worth it.
    None where there is no such exchange. Each function costs a `penalty` in nats.
    """
    here, worth = ends[-1], [end.log_evidence - penalty * len(end.hyper.alpha) for end in ends]
    if worth[-1] < max(worth) - AGREEMENT or any(_same(end, here, tol) for end in ends[:-1]):
        return None
    best, trials = model.exchanges(here.hyper, WORTH * tol, penalty)
    if best is not None:
        return best
    least = here.log_evidence - penalty * len(here.hyper.alpha) + WORTH * tol
    for there in trials:
        rise = promised(there, model.n, model.noise)
        if there.log_evidence + rise > least + penalty * len(there.hyper.alpha):
            there = newton_ascent(there, model.n, model.noise, tol, model.quick)
            if there.log_evidence > least + penalty * len(there.hyper.alpha):
                return there.hyper
    return None


def _same(one: LocalOptimum, other: LocalOptimum, tol: float) -> bool:
    """Return whether two ends have the same functions, and less than `tol` nats between them."""
    same = set(one.hyper.active.tolist()) == set(other.hyper.active.tolist())
    return same and abs(one.log_evidence - other.log_evidence) < tol
