"""Noise of regression that is correlated between rows, and forecasts by the last residuals."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from relvec._estimators.fitted import Given
from relvec._estimators.noise import NoisePredictor
from relvec._fitting.correlated_rows import (
    CorrelatedData,
    FittedCorrelation,
    KnownCorrelation,
    MarkovCorrelation,
    RowCorrelation,
    Series,
    SeriesEnds,
)
from relvec._fitting.data import TrainingData
from relvec._fitting.result import FittedOutput, Queries, check_range
from relvec._numerics.checks import in_memory, named_errors, refuse_missing
from relvec._numerics.linalg import NotPositiveDefiniteError, with_default_float_errors
from relvec._numerics.typing import Array, Index
from relvec._numerics.whitening import Whitener
from relvec.likelihoods import AR1, Gaussian, Likelihood

#: Parameters that are refused beside correlated noise, with what they have to be.
ALONE = {"noise": "constant", "augment": False, "alpha_prior": (0.0, 0.0)}
#: Difference of entries of a symmetric matrix, as a share of its mean variance.
SYMMETRIC = 1e-8


class CorrelatedNoise(NoisePredictor):
    """Fitted outputs, one a target, as predictors of what follows rows of the fit in time."""

    noise_correlation: Any

    @property
    def noise_correlation_(self) -> AR1:
        """Correlation of the noise from step to step, with the standard error of a learnt ρ."""
        check_is_fitted(self)
        found = self.fit_result_.outputs[0].correlation
        if found is None or found.ar1 is None:
            raise AttributeError(
                "noise_correlation_ is only available with noise_correlation='ar1' or an AR1"
            )
        return found.ar1

    def _check_rows_not_kept(self, where: str) -> None:
        super()._check_rows_not_kept(where)
        if self.noise_correlation is not None:
            raise ValueError(f"noise_correlation is given, expected None {where}")

    def _correlated(
        self,
        data: TrainingData,
        likelihood: Likelihood,
        times: ArrayLike | None,
        series: ArrayLike | None,
    ) -> TrainingData:
        """Return the rows with the correlation of their noise, which is given or was asked for."""
        given = self.noise_correlation
        if not isinstance(given, str | AR1):
            for name, values in {"times": times, "series": series}.items():
                if values is not None:
                    raise ValueError(
                        f"{name} is given, expected None unless noise_correlation is 'ar1' or an "
                        "AR1"
                    )
        self._check_alone(data, likelihood)
        correlation: RowCorrelation
        if isinstance(given, str | AR1):
            ar1 = _ar1(given)
            correlation = MarkovCorrelation.of(series_of(times, series, data.n_rows), ar1)
        else:
            correlation = KnownCorrelation(_matrix(given, data.n_rows))
        if not (isinstance(given, str | AR1) and ar1.rho is None):
            _check_factor(correlation)
        own = {field.name: getattr(data, field.name) for field in fields(TrainingData)}
        return CorrelatedData(**own, correlation=correlation)

    def _check_alone(self, data: TrainingData, likelihood: Likelihood) -> None:
        """Raise where something does not go together with correlated noise."""
        if not isinstance(likelihood, Gaussian):
            raise ValueError(
                f"likelihood={self.likelihood!r}, expected 'gaussian' with noise_correlation"
            )
        for name, expected in ALONE.items():
            if (value := getattr(self, name)) != expected:
                raise ValueError(f"{name}={value!r}, expected {expected!r} with noise_correlation")
        rows = {"sample_weight": data.weights, "noise_variance_per_row": data.row_precision}
        for name, values in rows.items():
            if values is not None:
                raise ValueError(f"{name} is given, expected None with noise_correlation")
        n_targets = sum(t.shape[1] for t in data.targets.values())
        if n_targets > 1:
            raise ValueError(f"y has {n_targets} columns, expected one with noise_correlation")

    def _whitener(self, found: FittedCorrelation, n_rows: int, given: Given) -> Whitener:
        """Return the map that makes the noise of other rows independent."""
        if found.ar1 is None:
            return KnownCorrelation(_matrix(self._in_fit("noise_correlation"), n_rows)).whitener()
        series = series_of(given.get("times"), given.get("series"), n_rows)
        return MarkovCorrelation(series, found.ar1, regular=True).whitener()

    @with_default_float_errors
    def forecast(
        self,
        X: ArrayLike,
        times: ArrayLike | None = None,
        series: ArrayLike | None = None,
        return_std: bool = False,
    ) -> Array | tuple[Array, Array]:
        """Predict observations that follow those of the fit, by the last residual of their series.

        Time Δ after the end of its series the noise is expected to be ρ^Δ times that of the last
        row, and its variance is σ²(1 − ρ^2Δ); other rows are as `predict` has them. There are
        examples in :doc:`/guide/regression`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries.
        times, series : array-like of shape (n_samples,), default=None
            Their times and series, as in `fit`. None, where `fit` had no times, takes them in their
            order, from one step after the end of each series on.
        return_std : bool, default=False
            Return the standard deviation of the observations, too.

        Returns
        -------
        mean, std : ndarray of shape (n_samples,)
            Predictive mean and, if `return_std`, standard deviation, in units of y.

        Raises
        ------
        ValueError
            The noise of the fit has no order in time, or times or series are not as in the fit.
        """
        ar1 = self.noise_correlation_
        (output,) = self.fit_result_.outputs
        assert output.correlation is not None
        assert output.correlation.ends is not None
        ends, at = output.correlation.ends, Queries.of(self._queries(X), self.basis_, None)
        after, number = _after(ends, times, series, len(at.Phi))
        share = np.zeros(len(after))
        share[after > 0] = ar1.correlation(after[after > 0])
        mean, variance = _following(output, at, ends, self.basis_.values(ends.X), number, share)
        check_range(mean, variance)
        return (mean, np.sqrt(variance)) if return_std else mean


def _following(
    output: FittedOutput, at: Queries, ends: SeriesEnds, last: Array, number: Index, share: Array
) -> tuple[Array, Array]:
    """Mean and variance (n_queries,) of rows that have a `share` of the noise of the last ones.

    Given all kept functions at the ends (n_series, n_active), and the series of each query.
    """
    assert isinstance(output.likelihood, Gaussian)
    assert isinstance(output.likelihood.noise_variance, float)
    posterior, own = output.posterior, at.Phi[:, output.columns]
    last = last[:, output.columns]
    miss = ends.y - posterior.latent_mean(last)[:, 0]
    mean = posterior.latent_mean(own)[:, 0] + share * miss[number]
    apart = own - posterior.center - share[:, None] * (last[number] - posterior.center)
    variance = np.square(apart @ posterior.root).sum(axis=1)
    variance += (1 - share) ** 2 * posterior.level_covariance[0, 0] + output.unspanned_variance(at)
    variance += output.likelihood.noise_variance * (1 - share**2)
    return mean, variance


def _after(
    ends: SeriesEnds, times: ArrayLike | None, series: ArrayLike | None, n_rows: int
) -> tuple[Array, Index]:
    """Time of rows after the end of their series, 0 where there is none, and its position there."""
    asked = series_of(times, series, n_rows)
    if asked.clock != ends.clock:
        raise ValueError(f"times are {asked.clock}, expected {ends.clock} as in the fit")
    if asked.labels.dtype.kind != ends.labels.dtype.kind:
        raise ValueError("series has labels of another type, or none, expected those of the fit")
    labels = asked.labels[asked.number]
    number = np.minimum(np.searchsorted(ends.labels, labels), len(ends.labels) - 1)
    since = asked.time if asked.clock == Series.ROWS else asked.time - ends.time[number]
    known = ends.labels[number] == labels
    return np.where(known, np.maximum(since, 0.0), 0.0), number


def order_of(data: TrainingData) -> dict[str, NDArray[Any]]:
    """Return times and numbers of the series of rows, where their noise is correlated so."""
    correlation = data.correlation if isinstance(data, CorrelatedData) else None
    if not isinstance(correlation, MarkovCorrelation):
        return {}
    return {"times": correlation.series.time, "series": correlation.series.number}


def series_of(times: ArrayLike | None, series: ArrayLike | None, n_rows: int) -> Series:
    """Check times and labels of series, and return them; rows without times count from 1."""
    labels, number = _labels(series, n_rows)
    if times is None:
        ones, order = np.ones(n_rows), np.argsort(number, kind="stable")
        time = np.empty(n_rows)
        time[order] = np.cumsum(ones) - np.searchsorted(number[order], number[order])
        return Series(time, number, labels, Series.ROWS)
    given = np.asarray(in_memory(times))
    refuse_missing("times", given)
    clock = Series.DATES if given.dtype.kind == "M" else Series.NUMBERS
    if clock == Series.DATES:
        given = given.astype("datetime64[ns]").astype(np.int64) * 1e-9
    if given.shape != (n_rows,):
        raise ValueError(f"times has shape {given.shape}, expected {(n_rows,)}")
    with named_errors("times"):
        time = check_array(given, ensure_2d=False, dtype=np.float64, input_name="times")
    found = Series(time, number, labels, clock)
    twice = np.flatnonzero(found.since <= 0)
    if len(twice):
        rows = sorted(found.order[twice[0] - 1 : twice[0] + 1].tolist())
        raise ValueError(
            f"times has {time[rows[0]]:g} twice in one series, in rows {rows[0]} and {rows[1]}, "
            "expected a time for each row; mark separate series by `series`"
        )
    return found


def _labels(series: ArrayLike | None, n_rows: int) -> tuple[NDArray[Any], Index]:
    """Labels of series, ascending, and the position of each row's among them."""
    if series is None:
        return np.zeros(1), np.zeros(n_rows, dtype=np.intp)
    given = np.asarray(in_memory(series))
    refuse_missing("series", given)
    if given.shape != (n_rows,):
        raise ValueError(f"series has shape {given.shape}, expected {(n_rows,)}")
    number = given.dtype.kind in "biuf"
    labels, positions = np.unique(
        given.astype(np.int64 if number else np.str_), return_inverse=True
    )
    return labels, positions


def _ar1(given: str | AR1) -> AR1:
    """Check what says that noise is an autoregression."""
    if isinstance(given, str):
        if given != "ar1":
            raise ValueError(
                f"noise_correlation={given!r}, expected None, 'ar1', a relvec.likelihoods.AR1 or a "
                "matrix"
            )
        return AR1()
    given.check()
    return AR1(given.rho)


def _matrix(given: Any, n_rows: int) -> Any:
    """Check a matrix (n_rows, n_rows), and return it in units of its mean variance."""
    name = "noise_correlation"
    with named_errors(name):
        matrix = check_array(
            given, accept_sparse=("csr",), dtype=np.float64, input_name=name, copy=True
        )
    if matrix.shape != (n_rows, n_rows):
        raise ValueError(f"{name} has shape {matrix.shape}, expected {(n_rows, n_rows)}")
    mean = float(matrix.diagonal().mean())
    if not mean > 0:
        raise ValueError(f"{name} has a mean of {mean:g} on its diagonal, expected a number > 0")
    matrix = sparse.csr_array(matrix / mean) if sparse.issparse(matrix) else matrix / mean
    if abs(matrix - matrix.T).max() > SYMMETRIC:
        raise ValueError(f"{name} is not symmetric, expected a covariance between the rows")
    return matrix


def _check_factor(correlation: RowCorrelation) -> None:
    """Raise unless a correlation is positive definite."""
    try:
        correlation.whitener()
    except NotPositiveDefiniteError as error:
        raise ValueError(
            "noise_correlation is not positive definite, expected a covariance between the rows"
        ) from error
