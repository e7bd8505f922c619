"""Regression and classification by effects: what each input, and each pair of them, does."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from relvec._assess.summary import table
from relvec._estimators.base import RelevanceEstimator
from relvec._estimators.classifier import Classifier
from relvec._estimators.labels import ClassWeight
from relvec._estimators.regressor import Regressor
from relvec._fitting.data import TrainingData
from relvec._fitting.result import Queries
from relvec._fitting.terms import Terms
from relvec._numerics.checks import refuse_no_categories, refuse_texts
from relvec._numerics.linalg import with_default_float_errors
from relvec._numerics.typing import Array
from relvec.basis import Basis, Effects
from relvec.basis.curves import Levels
from relvec.basis.effects import WIDTHS, effects_in
from relvec.likelihoods import RegressionLikelihood
from relvec.solvers import Sequential

#: Groups of functions that are made of an input: a line, and curves of two widths.
GROUPS = 1 + len(WIDTHS)


class EffectsEstimator(RelevanceEstimator):
    """Estimators whose candidate functions are effects of the inputs, with a process beside."""

    interactions: str | Sequence[tuple[int | str, int | str]] | None
    categorical: Sequence[int | str]
    centers = None
    augment = False
    noise = "constant"
    memory_limit = 1e9
    checkpoint = None
    fit_intercept = True
    alpha_prior = (0.0, 0.0)
    solver = "sequential"
    n_starts = 1
    random_state = 0  # of the rows that candidates are chosen on, the same for any order of them
    tol = None
    max_iter: int

    _terms: Terms

    def _dictionary(self) -> Effects:
        """Return the effects, of inputs by their positions where they were given by name."""
        names = list(getattr(self, "feature_names_in_", []))
        pairs, categorical = _places(self.interactions, names), _places(self.categorical, names)
        return Effects(interactions=pairs, categorical=categorical)

    def _search(self) -> dict[str, Any]:
        """Return the parameters of the solver: what an effect has to be worth.

        The best of M groups of functions of noise seems to be worth about log M nats. Interactions
        have to be worth as much for their own number to become candidates.
        """
        return {
            "tol": max(Sequential.tol, log(GROUPS * self.n_features_in_)),
            "n_starts": self.n_starts,
        }

    def _validated(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Array, Any]:
        """Refuse columns of neither numbers nor categories, and validate as other estimators do."""
        refuse_no_categories("X", X)
        validated: tuple[Array, Any] = super()._validated(X, y, reset=reset)
        return validated

    def _queries(self, X: ArrayLike) -> Array:
        """Validate query rows, and refuse texts in inputs that were numbers in the fit."""
        rows = super()._queries(X)
        factors = [factor for effect in effects_in(self.basis_) for factor in effect.factors]
        of_numbers = {one.feature for one in factors if not isinstance(one, Levels)}
        refuse_texts("X", X, rows, of_numbers)
        return rows

    def _check_takes_parts(self) -> bool:
        """Raise: terms are described by all rows."""
        raise ValueError(
            f"{type(self).__name__} describes its effects by all rows, expected fit, or "
            "RVR(kernel=Effects(interactions=None)) where rows come in parts"
        )

    def _fit(self, data: TrainingData, *args: Any, **options: Any) -> None:
        super()._fit(data, *args, **options)
        data, _ = data.settled()
        names = self.basis_.terms(getattr(self, "feature_names_in_", None))
        self._terms = Terms.of(names, data.function_moments(self.basis_))

    @property
    def terms_(self) -> list[str]:
        """Names of the kept terms."""
        check_is_fitted(self)
        of_functions = self.basis_.terms(getattr(self, "feature_names_in_", None))
        _, first = np.unique(self._terms.label, return_index=True)
        return [of_functions[function] for function in first]

    @property
    def term_features_(self) -> list[tuple[int, ...]]:
        """Inputs of the kept terms, by position: one, two, or none in particular for a process."""
        names = getattr(self, "feature_names_in_", None)
        features = {
            name: part.features for part in effects_in(self.basis_) for name in part.terms(names)
        }
        return [features.get(term, ()) for term in self.terms_]

    @property
    def constant_(self) -> float | Array:
        """Mean of the function over the training rows, to which effects are added."""
        check_is_fitted(self)
        found = [self._terms.constant(output) for output in self.fit_result_.outputs]
        return found[0] if len(found) == 1 else np.array(found)

    @property
    def effects_(self) -> Any:
        """Table of the kept terms, one row each, those with the largest shares first."""
        check_is_fitted(self)
        outputs, terms = self.fit_result_.outputs, self._terms
        shares, stds = np.swapaxes([terms.shares(output) for output in outputs], 0, 1)
        found = {
            "share": shares,
            "share_std": stds,
            "evidence": np.array([terms.worth(output) for output in outputs]),
        }
        order = np.argsort(-shares.mean(axis=0), kind="stable")
        columns = {label: row[order] for label, row in self._columns(found).items()}
        names = self.terms_
        return table([names[term] for term in order], columns, "term")

    @with_default_float_errors
    def predict_effects(
        self, X: ArrayLike, return_std: bool = False
    ) -> Array | tuple[Array, Array]:
        """Predict what each term adds to the function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries.
        return_std : bool, default=False
            Return the standard deviation of every contribution too.

        Returns
        -------
        effects : ndarray of shape (n_samples, n_terms) or (n_samples, n_terms, n_outputs)
            Contributions in the order of ``terms_``, each with a mean of zero over the training
            rows. Their sum and ``constant_`` make the function: the prediction in units of y, the
            log rate of counts, or the log-odds of classes.
        std : ndarray of the same shape
            If `return_std`, their posterior standard deviations.
        """
        check_is_fitted(self)
        outputs = self.fit_result_.outputs
        shape = 2, len(self._terms.names), len(outputs)
        both = self._at_rows(_contributions, X, *shape)
        mean, std = both[:, 0], both[:, 1]
        if len(outputs) == 1:
            mean, std = mean[..., 0], std[..., 0]
        return (mean, std) if return_std else mean


def _places(given: Any, names: list[str]) -> Any:
    """Return a list of inputs, or of pairs of them, with the places of those called by name."""
    if not isinstance(given, list | tuple):
        return given
    return [
        names.index(one) if isinstance(one, str) and one in names else _places(one, names)
        for one in given
    ]


def _contributions(model: EffectsEstimator, at: Queries) -> Array:
    """Mean and standard deviation of terms, shape (n_queries, 2, n_terms, n_outputs)."""
    outputs = model.fit_result_.outputs
    found = [np.stack(model._terms.contributions(at.Phi, output), axis=1) for output in outputs]
    return np.stack(found, axis=-1)


class EffectsRegressor(EffectsEstimator, Regressor):
    """Regression on main effects and interactions of the inputs, with a process beside them.

    The function is a constant, a curve for each input that matters, a surface for each pair that
    does, and a Gaussian process for what these leave. The functions of an effect share a precision,
    and the evidence sets the precisions and the noise: effects that do not matter are out, the
    others are as smooth as the data say, and nothing is cross-validated. A group has to be worth
    log M nats of evidence among M, those of single inputs and those of pairs each for themselves:
    about what the best of so many of noise seems to be worth. Inputs need no scaling, and columns
    of a table with texts are categories.

    Parameters
    ----------
    interactions : "auto", list of pairs or None, default="auto"
        Pairs of inputs, by position or name, that may have an effect together: those of all that
        seem worth the most beside the main effects, those given, or none.
    categorical : sequence of int or str, default=()
        Inputs, by position or name, whose numbers are labels of categories.
    remainder : {None, "process"} or Basis, default="process"
        What the effects leave: nothing but noise, a Gaussian process of all inputs, or one with
        that covariance; see :doc:`/guide/parameters`.
    remainder_centers : int, default=None
        Centres of the process at most; see `relvec.basis.Process`.
    likelihood : str or RegressionLikelihood, default="gaussian"
        Distribution of y; see :class:`relvec.RVR`.
    max_iter : int, default=1000
        Passes of each search at most.
    n_jobs : int or None, default=None
        Processes among which targets are shared out.
    verbose : int, default=0
        Positive: print evidence, functions and noise after every pass.

    Attributes
    ----------
    effects_ : pandas.DataFrame or Summary
        A row for each term, an input or a pair of them or "process": its share of the variance of
        the function over the training rows (its Sobol index, where inputs are independent) with the
        posterior standard deviation of that, and the nats of log evidence that deleting it would
        cost, with the noise and the others as they are.
    terms_, term_features_ : list of str, list of tuple of int
        Names of the terms, as `predict_effects` has them, and inputs of each, by position: one,
        two, or none in particular for a process.
    constant_ : float
        Mean of the function over the training rows.
    noise_variance_, log_evidence_ : float
        σ², in squared units of y, and logarithm of the marginal likelihood.
    basis_, fit_result_, n_features_in_, feature_names_in_
        As all others in :class:`relvec.RVR`.

    See Also
    --------
    relvec.RVR : The relevance vector machine, with ``kernel="effects"`` and ``remainder="process"``
        the same model with all parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import EffectsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (200, 4))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(200)
    >>> model = EffectsRegressor().fit(X, y)
    >>> {"x0", "x1 × x2"} <= set(model.terms_)
    True
    >>> effects = model.predict_effects(X)
    >>> np.allclose(effects.sum(axis=1) + model.constant_, model.predict(X))
    True
    """

    noise_variance = None
    noise_correlation = None
    beta_prior = (0.0, 0.0)
    multi_output = "shared"

    def __init__(
        self,
        *,
        interactions: str | Sequence[tuple[int | str, int | str]] | None = "auto",
        categorical: Sequence[int | str] = (),
        remainder: str | Basis | None = "process",
        remainder_centers: int | None = None,
        likelihood: str | RegressionLikelihood = "gaussian",
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.interactions = interactions
        self.categorical = categorical
        self.remainder = remainder
        self.remainder_centers = remainder_centers
        self.likelihood = likelihood
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose


class EffectsClassifier(EffectsEstimator, Classifier):
    """Classification by main effects and interactions of the inputs, with a process beside them.

    The log-odds of a class are a constant, a curve for each input that matters, a surface for each
    pair that does, and a Gaussian process for what these leave; see :class:`EffectsRegressor`. With
    more than two classes there is such a model of each against the rest.

    Parameters
    ----------
    interactions : "auto", list of pairs or None, default="auto"
        Pairs of inputs, by position or name, that may have an effect together; see
        :class:`EffectsRegressor`.
    categorical : sequence of int or str, default=()
        Inputs, by position or name, whose numbers are labels of categories.
    remainder : {None, "process"} or Basis, default="process"
        What the effects leave; see :class:`EffectsRegressor`.
    remainder_centers : int, default=None
        Centres of the process at most; see `relvec.basis.Process`.
    class_weight : dict, "balanced" or None, default=None
        Factor for the weight of every row of a class; "balanced" gives all classes the same total.
    max_iter : int, default=1000
        Passes of each search at most.
    n_jobs : int or None, default=None
        Processes among which the models of the classes are shared out.
    verbose : int, default=0
        Positive: print evidence and functions after every pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, ascending.
    effects_ : pandas.DataFrame or Summary
        A row for each term, with columns for every class; see :class:`EffectsRegressor`.
    terms_, term_features_ : list of str, list of tuple of int
        Names of the terms, as `predict_effects` has them, and inputs of each, by position: one,
        two, or none in particular for a process.
    constant_ : float or ndarray of shape (n_classes,)
        Mean of the log-odds over the training rows.
    log_evidence_ : float
        Laplace's approximation to the logarithm of the marginal likelihood, summed over the models.
    basis_, fit_result_, n_features_in_, feature_names_in_
        As all others in :class:`relvec.RVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import EffectsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (200, 3))
    >>> model = EffectsClassifier().fit(X, np.abs(X[:, 0]) > 0.5)
    >>> model.terms_
    ['x0']
    """

    multi_class = "ovr"
    proba = "integrated"
    approximation = "laplace"

    def __init__(
        self,
        *,
        interactions: str | Sequence[tuple[int | str, int | str]] | None = "auto",
        categorical: Sequence[int | str] = (),
        remainder: str | Basis | None = "process",
        remainder_centers: int | None = None,
        class_weight: ClassWeight = None,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.interactions = interactions
        self.categorical = categorical
        self.remainder = remainder
        self.remainder_centers = remainder_centers
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
