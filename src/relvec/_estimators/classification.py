"""Relevance vector classification."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from relvec._estimators.classifier import Classifier
from relvec._estimators.kernels import KernelEstimator, KernelLike
from relvec._estimators.labels import ClassWeight
from relvec._fitting.centers import CentersLike
from relvec.basis import Basis
from relvec.solvers import Solver


class RVC(KernelEstimator, Classifier):
    """Relevance vector classification (Tipping 2001, section 3).

    Two classes: p(t = 1 | x) = σ(y(x)) with the logistic σ and y(x) = Σ w_m φ_m(x) + w_0. More: one
    such model a class against the rest, or the softmax of one such function a class, whose weights
    of the same φ_m share a precision, so that relevance belongs to the point. The posterior of the
    weights is a Gaussian approximation, Laplace's unless `approximation` says otherwise, and the
    precisions maximise the evidence that it gives.

    Parameters
    ----------
    kernel : str, callable, Basis or list of these, default="rbf"
        Candidate functions; see :class:`relvec.RVR`, and of "effects"
        :class:`relvec.EffectsClassifier`.
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Inverse squared width of the kernel as in :class:`sklearn.svm.SVC`, or an array with one per
        feature. "evidence" learns one width and "ard" one per feature, at 10 to 50 times the cost.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weight of every row of a class; "balanced" gives all classes the same total.
    n_starts : int, default=1
        Starts of the search, which has local optima; more find better ones more often.
    degree, coef0 : int, default=3, and float, default=0.0
        Power of the "poly" kernel; constant of the "poly" and "sigmoid" kernels.
    fit_intercept : bool, default=True
        Include an intercept with a flat prior, one a class; its uncertainty is part of the
        probabilities.
    multi_class : {"ovr", "multinomial"}, default="ovr"
        More than two classes: one model a class against the rest, whose probabilities are
        normalised, or one model with the softmax, which shares its functions between the classes
        and takes longer the more there are.
    proba : {"integrated", "mode"}, default="integrated"
        Average the class probabilities over the posterior of the weights, or plug in its mode as
        the paper does.
    approximation : {"laplace", "variational"}, default="laplace"
        Gaussian posterior of the weights: Laplace's, at their mode, as the paper has it, or the one
        nearest to the posterior in Kullback and Leibler's divergence, whose evidence is a lower
        bound. The second is for two classes and "ovr", takes longer, and is less timid where
        classes can be told apart; see :ref:`the guide <a-process-of-classes>`.
    centers : int, array-like of shape (n_centers, n_features) or clusterer, default=None
        Points that carry candidate functions; see :doc:`/guide/parameters`.
    augment : bool, default=False
        Add to the model, for every row that is predicted, a function centred on it, so that
        probabilities become less certain away from the data; see :doc:`/guide/parameters`.
    remainder, remainder_centers : None, "process" or Basis, and int, default=None
        Gaussian process for what the kept functions leave, which makes probabilities less certain
        away from the data, and its centres at most; see :class:`relvec.RVR`.
    alpha_prior : tuple of float, default=(0.0, 0.0)
        Shape and rate of a Gamma prior on every α (eq. 6); see :doc:`/guide/parameters`.
    solver : {"sequential", "fixed_point", "em", "variational"} or Solver, default="sequential"
        Search for the maximum of the evidence. "variational" is for two classes and "ovr".
    tol : float, default=0.03
        Nats of log evidence that a function must gain to be added or kept.
    max_iter : int, default=1000
        Passes of the solver over all starts.
    random_state : int, RandomState or None, default=None
        Draw of the centres, where they are drawn.
    n_jobs : int or None, default=None
        Processes among which the models of `multi_class="ovr"` are shared out, -1 for all cores;
        None is 1, or what ``joblib.parallel_config`` says.
    memory_limit : float, default=1e9
        Bytes that the candidates at all rows may take up; see :doc:`/guide/parameters`.
    checkpoint : str, PathLike or None, default=None
        File that holds the state of the fit until it ends; see :doc:`/guide/parameters`.
    verbose : int, default=0
        Positive: print evidence and functions after every pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, ascending.
    relevance_, relevance_rows_, relevance_vectors_, training_rows_ : ndarray
        Kept candidates and their points; see :class:`relvec.RVR`.
    dual_coef_ : ndarray of shape (1, n_active) or (n_classes, n_active)
        Weights of the kept functions: of the log-odds of ``classes_[1]``, or of the function of
        every class (sums over the classes are zero in a multinomial model).
    intercept_ : ndarray of shape (1,) or (n_classes,)
        w_0; zeros without an intercept.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the inputs, where every function is linear in them.
    weight_precision_ : ndarray of shape (n_active,), with "ovr" (n_classes, n_active)
        α of the kept functions, in inverse squared units of the weights; infinite where a class
        does not use the function.
    well_determined_ : ndarray of the same shape
        γ = 1 − αΣ_ii of eq. 17, the mean over the classes of a multinomial model: how far the data,
        rather than the prior, determine each weight.
    log_evidence_ : float
        Logarithm of the marginal likelihood by the `approximation`, with ½ log 2π for each
        intercept, so never compare it with one without; with "ovr" the sum over the classes. With
        the terms of `alpha_prior`, of the kept functions (eq. 36).
    history_, n_iter_, status_ : list of Pass, int, str
        Course of the search; see :class:`relvec.RVR`.
    gamma_, feature_relevance_ : float or ndarray of shape (n_features,)
        The kernel's γ, and the spread of each feature in widths of the kernel.
    basis_ : Basis
        The kept functions; ``basis_.transform(X) @ dual_coef_.T + intercept_`` is y(x).
    fit_result_ : FitResult
        Kept functions, fitted outputs and the course of the search, as one value.
    n_samples_fit_, n_features_in_, feature_names_in_ : int, int, ndarray of str
        Rows and features seen in `fit`, and names of the features, where X had any.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from relvec import RVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RVC(gamma=0.3).fit(X, y)
    >>> len(model.relevance_) < 15
    True
    >>> bool(model.predict_proba(X[:1]).argmax() == y[0])
    True
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: str | float | ArrayLike = "scale",
        class_weight: ClassWeight = None,
        n_starts: int = 1,
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        multi_class: str = "ovr",
        proba: str = "integrated",
        approximation: str = "laplace",
        centers: CentersLike = None,
        augment: bool = False,
        remainder: str | Basis | None = None,
        remainder_centers: int | None = None,
        alpha_prior: tuple[float, float] = (0.0, 0.0),
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
        self.class_weight = class_weight
        self.n_starts = n_starts
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.proba = proba
        self.approximation = approximation
        self.centers = centers
        self.augment = augment
        self.remainder = remainder
        self.remainder_centers = remainder_centers
        self.alpha_prior = alpha_prior
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.verbose = verbose
