"""The function that regression learns: its mean and standard deviation, and draws of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from relvec._assess.shapley import ShapleyValues, shapley_values
from relvec._estimators.base import RelevanceEstimator
from relvec._estimators.targets import log_exposure
from relvec._fitting.batches import Beside
from relvec._fitting.result import FittedOutput, Queries, check_range
from relvec._numerics.checks import check_count
from relvec._numerics.linalg import with_default_float_errors
from relvec._numerics.typing import Array
from relvec.likelihoods import RegressionLikelihood

#: Two numbers of every row, made of a likelihood, of mean and covariance of linear predictors, and
#: of what is beside the rows.
Moments = Callable[..., tuple[Array, Array]]


class LatentPredictor(RelevanceEstimator):
    """Fitted outputs, one a target, as predictors of a function."""

    @property
    def _single(self) -> bool:
        """True if y had no columns."""
        return self.fit_result_.single

    @property
    def weight_covariance_(self) -> Array:
        """Posterior covariance Σ of the weights (eq. 12), for each target."""
        check_is_fitted(self)
        size = len(self.relevance_)
        covariance = np.zeros((len(self.fit_result_.outputs), size, size))
        for own, output in zip(covariance, self.fit_result_.outputs, strict=True):
            own[np.ix_(output.columns, output.columns)] = output.posterior.covariance
        return covariance[0] if self._single else covariance

    def _moments(
        self,
        X: ArrayLike,
        of: Moments,
        *,
        spread: bool,
        beside: Sequence[Beside] = (),
    ) -> Array:
        """Two numbers of each row, of shape (2, n_samples) or (2, n_samples, n_targets).

        They are made of mean and covariance of the linear predictor, which is zero without
        `spread`, and of what is `beside` the rows.
        """
        function, n_outputs = partial(_moments, of, spread), len(self.fit_result_.outputs)
        both = self._at_rows(function, X, 2, n_outputs, beside=beside)
        both = np.swapaxes(both, 0, 1)
        moments: Array = both[:, :, 0] if self._single else both
        return moments

    @overload
    def predict_latent(self, X: ArrayLike, return_std: Literal[False] = False) -> Array: ...

    @overload
    def predict_latent(self, X: ArrayLike, return_std: Literal[True]) -> tuple[Array, Array]: ...

    @with_default_float_errors
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
        mean, std : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Posterior mean and, if `return_std`, standard deviation of the function, in units of y.
        """
        mean, variance = self._moments(X, function, spread=return_std)
        return (mean, np.sqrt(variance)) if return_std else mean

    @with_default_float_errors
    def predict_gradient(
        self, X: ArrayLike, return_std: bool = False
    ) -> Array | tuple[Array, Array]:
        """Predict the derivatives of the function in the inputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries.
        return_std : bool, default=False
            Return the posterior standard deviation √(∂φᵀ Σ ∂φ) of every derivative too; what a
            process has away from its centres is not in it.

        Returns
        -------
        gradient, std : ndarray of shape (n_samples, n_features), or (…, n_targets)
            Derivatives of the posterior mean of the function, in units of y (of its logarithm for
            counts) over those of X, and, if `return_std`, their standard deviations. Zero in
            categories; at the kinks of a Laplacian kernel the mean of both sides.

        Raises
        ------
        ValueError
            Functions have no derivatives that are known, such as those of a callable.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVR
        >>> x = np.linspace(0, 6, 100)[:, None]
        >>> model = RVR(gamma=0.5, noise_variance=1e-4).fit(x, np.sin(x[:, 0]))
        >>> model.predict_gradient([[1.0], [3.0]]).round(1).tolist()
        [[0.5], [-1.0]]
        """
        check_is_fitted(self)
        self._refuse_augmented("predict_gradient is not known")
        shape = 2, self.n_features_in_, len(self.fit_result_.outputs)
        both = np.asarray(self._at_rows(_gradients, X, *shape))
        gradient, std = (both[..., 0] if self._single else both).swapaxes(0, 1)
        return (gradient, std) if return_std else gradient

    @with_default_float_errors
    def shapley_values(self, X: ArrayLike, background: ArrayLike) -> ShapleyValues:
        """Divide the function among the inputs by Shapley values, exactly.

        It is the game that ``shap.KernelExplainer`` samples, with a closed form where functions are
        sums of products of functions of one input each, as most kernels are
        (:doc:`/guide/with-others`). A row takes O(K d²) operations for K functions of d inputs and
        one row of background.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to be explained.
        background : array-like of shape (n_background, n_features)
            Rows that the inputs are compared with: training rows, some of them, or their mean.

        Returns
        -------
        values : ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_targets)
            What each input adds, in units of y (of its logarithm for counts).
        base_values : float or ndarray of shape (n_targets,)
            Mean of the function over the background. With it the values of a row add up to what
            `predict_latent` returns there.

        Raises
        ------
        ValueError
            Functions are no such products, such as those of a callable or a Matérn kernel.
        """
        check_is_fitted(self)
        self._refuse_augmented("shapley_values is not known")
        rows, references = self._queries(X), self._queries(background)
        weights = np.atleast_2d(self.dual_coef_).T
        values = shapley_values(self.basis_.products(), rows, references, weights)
        base = np.mean(self.predict_latent(background), axis=0)
        if self._single:
            return ShapleyValues(values[..., 0], float(base))
        return ShapleyValues(values, base)

    @with_default_float_errors
    def sample_y(
        self,
        X: ArrayLike,
        n_samples: int = 1,
        random_state: int | np.random.RandomState | None = None,
        noise: bool = False,
        exposure: ArrayLike | None = None,
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
        exposure : array-like of shape (n_rows,), default=None
            Exposure of each count that is drawn with `noise`. None is 1 for all.

        Returns
        -------
        samples : ndarray of shape (n_rows, n_samples) or (n_rows, n_targets, n_samples)
            In units of y (its logarithm for counts without `noise`).
        """
        check_is_fitted(self)
        self._refuse_jointly("sample_y")
        check_count(n_samples, "n_samples")
        rng = check_random_state(random_state)
        at, drawn = Queries.of(self._queries(X), self.basis_, None), []
        for output in self.fit_result_.outputs:
            own, unspanned = at.Phi[:, output.columns], output.unspanned_variance(at)
            with np.errstate(over="ignore", invalid="ignore"):
                (samples,) = output.posterior.sample(own, n_samples, rng)
            if unspanned.any():
                samples += np.sqrt(unspanned)[:, None] * rng.standard_normal(samples.shape)
            check_range(samples)
            if noise:
                offset = log_exposure(exposure, len(at.Phi), output.likelihood)
                samples = likelihood_at(output, at.X).sample(samples + offset[:, None], rng)
            drawn.append(samples)
        return drawn[0] if self._single else np.stack(drawn, axis=1)

    def _refuse_augmented(self, refused: str, *, remedy: str = "") -> None:
        """Raise if every query has a function of its own."""
        if self.training_rows_ is not None:
            raise ValueError(
                f"{refused} with augment=True, where every query has a function of its own; "
                f"{remedy}fit with augment=False"
            )

    def _refuse_jointly(self, asked: str) -> None:
        """Raise if every query has a function of its own, so that two of them share no model."""
        joint = f"{asked} needs the joint distribution of several rows, and there is none"
        self._refuse_augmented(joint, remedy="ask for return_std=True, or ")


def likelihood_of(output: FittedOutput) -> RegressionLikelihood:
    """Return the likelihood of an output of regression."""
    assert isinstance(output.likelihood, RegressionLikelihood)
    return output.likelihood


def likelihood_at(output: FittedOutput, X: Array) -> RegressionLikelihood:
    """Return the likelihood of new targets at rows X (n_samples, n_features)."""
    likelihood = output.likelihood_at(X)
    assert isinstance(likelihood, RegressionLikelihood)
    return likelihood


def _moments(
    of: Moments, spread: bool, model: LatentPredictor, at: Queries, *beside: Array
) -> Array:
    """Two numbers of each row and output, shape (n_queries, 2, n_outputs)."""
    outputs = model.fit_result_.outputs
    found = np.empty((len(at.Phi), 2, len(outputs)))
    for number, output in enumerate(outputs):
        mean, covariance = output.latent(at, spread=spread)
        likelihood = likelihood_at(output, at.X)
        found[:, :, number] = np.hstack(of(likelihood, mean, covariance, *beside))
    return found


def _gradients(model: LatentPredictor, at: Queries) -> Array:
    """Mean and standard deviation of derivatives, (n_queries, 2, n_features, n_outputs)."""
    outputs, shape = model.fit_result_.outputs, at.X.shape
    found = np.zeros((shape[0], 2, shape[1], len(outputs)))
    for d, slopes in enumerate(at.basis.derivatives(at.X)):
        for number, output in enumerate(outputs):
            own = slopes[:, output.columns]
            found[:, 0, d, number] = own @ output.posterior.mean[:, 0]
            found[:, 1, d, number] = np.linalg.norm(own @ output.posterior.root, axis=1)
    check_range(found)
    return found


def function(_: RegressionLikelihood, mean: Array, cov: Array) -> tuple[Array, Array]:
    """Mean and variance of the function."""
    return mean, cov[:, 0]
