"""Relevance vector regression."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from relvec._estimators.kernels import KernelEstimator, KernelLike
from relvec._estimators.regressor import Regressor
from relvec._fitting.centers import CentersLike
from relvec.basis import Basis
from relvec.likelihoods import AR1, RegressionLikelihood
from relvec.solvers import Solver


class RVR(KernelEstimator, Regressor):
    """Relevance vector regression (Tipping 2001).

    The model y(x) = Σ w_m φ_m(x) + w_0 gives every weight a prior N(0, 1/α_m) of its own and sets
    all α_m and the noise variance σ² by maximising the evidence. Most α_m become infinite: what is
    left are the relevance vectors. There is nothing to cross-validate but the kernel.

    Parameters
    ----------
    kernel : str, callable, Basis or list of these, default="rbf"
        Candidate functions: "rbf", "matern32", "matern52", "rational_quadratic", "laplacian",
        "linear", "poly", "sigmoid", "linear_spline" (eq. 29), "tanimoto" of fingerprints, "hamming"
        and "categorical" of categories, "effects" (see :class:`relvec.EffectsRegressor`),
        "processes" of several widths (`relvec.basis.Processes`),
        "precomputed", a function ``k(X, Z)`` that returns an array of shape (n, m), or an object of
        `relvec.basis`. A list puts several of them, but no precomputed one, side by side.
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Inverse squared width of the kernel as in :class:`sklearn.svm.SVR`, or an array with one per
        feature. "evidence" learns one width and "ard" one per feature, at 10 to 50 times the cost.
    likelihood : str or RegressionLikelihood, default="gaussian"
        Distribution of y: "gaussian" noise around the function; counts whose log rate the function
        is, "poisson", or "negative_binomial", which vary more; "student_t" noise; or an object of
        `relvec.likelihoods`.
    n_starts : int, default=1
        Starts of the search, which has local optima; more find better ones more often.
    degree, coef0 : int, default=3, and float, default=0.0
        Power of the "poly" kernel; constant of the "poly" and "sigmoid" kernels.
    fit_intercept : bool, default=True
        Include an intercept with a flat prior; its uncertainty is part of the error bars.
    noise_variance : float, default=None
        Variance σ² of Gaussian noise, in squared units of y. None learns it.
    noise : {"constant", "learnt"} or Basis, default="constant"
        Gaussian noise of one variance, or of one that is a sparse function of the inputs.
    noise_correlation : {None, "ar1"}, AR1 or matrix of shape (n_samples, n_samples), default=None
        Correlation of the noise between rows: from step to step of time, or a known covariance.
    centers : int, array-like of shape (n_centers, n_features) or clusterer, default=None
        Points that carry candidate functions: every row, some rows, points, or centres of clusters.
    augment : bool, default=False
        Add a function centred on every row that is predicted: error bars grow away from the data.
    remainder, remainder_centers : None, "process" or Basis, and int, default=None
        Gaussian process for what the kept functions leave, and its centres at most.
    alpha_prior, beta_prior : tuple of float, default=(0.0, 0.0)
        Shape and rate of Gamma priors on every α and on 1/σ².
    multi_output : {"shared", "independent"}, default="shared"
        With a y of several columns, targets share the functions, or are fitted one by one.
    solver : {"sequential", "fixed_point", "em", "variational"} or Solver, default="sequential"
        Search for the maximum of the evidence; the last three are slow references.
    tol : float, default=0.03
        Nats of log evidence that a function must gain to be added or kept.
    max_iter : int, default=1000
        Passes of the solver over all starts.
    random_state : int, RandomState or None, default=None
        Draw of the centres, where they are drawn.
    n_jobs : int or None, default=None
        Processes among which independent targets are shared out, -1 for all cores.
    memory_limit : float, default=1e9
        Bytes that the candidates at all rows may take up before they are computed in blocks.
    checkpoint : str, PathLike or None, default=None
        File from which a fit that was killed goes on when the same is fitted again.
    verbose : int, default=0
        Positive: print evidence, functions and noise after every pass.

    Attributes
    ----------
    relevance_, relevance_rows_ : ndarray of int, shape (n_active,)
        Kept candidates, ascending, and the training row that each is centred on, -1 for none.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Points that kept functions are centred on; empty for a precomputed kernel.
    dual_coef_, intercept_ : ndarray of shape (n_active,), and float
        Weights of the kept functions (mean of eq. 13), and w_0. With a y of several columns these
        and those of weights and noise have an axis of targets before the others.
    coef_ : ndarray of shape (n_features,)
        Weights of the inputs, where every function is linear in them.
    weight_precision_, well_determined_ : ndarray of shape (n_active,)
        α of the kept functions, infinite where a target does not use one, and γ = 1 − αΣ_ii of
        eq. 17: how far the data, rather than the prior, determine each weight.
    weight_covariance_ : ndarray of shape (n_active, n_active)
        Σ of eq. 12.
    noise_variance_, noise_scale_, degrees_of_freedom_ : float
        σ², in squared units of y, its mean where it varies; of Student-t noise the variance, the
        scale, in units of y, and the degrees of freedom, in [3, 10⁴].
    log_evidence_ : float
        Log marginal likelihood (eq. 15) over all targets; with an intercept the restricted one, of
        n_samples − 1 contrasts of y, never to be compared with one without.
    gamma_, feature_relevance_ : float or ndarray of shape (n_features,)
        γ of the kernel as a number, and the spread of each feature in widths of the kernel.
    basis_, fit_result_ : Basis, FitResult
        The kept functions: ``basis_.transform(X) @ dual_coef_ + intercept_`` is the prediction; and
        all that the fit found.
    history_, n_iter_, status_ : list of Pass, int, str
        A row for each pass of the search that ended in this model, passes of all starts, and how
        the fit ended.
    training_rows_ : ndarray of shape (n_samples, n_features) or None
        Training rows with positive weight, with `augment`.
    n_samples_fit_, n_features_in_, feature_names_in_ : int, int, ndarray of str
        Rows and features seen in `fit`, and names of the features, where X had any.

    Notes
    -----
    From `degree` on, parameters serve special cases: :doc:`/guide/parameters` has what each does.
    The method is that of M. E. Tipping (2001), *Journal of Machine Learning Research* 1, 211-244.

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
        kernel: KernelLike = "rbf",
        *,
        gamma: str | float | ArrayLike = "scale",
        likelihood: str | RegressionLikelihood = "gaussian",
        n_starts: int = 1,
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        noise_variance: float | None = None,
        noise: str | Basis = "constant",
        noise_correlation: str | AR1 | ArrayLike | None = None,
        centers: CentersLike = None,
        augment: bool = False,
        remainder: str | Basis | None = None,
        remainder_centers: int | None = None,
        alpha_prior: tuple[float, float] = (0.0, 0.0),
        beta_prior: tuple[float, float] = (0.0, 0.0),
        multi_output: str = "shared",
        solver: str | Solver = "sequential",
        tol: float = 0.03,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        memory_limit: float = 1e9,
        checkpoint: str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.likelihood = likelihood
        self.n_starts = n_starts
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.noise_variance = noise_variance
        self.noise = noise
        self.noise_correlation = noise_correlation
        self.centers = centers
        self.augment = augment
        self.remainder = remainder
        self.remainder_centers = remainder_centers
        self.alpha_prior = alpha_prior
        self.beta_prior = beta_prior
        self.multi_output = multi_output
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.verbose = verbose
