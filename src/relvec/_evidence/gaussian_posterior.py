"""The variational Gaussian approximation: the posterior nearest to that of the weights.

Of all Gaussian q(w) it has the highest lower bound of the evidence, E log p(t | y) − KL(q ‖ p(w)),
which is the evidence here. It is the posterior under surrogates of the rows that have the
expectations of log p and of its derivatives under q itself (Opper and Archambeau 2009): surrogates
and q are computed in turn. At rest the slope of the bound in the precisions is that of a Gaussian
model with these surrogates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from relvec._design.base import Design
from relvec._evidence.base import AscentLimits, WarmStart
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.laplace import LaplaceEvidence, LaplaceState
from relvec._evidence.mode import NewtonIterate
from relvec._evidence.variational import SurrogateRows, packed
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array, Index, RowVector
from relvec.likelihoods.base import Likelihood

#: Surrogates are at rest once new ones would move the posterior by less than this, summed over the
#: rows: the square of a shift in standard deviations of the linear predictor, and of the variance's
#: change in shares of it. The bound is then about as near to its maximum, in nats. On the way of a
#: search less will do.
AT_REST, NEARLY, MAX_SWEEPS = 1e-6, 1e-4, 300
#: The share of the way that a sweep goes is multiplied by these after one that raised the bound,
#: and after one that did not and is not made.
LONGER, SHORTER = 1.3, 0.5
#: Sweeps that are mixed, the share of their squares that is added to those of a mixture, and the
#: share of its weight that a row keeps at least in one.
MEMORY, RIDGE, LEAST_WEIGHT = 8, 1e-10, 1e-3


@dataclass(frozen=True)
class SurrogateWarmStart(WarmStart):
    """See `WarmStart`; with the surrogates of all rows, `packed`."""

    surrogates: RowVector


class NearestState(LaplaceState):
    """Gaussian posterior under some surrogates, and the bound that it has.

    Parameters
    ----------
    model : NearestEvidence
    hyper : Hyperparameters
    start : NewtonIterate
        Of the surrogates.

    Attributes
    ----------
    moved : float
        See `AT_REST`.
    """

    allowed_decrease = 0.0

    def __init__(
        self, model: NearestEvidence, hyper: Hyperparameters, start: NewtonIterate
    ) -> None:
        super().__init__(hyper, start)
        self.model, here, covariance = model, self.mode, self.curvature.predictor_covariance
        variance = here.design.map_rows(covariance.variance, here.Phi)
        self._moments = here.linear_predictor, variance
        self._expected = here.design.map_rows(
            partial(packed, model.expected), model.t, *self._moments
        )
        rows = here.t, self._expected, *self._moments, here.design.row_weights
        moved, risen = here.design.sum_rows(_moved, *rows)
        self.moved = float(moved)
        self.log_evidence += float(risen)

    def surrogates(self, earlier: Sequence[NearestState], share: float) -> RowVector:
        """Surrogates a share of the way from its own to those of its moments, `packed`.

        With `earlier` states they are mixed with theirs so that the mixture of all ways is the
        shortest (Anderson 1965).
        """
        states, sum_rows = (*earlier, self), self.mode.design.sum_rows
        ways = [rows for state in states for rows in (state.mode.t, state._expected)]
        (squares,) = sum_rows(_squares, *self._moments, self.mode.design.row_weights, *ways)
        ridge = RIDGE * squares.trace() * np.eye(len(states))
        parts = np.linalg.solve(squares + ridge, np.ones(len(states)))
        mixture = partial(_mixture, parts / parts.sum(), share)
        mixed: RowVector = self.mode.design.map_rows(mixture, self._moments[0], *ways)
        return mixed

    def warm_start(self) -> SurrogateWarmStart:
        """See `EvidenceState.warm_start`."""
        return SurrogateWarmStart(self.hyper, self.weights, self.intercept, self.mode.t)

    def move(self, hyper: Hyperparameters) -> NearestState:
        """See `EvidenceState.move`; the surrogates move, too."""
        return self.model.nearest(hyper, self.warm_start(), NEARLY)

    def keep(self, which: Index) -> NearestState:
        """See `EvidenceState.keep`."""
        return self.move(self.hyper.keep(which))


class NearestEvidence(LaplaceEvidence):
    """The nearest Gaussian posterior, and the lower bound of the evidence that it has.

    Parameters
    ----------
    design : Design
    t : RowVector, of shape (n_samples, 1)
    likelihood : Likelihood
        See `LaplaceEvidence`; of one output.
    expected : Likelihood
        The same, with a `surrogate` that is an expectation.
    """

    tempers = False
    # Where classes do not overlap and the intercept is flat the bound rises slowly without end.
    thorough = AscentLimits(steps=100, tol_share=1.0)

    def __init__(
        self, design: Design, t: RowVector, likelihood: Likelihood, expected: Likelihood
    ) -> None:
        super().__init__(design, t, likelihood)
        self.expected = expected

    def at(self, hyper: Hyperparameters, warm: WarmStart | None = None) -> NearestState:
        """See `EvidenceModel.at`; surrogates begin as at `warm`, or at the mode of the weights."""
        return self.nearest(hyper, warm, AT_REST)

    def nearest(
        self, hyper: Hyperparameters, warm: WarmStart | None, tolerance: float
    ) -> NearestState:
        """Return the same, with surrogates that are at rest to a `tolerance`.

        A sweep alone goes the way of the bound's natural gradient, and raises it if it is short
        enough. Mixed with those before it goes further.
        """
        if isinstance(warm, SurrogateWarmStart):
            surrogates = warm.surrogates
        else:
            mode, around = super().at(hyper, warm).mode, partial(_expanded, self.expected)
            surrogates = self.design.map_rows(around, self.t, mode.linear_predictor)
        state, earlier, share = self._under(surrogates, hyper, warm), list[NearestState](), 1.0
        for _ in range(MAX_SWEEPS):
            if state.moved < tolerance:
                return state
            there = self._under(state.surrogates(earlier, share), hyper, state.warm_start())
            if there.log_evidence >= state.log_evidence - ROUNDINGS * abs(state.log_evidence):
                earlier, state = [*earlier, state][1 - MEMORY :], there
                share = min(1.0, LONGER * share)
            elif earlier:
                earlier = []
            else:
                share *= SHORTER
        state.log_evidence = -np.inf  # a model whose bound is out of reach is none to end in
        return state

    def _under(
        self, surrogates: RowVector, hyper: Hyperparameters, warm: WarmStart | None
    ) -> NearestState:
        start = self._start(hyper, warm, SurrogateRows(self.n_outputs), surrogates)
        return NearestState(self, hyper, start)


def _expanded(likelihood: Likelihood, t: Array, y: Array) -> Array:
    """Surrogates of linear predictors without spread, `packed`."""
    return packed(likelihood, t, y, np.zeros((*y.shape, y.shape[1])))


def _about(mean: Array, surrogates: Array) -> Array:
    """Gradient at a mean, and weight, of surrogates of one output; shape (n_rows, 2)."""
    rows = SurrogateRows(1)
    slope, weight = rows.gradient(surrogates, mean), rows.neg_hessian(surrogates, mean)
    return np.hstack([slope, weight[:, 0]])


def _steps(mean: Array, variance: Array, ways: Sequence[Array]) -> Array:
    """Ways from old surrogates to new, which take turns, in units of the posterior.

    Shape (n_ways, n_rows, 2): shifts in standard deviations, and changes in shares of the variance.
    """
    about = np.array([_about(mean, surrogates) for surrogates in ways])
    unit = np.hstack([np.sqrt(variance[:, 0]), variance[:, 0]])
    steps: Array = (about[1::2] - about[::2]) * unit
    return steps


def _squares(mean: Array, variance: Array, copies: Array, *ways: Array) -> tuple[Array]:
    """Products of all ways with each other, summed over the rows."""
    steps = _steps(mean, variance, ways)
    return (np.einsum("n,inc,jnc->ij", copies, steps, steps, optimize=True),)


def _mixture(parts: Array, share: float, mean: Array, *ways: Array) -> Array:
    """Mixture of surrogates a share of their ways, about the mean, `packed`; of no value."""
    about = np.array([_about(mean, surrogates) for surrogates in ways])
    reached = (1 - share) * about[::2] + share * about[1::2]
    mixed = np.tensordot(parts, reached, 1)
    least = LEAST_WEIGHT * np.minimum(about[-2], about[-1])[:, 1]
    mixed[:, 1] = np.maximum(mixed[:, 1], least)
    return np.hstack([mean, mixed, np.zeros_like(mean)])


def _moved(
    old: Array, new: Array, mean: Array, variance: Array, copies: Array
) -> tuple[Array, Array]:
    """Return `NearestState.moved` from old to new surrogates, and their rise in expectation."""
    rows, step = SurrogateRows(1), _steps(mean, variance, (old, new))[0]
    risen = rows.expected(new, mean, variance) - rows.expected(old, mean, variance)
    return np.asarray(copies @ (step**2).sum(axis=1)), np.asarray(copies @ risen)
