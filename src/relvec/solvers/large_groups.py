"""Groups of so many functions that they can stand for the noise."""

from __future__ import annotations

import numpy as np

from relvec._evidence import EvidenceModel, EvidenceState
from relvec._evidence.hyperparameters import Hyperparameters
from relvec.solvers.newton import newton_ascent

#: Functions to a row at which a group may stand for the noise.
MAX_DENSITY = 1 / 3
#: Share of the rows that a model uses up at which it may stand for noise that is held.
MAX_USED = 1 / 2
#: Precisions beyond which it may, too: of thousands of candidates hundreds fit noise that is held
#: too low, and the search ends where it would from fewer of them.
MAX_HELD = 256


def is_large(state: EvidenceState, n: float) -> bool:
    """Return whether a model may stand for noise that is held, by its precisions or what it uses.

    Functions of a group do not each use up an observation, so that these are counted.
    """
    if len(state.hyper.alpha) > min(MAX_DENSITY * n, MAX_HELD):
        return True
    return not state.hyper.single and bool(state.used().max() > MAX_USED * n)


def without_large_group(
    model: EvidenceModel, hyper: Hyperparameters, log_evidence: float, price: float, tol: float
) -> Hyperparameters | None:
    """Return a model without one of its large groups that is not worth its price, if there is one.

    Rows far apart are nearly independent under a process, and those of one category each are under
    its levels: the group has the covariance of noise, and once it has taken the place of the noise
    its deletion seems to cost the whole likelihood. So the noise is learnt anew without it.

    Parameters
    ----------
    model : EvidenceModel
        The evidence.
    hyper : Hyperparameters
        A model at rest, with this `log_evidence`.
    log_evidence : float
        In the design's units.
    price : float
        Nats that a group has to be worth.
    tol : float
        Nats in which the other groups' deletions are judged.
    """
    if model.noise.held:
        return None
    sizes = hyper.groups.sizes
    large = np.flatnonzero(sizes > MAX_DENSITY * model.n)
    for which in large[np.argsort(-sizes[large], kind="stable")]:
        fewer, _, _ = hyper.without(int(which))
        begun = model.at(fewer.at(fewer.alpha, model.noise.released(model.first_beta)))
        there = newton_ascent(begun, model.n, model.noise, tol, model.thorough)
        if there.log_evidence > log_evidence - price:
            return there.hyper
    return None
