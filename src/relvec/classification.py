"""Relevance vector classification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._estimator import (
    Array,
    CentersLike,
    Machine,
    RelevanceMachine,
    check_weights,
)
from relvec._labels import ClassWeight, Labels, encode, with_class_weight
from relvec.basis import Basis
from relvec.design import DenseDesign
from relvec.inference import infer
from relvec.likelihoods import Bernoulli, Categorical, ClassLikelihood
from relvec.solvers import Solution

#: Probability under which a log-odds is no longer told.
SMALLEST = float(np.finfo(np.float64).tiny)


class RVC(ClassifierMixin, RelevanceMachine):  # type: ignore[misc]
    """Relevance vector classification (Tipping 2001, section 3).

    Two classes: p(t = 1 | x) = σ(y(x)) with the logistic σ and y(x) = Σ w_m φ_m(x) + w_0. More: the
    softmax of one such function a class, whose weights of the same φ_m share a precision, so that
    relevance belongs to the point. The posterior of the weights is Laplace's approximation, and the
    precisions maximise the evidence that it gives.

    Parameters
    ----------
    kernel : str, callable or Basis, default="rbf"
        Candidate functions: "rbf", "laplacian", "linear", "poly", "sigmoid", "linear_spline" (eq.
        29) or "precomputed", a function ``k(X, Z)`` that returns an array of shape (n, m), or an
        object of `relvec.basis`, whose own parameters then count and not the three below.
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        Inverse squared width of the kernel as in :class:`sklearn.svm.SVC`, or one per feature.
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
        intercept, so never compare it with one without; with "ovr" the sum over the machines.
    history_ : list of Pass
        A row for each pass of the ascent that ended in this model: start, log_evidence, n_active,
        noise_variance (NaN), seconds, machine.
    n_iter_ : int
        Passes of all starts and machines together.
    status_ : str
        How the fit ended, in words.
    gamma_ : float or ndarray of shape (n_features,)
        The kernel's γ as a number, where it has one.
    basis_ : Basis
        The kept functions; ``basis_.transform(X) @ dual_coef_.T + intercept_`` is y(x).
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had any.

    References
    ----------
    Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. *Journal of
    Machine Learning Research* 1, 211-244.

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

    classes_: Labels

    def __init__(
        self,
        kernel: str | Callable[[Array, Array], ArrayLike] | Basis = "rbf",
        *,
        gamma: str | float | ArrayLike = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        multi_class: str = "multinomial",
        proba: str = "integrated",
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
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.proba = proba
        self.centers = centers
        self.solver = solver
        self.n_starts = n_starts
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn which functions matter and their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; with a precomputed kernel its values, of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels, numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Copies of each row: weight 2 is the row twice, weight 0 its absence.

        Returns
        -------
        self : RVC
            The fitted estimator.

        Raises
        ------
        ValueError
            A parameter or the data are not what is expected, such as labels of a single class; the
            message names it.
        OverflowError
            Basis functions exceed the range of double precision.

        Warns
        -----
        ConvergenceWarning
            `max_iter` passes were not enough.
        EmptyModelWarning
            No function raises the evidence, and the model predicts the shares of the classes.
        CentersWarning
            There are too many rows for each to carry a candidate.
        """
        self._check_choice("multi_class", ("multinomial", "ovr"))
        self._check_choice("proba", ("integrated", "mode"))
        rows, labels = self._validated(X, y, reset=True)
        weights = check_weights(sample_weight, len(rows))
        self.classes_, codes = encode(labels, weights)
        weights = with_class_weight(self.class_weight, self.classes_, codes, weights)
        one_hot = np.eye(len(self.classes_))[codes]
        targets, likelihood = self._problem(one_hot)
        self._publish(self._fit(rows, targets, likelihood, weights))
        return self

    def _check_choice(self, name: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{name}={value!r}, expected one of {list(choices)}")

    def _validated(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Array, Labels]:
        rows, labels = validate_data(self, X, y, dtype=np.float64, reset=reset)
        check_classification_targets(labels)
        return rows, labels

    def _problem(self, one_hot: Array) -> tuple[dict[str, Array], ClassLikelihood]:
        """Targets, one a machine with its name in warnings, and what they are of the outputs."""
        n_classes = one_hot.shape[1]
        if n_classes == 2:
            return {"": one_hot[:, 1:]}, Bernoulli()
        if self.multi_class == "ovr":
            labels = self.classes_.tolist()
            columns = np.split(one_hot, n_classes, axis=1)
            return {f"class {k!r}: ": t for k, t in zip(labels, columns, strict=True)}, Bernoulli()
        return {"": one_hot}, Categorical(n_classes)

    def _publish(self, solutions: list[Solution]) -> None:
        """Set the attributes that have a row for every class or machine."""
        shape = len(solutions), len(self.relevance_)
        dual, intercept, alpha = [], [], np.full(shape, np.inf)
        determined = np.zeros(shape)
        for number, (machine, solution) in enumerate(zip(self.machines_, solutions, strict=True)):
            likelihood = machine.likelihood
            assert isinstance(likelihood, ClassLikelihood)
            alpha[number, machine.columns] = solution.alpha
            determined[number, machine.columns] = solution.well_determined
            weights = np.zeros((shape[1], likelihood.n_outputs))
            weights[machine.columns] = machine.posterior.mean
            dual.append(likelihood.functions(weights).T)
            intercept.append(likelihood.functions(machine.posterior.intercept))
        self.dual_coef_, self.intercept_ = np.vstack(dual), np.concatenate(intercept)
        single = len(solutions) == 1
        self.weight_precision_ = alpha[0] if single else alpha
        self.well_determined_ = determined[0] if single else determined
        self.log_evidence_ = sum(solution.log_evidence for solution in solutions)

    def decision_function(self, X: ArrayLike) -> Array:
        """Log-odds of the probabilities that `predict_proba` gives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Log-odds of ``classes_[1]``; of every class against the rest with "ovr"; else the log
            probabilities less their mean. With ``proba="mode"`` these are the functions y(x).
        """
        check_is_fitted(self)
        decision = self._by_batches(X, self._decisions)
        return decision[:, 0] if len(self.classes_) == 2 else decision

    def _decisions(self, Phi: Array) -> Array:
        found = []
        for machine in self.machines_:
            log_p = np.log(np.maximum(self._of_machine(machine, Phi), SMALLEST))
            two = log_p.shape[1] == 2
            found.append(
                log_p[:, 1:] - log_p[:, :1] if two else log_p - log_p.mean(axis=1, keepdims=True)
            )
        return np.hstack(found)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probability of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``, each row summing to one.
        """
        check_is_fitted(self)
        return self._by_batches(X, self._probabilities)

    def _probabilities(self, Phi: Array) -> Array:
        if len(self.machines_) == 1:
            return self._of_machine(self.machines_[0], Phi)
        own = np.hstack([self._of_machine(machine, Phi)[:, 1:] for machine in self.machines_])
        own = np.maximum(own, SMALLEST)  # where all of them underflow none is preferred
        normalised: Array = own / own.sum(axis=1, keepdims=True)
        return normalised

    def _of_machine(self, machine: Machine, Phi: Array) -> Array:
        used, likelihood = Phi[:, machine.columns], machine.likelihood
        assert isinstance(likelihood, ClassLikelihood)
        mean = machine.posterior.latent_mean(used)
        if self.proba == "mode":
            return likelihood.probabilities(mean)
        return likelihood.mean_probabilities(mean, machine.posterior.latent_covariance(used))

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithm of the probability of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):  # the logarithm of a probability that underflows is −∞
            return np.log(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> Labels:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            Out of ``classes_``.
        """
        decision = self.decision_function(X)  # which tells probabilities of one apart
        likely = decision.argmax(axis=1) if decision.ndim == 2 else (decision > 0).astype(int)
        labels: Labels = self.classes_[likely]
        return labels

    def log_evidence(self, X: ArrayLike, y: ArrayLike) -> float:
        """Log evidence that the fitted precisions and functions give other data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Labels, all out of ``classes_``.

        Returns
        -------
        log_evidence : float
            In nats; on the training data, without weights, it is ``log_evidence_``.
        """
        check_is_fitted(self)
        rows, labels = self._validated(X, y, reset=False)
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y holds {unknown.tolist()[0]!r}, expected labels out of {self.classes_.tolist()}"
            )
        one_hot = np.eye(len(self.classes_))[np.searchsorted(self.classes_, labels)]
        targets, likelihood = self._problem(one_hot)
        Phi, total = self.basis_.evaluate(rows), 0.0
        for machine, t, alpha in zip(
            self.machines_, targets.values(), np.atleast_2d(self.weight_precision_), strict=True
        ):
            likelihood.check(t)
            design = DenseDesign(Phi[:, machine.columns], center=bool(self.fit_intercept))
            total += infer(likelihood, design, t).log_evidence(alpha[machine.columns])
        return total
