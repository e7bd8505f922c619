"""Relevance vector regression."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from relvec._estimators.kernels import KernelEstimator, KernelLike
from relvec._estimators.regressor import Regressor
from relvec._fitting.centers import CentersLike
from relvec.basis import Basis
from relvec.likelihoods import RegressionLikelihood
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
        and "categorical" of categories, which may be texts, "effects" (main effects and
        interactions, see :class:`relvec.EffectsRegressor`) or
        "precomputed", a function ``k(X, Z)`` that returns an array of shape (n, m), or an object of
        `relvec.basis` with parameters of its own. A list puts several of them, but no precomputed
        one, side by side in one dictionary.
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Inverse squared width of the kernel as in :class:`sklearn.svm.SVR`, or an array with one per
        feature. "evidence" learns one width and "ard" one per feature (App. C), which takes 10 to
        50 times longer than a fit; features that do not matter have a γ of zero then.
    likelihood : {"gaussian", "poisson", "student_t"} or RegressionLikelihood, default="gaussian"
        Distribution of y: Gaussian noise around the function; counts whose log rate the function
        is, by Laplace's method (those over unequal times or areas have an `exposure` in `fit`);
        Student-t noise, whose outliers hardly move the function, by a variational
        bound, with its scale and degrees of freedom learnt, but not γ; or an object of
        `relvec.likelihoods`.
    n_starts : int, default=1
        Starts of the search, which has local optima; more find better ones more often. Only the
        "sequential" solver has more than one.
    degree : int, default=3
        Power of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" and "sigmoid" kernels.
    fit_intercept : bool, default=True
        Include an intercept with a flat prior, so that adding a constant to y only shifts the
        predictions; its uncertainty is part of the error bars.
    noise_variance : float, default=None
        Variance σ² of Gaussian noise, in squared units of y. None learns it (eq. 18).
    noise : {"constant", "learnt"} or Basis, default="constant"
        Gaussian noise of one variance, or of a variance σ²e^g(x) that varies with the inputs. Then
        g is sparse as y(x) is, made of the inputs and of the candidates of y(x), a `remainder`
        aside, or of a basis of `relvec.basis`. One lower bound of the log evidence chooses both,
        and noise stays constant unless that pays for every function of g. Not with `augment`, for
        targets that share functions or for rows out of memory.
    centers : int, array-like of shape (n_centers, n_features) or clusterer, default=None
        Points that carry candidate functions: every row (None), that many rows drawn with
        `random_state`, points of your own, or the centres that a clusterer finds, such as
        ``MiniBatchKMeans(500)``. Over 10,000 rows, None draws as many as make a design matrix of
        10⁸ entries, but at least 2000, with a warning. Over 100,000, centres are drawn or clustered
        out of that many rows.
    augment : bool, default=False
        Add to the model, for every row that is predicted, a function centred on it, so that error
        bars grow away from the data (Rasmussen and Quiñonero-Candela 2005). The model then keeps
        all training rows, and each prediction evaluates the kernel at all of them. `return_cov` and
        `sample_y` raise, as do precomputed kernels and dictionaries without a kernel.
    remainder : {None, "process"} or Basis, default=None
        What the kept functions leave: nothing but noise, or a Gaussian process as one more group of
        functions, whose amplitude the evidence sets. "process" has the kernel of the machine, where
        that is one and its width is known, otherwise a Gaussian one of all inputs; a kernel of
        `relvec.basis` is the covariance of the process, and any other basis stands for itself.
        Error bars then grow away from the data, and each prediction evaluates the process's kernel
        at its centres.
    remainder_centers : int, default=None
        Centres of the process at most; see `relvec.basis.Process`.
    alpha_prior : tuple of float, default=(0.0, 0.0)
        Shape a and rate b of a Gamma prior on every α (eq. 6), b in squared units of the weights.
        (0, 0) is uniform over log α; with b > 0 no α becomes infinite, and few functions leave. Not
        for the "sequential" solver.
    beta_prior : tuple of float, default=(0.0, 0.0)
        Shape c and rate d of a Gamma prior on the noise precision 1/σ² where it is learnt, d in
        squared units of y: as much as 2c observations with a variance of d/c tell.
    multi_output : {"shared", "independent"}, default="shared"
        With a y of several columns, let the targets share the functions and one α for each, in the
        units of each target's spread, so that these do not matter; or fit each by itself. Every
        target has noise of its own. A constant target is fitted by itself, as it shares nothing.
    solver : {"sequential", "fixed_point", "em", "variational"} or Solver, default="sequential"
        Search for the maximum of the evidence. The last three begin with all functions and are slow
        references, at the cube of their number a pass: MacKay's updates (eq. 16 to 18),
        expectation-maximisation (eq. 48, 50) and the variational bound of Bishop and Tipping
        (2000), which is for Gaussian noise. An object of `relvec.solvers` has `tol`, `max_iter`,
        `n_starts` and `alpha_prior` of its own, which count in the place of those given here.
    tol : float, default=0.03
        Nats of log evidence that a function must gain to be added or kept.
    max_iter : int, default=1000
        Passes of the solver over all starts.
    random_state : int, RandomState or None, default=None
        Draw of the centres, where they are drawn.
    n_jobs : int or None, default=None
        Processes among which targets of `multi_output="independent"` are shared out, -1 for
        all cores; None is 1, or what ``joblib.parallel_config`` says.
    memory_limit : float, default=1e9
        Bytes that the candidates at all rows may take up. Where they would take more, they are
        computed block by block of rows in every pass and never stored; scales are then learnt on
        2000 rows drawn with `random_state`.
    checkpoint : str, PathLike or None, default=None
        File that holds the state of the fit until it ends. A fit that was killed or interrupted
        goes on from its last pass when the same is fitted again.
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
    training_rows_ : ndarray of shape (n_samples, n_features) or None
        Training rows with positive weight, with `augment`.
    dual_coef_ : ndarray of shape (n_active,)
        Weights of the kept functions (mean of eq. 13). With a y of several columns this and the six
        that follow have an axis of targets before the others.
    intercept_ : float
        w_0; zero without an intercept.
    coef_ : ndarray of shape (n_features,)
        Weights of the inputs, where every function is linear in them.
    weight_precision_ : ndarray of shape (n_active,)
        α of the kept functions, in inverse squared units of the weights; infinite where a target
        does not use the function.
    weight_covariance_ : ndarray of shape (n_active, n_active)
        Σ of eq. 12.
    noise_variance_ : float
        σ², in squared units of y; the mean over the rows where it is known for each. Variance
        νσ²/(ν − 2) of Student-t noise.
    noise_scale_, degrees_of_freedom_ : float
        Scale σ, in units of y, and degrees of freedom ν, in [3, 10⁴], of Student-t noise.
    well_determined_ : ndarray of shape (n_active,)
        γ = 1 − αΣ_ii of eq. 17: how far the data, rather than the prior, determine each weight.
    log_evidence_ : float
        Logarithm of the marginal likelihood (eq. 15), summed over targets; with an intercept the
        restricted one, the density of the n_samples − 1 contrasts of y, so never compare it with
        one without. With the terms of `alpha_prior`, of the kept functions, and `beta_prior` (eq.
        36). Under Student-t noise a lower bound of it.
    history_ : list of Pass
        A row for each pass of the search that ended in this model: start, log_evidence (of the
        "variational" solver its bound), n_active, noise_variance (of several targets the geometric
        mean), seconds.
    n_iter_ : int
        Passes of all starts together.
    status_ : str
        How the fit ended, in words.
    gamma_ : float or ndarray of shape (n_features,)
        The kernel's γ as a number, where it has one.
    feature_relevance_ : ndarray of shape (n_features,)
        Spread of each feature in widths of the kernel, where it has one: √γ times its standard
        deviation. It has no unit; zero means that the feature does not matter.
    basis_ : Basis
        The kept functions; ``basis_.transform(X) @ dual_coef_ + intercept_`` is the prediction.
    fit_result_ : FitResult
        Kept functions, fitted outputs and the course of the search, as one value.
    n_samples_fit_ : int
        Rows seen in `fit`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X had any.

    References
    ----------
    Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. *Journal of
    Machine Learning Research* 1, 211-244.

    Rasmussen, C. E. and Quiñonero-Candela, J. (2005). Healing the relevance vector machine through
    augmentation. *ICML*.

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

    Two targets that share their functions:

    >>> both = RVR(gamma=0.1, noise_variance=1e-4).fit(X, np.column_stack([y, 2 - y]))
    >>> both.predict([[0.0]]).round(2)
    array([[1., 1.]])
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
