"""What a diagnosis looks at, and what it tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from relvec._fitting.leave_one_out import left_out
from relvec._numerics.typing import Array
from relvec.basis import Precomputed
from relvec.likelihoods import Gaussian

if TYPE_CHECKING:
    from relvec._estimators.base import RelevanceEstimator

Mask = NDArray[np.bool_]

#: How far out functions are looked at, in distances between the points they are centred on, and the
#: share of their peak that they must have fallen below there to count as local.
FAR_OUT, GONE = 1e6, 1e-3


@dataclass(frozen=True)
class Finding:
    """One thing that a specialist would say of a fit.

    Attributes
    ----------
    code : str
        Its name.
    sentence : str
        What it is, and the parameter to change.
    numbers : mapping of str to float
        What it rests on.
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
    """A fitted model, and the rows that it is judged on.

    Attributes
    ----------
    model : RelevanceMachine
        The fitted estimator.
    X : ndarray of shape (n_samples, n_features) or None
        Rows, those of the fit or others.
    y : ndarray or None
        Their targets, numbers in columns or the position of each label in ``classes_``.
    given : array-like
        X as it was given, with the names of its columns.
    """

    model: RelevanceEstimator
    X: Array | None
    y: NDArray[Any] | None
    given: Any = None

    @property
    def rows(self) -> Array:
        """X where a rule has made sure that it is there."""
        assert self.X is not None
        return self.X

    @property
    def targets(self) -> NDArray[Any]:
        """The targets where a rule has made sure that they are there."""
        assert self.y is not None
        return self.y

    @property
    def has_inputs(self) -> bool:
        """Whether the rows are inputs, and not kernel values."""
        return self.X is not None and not isinstance(self.model.basis_, Precomputed)

    @cached_property
    def functions(self) -> Array:
        """Kept functions at the rows."""
        return self.model.basis_.values(self.rows)

    @cached_property
    def fitted_rows(self) -> bool:
        """Whether these are the rows of the fit, as far as can be told from those that it kept."""
        model = self.model
        if self.X is None or len(self.X) != model.n_samples_fit_:
            return False
        if isinstance(model.basis_, Precomputed) or not len(model.relevance_vectors_):
            return True
        own = model.relevance_rows_[model.relevance_rows_ >= 0]
        all_are_rows = len(own) == len(model.relevance_vectors_)
        return not all_are_rows or np.array_equal(self.X[own], model.relevance_vectors_)

    @cached_property
    def points(self) -> Array:
        """Where functions are looked at: their centres, and the rows."""
        vectors = self.model.relevance_vectors_
        parts = [vectors] if len(vectors) else []
        return np.vstack(parts if self.X is None else [*parts, self.X])

    @cached_property
    def peaks(self) -> Array:
        """Largest size of every function at these points."""
        peaks: Array = np.abs(self.model.basis_.values(self.points)).max(axis=0)
        return peaks

    @cached_property
    def local(self) -> Mask:
        """Which of the kept functions vanish far from their centres; none of kernel values."""
        model = self.model
        none = np.zeros(len(model.relevance_), dtype=np.bool_)
        if isinstance(model.basis_, Precomputed) or not len(model.relevance_vectors_):
            return none
        points, signs = self.points, np.ones((3, self.points.shape[1]))
        signs[1] = -1
        signs[2, ::2] = -1
        reach = np.ptp(points, axis=0).max() or np.abs(points).max() or 1.0
        with np.errstate(all="ignore"):  # far out polynomials may overflow
            values = np.abs(model.basis_.evaluate(points.mean(axis=0) + FAR_OUT * reach * signs))
        vanishes: Mask = (values <= GONE * self.peaks).all(axis=0) & (self.peaks > 0)
        return vanishes

    @cached_property
    def residuals(self) -> Array | None:
        """Residuals of every target that are N(0, 1) if the model is right, or None.

        That is where the noise is Gaussian, of one variance that is not at its floor. Rows of the
        fit are predicted without themselves.
        """
        model = self.model
        gaussian = all(isinstance(m.likelihood, Gaussian) for m in model.machines_)
        at_floor = any(code == "noise_floor" for code, _ in model._notes)
        if self.y is None or not gaussian or model._noise_by_row or at_floor:
            return None
        if not self.fitted_rows:
            return self.standardised
        found = []
        for machine, t in zip(model.machines_, self.y.T, strict=True):
            assert isinstance(machine.likelihood, Gaussian)
            noise = np.full(len(t), machine.likelihood.noise_variance)
            own = self.functions[:, machine.columns]
            residual, variance = left_out(machine.posterior, own, t, noise)
            found.append(residual / np.sqrt(variance))
        return np.array(found).T

    @cached_property
    def standardised(self) -> Array:
        """(y − mean)/std of every row and target, the noise included."""
        mean, std = self.model.predict(self.given, return_std=True)
        mean, std = (moment.reshape(self.targets.shape) for moment in (mean, std))
        standardised: Array = (self.targets - mean) / std
        return standardised

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """What is predicted at the rows."""
        predicted: NDArray[Any] = self.model.predict(self.given)
        return predicted
