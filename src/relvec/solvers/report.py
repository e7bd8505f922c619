"""What a solver says of how its search went: a row a pass, and what the user should know."""

from __future__ import annotations

import numpy as np

from relvec._evidence import EvidenceModel, Hyperparameters, SparseModel
from relvec._evidence.noise import LEAST_FREEDOM, NOISE_FLOOR
from relvec._runner.runner import Runner
from relvec.exceptions import EmptyModelWarning, NoiseFloorWarning, PrecisionWarning, RelvecWarning
from relvec.solvers.base import Pass, Solution

#: Evidences that are this close, in nats, are those of one optimum.
AGREEMENT = 1.0


class History:
    """Rows of `history_` with the time since the fit began, printed where the user asked.

    Parameters
    ----------
    inference : EvidenceModel
        Knows the noise in the users' units.
    progress : Runner
        Knows the time.
    verbose : bool
        Print a row a pass.
    """

    def __init__(self, inference: EvidenceModel, progress: Runner, *, verbose: bool) -> None:
        self._inference, self._progress, self._verbose = inference, progress, verbose
        self._began = progress.once(progress.seconds)

    def row(self, number: int, start: int, log_evidence: float, hyper: Hyperparameters) -> Pass:
        """Row of pass `number`, with a log evidence in the users' units."""
        row = Pass(
            start,
            log_evidence,
            len(hyper.active),
            self._inference.noise_variance(hyper.beta),
            self._progress.seconds() - self._began,
        )
        if self._verbose:
            _print_row(number, row)
        return row


def _print_row(number: int, row: Pass) -> None:
    if number == 1:
        print(" pass  start  log evidence  functions     noise sd   seconds")
    print(
        f"{number:5d}  {row.start:5d}  {row.log_evidence:12.3f}  {row.n_active:9d}"
        f"  {row.noise_variance**0.5:11.5g}  {row.seconds:8.2f}"
    )


def so_far(accepted: SparseModel, history: list[Pass], n_iter: int) -> Solution:
    """What a search has found that goes on."""
    return Solution.of(
        accepted, history=history, n_iter=n_iter, notes=(), summary=f"after {n_iter} passes"
    )


def notes(
    inference: EvidenceModel,
    hyper: Hyperparameters,
    accepted: SparseModel,
    *,
    believed: float,
    stopped: tuple[RelvecWarning, ...] | None,
) -> tuple[RelvecWarning, ...]:
    """What the user should know of how the search went, worst first.

    Parameters
    ----------
    inference : EvidenceModel
    hyper : Hyperparameters
        Where the search ended.
    accepted : Accepted
        The same in the users' units.
    believed : float
        Log evidence that the search saw there, in the users' units.
    stopped : tuple of Warning or None
        What is to be said of its end, if it did not come to rest.
    """
    found: list[RelvecWarning] = []
    if stopped is not None:
        found += stopped
    elif not len(accepted.active):
        found.append(
            EmptyModelWarning(
                "no basis function raises the evidence, so the model predicts a constant; "
                "check y and gamma"
            )
        )
    elif not inference.noise.held:
        found += _noise_notes(inference, hyper, accepted)
    if believed - accepted.log_evidence > max(AGREEMENT, 1e-6 * abs(believed)):
        found.append(
            PrecisionWarning(
                f"the search believed in a log evidence of {believed:.6g} but the kept "
                f"functions have {accepted.log_evidence:.6g}: digits were lost; use a narrower "
                "kernel, or a larger noise_variance where there is one"
            )
        )
    return tuple(found)


def _noise_notes(
    inference: EvidenceModel, hyper: Hyperparameters, accepted: SparseModel
) -> list[RelvecWarning]:
    # of the target whose weights use up most
    used, n = float(np.atleast_2d(accepted.well_determined).sum(axis=1).max()), inference.n
    if (hyper.beta >= inference.noise.beta_max).any():
        return [
            NoiseFloorWarning(
                f"noise at its floor, {NOISE_FLOOR:g} of the variance of y: the targets are "
                "noise-free or interpolated; set noise_variance if you know it"
            )
        ]
    if n - used + 2 * inference.noise.prior.shape <= LEAST_FREEDOM * n:
        return [
            NoiseFloorWarning(
                f"the kept functions use up {used:.1f} of {n:g} observations and leave too few "
                "to learn the noise from; use a wider kernel (a smaller gamma), or set "
                "noise_variance if you know it"
            )
        ]
    return []
