"""The design matrix in memory with noise that is correlated between rows: these are whitened."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from relvec._design.base import Target, standard_units
from relvec._design.dense import DenseDesign
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array, Index, RowVector
from relvec._numerics.whitening import Whitener


class WhitenedDesign(DenseDesign):
    """Design matrix whose columns are WΦ, with WᵀW the inverse correlation R⁻¹ of the noise.

    A flat intercept is eliminated where the column W1 is: raw columns and targets are centred at
    their generalised least squares mean.

    Parameters
    ----------
    Phi : ndarray of shape (n_samples, n_candidates)
        Raw candidate columns. The array is taken over and centred in place.
    center : bool
        There is a flat-prior intercept.
    whitener : Whitener
        W.
    groups, nothing
        See `DenseDesign`.
    """

    def __init__(
        self,
        Phi: Array,
        *,
        center: bool,
        whitener: Whitener,
        groups: Index | None = None,
        nothing: float | Array = 0.0,
    ) -> None:
        self._whitener = whitener
        ones = whitener.whitened(np.ones(len(Phi)))
        total = float(ones @ ones)
        self._share = whitener.transposed(ones) / total  # of each row in a mean
        mean = self._share @ Phi if center else np.zeros(Phi.shape[1])
        Phi -= mean
        super().__init__(whitener.whitened(Phi), center=False, groups=groups, nothing=nothing)
        self.has_intercept, self.center, self.total_weight = center, mean, total
        contrasts = float(np.log(total / self.n_copies)) if center else 0.0
        self.precision_evidence = whitener.log_det - 0.5 * contrasts
        self._standardise()

    def target(self, t: RowVector) -> Target:
        """See `Design.target`; values are those of the whitened rows."""
        mean = self._share @ t
        left = self._whitener.whitened(t - mean)
        with np.errstate(over="ignore", under="ignore"):  # which is refused
            square = np.einsum("n...,n...->...", left, left) / self.total_weight
        varies = np.abs(t - mean).mean(axis=0) > ROUNDINGS * np.abs(mean)
        units = standard_units(mean, square, np.count_nonzero(t, axis=0), varies, self)
        center, scale, variance = units
        values = self._whitener.whitened(t - center) / scale
        return Target(values, center, scale, variance * (self.total_weight / self.n_copies))

    def slope_of_rows(self, slope: RowVector) -> RowVector:
        return self._whitener.transposed(slope)

    def with_precision(self, precision: Array) -> NoReturn:
        """Raise: correlated rows have one variance of the noise."""
        raise NotImplementedError("rows whose noise is correlated take no precisions of their own")
