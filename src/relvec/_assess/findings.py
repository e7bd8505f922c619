"""The input of a diagnosis, a fitted model with rows to judge it on, and its findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from relvec._assess.leave_one_out import left_out
from relvec._fitting.result import FitResult
from relvec._numerics.typing import Array
from relvec.basis import Precomputed
from relvec.likelihoods import Gaussian

Mask = NDArray[np.bool_]

#: Distance at which functions are evaluated, in spreads of the points that they are centred on, and
#: the share of their peak that they must have fallen below there to count as local.
FAR_OUT, GONE = 1e6, 1e-3


@dataclass(frozen=True)
class Finding:
    """One thing that a specialist would say of a fit.

    Attributes
    ----------
    code : str
        Its name.
    sentence : str
        The finding in words, and the parameter to change.
    numbers : mapping of str to float
        The quantities it rests on.
    """

    code: str
    sentence: str
    numbers: Mapping[str, float]

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"


class Diagnosis(list[Finding]):
    """Findings in a list that prints one a line."""

    @property
    def codes(self) -> list[str]:
        """Names of the findings."""
        return [finding.code for finding in self]

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "nothing to report"

    __repr__ = __str__


@dataclass(frozen=True)
class Case:
    """A fitted model, and the rows that it is judged on; empty arrays if none were given."""

    model: BaseEstimator
    #: (n_samples, n_features), rows of the fit or others
    X: Array = field(default_factory=lambda: np.empty((0, 0)))
    #: (n_samples, n_targets), their targets; or (n_samples,), positions of labels in ``classes_``
    y: NDArray[Any] = field(default_factory=lambda: np.empty((0, 1)))
    given: Any = None  # X as it was given, with the names of its columns

    @property
    def result(self) -> FitResult:
        """Result of the fit."""
        result: FitResult = self.model.fit_result_
        return result

    @property
    def features(self) -> list[str]:
        """Names of the inputs."""
        names = [f"x{number}" for number in range(self.model.n_features_in_)]
        return [str(name) for name in getattr(self.model, "feature_names_in_", names)]

    @property
    def functions(self) -> list[str]:
        """Names of the kept functions."""
        names: list[str] = self.model.basis_.names(self.features)
        return names

    @property
    def has_inputs(self) -> bool:
        """Return whether there are rows, of inputs and not of kernel values."""
        return len(self.X) > 0 and not isinstance(self.model.basis_, Precomputed)

    @cached_property
    def Phi(self) -> Array:  # noqa: N802 - the design matrix of the paper
        """Kept functions at the rows, shape (n_samples, n_active)."""
        Phi: Array = self.model.basis_.values(self.X)
        return Phi

    @cached_property
    def fitted_rows(self) -> bool:
        """Return whether these are the rows of the fit, as far as those that it kept tell."""
        model, vectors = self.model, self.model.relevance_vectors_
        if len(self.X) != model.n_samples_fit_:
            return False
        own = model.relevance_rows_[model.relevance_rows_ >= 0]
        if isinstance(model.basis_, Precomputed) or not 0 < len(own) == len(vectors):
            return True
        return np.array_equal(self.X[own], vectors)

    @cached_property
    def points(self) -> Array:
        """Centres of functions and the rows, shape (n_points, n_features)."""
        parts = [part for part in (self.model.relevance_vectors_, self.X) if len(part)]
        return np.vstack(parts)

    @cached_property
    def peaks(self) -> Array:
        """Largest size of every kept function at these points, shape (n_active,)."""
        peaks: Array = np.abs(self.model.basis_.values(self.points)).max(axis=0)
        return peaks

    @cached_property
    def local(self) -> Mask:
        """Which kept functions vanish far from their centres, shape (n_active,); no kernel values.

        They are evaluated far out in three directions, of which two are opposite.
        """
        model = self.model
        if isinstance(model.basis_, Precomputed) or not len(model.relevance_vectors_):
            return np.zeros(len(model.relevance_), dtype=np.bool_)
        points, signs = self.points, np.ones((3, self.points.shape[1]))
        signs[1] = -1
        signs[2, ::2] = -1
        reach = np.ptp(points, axis=0).max() or np.abs(points).max() or 1.0
        with np.errstate(all="ignore"):  # far out polynomials may overflow
            values = np.abs(model.basis_.evaluate(points.mean(axis=0) + FAR_OUT * reach * signs))
        vanishes: Mask = (values <= GONE * self.peaks).all(axis=0) & (self.peaks > 0)
        return vanishes

    @cached_property
    def residuals(self) -> Array:
        """Residuals that are N(0, 1) if the model is right, shape (n_samples, n_targets).

        Rows of the fit are predicted without themselves. There are none, shape (0, 0), unless the
        noise is Gaussian and of one variance that is not at its floor.
        """
        gaussian = all(isinstance(output.likelihood, Gaussian) for output in self.result.outputs)
        at_floor = any(warning.code == "noise_floor" for warning in self.result.warnings)
        if not len(self.y) or not gaussian or at_floor or self.result.noise_by_row:
            return np.empty((0, 0))
        if not self.fitted_rows:
            return self.standardised
        residual, variance = left_out(self.result, self.Phi, self.y)
        residuals: Array = residual / np.sqrt(variance)
        return residuals

    @cached_property
    def standardised(self) -> Array:
        """Residuals over predictive standard deviations, noise included, shaped as y."""
        mean, std = self.model.predict(self.given, return_std=True)
        standardised: Array = (self.y - mean.reshape(self.y.shape)) / std.reshape(self.y.shape)
        return standardised

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """Predictions at the rows."""
        predicted: NDArray[Any] = self.model.predict(self.given)
        return predicted
