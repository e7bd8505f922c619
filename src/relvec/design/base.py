"""What a solver may ask of the candidate functions, without ever holding a row of data."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]


class Frame(ABC):
    """Candidates and target in an orthonormal frame that spans every function that was ever active.

    With Q (n_samples, j) the orthonormal frame, φ_m the standardised candidates and t the target,

    ==================  ============================  ====================
    attribute           formula                       shape
    ==================  ============================  ====================
    ``coords``          Qᵀφ_m                         (j, n_candidates)
    ``target``          Qᵀt                           (j,)
    ``rest_norm2``      ‖φ_m‖² − ‖Qᵀφ_m‖²             (n_candidates,)
    ``rest_dot``        φ_mᵀt − (Qᵀφ_m)ᵀQᵀt           (n_candidates,)
    ``rest_target``     ‖t‖² − ‖Qᵀt‖²                 scalar
    ==================  ============================  ====================

    This is a partial Cholesky factor of the Gram matrix of [Φ, t], and all that the evidence, its
    derivatives and the factors S and Q of every candidate depend on. An active function's column of
    ``coords`` represents it exactly, so the digits of nearly collinear functions survive where a
    Gram matrix would have lost them.
    """

    coords: Array
    target: Array
    rest_norm2: Array
    rest_dot: Array
    rest_target: float

    @abstractmethod
    def rest(self, index: Index) -> Array:
        """Return what is left of the candidates `index` outside the frame, (n_rows, b)."""

    @abstractmethod
    def extend(self, index: Index, rest: Array) -> None:
        """Grow the frame until it spans the candidates `index`, given their `rest`."""


class ClosedFrame(Frame):
    """A frame that spans nearly all there is of every candidate, and neglects the rest.

    Nothing in it costs more than candidate space: no row of data is touched again.
    """

    def __init__(self, frame: Frame) -> None:
        self.coords, self.target, self.rest_target = frame.coords, frame.target, frame.rest_target
        self.rest_norm2 = np.zeros_like(frame.rest_norm2)
        self.rest_dot = np.zeros_like(frame.rest_dot)

    def rest(self, index: Index) -> Array:
        """Nothing is left."""
        return np.zeros((0, len(index)))

    def extend(self, index: Index, rest: Array) -> None:
        """Nothing is added."""


class Design(ABC):
    """The design matrix as an operator: standardised candidates, however their numbers are reached.

    Attributes
    ----------
    shape : tuple of int
        (n_samples, n_candidates).
    n_effective : float
        Number of observations that the evidence counts: the sum of the row weights, less one when
        an intercept was eliminated by centring.
    center, scale : ndarray of shape (n_candidates,)
        φ̄ and the norm by which each candidate was standardised: φ = (φ_raw − φ̄) / scale.
    target_center, target_scale : float
        The same for the target.
    target_variance : float
        Variance of the standardised target about its mean.
    level_share : float
        Variance of the eliminated intercept in units of the noise variance: one over the sum of the
        row weights, or zero without an intercept.
    """

    shape: tuple[int, int]
    n_effective: float
    center: Array
    scale: Array
    target_center: float
    target_scale: float
    target_variance: float
    level_share: float

    def to_user_evidence(self, log_evidence: float) -> float:
        """Log evidence of the raw target, from that of the standardised one."""
        return log_evidence - self.n_effective * float(np.log(self.target_scale))

    @abstractmethod
    def frame(self) -> Frame:
        """Return a new, empty frame."""

    @abstractmethod
    def restrict(self, index: Index) -> Design:
        """Return the same rows with the candidates `index` only, in that order."""
