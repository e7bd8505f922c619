"""Predictions of new observations: means with error bars, intervals and densities."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from relvec._assess.conformal import CalibratedRegressor
from relvec._estimators.correlation import CorrelatedNoise
from relvec._estimators.latent import likelihood_at, likelihood_of
from relvec._estimators.observations import (
    interval,
    log_density,
    moments,
    observed_targets,
    row_exposure,
    row_noise,
)
from relvec._estimators.out_of_core import as_rows, is_out_of_core
from relvec._estimators.targets import check_row_variances, log_exposure
from relvec._fitting.batches import Beside
from relvec._fitting.result import FittedOutput, Queries, check_range
from relvec._numerics.checks import check_coverage, in_memory
from relvec._numerics.linalg import with_default_float_errors
from relvec._numerics.typing import Array
from relvec.likelihoods import Gaussian, RegressionLikelihood


class Predictor(RegressorMixin, CorrelatedNoise):  # type: ignore[misc]
    """Fitted outputs, one a target, as predictors of numbers."""

    likelihood: str | RegressionLikelihood

    @property
    def noise_variance_(self) -> float | Array:
        """Variance of the noise, in squared units of y; one for each of several targets."""
        return self._of_noise("noise_variance", "noise_variance_")

    @property
    def noise_scale_(self) -> float | Array:
        """Scale σ of Student-t noise, in units of y."""
        return np.sqrt(self._of_noise("scale2", "noise_scale_"))

    @property
    def degrees_of_freedom_(self) -> float | Array:
        """Degrees of freedom ν of Student-t noise."""
        return self._of_noise("degrees_of_freedom", "degrees_of_freedom_")

    def _of_noise(self, name: str, public: str) -> float | Array:
        """Return an attribute that the likelihood of every output has."""
        check_is_fitted(self)
        outputs = self.fit_result_.outputs
        if not hasattr(outputs[0].likelihood, name):
            given = self._in_fit("likelihood")
            raise AttributeError(
                f"{public} is not available with likelihood={given!r}, whose noise has none"
            )
        found = [getattr(output.likelihood, name) for output in outputs]
        return float(found[0]) if self._single else np.array(found)

    def _noise_variance(self, output: FittedOutput) -> float:
        """Return the noise variance that an output learnt, or was given."""
        self._check_gaussian()
        assert isinstance(output.likelihood, Gaussian)
        assert isinstance(output.likelihood.noise_variance, float)
        return output.likelihood.noise_variance

    def _check_gaussian(self) -> None:
        """Raise unless rows can have noise variances of their own."""
        if not isinstance(self.fit_result_.outputs[0].likelihood, Gaussian):
            raise ValueError(
                f"noise_variance_per_row is given, expected None with likelihood="
                f"{self._in_fit('likelihood')!r}, whose noise is not Gaussian"
            )

    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[False] = False,
        return_cov: Literal[False] = False,
        noise_variance_per_row: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Array: ...

    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[True],
        return_cov: Literal[False] = False,
        noise_variance_per_row: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> tuple[Array, Array]: ...

    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[False] = False,
        *,
        return_cov: Literal[True],
        noise_variance_per_row: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> tuple[Array, Array]: ...

    @with_default_float_errors
    def predict(
        self,
        X: ArrayLike,
        return_std: bool = False,
        return_cov: bool = False,
        noise_variance_per_row: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Array | tuple[Array, Array]:
        """Predict new observations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows. For those in
            Dask the answer is a Dask array, which waits until it is computed.
        return_std, return_cov : bool, default=False
            Return the standard deviation of a new observation too, noise included (eq. 22), or the
            covariance of all.
        noise_variance_per_row : array-like of shape (n_samples,), default=None
            Variance of the Gaussian noise of each new observation. None takes `noise_variance_` for
            all, which after a fit with noise known by row is the mean of those.
        exposure : array-like of shape (n_samples,), default=None
            Exposure of each new count, in the unit of those of `fit`. None is 1 for all.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictive mean (eq. 21), in units of y.
        std : ndarray of shape (n_samples,) or (n_samples, n_targets)
            If `return_std`, in units of y.
        cov : ndarray of shape (n_samples, n_samples) or (n_samples, n_samples, n_targets)
            If `return_cov`, in squared units of y.

        Raises
        ------
        OverflowError
            Counts, or their variances, exceed the range of double precision.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov are both True, expected at most one")
        check_is_fitted(self)
        if return_cov:
            return self._joint(X, noise_variance_per_row, exposure)
        outputs = self.fit_result_.outputs
        needed = any(likelihood_of(output).mean_depends_on_variance for output in outputs)
        known = self._known(noise_variance_per_row, exposure)
        of = partial(moments, noise_variance_per_row is not None)
        mean, variance = self._moments(X, of, spread=return_std or needed, beside=known)
        return (mean, np.sqrt(variance)) if return_std else mean

    def _known(self, variances: ArrayLike | None, exposure: ArrayLike | None) -> list[Beside]:
        """Return what is known of rows, if anything: variances of their noise, or exposures."""
        likelihood, known = likelihood_of(self.fit_result_.outputs[0]), []
        if exposure is not None:
            known = [row_exposure(exposure, likelihood)]
        if variances is not None:
            self._check_gaussian()
            known = [*known, row_noise(variances)]
        return known

    @with_default_float_errors
    def predict_interval(
        self,
        X: ArrayLike,
        coverage: float = 0.95,
        noise_variance_per_row: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """Predict central intervals, noise included; see `relvec.predict_interval`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries, as in `predict`.
        coverage : float, default=0.95
            Probability that an observation lies in its interval, ends included.
        noise_variance_per_row, exposure : array-like of shape (n_samples,), default=None
            See `predict`.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Ends, in units of y.
        """
        check_is_fitted(self)
        check_coverage(coverage)
        known = self._known(noise_variance_per_row, exposure)
        of = partial(interval, coverage, noise_variance_per_row is not None)
        lower, upper = self._moments(X, of, spread=True, beside=known)
        return lower, upper

    @with_default_float_errors
    def predict_log_density(
        self,
        X: ArrayLike,
        y: ArrayLike,
        noise_variance_per_row: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Array:
        """Log density predicted for each observation; see `relvec.predict_log_density`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries, as in `predict`.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            What was observed there.
        noise_variance_per_row, exposure : array-like of shape (n_samples,), default=None
            See `predict`.

        Returns
        -------
        log_density : ndarray of shape (n_samples,) or (n_samples, n_targets)
            In nats, of densities in units of 1/y; of counts the log probability.
        """
        check_is_fitted(self)
        X = as_rows(X)
        targets = y if is_out_of_core(X) else self._like_fitted(X, y)[1]
        likelihoods = [likelihood_of(output) for output in self.fit_result_.outputs]
        known = self._known(noise_variance_per_row, exposure)
        of = partial(_log_densities, noise_variance_per_row is not None)
        beside = [observed_targets(targets, likelihoods), *known]
        found: Array = self._at_rows(of, X, len(likelihoods), beside=beside)
        return found[:, 0] if self._single else found

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Coefficient of determination R² of the predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            What was observed there.
        sample_weight, exposure : array-like of shape (n_samples,), default=None
            Weight of each row, and its exposure as in `predict`.

        Returns
        -------
        score : float
            1 less the sum of squared errors over that about the mean of y.
        """
        predicted = in_memory(self.predict(X, exposure=exposure))
        return float(r2_score(in_memory(y), predicted, sample_weight=in_memory(sample_weight)))

    def calibrate(
        self,
        X: ArrayLike,
        y: ArrayLike,
        cv: Any = None,
        groups: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> CalibratedRegressor:
        calibrated = super().calibrate(X, y, cv, groups, exposure)
        assert isinstance(calibrated, CalibratedRegressor)
        return calibrated

    def _log_exposure(self, exposure: ArrayLike | None, n_rows: int) -> Array:
        """Return the logarithm of the exposure of each row, (n_rows,), zeros without any."""
        return log_exposure(exposure, n_rows, likelihood_of(self.fit_result_.outputs[0]))

    def _joint(
        self, X: ArrayLike, variances: ArrayLike | None, exposure: ArrayLike | None
    ) -> tuple[Array, Array]:
        """Mean of new observations at the rows of X, and their covariance, for each target."""
        self._refuse_jointly("return_cov=True")
        at, means, covariances = Queries.of(self._queries(X), self.basis_, None), [], []
        for output in self.fit_result_.outputs:
            likelihood, own = likelihood_at(output, at.X), at.Phi[:, output.columns]
            with np.errstate(over="ignore", invalid="ignore"):
                latent = output.posterior.latent_mean(own)
                covariance = output.posterior.joint_covariance(own)
                covariance += np.diag(output.unspanned_variance(at))
            latent = latent + self._log_exposure(exposure, len(at.Phi))[:, None]
            check_range(latent, covariance)
            if variances is None:
                mean, _ = likelihood.moments(latent, covariance.diagonal()[:, None, None])
                covariance = likelihood.joint_covariance(latent[:, 0], covariance)
            else:
                self._check_gaussian()
                mean, known = latent, check_row_variances(variances, len(at.Phi))
                covariance = covariance + np.diag(known)
            means.append(mean[:, 0])
            covariances.append(covariance)
        if self._single:
            return means[0], covariances[0]
        return np.stack(means, axis=-1), np.stack(covariances, axis=-1)


def _log_densities(
    noise_known: bool, model: Predictor, at: Queries, targets: Array, *known: Array
) -> Array:
    """Log density of each target (n_queries, n_targets) at rows of which something may be known."""
    found = np.empty(targets.shape)
    for number, output in enumerate(model.fit_result_.outputs):
        predicted = output.latent(at, spread=True)
        own = targets[:, [number]]
        likelihood = likelihood_at(output, at.X)
        found[:, number] = log_density(noise_known, likelihood, own, *predicted, *known)
    return found
