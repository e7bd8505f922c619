"""The base of all estimators: from parameters to a fit, and from its result to attributes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._assess.diagnose import diagnose
from relvec._assess.findings import Case, Diagnosis
from relvec._design import Design
from relvec._estimators.notebook import NotebookBlock
from relvec._estimators.out_of_core import head_of, is_out_of_core
from relvec._estimators.running import FitArguments, checkpoint_of, runner_of
from relvec._estimators.summary import table, weight_std
from relvec._fitting import pipeline
from relvec._fitting.centers import CentersLike
from relvec._fitting.data import TrainingData
from relvec._fitting.output import Queries
from relvec._fitting.problem import FitConfig
from relvec._fitting.result import FitResult
from relvec._numerics.checks import check_count, check_positive, named_errors
from relvec._numerics.compact import Compact
from relvec._numerics.priors import Gamma, check_weight_prior
from relvec._numerics.typing import Array, Index
from relvec._runner.callbacks import CallbackSupportMixin
from relvec._runner.warn import warn_user
from relvec.basis import Basis
from relvec.likelihoods import Likelihood
from relvec.solvers import SOLVERS, Pass, Solver

#: Attributes of a fit that not every basis has.
OPTIONAL = ("gamma_", "feature_relevance_")


class RelevanceEstimator(CallbackSupportMixin, Compact, NotebookBlock):  # type: ignore[misc]
    """Base of regression and classification; parameters are documented in the estimators."""

    fit_intercept: bool
    centers: CentersLike = None
    augment: bool = False
    alpha_prior: tuple[float, float]
    solver: str | Solver
    n_starts: int | None
    tol: float | None
    max_iter: int
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    memory_limit: float = 1e9
    checkpoint: Any = None
    verbose: int

    fit_result_: FitResult
    n_features_in_: int
    n_samples_fit_: int
    basis_: Basis
    relevance_: Index
    relevance_rows_: Index
    relevance_vectors_: Array
    dual_coef_: Array
    intercept_: Any
    weight_precision_: Array
    well_determined_: Array
    log_evidence_: float
    history_: list[Pass]
    n_iter_: int
    status_: str
    training_rows_: Array | None

    def _fit(
        self,
        data: TrainingData,
        likelihood: Likelihood,
        given: FitArguments,
        *,
        single: bool,
        order: Index | None = None,
    ) -> None:
        """Fit validated data, set attributes, and warn of what the fit found out."""
        config = self._config(data, single=single, order=order)
        runner = runner_of(self, given, self._checkpoint(given, data))
        self.n_samples_fit_ = data.n_rows
        result = pipeline.fit(data, self._basis(data), likelihood, config, runner)
        self._conclude(result)

    def _checkpoint(self, given: FitArguments, data: TrainingData) -> Any:
        return checkpoint_of(self, given, data.targets)

    def _conclude(self, result: FitResult) -> None:
        """Set the attributes of a fit, and warn."""
        self._set_fit_result(result)
        warn_user(*result.warnings)

    def _config(self, data: TrainingData, *, single: bool, order: Index | None) -> FitConfig:
        """Check the parameters that are not those of data, basis and likelihood."""
        check_scalar(self.fit_intercept, "fit_intercept", (bool, np.bool_))
        needed = 1 if self.fit_intercept else 0
        if data.total_weight <= needed:
            raise ValueError(
                f"n_samples = {len(data.used)} with a total weight of {data.total_weight:g}, "
                f"expected more than {needed} with fit_intercept={self.fit_intercept}"
            )
        check_scalar(self.augment, "augment", (bool, np.bool_))
        check_positive(self.memory_limit, "memory_limit")
        return FitConfig(
            partial(self._adapted, self._solver()),
            self.max_iter,
            self.centers,
            self.augment,
            self.random_state,
            self.n_jobs,
            single,
            order,
        )

    def _solver(self) -> Solver:
        """Check the parameters of the solver and build it."""
        if isinstance(self.solver, Solver):
            return self.solver
        if self.solver not in SOLVERS:
            raise ValueError(
                f"solver={self.solver!r} is not known, expected one of {list(SOLVERS)} or a "
                "relvec.solvers object"
            )
        search = self._search()
        check_positive(search["tol"], "tol")
        check_count(self.max_iter, "max_iter")
        check_count(search["n_starts"], "n_starts")
        return SOLVERS[self.solver](
            **search,
            max_iter=self.max_iter,
            verbose=int(self.verbose),
            alpha_prior=self._alpha_prior(),
        )

    def _search(self) -> dict[str, Any]:
        """Return the parameters of the solver that say how hard it searches, and for how little."""
        return {"tol": self.tol, "n_starts": self.n_starts}

    def _adapted(self, solver: Solver, design: Design) -> Solver:
        """Return the solver for a design of all candidates."""
        del design
        return solver

    def _alpha_prior(self) -> Gamma:
        """Prior of every weight's precision, in the users' units."""
        return check_weight_prior(self.alpha_prior, "alpha_prior")

    @abstractmethod
    def _dictionary(self) -> Basis:
        """Return the candidate functions that the parameters describe, not placed yet."""

    def _basis(self, data: TrainingData) -> Basis:
        """Return the candidate functions, which know their inputs."""
        basis = self._dictionary()
        basis.n_features_in_ = data.X.shape[1]
        if hasattr(self, "feature_names_in_"):
            basis.feature_names_in_ = self.feature_names_in_
        return basis

    def _check_rows_not_kept(self, where: str) -> None:
        """Raise if parameters need rows in memory that are not."""
        for name, expected in {"augment": False, "checkpoint": None}.items():
            value = getattr(self, name)
            if value is not expected and value != expected:
                raise ValueError(f"{name}={value!r}, expected {expected!r} {where}")

    def _check_out_of_core(self, likelihood: Likelihood) -> None:
        """Raise if parameters or likelihood need rows in memory."""
        self._check_rows_not_kept("for rows out of memory")
        if not likelihood.learns_scales:
            raise ValueError(
                f"{type(likelihood).__name__} noise, expected another for rows out of memory: it "
                "sorts the rows"
            )

    def _set_fit_result(self, result: FitResult) -> None:
        """Set the attributes of a fit."""
        for name in OPTIONAL:
            self.__dict__.pop(name, None)
        self.fit_result_ = result
        self.__dict__.update(self._attributes(result))

    def _attributes(self, result: FitResult) -> dict[str, Any]:
        """Return the attributes that are read off a fit result."""
        basis = result.basis
        optional = {
            "gamma_": getattr(basis, "gamma_", None),
            "feature_relevance_": result.feature_relevance,
        }
        return {
            "basis_": basis,
            "relevance_": result.relevance,
            "relevance_rows_": basis.rows_,
            "relevance_vectors_": basis.centers_,
            "weight_precision_": result.by_output("alpha", np.inf),
            "well_determined_": result.by_output("well_determined", 0.0),
            "log_evidence_": result.log_evidence,
            "history_": result.history,
            "n_iter_": result.n_iter,
            "status_": result.status,
            "training_rows_": result.training_rows,
        } | {name: value for name, value in optional.items() if value is not None}

    def __getstate__(self) -> dict[str, Any]:
        """Store nothing that can be read off the fit result."""
        state: dict[str, Any] = super().__getstate__()
        if "fit_result_" in state:
            for name in self._attributes(self.fit_result_):
                state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "machines_" in state:  # of release 0.1.0
            state = FitResult.upgraded(state)
        super().__setstate__(state)
        if "fit_result_" in state:
            self._set_fit_result(self.fit_result_)

    def summary(self) -> Any:
        """Table of the functions that were kept, one row each.

        Returns
        -------
        summary : pandas.DataFrame or Summary
            Indexed by name; a plain table that prints the same where pandas is not installed. With
            several outputs or classes there are columns for each, with its name behind.

            weight, std
                Mean and standard deviation of the weight under its posterior.
            weight_precision
                α, the precision of its prior; infinite where an output does not use the function.
            well_determined
                γ of eq. 17: how far the data, rather than the prior, determine it.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from relvec import SparseBayesianRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> summary = SparseBayesianRegressor().fit(X, y).summary()
        >>> print(summary[["weight", "std"]].round().to_string(index_names=False))
             weight    std
        sex  -195.0   57.0
        bmi   541.0   65.0
        bp    310.0   61.0
        s1   -652.0  149.0
        s2    443.0  136.0
        s5    773.0   78.0
        """
        check_is_fitted(self)
        found = {
            "weight": self.dual_coef_,
            "std": self._weight_std(),
            "weight_precision": self.weight_precision_,
            "well_determined": self.well_determined_,
        }
        columns = {
            label: row
            for name, values in found.items()
            for label, row in zip(self._labels(name, values), np.atleast_2d(values), strict=True)
        }
        return table(self.basis_.names(getattr(self, "feature_names_in_", None)), columns)

    def diagnose(self, X: ArrayLike | None = None, y: ArrayLike | None = None) -> Diagnosis:
        """Say in words what is wrong with the fit, and which parameter to change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Rows, of the fit or new ones: are they far from the data?
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Their targets, for what residuals and labels tell.

        Returns
        -------
        diagnosis : Diagnosis
            A list that prints one finding a line; each has a ``code``, a ``sentence`` and the
            ``numbers`` it rests on. Empty if there is nothing to say.

        Examples
        --------
        >>> from relvec import RVR
        >>> from relvec.datasets import make_sinc
        >>> X, y = make_sinc(100, noise_scale=0.1, random_state=0)
        >>> RVR(gamma=0.1).fit(X, y).diagnose(X, y)
        nothing to report
        >>> RVR(gamma=1e-6).fit(X, y).diagnose().codes
        ['kernel_wide']
        """
        check_is_fitted(self)
        if X is None and y is not None:
            raise ValueError("y is given without X, expected both or X alone")
        if X is None:
            return diagnose(Case(self))
        if y is None:
            return diagnose(Case(self, self._queries(X), given=X))
        return diagnose(Case(self, *self._like_fitted(X, y), X))

    @abstractmethod
    def _like_fitted(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Any]:
        """Validate rows and targets like those of the fit: numbers in columns, codes of classes."""

    def _labels(self, name: str, values: Array) -> list[str]:
        """Return a label for each row of values: the name alone, where there is one row."""
        if np.ndim(values) == 1 or len(values) == 1:
            return [name]
        return [f"{name}[{output}]" for output in self._output_names()]

    @abstractmethod
    def _output_names(self) -> list[str]:
        """Return the names of several outputs."""

    def _log_density_left_out(self, X: ArrayLike, y: ArrayLike, **given: ArrayLike | None) -> float:
        """Σ log p(t_n | t_−n) over the training rows, NaN where it has no closed form."""
        del X, y, given
        return float("nan")

    def _weight_std(self) -> Array:
        """Standard deviation of every weight, one row an output as in ``dual_coef_``."""
        rows = []
        for output in self.fit_result_.outputs:
            std = weight_std(output.posterior, output.likelihood.functions).T
            row = np.zeros((len(std), len(self.relevance_)))
            row[:, output.columns] = std
            rows.append(row)
        return np.vstack(rows)

    def _at_rows(self, function: Callable[[Self, Queries], Array], X: Any, *shape: int) -> Any:
        """Apply a function of the fitted estimator and of the kept functions at the rows of X.

        It maps one row to an array of the `shape`; see `FitResult.at_rows`.
        """
        if is_out_of_core(X):
            self._queries(head_of(X))
            return self.fit_result_.at_rows(partial(function, copy(self)), X, *shape)
        return self.fit_result_.at_rows(partial(function, self), self._queries(X), *shape)

    def _queries(self, X: ArrayLike) -> Array:
        """Validate query rows against the fitted ones."""
        check_is_fitted(self)
        with named_errors("X"):
            queries: Array = validate_data(self, X, dtype=np.float64, reset=False)
        return queries

    @property
    def coef_(self) -> Array:
        """Weights of the inputs, where every basis function is linear in them."""
        check_is_fitted(self)
        linear_map = self.basis_.linear_map()
        if linear_map is None:
            raise AttributeError("coef_ is only available with functions that are linear in X")
        return (linear_map @ self.dual_coef_.T).T
