"""The input of a diagnosis: a fitted model, with rows to judge it on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier

from relvec._assess.findings import Finding
from relvec._fitting.residuals import learnt_variances, left_out, most_rows
from relvec._fitting.result import FitResult
from relvec._numerics.checks import of_rows
from relvec._numerics.floats import EPSILON
from relvec._numerics.objects import equal_objects
from relvec._numerics.typing import Array, Index
from relvec.basis import Precomputed
from relvec.exceptions import Advice
from relvec.likelihoods import Gaussian

Mask = NDArray[np.bool_]

#: Rows from which on residuals and shares are looked at: the tests' own distributions hold by then.
ENOUGH = 50
#: Ratio of spreads: a feature that much narrower is a share of 1e-4 of a squared distance.
UNEVEN = 100.0
#: Distance at which functions are evaluated, in spreads of the points that they are centred on, and
#: the share of their peak that they must have fallen below there to count as local.
FAR_OUT, GONE = 1e6, 1e-3


@dataclass(frozen=True)
class Case:
    """A fitted model, and the rows that it is judged on; empty arrays if none were given."""

    model: BaseEstimator
    #: (n_samples, n_features), rows of the fit or others; sparse ones in blocks
    X: Any = field(default_factory=lambda: np.empty((0, 0)))
    #: (n_samples, n_targets), their targets; or (n_samples,), positions of labels in ``classes_``
    y: NDArray[Any] = field(default_factory=lambda: np.empty((0, 1)))
    given: Any = None  # X as it was given, with the names of its columns
    labels: Any = None  # (n_samples,), labels of the rows, where they are not numbered
    names: list[str] | None = None  # of the inputs, where the model has others than its own
    known: dict[str, Any] = field(default_factory=dict)  # the exposure of counts, if they have one

    @property
    def result(self) -> FitResult:
        """Result of the fit."""
        result: FitResult = self.model.fit_result_
        return result

    def parameter(self, name: str) -> Any:
        """Return what a parameter of the model was in the fit; None of one that it has not."""
        return (self.result.parameters or {}).get(name)

    @property
    def features(self) -> list[str]:
        """Names of the inputs."""
        if self.names is not None:
            return self.names
        names = [f"x{number}" for number in range(self.model.n_features_in_)]
        return [str(name) for name in getattr(self.model, "feature_names_in_", names)]

    @property
    def functions(self) -> list[str]:
        """Names of the kept functions."""
        names: list[str] = self.model.basis_.names(self.features)
        return names

    @property
    def output_names(self) -> list[str]:
        """Names before sentences on several targets or classes; one, and empty, of others."""
        if is_classifier(self.model):
            classes = self.model.classes_
            return [f"class {label}: " for label in classes] if len(classes) > 2 else [""]
        n_targets = self.y.shape[1]
        return [f"target {number}: " for number in range(n_targets)] if n_targets > 1 else [""]

    def row_names(self, rows: Mask) -> NDArray[Any]:
        """Labels of some rows, or else their numbers."""
        return np.flatnonzero(rows) if self.labels is None else self.labels[rows]

    @cached_property
    def spreads(self) -> tuple[int, int, float] | None:
        """Inputs of least and largest spread, and their ratio, where uneven ones share a width."""
        relevance = getattr(self.model, "feature_relevance_", None)
        one_width = np.ndim(getattr(self.model, "gamma_", 0.0)) == 0
        if relevance is None or not one_width or not self.local.any():
            return None
        narrow = int(np.where(relevance > 0, relevance, np.inf).argmin())
        wide = int(relevance.argmax())
        if not relevance[wide] > UNEVEN * relevance[narrow]:
            return None
        return narrow, wide, float(relevance[wide] / relevance[narrow])

    @property
    def learns_scales(self) -> bool:
        """Return whether the likelihood allows for widths that are learnt."""
        return all(output.likelihood.learns_scales for output in self.result.outputs)

    @property
    def spreads_advice(self) -> tuple[Advice, ...]:
        """Advice on inputs whose spreads are uneven."""
        standardise = Advice("standardise X (StandardScaler)")
        learn = Advice("use {}", "gamma", "ard")
        return (standardise, learn) if self.learns_scales else (standardise,)

    @property
    def width_learnt(self) -> bool:
        """Return whether the evidence chose the width of the kernel."""
        return bool(self.model.basis_.hyper)

    def width_advice(self, other: str) -> Advice:
        """Return advice to use another width of the kernel, unless it was learnt and not set."""
        learnt = "a {} chosen by rows left out, as the evidence chose this one"
        return Advice(f"use {learnt if self.width_learnt else other}", "gamma")

    @property
    def gaussian(self) -> bool:
        """Return whether all targets have Gaussian noise."""
        return all(isinstance(output.likelihood, Gaussian) for output in self.result.outputs)

    @property
    def has_inputs(self) -> bool:
        """Return whether there are rows, of numbers and not of kernel values."""
        numbers = len(self.X) > 0 and self.X.dtype != object
        return numbers and not isinstance(self.model.basis_, Precomputed)

    def at(self, rows: Index) -> Array:
        """Some of the rows in an array."""
        some: Array = self.X[rows] if isinstance(self.X, np.ndarray) else self.X.take(rows)[0]
        return some

    @property
    def neighbours(self) -> Index:
        """Rows whose nearest are looked for: all, or as many sparse ones as a fit looks at."""
        n, sparse = len(self.X), not isinstance(self.X, np.ndarray)
        count = min(n, most_rows(self.X.shape[1])) if sparse else n
        return np.linspace(0, n - 1, count).round().astype(np.intp)

    def columns(self) -> Iterator[Array]:
        """Yield inputs at the rows, (n_samples, b): all, or some at a time of sparse rows."""
        yield from [self.X] if isinstance(self.X, np.ndarray) else self.X.by_columns()

    @cached_property
    def Phi(self) -> Array:  # noqa: N802 - the design matrix of the paper
        """Kept functions at the rows, shape (n_samples, n_active)."""
        return of_rows(self.model.basis_.values, self.X)

    @cached_property
    def fitted_rows(self) -> bool:
        """Return whether these are the rows of the fit, as far as those that it kept tell."""
        model, vectors = self.model, self.model.relevance_vectors_
        if len(self.X) != model.n_samples_fit_:
            return False
        own = model.relevance_rows_[model.relevance_rows_ >= 0]
        if isinstance(model.basis_, Precomputed) or not 0 < len(own) == len(vectors):
            return True
        if vectors.dtype == object:
            return equal_objects(self.at(own), vectors)
        return np.array_equal(self.at(own), vectors)

    @cached_property
    def points(self) -> Array:
        """Centres of functions and the rows, or extremes of sparse ones, (n_points, n_features)."""
        rows = self.X if isinstance(self.X, np.ndarray) else self.X.extremes()
        parts = [part for part in (self.model.relevance_vectors_, rows) if len(part)]
        return np.vstack(parts)

    @cached_property
    def peaks(self) -> Array:
        """Largest size of every kept function at its centre and at the rows, shape (n_active,)."""
        there = self.model.basis_.values(self.model.relevance_vectors_)
        at_all = np.vstack([there, self.Phi]) if len(self.X) else there
        peaks: Array = np.abs(at_all).max(axis=0)
        return peaks

    @cached_property
    def local(self) -> Mask:
        """Which kept functions vanish far from their centres, shape (n_active,); no kernel values.

        They are evaluated far out in three directions, of which two are opposite.
        """
        model = self.model
        vectors = model.relevance_vectors_
        if isinstance(model.basis_, Precomputed) or not len(vectors) or vectors.dtype == object:
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
        noise is Gaussian, of one variance that is not at its floor, and independent.
        """
        if any(output.correlation is not None for output in self.result.outputs):
            return np.empty((0, 0))
        at_floor = any(warning.code == "noise_floor" for warning in self.result.warnings)
        if not len(self.y) or not self.gaussian or at_floor or self.result.noise_by_row:
            return np.empty((0, 0))
        if not self.fitted_rows:
            return self.standardised
        noise = learnt_variances(self.result, self.X)
        residual, variance = left_out(self.result, self.Phi, self.y, noise)
        return residual / np.sqrt(variance)

    @cached_property
    def standardised(self) -> Array:
        """Residuals over predictive standard deviations, noise included, shaped as y."""
        mean, std = self.model.predict(self.given, return_std=True, **self.known)
        standardised: Array = (self.y - mean.reshape(self.y.shape)) / std.reshape(self.y.shape)
        return standardised

    @cached_property
    def probabilities(self) -> Array:
        """Probabilities of the classes, shape (n_samples, n_classes)."""
        probabilities: Array = self.model.predict_proba(self.given)
        return probabilities

    @cached_property
    def pearson(self) -> Array:
        """Residuals over the standard deviations that are predicted, shape (n_samples, n_outputs).

        Of classes there are as many outputs, or one where they are two.
        """
        if not is_classifier(self.model):
            return self.standardised
        p = self.probabilities
        variance = np.maximum(p * (1 - p), EPSILON)
        residuals: Array = (np.eye(p.shape[1])[self.y] - p) / np.sqrt(variance)
        return residuals if p.shape[1] > 2 else residuals[:, 1:]

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """Predictions at the rows."""
        predicted: NDArray[Any] = self.model.predict(self.given, **self.known)
        return predicted

    @cached_property
    def latent_share(self) -> Array:
        """Share of the predictive variance that is the function's, (n_samples, n_targets)."""
        _, std = self.model.predict_latent(self.given, return_std=True)
        _, total = self.model.predict(self.given, return_std=True, **self.known)
        share: Array = (std / total).reshape(self.y.shape) ** 2
        return share


#: Looks at a case for one thing that may be wrong.
Rule = Callable[[Case], Iterator[Finding]]


def correlation(A: Array, B: Array) -> Array:
    """Correlation of the columns of A with those of B, zero for constants."""
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    norms = np.outer(np.linalg.norm(A, axis=0), np.linalg.norm(B, axis=0))
    return np.divide(A.T @ B, norms, out=np.zeros_like(norms), where=norms > 0)


def row_labels(y: Any) -> NDArray[Any] | None:
    """Labels of the rows of a pandas object, None of others."""
    return np.asarray(y.index) if hasattr(y, "iloc") else None
