"""What every regressor does: fit, predict with error bars, sample, and the evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._estimator import Array, RelevanceMachine, check_weights
from relvec._row_noise import check_row_variances, mean_variance, relative_precision
from relvec.checks import check_count, check_positive
from relvec.design import DenseDesign
from relvec.hyperpriors import check_gamma
from relvec.inference import infer
from relvec.likelihoods import Gaussian, Poisson, RegressionLikelihood

#: Names that ``likelihood`` takes.
LIKELIHOODS: dict[str, type[RegressionLikelihood]] = {"gaussian": Gaussian, "poisson": Poisson}


class Regressor(RegressorMixin, RelevanceMachine):  # type: ignore[misc]
    """Targets that are numbers; parameters and attributes are documented where they are set."""

    likelihood: str
    noise_variance: float | None
    beta_prior: tuple[float, float]

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        noise_variance_per_row: ArrayLike | None = None,
    ) -> Self:
        """Learn which functions matter, their weights and the noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; with a precomputed kernel its values, of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Copies of each row: weight 2 is the row twice, weight 0 its absence.
        noise_variance_per_row : array-like of shape (n_samples,), default=None
            Variance of the Gaussian noise of each row where it is known, in squared units of y; a
            copy of a row has noise of its own. `noise_variance` has to be None then.

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
        ConvergenceWarning
            `max_iter` passes were not enough.
        NoiseFloorWarning
            The learnt noise reached its floor.
        EmptyModelWarning
            No function raises the evidence, and the model predicts a constant.
        CentersWarning
            There are too many rows for each to carry a candidate.
        """
        likelihood, precision = self._likelihood(), None
        rows, targets = self._validated(X, y, reset=True)
        weights = check_weights(sample_weight, len(rows))
        if noise_variance_per_row is not None:
            if likelihood != Gaussian():
                raise ValueError(
                    f"likelihood={self.likelihood!r}, noise_variance={self.noise_variance!r} and "
                    f"beta_prior={self.beta_prior!r}, expected 'gaussian', None and (0, 0) with "
                    "noise_variance_per_row"
                )
            variances = check_row_variances(noise_variance_per_row, len(rows))
            common = mean_variance(variances, weights)
            likelihood, precision = Gaussian(common), relative_precision(variances, common)
        (solution,) = self._fit(rows, {"": targets[:, None]}, likelihood, weights, precision)
        assert isinstance(solution.likelihood, RegressionLikelihood)
        self.posterior_, self.likelihood_ = solution.posterior, solution.likelihood
        self.dual_coef_ = solution.posterior.mean[:, 0]
        self.intercept_ = float(solution.posterior.intercept[0])
        self.weight_precision_ = solution.alpha
        self.well_determined_ = solution.well_determined
        self.log_evidence_ = solution.log_evidence
        return self

    def _likelihood(self) -> RegressionLikelihood:
        """Check the parameters of the likelihood and build it."""
        if not isinstance(self.likelihood, str) or self.likelihood not in LIKELIHOODS:
            raise ValueError(
                f"likelihood={self.likelihood!r} is not known, expected one of {list(LIKELIHOODS)}"
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
                f"likelihood={self.likelihood!r}, which has no noise of its own"
            )
        return Gaussian(self.noise_variance)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.likelihood, str) and self.likelihood in LIKELIHOODS:
            tags.target_tags.positive_only = LIKELIHOODS[self.likelihood].positive_only
        return tags

    def _validated(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Array, Array]:
        rows, targets = validate_data(self, X, y, dtype=np.float64, y_numeric=True, reset=reset)
        return rows, np.asarray(targets, dtype=np.float64)

    def _output_names(self) -> list[str]:
        return [str(output) for output in range(len(self.dual_coef_))]

    @property
    def noise_variance_(self) -> float:
        """Noise variance σ², in squared units of y."""
        check_is_fitted(self)
        if not isinstance(self.likelihood_, Gaussian):
            raise AttributeError("noise_variance_ is only available with likelihood='gaussian'")
        variance = self.likelihood_.noise_variance
        assert variance is not None  # the solver returns the variance it learnt
        return variance

    @property
    def weight_covariance_(self) -> Array:
        """Posterior covariance Σ of the weights (eq. 12), shape (n_active, n_active)."""
        check_is_fitted(self)
        return self.posterior_.covariance

    def predict(
        self,
        X: ArrayLike,
        return_std: bool = False,
        return_cov: bool = False,
        noise_variance_per_row: ArrayLike | None = None,
    ) -> Array | tuple[Array, Array]:
        """Predict new observations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.
        return_std : bool, default=False
            Return the standard deviation of a new observation too, noise included (eq. 22).
        return_cov : bool, default=False
            Return the covariance of new observations too. It has n_samples² entries.
        noise_variance_per_row : array-like of shape (n_samples,), default=None
            Variance of the Gaussian noise of each new observation. None takes `noise_variance_` for
            all, which after a fit with noise known by row is the mean of those.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Predictive mean (eq. 21), in units of y.
        std : ndarray of shape (n_samples,)
            If `return_std`, in units of y.
        cov : ndarray of shape (n_samples, n_samples)
            If `return_cov`, in squared units of y.

        Raises
        ------
        OverflowError
            Counts, or their variances, exceed the range of double precision.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov are both True, expected at most one")
        check_is_fitted(self)
        if noise_variance_per_row is not None:
            return self._predict_known(X, return_std, return_cov, noise_variance_per_row)
        likelihood = self.likelihood_
        if return_cov:
            latent, covariance = self._joint(X)
            variance = covariance.diagonal()[:, None, None]
            mean, _ = likelihood.moments(latent[:, None], variance)
            return mean[:, 0], likelihood.joint_covariance(latent, covariance)
        spread = return_std or likelihood.mean_feels_spread
        mean, variance = self._moments(X, likelihood.moments, spread=spread)
        return (mean, np.sqrt(variance)) if return_std else mean

    def _predict_known(
        self, X: ArrayLike, return_std: bool, return_cov: bool, variances: ArrayLike
    ) -> Array | tuple[Array, Array]:
        """Predict observations whose noise is known: that of the function, and their own."""
        if not isinstance(self.likelihood_, Gaussian):
            raise ValueError(
                f"noise_variance_per_row is given, expected None with likelihood="
                f"{self.likelihood!r}, which has no noise of its own"
            )
        if return_cov:
            mean, covariance = self._joint(X)
            return mean, covariance + np.diag(check_row_variances(variances, len(mean)))
        mean, std = self.predict_latent(X, return_std=True)
        known = check_row_variances(variances, len(mean))
        return (mean, np.sqrt(std**2 + known)) if return_std else mean

    def _joint(self, X: ArrayLike) -> tuple[Array, Array]:
        """Mean of the function at the rows of X, and its covariance between them."""
        Phi = self.basis_.evaluate(self._queries(X))
        return self.posterior_.latent_mean(Phi)[:, 0], self.posterior_.joint_covariance(Phi)

    def _moments(
        self, X: ArrayLike, of: Callable[[Array, Array], tuple[Array, Array]], *, spread: bool
    ) -> Array:
        """Rows of what `of` makes of latent mean and covariance (zero without `spread`)."""
        posterior = self.posterior_

        def moments(Phi: Array) -> Array:
            mean = posterior.latent_mean(Phi)
            covariance = posterior.latent_covariance(Phi) if spread else np.zeros((*mean.shape, 1))
            return np.hstack(of(mean, covariance))

        return self._by_batches(X, moments).T

    def predict_latent(self, X: ArrayLike, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predict the function itself, without the noise of an observation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries.
        return_std : bool, default=False
            Return the standard deviation of the function too.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Posterior mean of the function, in units of y.
        std : ndarray of shape (n_samples,)
            If `return_std`, in units of y.
        """
        mean, variance = self._moments(X, lambda m, C: (m, C[:, 0]), spread=return_std)
        return (mean, np.sqrt(variance)) if return_std else mean

    def sample_y(
        self,
        X: ArrayLike,
        n_samples: int = 1,
        random_state: int | np.random.RandomState | None = None,
        noise: bool = False,
    ) -> Array:
        """Draw functions from the posterior, evaluated at the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Queries.
        n_samples : int, default=1
            Number of functions.
        random_state : int, RandomState or None, default=None
            Source of the draws.
        noise : bool, default=False
            Add the noise of an observation to every value.

        Returns
        -------
        samples : ndarray of shape (n_rows, n_samples)
            One function a column, in units of y (its logarithm for counts without `noise`).
        """
        check_count(n_samples, "n_samples")
        rng = check_random_state(random_state)
        Phi = self.basis_.evaluate(self._queries(X))
        (samples,) = self.posterior_.sample(Phi, n_samples, rng)
        return self.likelihood_.sample(samples, rng) if noise else samples

    def log_evidence(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        noise_variance_per_row: ArrayLike | None = None,
    ) -> float:
        """Log evidence that the fitted hyperparameters and functions give other data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Copies of each row.
        noise_variance_per_row : array-like of shape (n_samples,), default=None
            Variance of the Gaussian noise of each row. None takes `noise_variance_` for all.

        Returns
        -------
        log_evidence : float
            In nats; on the training data, with what `fit` was given, it is ``log_evidence_``.
        """
        rows, targets = self._validated(X, y, reset=False)
        weights, precision = check_weights(sample_weight, len(rows)), None
        if noise_variance_per_row is not None:
            variances = check_row_variances(noise_variance_per_row, len(rows))
            precision = relative_precision(variances, self.noise_variance_)
        if weights is not None:
            present = weights > 0
            rows, targets, weights = rows[present], targets[present], weights[present]
            precision = None if precision is None else precision[present]
        design = DenseDesign(
            self.basis_.evaluate(rows),
            center=bool(self.fit_intercept),
            weights=weights,
            precision=precision,
        )
        self.likelihood_.check(targets)
        inference = infer(self.likelihood_, design, targets[:, None])
        prior = self._alpha_prior().log_prob(self.weight_precision_)
        return inference.log_evidence(self.weight_precision_) + prior
