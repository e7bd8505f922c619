"""Regression: fit, evidence of other data, and calibrated intervals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import validate_data

from relvec._design import DenseDesign
from relvec._design.whitened import WhitenedDesign
from relvec._estimators.correlation import order_of
from relvec._estimators.fitted import Given
from relvec._estimators.incremental import Incremental
from relvec._estimators.out_of_core import OutOfCoreRows
from relvec._estimators.targets import (
    TargetLayout,
    check_row_variances,
    mean_variance,
    relative_precision,
    varying,
    with_exposure,
)
from relvec._evidence import EvidenceModel, evidence_model
from relvec._fitting.data import TrainingData
from relvec._fitting.result import FitResult, FittedOutput
from relvec._numerics.checks import (
    check_positive,
    check_weights,
    in_memory,
    named_errors,
    of_rows,
    reading,
)
from relvec._numerics.linalg import default_float_errors, with_default_float_errors
from relvec._numerics.priors import check_gamma
from relvec._numerics.typing import Array
from relvec._runner.callbacks import with_callbacks
from relvec.likelihoods import (
    Gaussian,
    Interval,
    Likelihood,
    NegativeBinomial,
    Poisson,
    RegressionLikelihood,
    StudentT,
)

#: Names that ``likelihood`` takes.
LIKELIHOODS: dict[str, type[RegressionLikelihood]] = {
    "gaussian": Gaussian,
    "negative_binomial": NegativeBinomial,
    "poisson": Poisson,
    "student_t": StudentT,
}
#: Parameters of targets that share their functions.
SHARED = {"likelihood": "gaussian", "alpha_prior": (0.0, 0.0), "noise": "constant"}


class Regressor(Incremental):
    """Targets that are numbers; parameters and attributes are documented where they are set."""

    noise_variance: float | None
    beta_prior: tuple[float, float]
    multi_output: str

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        noise_variance_per_row: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        times: ArrayLike | None = None,
        series: ArrayLike | None = None,
    ) -> Self:
        """Learn which functions matter, their weights and the noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, also sparse, in Dask or in `relvec.rows`; with a precomputed kernel its values.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Copies of each row: weight 2 is the row twice, weight 0 its absence.
        noise_variance_per_row : array-like of shape (n_samples,), default=None
            Variance of the Gaussian noise of each row where it is known, in squared units of y, the
            same for every target; a copy of a row has noise of its own.
        exposure : array-like of shape (n_samples,), default=None
            How much of time, space or people each count was taken over, in any unit, with
            ``likelihood="poisson"`` or ``"negative_binomial"``: the function is the log rate for
            one unit, and the mean of a count its exposure times that rate. None is 1 for all.
        times, series : array-like of shape (n_samples,), default=None
            With `noise_correlation`, time of each row, numbers or ``datetime64``, and label of its
            series. None is one step from row to row, and one series.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            A parameter or the data are not what is expected; the message names it.
        OverflowError
            Basis functions exceed the range of double precision.

        Warns
        -----
        RelvecWarning
            Of the fit; `relvec.exceptions` has the kinds, each with what to do about it.
        """
        with default_float_errors():
            likelihood, precision, variances = self._likelihood(), None, None
            if not isinstance(X, np.ndarray) and (rows := OutOfCoreRows.of(X)) is not None:
                known = {"noise_variance_per_row": noise_variance_per_row, "exposure": exposure}
                known |= {"times": times, "series": series}
                return self._fit_out_of_core(rows, y, sample_weight, known)
            X, y = self._validated(X, y, reset=True)
            weights = check_weights(sample_weight, len(X))
            if noise_variance_per_row is not None:
                self._check_learns_gaussian_noise(likelihood)
                variances = check_row_variances(noise_variance_per_row, len(X))
                common = mean_variance(variances, weights)
                likelihood, precision = Gaussian(common), relative_precision(variances, common)
            self.__dict__.pop("_seen", None)  # rows that were seen before
            t = y.reshape(len(y), -1)
            layout = self._layout(varying(t if weights is None else t[weights > 0]))
            targets = {
                name: with_exposure(some, exposure, likelihood)
                for name, some in layout.targets(t).items()
            }
            rest = weights, precision, self.memory_limit, exposure is not None
            data = TrainingData(X, targets, bool(self.fit_intercept), *rest)
            given = {"X": X, "y": y, "sample_weight": weights}
            given["noise_variance_per_row"] = variances
            if any(value is not None for value in (self.noise_correlation, times, series)):
                data = self._correlated(data, likelihood, times, series)
                given |= order_of(data)
            self._fit(data, likelihood, given, single=y.ndim == 1, order=layout.order)
            return self

    def _fit_out_of_core(
        self, rows: OutOfCoreRows, y: Any, sample_weight: Any, known: Given
    ) -> Self:
        """Fit rows that are not in memory, of which something else may be `known` by row."""
        for name in ("times", "series"):
            if known[name] is not None:
                raise ValueError(
                    f"{name} is given, expected None for sparse X or rows out of memory"
                )
        variances, exposure = known["noise_variance_per_row"], known["exposure"]
        self.__dict__.pop("_seen", None)  # rows that were seen before
        validate_data(self, rows.head, dtype=np.float64)
        likelihood = self._likelihood()
        self._check_out_of_core(likelihood)
        single = np.ndim(y) == 1
        t, weights, precision = rows.numbers(y, "y"), rows.weights(sample_weight), None
        if variances is not None:
            self._check_learns_gaussian_noise(likelihood)
            common, precision = rows.noise(variances, weights)
            likelihood = Gaussian(common)
        layout = self._layout(rows.varying(t))
        targets = {name: rows.columns(t, some) for name, some in layout.columns.items()}
        if exposure is not None:
            targets = {name: rows.exposed(t, exposure, likelihood) for name, t in targets.items()}
        options = {"intercept": bool(self.fit_intercept), "exposed": exposure is not None}
        data = rows.data(targets, weights, precision, **options)
        given = {"X": data.X, "y": np.empty(0)}
        self._fit(data, likelihood, given, single=single, order=layout.order)
        return self

    def _layout(self, varies: NDArray[np.bool_]) -> TargetLayout:
        """Check how several targets, of which some vary, go together, and lay them out so."""
        if self.multi_output not in ("shared", "independent"):
            raise ValueError(
                f"multi_output={self.multi_output!r}, expected one of ['shared', 'independent']"
            )
        shared = self.multi_output == "shared"
        if shared and len(varies) > 1:
            for name, expected in SHARED.items():
                value = getattr(self, name)
                if value != expected:
                    raise ValueError(
                        f"{name}={value!r}, expected {expected!r} with {len(varies)} targets "
                        "that share their functions; or use multi_output='independent'"
                    )
        return TargetLayout.of(varies, shared=shared)

    def _attributes(self, result: FitResult) -> dict[str, Any]:
        """Add weights and intercept, a row a target."""
        weights = np.zeros((len(result.outputs), len(result.relevance)))
        for row, output in zip(weights, result.outputs, strict=True):
            row[output.columns] = output.posterior.mean[:, 0]
        intercept = np.array([output.posterior.intercept[0] for output in result.outputs])
        return super()._attributes(result) | {
            "dual_coef_": weights[0] if result.single else weights,
            "intercept_": float(intercept[0]) if result.single else intercept,
        }

    def _likelihood(self) -> RegressionLikelihood:
        if isinstance(self.likelihood, RegressionLikelihood):
            self._check_no_noise_parameters()
            return self.likelihood
        if not isinstance(self.likelihood, str) or self.likelihood not in LIKELIHOODS:
            raise ValueError(
                f"likelihood={self.likelihood!r} is not known, expected one of {list(LIKELIHOODS)} "
                "or a relvec.likelihoods object"
            )
        prior = check_gamma(self.beta_prior, "beta_prior")
        learnt = self.likelihood == "gaussian" and self.noise_variance is None
        if not (prior.uniform or learnt):
            raise ValueError(
                f"beta_prior={self.beta_prior!r}, expected (0, 0) where no noise is learnt: with "
                f"likelihood={self.likelihood!r} and noise_variance={self.noise_variance!r}"
            )
        if learnt:
            return Gaussian(precision_prior=prior)
        if self.noise_variance is None:
            return LIKELIHOODS[self.likelihood]()
        check_positive(self.noise_variance, "noise_variance", "None or a finite number > 0")
        if self.likelihood != "gaussian":
            raise ValueError(
                f"noise_variance={self.noise_variance!r}, expected None with "
                f"likelihood={self.likelihood!r}, whose noise is not Gaussian"
            )
        return Gaussian(self.noise_variance)

    def _check_learns_gaussian_noise(self, likelihood: Likelihood) -> None:
        """Raise unless noise known by row may take the place of that of the likelihood."""
        if likelihood != Gaussian():
            raise ValueError(
                f"likelihood={self.likelihood!r}, noise_variance={self.noise_variance!r} and "
                f"beta_prior={self.beta_prior!r}, expected 'gaussian', None and (0, 0) with "
                "noise_variance_per_row"
            )

    def _check_no_noise_parameters(self) -> None:
        """Raise if there are parameters of noise beside a likelihood that has its own."""
        if self.noise_variance is not None or tuple(self.beta_prior) != (0, 0):
            raise ValueError(
                f"noise_variance={self.noise_variance!r} and beta_prior={self.beta_prior!r}, "
                f"expected None and (0, 0) with likelihood={self.likelihood!r}, whose own "
                "parameters count"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        named = LIKELIHOODS.get(self.likelihood) if isinstance(self.likelihood, str) else None
        likelihood = named() if named else self.likelihood
        tags.target_tags.positive_only = getattr(likelihood, "support", Interval()).non_negative
        anywhere = getattr(likelihood, "learns_scales", True) and self.noise_correlation is None
        tags.input_tags.sparse &= anywhere
        several = self.likelihood == "gaussian" or self.multi_output != "shared"
        tags.target_tags.multi_output = several
        return tags

    def _validated(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Array, Array]:
        y = in_memory(y)
        if issparse(y):
            raise TypeError("y is a sparse matrix, expected a dense array of targets")
        read = partial(reading, lambda: self._dictionary().any_rows, y=y)
        with named_errors("X", "y"):
            rows, targets = self._rows_and_targets(
                X, y, read, reset=reset, y_numeric=True, multi_output=True
            )
        # Objects become numbers here, and None becomes NaN; the order keeps sums over the rows from
        # rounding otherwise where y is a column of a table.
        with named_errors("y"):
            targets = check_array(
                targets, ensure_2d=False, dtype=np.float64, order="C", input_name="y"
            )
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = column_or_1d(targets, warn=True)
        return rows, targets

    def _output_names(self) -> list[str]:
        return [str(output) for output in range(len(self.dual_coef_))]

    @with_default_float_errors
    def log_evidence(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        noise_variance_per_row: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        times: ArrayLike | None = None,
        series: ArrayLike | None = None,
    ) -> float:
        """Log evidence that the fitted hyperparameters and functions give other data.

        Parameters
        ----------
        X, y, sample_weight, noise_variance_per_row, exposure, times, series : array-like
            As in `fit`; without `noise_variance_per_row` the noise is what was learnt.

        Returns
        -------
        log_evidence : float
            In nats, the sum over the targets; on the training data, with what `fit` was given, it
            is ``log_evidence_``.
        """
        given = {
            "sample_weight": sample_weight,
            "noise_variance_per_row": noise_variance_per_row,
            "exposure": exposure,
            "times": times,
            "series": series,
        }
        return self._log_evidence(X, y, given)

    def _evidence_models(
        self, X: ArrayLike, y: ArrayLike, given: Given
    ) -> Iterator[tuple[FittedOutput, Array, EvidenceModel]]:
        rows, targets = self._like_fitted(X, y)
        weights = check_weights(given.get("sample_weight"), len(rows))
        used = np.arange(len(rows)) if weights is None else np.flatnonzero(weights)
        weights = None if weights is None else weights[used]
        Phi, center = of_rows(self.basis_.values, rows[used]), bool(self._in_fit("fit_intercept"))
        variances = given.get("noise_variance_per_row")
        if variances is not None:
            variances = check_row_variances(variances, len(rows))[used]
        for output, target in zip(self.fit_result_.outputs, targets.T, strict=True):
            precision = None
            if variances is not None:
                precision = relative_precision(variances, self._noise_variance(output))
            elif output.noise is not None:
                precision = output.noise.relative_precision(rows[used])
            own, candidates = (Phi[:, output.columns] for _ in range(2))
            if output.correlation is None:
                design = DenseDesign(
                    candidates, center=center, weights=weights, precision=precision
                )
            else:
                whitener = self._whitener(output.correlation, len(rows), given)
                design = WhitenedDesign(candidates, center=center, whitener=whitener)
            t = with_exposure(target[:, None], given.get("exposure"), output.likelihood)[used]
            output.likelihood.check(t)
            yield output, own, evidence_model(output.likelihood, design, t)

    def _like_fitted(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Inputs, and as many targets as were fitted, in columns; see `Fitted._like_fitted`."""
        rows, targets = self._validated(X, y, reset=False)
        targets = targets.reshape(len(rows), -1)
        fitted = len(self.fit_result_.outputs)
        if targets.shape[1] != fitted:
            raise ValueError(f"y has {targets.shape[1]} columns, expected {fitted}")
        return rows, targets
