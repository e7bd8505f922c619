"""Classification: fit, class probabilities and decisions, evidence, and calibrated sets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._assess.conformal import CalibratedClassifier
from relvec._design import DenseDesign
from relvec._estimators.base import RelevanceEstimator
from relvec._estimators.fitted import Given
from relvec._estimators.labels import (
    CHOICES,
    ClassWeight,
    Labels,
    class_counts_of_block,
    classes_of,
    encode,
    one_hot_of_block,
    plain_labels,
    targets_of,
    weighting_of_block,
    with_class_weight,
)
from relvec._estimators.out_of_core import OutOfCoreRows
from relvec._evidence import EvidenceModel, evidence_model
from relvec._fitting.data import TrainingData
from relvec._fitting.result import FitResult, FittedOutput, Queries
from relvec._numerics.checks import check_weights, in_memory, named_errors, of_rows, reading
from relvec._numerics.floats import SMALLEST
from relvec._numerics.linalg import default_float_errors, with_default_float_errors
from relvec._numerics.typing import Array, Index
from relvec._runner.callbacks import with_callbacks
from relvec.likelihoods import ClassLikelihood


class Classifier(ClassifierMixin, RelevanceEstimator):  # type: ignore[misc]
    """Targets that are labels; parameters and attributes are documented where they are set."""

    class_weight: ClassWeight
    multi_class: str
    proba: str
    approximation: str
    noise = "constant"

    classes_: Labels

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn which functions matter and their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, also sparse, in Dask or in `relvec.rows`; with a precomputed kernel its values,
            of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels, numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Copies of each row: weight 2 is the row twice, weight 0 its absence.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            A parameter or the data are not what is expected, such as labels of a single class; the
            message names it.
        OverflowError
            Basis functions exceed the range of double precision.

        Warns
        -----
        RelvecWarning
            Of the fit; `relvec.exceptions` has the kinds, each with what to do about it.
        """
        with default_float_errors():
            self._check_choices()
            if not isinstance(X, np.ndarray) and (rows := OutOfCoreRows.of(X)) is not None:
                return self._fit_out_of_core(rows, y, sample_weight)
            X, labels = self._validated(X, y, reset=True)
            counts = check_weights(sample_weight, len(X))
            self.classes_, codes = encode(labels, counts)
            weights = with_class_weight(self.class_weight, self.classes_, codes, counts)
            one_hot = np.eye(len(self.classes_))[codes]
            how = self.multi_class, self.approximation
            targets, likelihood = targets_of(one_hot, self.classes_, *how)
            data = TrainingData(
                X, targets, bool(self.fit_intercept), weights, memory_limit=self.memory_limit
            )
            given = {"X": X, "y": labels, "sample_weight": counts}
            self._fit(data, likelihood, given, single=len(targets) == 1)
            return self

    def _fit_out_of_core(self, rows: OutOfCoreRows, y: Any, sample_weight: Any) -> Self:
        """Fit rows that are not in memory."""
        validate_data(self, rows.head, dtype=np.float64)
        labels, weights = rows.labels(y), rows.weights(sample_weight)
        counted = rows.blocks.ones() if weights is None else weights
        counts = rows.blocks.alone().sum(class_counts_of_block, labels, counted).counts
        self.classes_ = classes_of(np.array(list(counts)))
        if self.class_weight is not None:
            weighted = weighting_of_block(self.class_weight, self.classes_, counts)
            weights = rows.blocks.alone().map(weighted, labels, counted)
        one_hot = rows.blocks.alone().map(partial(one_hot_of_block, self.classes_), labels)
        # A row of column numbers tells which columns of the indicators each output has.
        columns = np.arange(float(len(self.classes_)))[None, :]
        how = self.multi_class, self.approximation
        numbers, likelihood = targets_of(columns, self.classes_, *how)
        self._check_out_of_core(likelihood)
        targets = {
            name: rows.columns(one_hot, index[0].astype(np.intp)) for name, index in numbers.items()
        }
        data = rows.data(targets, weights, intercept=bool(self.fit_intercept))
        given = {"X": data.X, "y": np.empty(0)}
        self._fit(data, likelihood, given, single=len(targets) == 1)
        return self

    def _check_choices(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                raise ValueError(f"{name}={value!r}, expected one of {list(choices)}")

    def _validated(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Array, Labels]:
        read = partial(reading, lambda: self._dictionary().any_rows)
        with named_errors("X", "y"):
            rows, labels = self._rows_and_targets(X, plain_labels(y), read, reset=reset)
        with named_errors("y"):
            check_classification_targets(labels)
        return rows, labels

    def _attributes(self, result: FitResult) -> dict[str, Any]:
        """Add weights and intercepts, a row a class."""
        weights, intercept = [], []
        for output in result.outputs:
            likelihood = output.likelihood
            assert isinstance(likelihood, ClassLikelihood)
            own = np.zeros((len(result.relevance), likelihood.n_outputs))
            own[output.columns] = output.posterior.mean
            weights.append(likelihood.functions(own).T)
            intercept.append(likelihood.functions(output.posterior.intercept))
        return super()._attributes(result) | {
            "dual_coef_": np.vstack(weights),
            "intercept_": np.concatenate(intercept),
        }

    def _output_names(self) -> list[str]:
        return [str(label) for label in self.classes_]

    @with_default_float_errors
    def decision_function(self, X: ArrayLike) -> Array:
        """Log-odds of the probabilities that `predict_proba` gives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Log-odds of ``classes_[1]``; of every class against the rest with "ovr"; else the log
            probabilities less their mean. With ``proba="mode"`` these are the functions y(x).
        """
        check_is_fitted(self)
        n_classes = len(self.classes_)
        decision = self._at_rows(Classifier._decisions, X, 1 if n_classes == 2 else n_classes)
        of_each: Array = decision[:, 0] if n_classes == 2 else decision
        return of_each

    def _decisions(self, at: Queries) -> Array:
        return np.hstack([self._decision_of_output(each, at) for each in self.fit_result_.outputs])

    def _decision_of_output(self, output: FittedOutput, at: Queries) -> Array:
        if self._in_fit("proba") == "mode":
            return output.likelihood.functions(output.latent(at, spread=False)[0])
        log_p = np.log(np.maximum(self._of_output(output, at), SMALLEST))
        two = log_p.shape[1] == 2
        return log_p[:, 1:] - log_p[:, :1] if two else log_p - log_p.mean(axis=1, keepdims=True)

    @with_default_float_errors
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probability of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``, each row summing to one.
        """
        check_is_fitted(self)
        probability: Array = self._at_rows(Classifier._probabilities, X, len(self.classes_))
        return probability

    def _probabilities(self, at: Queries) -> Array:
        outputs = self.fit_result_.outputs
        if len(outputs) == 1:
            return self._of_output(outputs[0], at)
        own = np.hstack([self._of_output(output, at)[:, 1:] for output in outputs])
        own = np.maximum(own, SMALLEST)  # where all of them underflow none is preferred
        normalised: Array = own / own.sum(axis=1, keepdims=True)
        return normalised

    def _of_output(self, output: FittedOutput, at: Queries) -> Array:
        """Class probabilities of one output, shape (n_queries, n_classes)."""
        likelihood, integrated = output.likelihood, self._in_fit("proba") == "integrated"
        assert isinstance(likelihood, ClassLikelihood)
        mean, covariance = output.latent(at, spread=integrated)
        if integrated:
            return likelihood.mean_probabilities(mean, covariance)
        return likelihood.probabilities(mean)

    @with_default_float_errors
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithm of the probability of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):  # the logarithm of a probability that underflows is −∞
            log_probability: Array = np.log(self.predict_proba(X))
        return log_probability

    @with_default_float_errors
    def predict(self, X: ArrayLike) -> Labels:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries, also in Dask, for which the answer waits until it is computed.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            Out of ``classes_``.
        """
        decision = self.decision_function(X)  # which tells probabilities of one apart
        likely = decision.argmax(axis=1) if decision.ndim == 2 else (decision > 0).astype(int)
        labels: Labels = np.asarray(self.classes_, like=likely)[likely]
        return labels

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of the rows whose class is predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Copies of each row.

        Returns
        -------
        score : float
        """
        predicted, labels = in_memory(self.predict(X)), plain_labels(y)
        return float(accuracy_score(labels, predicted, sample_weight=in_memory(sample_weight)))

    def calibrate(
        self,
        X: ArrayLike,
        y: ArrayLike,
        cv: Any = None,
        groups: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> CalibratedClassifier:
        calibrated = super().calibrate(X, y, cv, groups, exposure)
        assert isinstance(calibrated, CalibratedClassifier)
        return calibrated

    def _like_fitted(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Index]:
        """Inputs, and which of the fitted classes each label is."""
        rows, labels = self._validated(X, y, reset=False)
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y holds {unknown.tolist()[0]!r}, expected labels out of {self.classes_.tolist()}"
            )
        return rows, np.searchsorted(self.classes_, labels)

    @with_default_float_errors
    def log_evidence(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Log evidence that the fitted precisions and functions give other data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Labels, all out of ``classes_``.
        sample_weight : array-like of shape (n_samples,), default=None
            Copies of each row, which count times `class_weight`.

        Returns
        -------
        log_evidence : float
            In nats; on the training data, with what `fit` was given, it is ``log_evidence_``.
        """
        check_is_fitted(self)
        return self._log_evidence(X, y, {"sample_weight": sample_weight})

    def _evidence_models(
        self, X: ArrayLike, y: ArrayLike, given: Given
    ) -> Iterator[tuple[FittedOutput, Array, EvidenceModel]]:
        rows, codes = self._like_fitted(X, y)
        weights = check_weights(given.get("sample_weight"), len(rows))
        present = np.ones(len(rows), dtype=np.bool_) if weights is None else weights > 0
        one_hot = np.eye(len(self.classes_))[codes[present]]
        how = self._in_fit("multi_class"), self._in_fit("approximation")
        targets, likelihood = targets_of(one_hot, self.classes_, *how)
        for t in targets.values():
            likelihood.check(t)
        weights = with_class_weight(self._in_fit("class_weight"), self.classes_, codes, weights)
        weights = None if weights is None else weights[present]
        Phi, center = (
            of_rows(self.basis_.values, rows[present]),
            bool(self._in_fit("fit_intercept")),
        )
        for output, t in zip(self.fit_result_.outputs, targets.values(), strict=True):
            own = Phi[:, output.columns]
            design = DenseDesign(Phi[:, output.columns], center=center, weights=weights)
            yield output, own, evidence_model(likelihood, design, t)
