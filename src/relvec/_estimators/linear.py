"""Sparse Bayesian learning of linear models: the columns of X are the basis."""

from __future__ import annotations

from os import PathLike

from numpy.typing import ArrayLike

from relvec._estimators.classifier import Classifier
from relvec._estimators.columns import GroupsLike, LinearEstimator
from relvec._estimators.labels import ClassWeight
from relvec._estimators.regressor import Regressor
from relvec.basis import Basis
from relvec.likelihoods import AR1, RegressionLikelihood
from relvec.solvers import Solver


class SparseBayesianRegressor(LinearEstimator, Regressor):
    """Linear regression on the few columns of X that matter.

    The model y(x) = Σ_d w_d x_d + w_0 gives every weight a prior N(0, 1/α_d) of its own and sets
    all α_d and the noise variance σ² by maximising the evidence, as :class:`relvec.RVR` does for
    kernel functions (Tipping 2001). Most α_d become infinite: those columns are out, with a weight
    of exactly zero. Units of the columns do not matter, so they need no scaling. This is the model
    of :class:`sklearn.linear_model.ARDRegression`, with an intercept whose uncertainty is part of
    the error bars, and with a search that adds columns instead of inverting the covariance of all
    of them.

    Parameters
    ----------
    groups : array-like of shape (n_features,), mapping or "categories", default=None
        Columns that share a precision, so that they are in the model together or out: a label for
        each column, alike where columns go together; a mapping of the name of each group to the
        names or positions of its columns, others being on their own; or "categories" for the
        indicators of categorical columns, as :class:`sklearn.preprocessing.OneHotEncoder` and
        ``pandas.get_dummies`` name them: the largest sets of columns of zeros and ones whose names
        are the same up to an underscore and of which no row has two ones. None gives every column
        a precision of its own.
    remainder : {None, "process"} or Basis, default=None
        What the columns leave: nothing but noise, a Gaussian process of all inputs, or one with
        another kernel; any other basis stands for itself. It is chosen or left out as a column is.
    remainder_centers : int, default=None
        Centres of the process at most; see `relvec.basis.Process`.
    fit_intercept : bool, default=True
        Include an intercept with a flat prior; its uncertainty is part of the error bars.
    likelihood : str or RegressionLikelihood, default="gaussian"
        Distribution of y; see :class:`relvec.RVR`.
    noise_variance : float, default=None
        Variance σ² of Gaussian noise, in squared units of y. None learns it (eq. 18).
    noise : {"constant", "learnt"} or Basis, default="constant"
        Whether the noise varies with the columns; see :doc:`/guide/parameters`.
    noise_correlation : {None, "ar1"}, AR1 or matrix of shape (n_samples, n_samples), default=None
        Correlation of the noise between rows; see :doc:`/guide/parameters`.
    alpha_prior, beta_prior : tuple of two floats, default=(0.0, 0.0)
        Shape and rate of Gamma priors on every α_d and on 1/σ²; see :doc:`/guide/parameters`.
    multi_output : {"shared", "independent"}, default="shared"
        With a y of several columns, targets share the functions, or are fitted one by one.
    solver : {"sequential", "fixed_point", "em", "variational"} or Solver, default="sequential"
        Search for the maximum of the evidence; see :doc:`/guide/parameters`.
    n_starts : int, default=None
        Starts of the search, which has local optima. The one is kept whose evidence is the highest
        less a penalty for every column, the logarithm of the number of columns, as if beforehand
        one of them were expected to matter. None is 3 for the "sequential" solver, from all columns
        where few directions span them, from none with the noise learnt and from none with the noise
        held at first, and 1 for the others, which have no more.
    tol : float, default=None
        Nats of log evidence that a column must gain to be added or kept. None is the logarithm
        of the number of independent columns, at least 0.03: about what the best of so many columns
        of noise seems to gain.
    max_iter : int, default=1000
        Passes of the solver over all starts.
    n_jobs : int or None, default=None
        Processes among which independent targets are shared out, -1 for all cores.
    memory_limit : float, default=1e9
        Bytes that a copy of X may take up; a larger X is passed over block by block of rows.
    checkpoint : str, PathLike or None, default=None
        File from which a fit that was killed goes on when the same is fitted again.
    verbose : int, default=0
        Positive: print evidence, functions and noise after every pass.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of every column, zero for those that are out.
    intercept_ : float
        w_0; zero without an intercept.
    relevance_, dual_coef_ : ndarray of shape (n_active,)
        Columns that were kept, ascending, and their weights.
    weight_precision_, well_determined_ : ndarray of shape (n_active,)
        α of the kept columns, in inverse squared units of the weights (``lambda_`` in
        ``ARDRegression``), and γ = 1 − αΣ_ii of eq. 17: how far the data, rather than the prior,
        determine each weight.
    weight_covariance_ : ndarray of shape (n_active, n_active)
        Posterior covariance of their weights (eq. 12).
    noise_variance_ : float
        σ², in squared units of y; 1 / ``alpha_`` in ``ARDRegression``. Of Student-t noise its
        variance, νσ²/(ν − 2).
    noise_scale_, degrees_of_freedom_ : float
        Scale σ and degrees of freedom ν of Student-t noise.
    group_relevance_ : pandas.DataFrame or Summary
        A row for each kept group of columns, or single column: ``n_functions``,
        ``weight_precision``, ``well_determined`` (Σγ) and ``evidence``, the nats that deleting it
        would cost.
    log_evidence_ : float
        Logarithm of the marginal likelihood (eq. 15); with an intercept the restricted one, so
        never compare it with one without.
    basis_ : Basis
        The kept columns; ``basis_.names()`` names them.
    history_, n_iter_, status_, n_samples_fit_, n_features_in_, feature_names_in_
        Course of the search, and what `fit` saw; see :class:`relvec.RVR`.

    See Also
    --------
    relvec.RVR : The same with functions centred on points, or any others.
    sklearn.linear_model.ARDRegression : The same model, all columns inverted at once.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from relvec import SparseBayesianRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseBayesianRegressor().fit(X, y)
    >>> model.basis_.names(model.feature_names_in_)
    ['sex', 'bmi', 'bp', 's3', 's5']
    >>> int((model.coef_ != 0).sum())
    5
    """

    def __init__(
        self,
        *,
        groups: GroupsLike = None,
        remainder: str | Basis | None = None,
        remainder_centers: int | None = None,
        fit_intercept: bool = True,
        likelihood: str | RegressionLikelihood = "gaussian",
        noise_variance: float | None = None,
        noise: str | Basis = "constant",
        noise_correlation: str | AR1 | ArrayLike | None = None,
        alpha_prior: tuple[float, float] = (0.0, 0.0),
        beta_prior: tuple[float, float] = (0.0, 0.0),
        multi_output: str = "shared",
        solver: str | Solver = "sequential",
        n_starts: int | None = None,
        tol: float | None = None,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        memory_limit: float = 1e9,
        checkpoint: str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.groups = groups
        self.remainder = remainder
        self.remainder_centers = remainder_centers
        self.fit_intercept = fit_intercept
        self.likelihood = likelihood
        self.noise_variance = noise_variance
        self.noise = noise
        self.noise_correlation = noise_correlation
        self.alpha_prior = alpha_prior
        self.beta_prior = beta_prior
        self.multi_output = multi_output
        self.solver = solver
        self.n_starts = n_starts
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.verbose = verbose


class SparseBayesianClassifier(LinearEstimator, Classifier):
    """Linear classification on the few columns of X that matter.

    Two classes: p(t = 1 | x) = σ(y(x)) with the logistic σ and y(x) = Σ_d w_d x_d + w_0. More: the
    softmax of one such function a class, whose weights of the same column share a precision, so
    that a column matters to all classes or to none. The precisions maximise the evidence of
    Laplace's approximation, as in :class:`relvec.RVC` (Tipping 2001, section 3), and most become
    infinite: those columns are out, with weights of exactly zero. Units of the columns do not
    matter.

    Parameters
    ----------
    groups : array-like of shape (n_features,), mapping or "categories", default=None
        Columns that share a precision, so that they are in the model together or out: labels of
        the columns, columns by the names of their groups, or "categories" for the indicators of
        categorical columns; see :class:`SparseBayesianRegressor`.
    remainder : {None, "process"} or Basis, default=None
        What the columns leave: nothing but noise, a Gaussian process of all inputs, or one with
        another kernel; any other basis stands for itself. It is chosen or left out as a column is.
    remainder_centers : int, default=None
        Centres of the process at most; see `relvec.basis.Process`.
    fit_intercept : bool, default=True
        Include an intercept with a flat prior, one a class; its uncertainty is part of the
        probabilities.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weight of every row of a class; "balanced" gives all classes the same total.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        More than two classes: one model with the softmax, or one model a class against the rest,
        whose probabilities are normalised.
    proba : {"integrated", "mode"}, default="integrated"
        Average the class probabilities over the posterior of the weights, or plug in its mode.
    alpha_prior : tuple of two floats, default=(0.0, 0.0)
        Shape and rate of a Gamma prior on every α_d (eq. 6); see :class:`relvec.RVC`.
    solver : {"sequential", "fixed_point", "em", "variational"} or Solver, default="sequential"
        Search for the maximum of the evidence; see :class:`relvec.RVC`.
    n_starts : int, default=None
        Starts of the search, which has local optima; see :class:`SparseBayesianRegressor`. None is
        3 for the "sequential" solver, and 1 for the others, which have no more.
    tol : float, default=None
        Nats of log evidence that a column must gain to be added or kept. None is the logarithm
        of the number of independent columns, at least 0.03: about what the best of so many columns
        of noise seems to gain.
    max_iter : int, default=1000
        Passes of the solver over all starts.
    n_jobs : int or None, default=None
        Processes among which the models of `multi_class="ovr"` are shared out, -1 for all cores.
    memory_limit : float, default=1e9
        Bytes that a copy of X may take up; a larger X is passed over block by block of rows.
    checkpoint : str, PathLike or None, default=None
        File from which a fit that was killed goes on when the same is fitted again.
    verbose : int, default=0
        Positive: print evidence and functions after every pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, ascending.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weight of every column in the log-odds of ``classes_[1]``, or in the function of every
        class; zero for columns that are out.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        w_0; zeros without an intercept.
    relevance_, dual_coef_ : ndarray of shape (n_active,), and (1 or n_classes, n_active)
        Columns that were kept, ascending, and their weights.
    weight_precision_ : ndarray of shape (n_active,), with "ovr" (n_classes, n_active)
        α of the kept columns, in inverse squared units of the weights; infinite where a class
        does not use the column.
    well_determined_ : ndarray of the same shape
        γ = 1 − αΣ_ii of eq. 17, the mean over the classes of a multinomial model: how far the data,
        rather than the prior, determine each weight.
    group_relevance_ : pandas.DataFrame or Summary
        A row for each kept group of columns, or single column: ``n_functions``,
        ``weight_precision``, ``well_determined`` (Σγ) and ``evidence``, the nats that deleting it
        would cost.
    log_evidence_ : float
        Laplace's approximation to the logarithm of the marginal likelihood; with "ovr" the sum over
        the classes.
    basis_ : Basis
        The kept columns; ``basis_.names()`` names them.
    history_, n_iter_, status_, n_samples_fit_, n_features_in_, feature_names_in_
        Course of the search, and what `fit` saw; see :class:`relvec.RVR`.

    See Also
    --------
    relvec.RVC : The same with functions centred on points, or any others.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from relvec import SparseBayesianClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SparseBayesianClassifier().fit(X, y)
    >>> model.basis_.names(model.feature_names_in_)
    ['petal length (cm)', 'petal width (cm)']
    >>> model.score(X, y) > 0.95
    True
    """

    approximation = "laplace"

    def __init__(
        self,
        *,
        groups: GroupsLike = None,
        remainder: str | Basis | None = None,
        remainder_centers: int | None = None,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        multi_class: str = "multinomial",
        proba: str = "integrated",
        alpha_prior: tuple[float, float] = (0.0, 0.0),
        solver: str | Solver = "sequential",
        n_starts: int | None = None,
        tol: float | None = None,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        memory_limit: float = 1e9,
        checkpoint: str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.groups = groups
        self.remainder = remainder
        self.remainder_centers = remainder_centers
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.proba = proba
        self.alpha_prior = alpha_prior
        self.solver = solver
        self.n_starts = n_starts
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.verbose = verbose
