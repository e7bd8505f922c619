"""Relevance vector classification."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from relvec._estimators.classifier import Classifier
from relvec._estimators.kernels import KernelEstimator, KernelLike
from relvec._estimators.labels import ClassWeight
from relvec._fitting.centers import CentersLike


class RVC(KernelEstimator, Classifier):
    """Relevance vector classification (Tipping 2001, section 3).

    Two classes: p(t = 1 | x) = σ(y(x)) with the logistic σ and y(x) = Σ w_m φ_m(x) + w_0. More: the
    softmax of one such function a class, whose weights of the same φ_m share a precision, so that
    relevance belongs to the point. The posterior of the weights is Laplace's approximation, and the
    precisions maximise the evidence that it gives.

    Parameters
    ----------
    kernel : str, callable, Basis or list of these, default="rbf"
        Candidate functions: "rbf", "laplacian", "linear", "poly", "sigmoid", "linear_spline" (eq.
        29) or "precomputed", a function ``k(X, Z)`` that returns an array of shape (n, m), or an
        object of `relvec.basis`, whose own parameters then count and not the three below. A list
        puts several of them, but no precomputed one, side by side in one dictionary.
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Inverse squared width of the kernel as in :class:`sklearn.svm.SVC`, or an array with one per
        feature. "evidence" learns one width and "ard" one per feature (App. C), which takes 10 to
        50 times longer than a fit; features that do not matter have a γ of zero then.
    degree : int, default=3
        Power of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" and "sigmoid" kernels.
    fit_intercept : bool, default=True
        Include an intercept with a flat prior, one a class; its uncertainty is part of the
        probabilities.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weight of every row of a class; "balanced" gives all classes the same total.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        More than two classes: one machine with the softmax, or one machine a class against the
        rest, whose probabilities are normalised.
    proba : {"integrated", "mode"}, default="integrated"
        Average the class probabilities over the posterior of the weights, or plug in its mode as
        the paper does.
    centers : int, array-like of shape (n_centers, n_features) or clusterer, default=None
        Points that carry candidate functions: every row (None), that many rows drawn with
        `random_state`, points of your own, or the centres that a clusterer finds, such as
        ``MiniBatchKMeans(500)``. Over 10,000 rows, None draws as many as make a design matrix of
        10⁸ entries, but at least 2000, with a warning. Over 100,000, what is drawn or clustered is
        out of as many.
    augment : bool, default=False
        Add to the model, for every row that is predicted, a function centred on it, so that
        probabilities become less certain away from the data (Rasmussen and Quiñonero-Candela 2005).
        The model then keeps all training rows and their residuals,
        and each prediction evaluates the kernel at all of them. Kernels that are precomputed and
        dictionaries without a kernel raise.
    alpha_prior : tuple of float, default=(0.0, 0.0)
        Shape a and rate b of a Gamma prior on every α (eq. 6), b in squared units of the weights.
        (0, 0) is uniform over log α; with b > 0 no α becomes infinite, and few functions leave. Not
        for the "sequential" solver.
    solver : {"sequential", "fixed_point", "em", "variational"}, default="sequential"
        Search for the maximum of the evidence. The last three begin with all functions and are slow
        references, at the cube of their number a pass: MacKay's updates (eq. 16 to 18),
        expectation-maximisation (eq. 48, 50) and the variational bound of Bishop and Tipping
        (2000), which is for two classes and "ovr".
    n_starts : int, default=1
        Starts of the search, which has local optima; more find better ones more often. Only the
        "sequential" solver has more than one.
    tol : float, default=0.03
        Nats of log evidence that a function must be worth to be added or kept.
    max_iter : int, default=1000
        Passes of the solver over all starts.
    random_state : int, RandomState or None, default=None
        Draw of the centres, where they are drawn.
    n_jobs : int or None, default=None
        Processes among which the machines of `multi_class="ovr"` are shared out, -1 for
        all cores; None is 1, or what ``joblib.parallel_config`` says.
    memory_limit : float, default=1e9
        Bytes that the candidates at all rows may take up. Where they would take more, they are
        computed block by block of rows in every pass and never stored; scales are then learnt on
        2000 rows drawn with `random_state`.
    checkpoint : str, PathLike or None, default=None
        File in which the fit keeps what it has found, until it ends and removes it. A fit that was
        killed or interrupted goes on from its last pass when the same is fitted again.
    verbose : int, default=0
        Positive: print evidence and functions after every pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, ascending.
    relevance_ : ndarray of int, shape (n_active,)
        Kept candidates, ascending.
    relevance_rows_ : ndarray of int, shape (n_active,)
        Training row that each kept function is centred on, -1 where there is none.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Points that kept functions are centred on; empty for a precomputed kernel.
    training_rows_ : ndarray of shape (n_samples, n_features) or None
        With `augment` the training rows that count, which predictions need.
    dual_coef_ : ndarray of shape (1, n_active) or (n_classes, n_active)
        Weights of the kept functions: of the log-odds of ``classes_[1]``, or of the function of
        every class (sums over the classes are zero in a multinomial model).
    intercept_ : ndarray of shape (1,) or (n_classes,)
        w_0; zeros without an intercept.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the inputs, where every function is linear in them.
    weight_precision_ : ndarray of shape (n_active,), with "ovr" (n_classes, n_active)
        α of the kept functions, in inverse squared units of the weights; infinite where a machine
        does not use the function.
    well_determined_ : ndarray of the same shape
        γ = 1 − αΣ_ii of eq. 17, the mean over the classes of a multinomial model: how far the data,
        rather than the prior, determine each weight.
    log_evidence_ : float
        Laplace's approximation to the logarithm of the marginal likelihood, with ½ log 2π for each
        intercept, so never compare it with one without; with "ovr" the sum over the machines. With
        the terms of `alpha_prior`, of the kept functions (eq. 36).
    history_ : list of Pass
        A row for each pass of the ascent that ended in this model: start, log_evidence (of the
        "variational" solver its bound), n_active, noise_variance (NaN), seconds, machine.
    n_iter_ : int
        Passes of all starts and machines together.
    status_ : str
        How the fit ended, in words.
    gamma_ : float or ndarray of shape (n_features,)
        The kernel's γ as a number, where it has one.
    feature_relevance_ : ndarray of shape (n_features,)
        Spread of each feature in widths of the kernel, where it has one: √γ times its standard
        deviation. It has no unit; zero means that the feature does not matter.
    basis_ : Basis
        The kept functions; ``basis_.transform(X) @ dual_coef_.T + intercept_`` is y(x).
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
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        multi_class: str = "multinomial",
        proba: str = "integrated",
        centers: CentersLike = None,
        augment: bool = False,
        alpha_prior: tuple[float, float] = (0.0, 0.0),
        solver: str = "sequential",
        n_starts: int = 1,
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
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.proba = proba
        self.centers = centers
        self.augment = augment
        self.alpha_prior = alpha_prior
        self.solver = solver
        self.n_starts = n_starts
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.verbose = verbose
