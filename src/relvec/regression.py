"""Relevance vector regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._estimator import Array, CentersLike, RelevanceMachine, check_weights
from relvec.basis import Basis
from relvec.checks import check_count, check_positive
from relvec.design import DenseDesign
from relvec.inference import infer
from relvec.likelihoods import Gaussian, Poisson, RegressionLikelihood

#: Names that ``likelihood`` takes.
LIKELIHOODS: dict[str, type[RegressionLikelihood]] = {"gaussian": Gaussian, "poisson": Poisson}


class RVR(RegressorMixin, RelevanceMachine):  # type: ignore[misc]
    """Relevance vector regression (Tipping 2001).

    The model y(x) = Σ w_m φ_m(x) + w_0 gives every weight a prior N(0, 1/α_m) of its own and sets
    all α_m and the noise variance σ² by maximising the evidence. Most α_m become infinite: what is
    left are the relevance vectors. There is nothing to cross-validate but the kernel.

    Parameters
    ----------
    kernel : str, callable or Basis, default="rbf"
        Candidate functions: "rbf", "laplacian", "linear", "poly", "sigmoid", "linear_spline" (eq.
        29) or "precomputed", a function ``k(X, Z)`` that returns an array of shape (n, m), or an
        object of `relvec.basis`, whose own parameters then count and not the three below.
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        Inverse squared width of the kernel as in :class:`sklearn.svm.SVR`, or one per feature.
    degree : int, default=3
        Power of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" and "sigmoid" kernels.
    fit_intercept : bool, default=True
        Include an intercept with a flat prior, so that adding a constant to y only shifts the
        predictions; its uncertainty is part of the error bars.
    likelihood : {"gaussian", "poisson"}, default="gaussian"
        Distribution of y: Gaussian noise around the function, or counts whose log rate the function
        is, by Laplace's method. A rate y measured over an exposure is fitted with the exposure as
        its weight.
    noise_variance : float, default=None
        Variance σ² of Gaussian noise, in squared units of y. None learns it (eq. 18).
    centers : int or array-like of shape (n_centers, n_features), default=None
        Points that carry candidate functions: every row (None), that many rows drawn with
        `random_state`, or points of your own. Over 10,000 rows, None draws as many as make a design
        matrix of 10⁸ entries, with a warning.
    solver : {"sequential"}, default="sequential"
        Search for the maximum of the evidence.
    n_starts : int, default=1
        Starts of the search, which has local optima; more find better ones more often.
    tol : float, default=0.03
        Nats of log evidence that a function must be worth to be added or kept.
    max_iter : int, default=1000
        Passes of the solver over all starts.
    random_state : int, RandomState or None, default=None
        Draw of the centres, where they are drawn.
    verbose : int, default=0
        Positive: print evidence, functions and noise after every pass.

    Attributes
    ----------
    relevance_ : ndarray of int, shape (n_active,)
        Kept candidates, ascending.
    relevance_rows_ : ndarray of int, shape (n_active,)
        Training row that each kept function is centred on, -1 where there is none.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Points that kept functions are centred on; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_active,)
        Weights of the kept functions (mean of eq. 13).
    intercept_ : float
        w_0; zero without an intercept.
    coef_ : ndarray of shape (n_features,)
        Weights of the inputs, where every function is linear in them.
    weight_precision_ : ndarray of shape (n_active,)
        α of the kept functions, in inverse squared units of the weights.
    weight_covariance_ : ndarray of shape (n_active, n_active)
        Σ of eq. 12.
    noise_variance_ : float
        σ², in squared units of y.
    log_evidence_ : float
        Logarithm of the marginal likelihood (eq. 15); with an intercept the restricted one, the
        density of the n_samples − 1 contrasts of y, so never compare it with one without.
    well_determined_ : ndarray of shape (n_active,)
        γ = 1 − αΣ_ii of eq. 17: how far the data, rather than the prior, determine each weight.
    history_ : list of Pass
        A row for each pass of the ascent that ended in this model: start, log_evidence, n_active,
        noise_variance, seconds.
    n_iter_ : int
        Passes of all starts together.
    status_ : str
        How the fit ended, in words.
    gamma_ : float or ndarray of shape (n_features,)
        The kernel's γ as a number, where it has one.
    basis_ : Basis
        The kept functions; ``basis_.transform(X) @ dual_coef_ + intercept_`` is the prediction.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    Notes
    -----
    Error bars of functions that vanish away from their centres shrink to the noise far from the
    data (Tipping 2001, App. D.1).

    References
    ----------
    Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. *Journal of
    Machine Learning Research* 1, 211-244.

    Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian
    models. *AISTATS*.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVR
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi)
    >>> model = RVR(gamma=0.1, noise_variance=1e-4).fit(X, y)
    >>> len(model.relevance_) < 20
    True
    >>> mean, std = model.predict([[0.0]], return_std=True)
    >>> bool(abs(mean[0] - 1) < 3 * std[0])
    True
    """

    def __init__(
        self,
        kernel: str | Callable[[Array, Array], ArrayLike] | Basis = "rbf",
        *,
        gamma: str | float | ArrayLike = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        likelihood: str = "gaussian",
        noise_variance: float | None = None,
        centers: CentersLike = None,
        solver: str = "sequential",
        n_starts: int = 1,
        tol: float = 0.03,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.likelihood = likelihood
        self.noise_variance = noise_variance
        self.centers = centers
        self.solver = solver
        self.n_starts = n_starts
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn which functions matter, their weights and the noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; with a precomputed kernel its values, of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Copies of each row: weight 2 is the row twice, weight 0 its absence.

        Returns
        -------
        self : RVR
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
        likelihood = self._likelihood()
        rows, targets = self._validated(X, y, reset=True)
        weights = check_weights(sample_weight, len(rows))
        (solution,) = self._fit(rows, {"": targets[:, None]}, likelihood, weights)
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
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False
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
        if return_cov:
            Phi = self.basis_.evaluate(self._queries(X))
            latent, covariance = (
                self.posterior_.latent_mean(Phi),
                self.posterior_.joint_covariance(Phi),
            )
            variance = covariance.diagonal()[:, None, None]
            mean, _ = self.likelihood_.moments(latent, variance)
            return mean[:, 0], self.likelihood_.joint_covariance(latent[:, 0], covariance)
        spread = return_std or self.likelihood_.mean_feels_spread
        mean, variance = self._moments(X, self.likelihood_.moments, spread=spread)
        return (mean, np.sqrt(variance)) if return_std else mean

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

    def log_evidence(self, X: ArrayLike, y: ArrayLike) -> float:
        """Log evidence that the fitted hyperparameters and functions give other data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        log_evidence : float
            In nats; on the training data it is ``log_evidence_``.
        """
        rows, targets = self._validated(X, y, reset=False)
        design = DenseDesign(self.basis_.evaluate(rows), center=bool(self.fit_intercept))
        self.likelihood_.check(targets)
        inference = infer(self.likelihood_, design, targets[:, None])
        return inference.log_evidence(self.weight_precision_)
