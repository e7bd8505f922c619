"""A fitted estimator: its attributes, storage, summary and diagnosis."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Number
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._assess.diagnose import diagnose
from relvec._assess.findings import Diagnosis
from relvec._assess.overview import summary
from relvec._assess.summary import table
from relvec._estimators.notebook import NotebookBlock
from relvec._estimators.out_of_core import as_rows, head_of, is_out_of_core
from relvec._estimators.routing import WithRouting
from relvec._evidence import EvidenceModel
from relvec._evidence.posterior import Posterior
from relvec._fitting.batches import Beside
from relvec._fitting.kept_groups import KeptGroups
from relvec._fitting.result import FitResult, FittedOutput
from relvec._numerics.checks import (
    in_memory,
    named_errors,
    read_only,
    reading,
    refuse_by_place,
)
from relvec._numerics.compact import Compact
from relvec._numerics.linalg import with_default_float_errors
from relvec._numerics.priors import check_weight_prior
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis
from relvec.solvers import Pass

#: Attributes of a fit that not every basis has.
OPTIONAL = ("gamma_", "feature_relevance_")


#: Arguments of `log_evidence` beside X and y, by name.
Given = Mapping[str, ArrayLike | None]
#: Standard deviations of a linear predictor, and share of the largest, by which the same may differ
#: when it is computed twice: where the iteration for a mode stops, and roundings.
SAME_STD, SAME_SHARE = 1e-3, 1e-9
#: Parameters that methods of a fitted estimator go on to read: those of the fit, whatever they are
#: set to later.
READ = (
    *("alpha_prior", "approximation", "augment", "beta_prior", "class_weight", "fit_intercept"),
    *("likelihood", "multi_class", "noise", "noise_correlation", "proba", "solver"),
)
#: Parameters that are stored in types which every format of models knows.
PLAIN = ("checkpoint", "class_weight")
#: Inputs of the centre of a function that a table has.
SHOWN = 3


class Fitted(Compact, WithRouting, NotebookBlock):
    """Attributes and methods of fitted estimators, documented in the estimators."""

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

    def _read_parameters(self) -> dict[str, Any]:
        """Return the parameters `READ` as they are now, by name."""
        return {name: _plain(getattr(self, name)) for name in READ if hasattr(self, name)}

    def _in_fit(self, name: str) -> Any:
        """Return what one of the parameters `READ` was in the fit."""
        assert self.fit_result_.parameters is not None
        return self.fit_result_.parameters[name]

    def __getstate__(self) -> dict[str, Any]:
        """Store nothing that can be read off the fit result, and parameters in plain types."""
        state: dict[str, Any] = super().__getstate__()
        state |= {name: _plain(state[name]) for name in PLAIN if name in state}
        if "fit_result_" in state:
            for name in self._attributes(self.fit_result_):
                state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "machines_" in state:  # of release 0.1.0
            state = FitResult.upgraded(state)
        super().__setstate__(state)
        if "fit_result_" in state:
            result = self.fit_result_
            if result.parameters is None:  # stored by an earlier release
                result = replace(result, parameters=self._read_parameters())
            self._set_fit_result(result)

    def summary(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Any:
        """Table of the functions that were kept, under facts of the fit; see `relvec.summary`."""
        return summary(self, X, y, exposure)

    @with_default_float_errors
    def _function_columns(self) -> tuple[list[str], dict[str, NDArray[Any]]]:
        """Return names of the kept functions, and the columns of `summary`."""
        found = {
            "weight": self.dual_coef_,
            "std": self._weight_std(),
            "weight_precision": self.weight_precision_,
            "well_determined": self.well_determined_,
        }
        columns, features = self._columns(found), getattr(self, "feature_names_in_", None)
        groups = KeptGroups(self.fit_result_)
        if not groups.groups.single:
            columns["group"] = np.array(groups.names(features), dtype=object)[groups.groups.label]
        points = self.relevance_vectors_
        if 0 < len(points) == len(self.relevance_) and points.shape[1] == self.n_features_in_:
            columns["at"] = np.array(_described(points, features), dtype=object)
        return self.basis_.names(features), columns

    @property
    def group_relevance_(self) -> Any:
        """Table of the kept groups of functions, one row each, like `summary`.

        A function that shares its precision with no other is a group. Columns are ``n_functions``,
        ``weight_precision``, ``well_determined`` (Σγ of eq. 17) and ``evidence``, the nats that
        deleting the group would cost; the last three for each of several outputs.
        """
        check_is_fitted(self)
        groups = KeptGroups(self.fit_result_)
        found = {
            "weight_precision": groups.precision(),
            "well_determined": groups.well_determined(),
            "evidence": groups.worth(),
        }
        columns = {"n_functions": groups.groups.sizes} | self._columns(found)
        names = groups.names(getattr(self, "feature_names_in_", None))
        ordered = {name: values[groups.order] for name, values in columns.items()}
        return table([names[g] for g in groups.order], ordered, "group")

    def _columns(self, found: Mapping[str, Array]) -> dict[str, NDArray[Any]]:
        """Columns of a table: values by name, one row an output where there are several."""
        return {
            label: row
            for name, values in found.items()
            for label, row in zip(self._labels(name, values), np.atleast_2d(values), strict=True)
        }

    @with_default_float_errors
    def diagnose(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Diagnosis:
        """Say in words what is wrong with the fit, and what to change; see `relvec.diagnose`."""
        return diagnose(self, X, y, exposure)

    @abstractmethod
    def _evidence_models(
        self, X: ArrayLike, y: ArrayLike, given: Given
    ) -> Iterator[tuple[FittedOutput, Array, EvidenceModel]]:
        """Yield every output, its functions at rows of data, and their evidence in these data.

        Further arguments of `log_evidence` are `given` by name, None where they are not.
        """

    def _log_evidence(self, X: ArrayLike, y: ArrayLike, given: Given) -> float:
        """Log evidence of the fitted hyperparameters in other data; see `_evidence_models`."""
        given = {name: in_memory(values) for name, values in given.items()}
        total, prior = 0.0, check_weight_prior(self._in_fit("alpha_prior"), "alpha_prior")
        for output, _, model in self._evidence_models(X, y, given):
            total += model.log_evidence(output.alpha) + prior.log_prob(output.alpha)
        return total

    def _finds_weights_again(self, X: ArrayLike, y: ArrayLike, given: Given) -> bool:
        """Return whether its hyperparameters give the fitted weights in these data, too.

        They do if what is predicted at the rows is the same: weights themselves may hardly be
        determined. Arguments are those of `_evidence_models`.
        """
        for output, Phi, model in self._evidence_models(X, y, given):
            found, own = model.at_precisions(output.alpha).posterior, output.posterior
            assert isinstance(found, Posterior)
            mean, variance = own.latent_mean(Phi), own.latent_covariance(Phi)
            std = np.sqrt(np.maximum(variance.diagonal(axis1=1, axis2=2), 0.0))
            apart = np.abs(found.latent_mean(Phi) - mean)
            if not (apart <= SAME_STD * std + SAME_SHARE * np.abs(mean).max()).all():
                return False
        return True

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

    def _weight_std(self) -> Array:
        """Standard deviation of every weight, one row an output as in ``dual_coef_``."""
        rows = []
        for output in self.fit_result_.outputs:
            mean, root = output.posterior.mean, output.posterior.root
            roots = root.reshape(*mean.shape, len(root)).swapaxes(1, 2)
            std = np.linalg.norm(output.likelihood.functions(roots), axis=1).T
            row = np.zeros((len(std), len(self.relevance_)))
            row[:, output.columns] = std
            rows.append(row)
        return np.vstack(rows)

    def _at_rows(
        self, function: Callable[..., Array], X: Any, *shape: int, beside: Sequence[Beside] = ()
    ) -> Any:
        """Apply a function of the fitted estimator and of the kept functions at the rows of X.

        It maps one row to an array of the `shape`; see `FitResult.at_rows`.
        """
        rows = self._rows(X)
        model = copy(self) if is_out_of_core(rows) else self
        return self.fit_result_.at_rows(partial(function, model), rows, *shape, beside=beside)

    def _rows(self, X: Any) -> Any:
        """Validate query rows where they are, of those out of core the columns."""
        out_of_core = is_out_of_core(X := as_rows(X))
        queries = self._queries(head_of(X) if out_of_core else X)
        return X if out_of_core else queries

    def _queries(self, X: ArrayLike) -> Array:
        """Validate query rows against the fitted ones."""
        check_is_fitted(self)
        X = in_memory(as_rows(X))
        read = reading(lambda: self.basis_.any_rows, X)
        with named_errors("X"):
            try:
                queries: Array = validate_data(self, X, reset=False, **read)
            except ValueError as error:
                refuse_by_place(X, error)
                raise
        return read_only(queries)

    @property
    def coef_(self) -> Array:
        """Weights of the inputs, where every basis function is linear in them."""
        check_is_fitted(self)
        linear_map = self.basis_.linear_map()
        if linear_map is None:
            raise AttributeError("coef_ is only available with functions that are linear in X")
        return (linear_map @ self.dual_coef_.T).T


def _described(points: NDArray[Any], features: Any) -> list[str]:
    """Return the first inputs of each point as text, with their names."""
    names = [f"x{j}" for j in range(points.shape[1])] if features is None else list(features)
    shown, more = names[:SHOWN], ", …" if len(names) > SHOWN else ""
    return [
        ", ".join(
            f"{name} {value:.4g}" if isinstance(value, Number) else f"{name} {value}"
            for name, value in zip(shown, point.tolist(), strict=False)
        )
        + more
        for point in points
    ]


def _plain(value: Any) -> Any:
    """Return a path as text, and a dict with numbers for truth values as its keys: they are equal.

    Types of paths differ between systems, and skops reads the key False back as True.
    """
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping):
        truth = bool | np.bool_
        return {int(key) if isinstance(key, truth) else key: own for key, own in value.items()}
    return value
