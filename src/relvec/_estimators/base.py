"""The base of all estimators: from parameters and validated data to a fit."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_scalar
from sklearn.utils.validation import validate_data

from relvec._assess.conformal import CalibratedClassifier, CalibratedRegressor, calibrate
from relvec._design import Design
from relvec._design.sparse import SparseBlocks
from relvec._estimators.fitted import Fitted
from relvec._estimators.out_of_core import as_rows, validate_with_sparse
from relvec._estimators.targets import check_positive_rows
from relvec._fitting import pipeline
from relvec._fitting.centers import CentersLike
from relvec._fitting.data import TrainingData
from relvec._fitting.problem import FitConfig
from relvec._fitting.result import FitResult
from relvec._numerics.checks import (
    check_count,
    check_positive,
    in_memory,
    read_only,
    refuse_by_place,
)
from relvec._numerics.linalg import with_default_float_errors
from relvec._numerics.priors import Gamma, check_weight_prior
from relvec._numerics.typing import Array, Index
from relvec._runner import Checkpoint, fingerprints
from relvec._runner.callbacks import Callbacks, CallbackSupportMixin
from relvec._runner.runner import Runner
from relvec._runner.warn import warn_user
from relvec.basis import Basis, Concatenate, Kernel, Precomputed, Process
from relvec.basis.scale import LEARNT
from relvec.likelihoods import Likelihood
from relvec.solvers import SOLVERS, Solver

#: Parameters that may change before a fit goes on: its result does not depend on them.
FREE = ("checkpoint", "n_jobs", "verbose")


class RelevanceEstimator(CallbackSupportMixin, Fitted):  # type: ignore[misc]
    """Base of regression and classification; parameters are documented in the estimators."""

    fit_intercept: bool
    centers: CentersLike
    augment: bool
    remainder: str | Basis | None
    remainder_centers: int | None
    alpha_prior: tuple[float, float]
    solver: str | Solver
    n_starts: int | None
    tol: float | None
    max_iter: int
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    memory_limit: float
    noise: str | Basis
    checkpoint: str | PathLike[str] | None
    verbose: int

    def _fit(
        self,
        data: TrainingData,
        likelihood: Likelihood,
        given: Mapping[str, Any],
        *,
        single: bool,
        order: Index | None = None,
    ) -> None:
        """Fit validated data, set attributes, and warn of what the fit found out.

        Callbacks and the checkpoint know the arguments `given` to `fit`, X and y among them.
        """
        config = self._config(data, single=single, order=order)
        runner = self._runner(given, self._checkpoint(given, data))
        self.n_samples_fit_ = data.n_rows
        with runner.resuming():
            data, constant = data.settled()
            noise = None
            if not (isinstance(self.noise, str) and self.noise == "constant"):
                noise = self._noise_candidates(data, likelihood, config, runner)
            basis = pipeline.place(data, self._basis(data), config, runner)
            basis = basis.without_multiples(constant.constant)
            result = pipeline.fit(data, basis, likelihood, config, runner, noise)
            if len(constant.lost):
                lost = constant.warning(getattr(self, "feature_names_in_", None))
                result = replace(result, warnings=[*result.warnings, lost])
            self._conclude(result)

    def _conclude(self, result: FitResult) -> None:
        """Set the attributes of a fit, and warn."""
        self._set_fit_result(result)
        if result.warnings:
            warn_user(*result.warnings)

    def _rows_and_targets(
        self,
        X: Any,
        y: Any,
        read: Callable[[Any], dict[str, Any]],
        *,
        reset: bool,
        **of_targets: Any,
    ) -> tuple[Any, Any]:
        """Validate inputs, which scikit-learn is to `read` so, and targets; queries stay sparse."""
        if not isinstance(X, np.ndarray):
            if isinstance(X := as_rows(X), SparseBlocks):
                return X, validate_with_sparse(self, X, y, **of_targets)
            X = in_memory(X)
        try:
            rows, targets = validate_data(self, X, y, reset=reset, **of_targets, **read(X))
        except ValueError as error:
            refuse_by_place(X, error)
            raise
        return read_only(rows), targets

    def _runner(self, given: Mapping[str, Any], checkpoint: Checkpoint | None = None) -> Runner:
        """Return the runner of a fit, which tells the estimator's callbacks of it."""
        weight = given.get("sample_weight")
        metadata = None if weight is None else {"sample_weight": weight}
        data = {"X": given["X"], "y": given["y"], "metadata": metadata}
        callbacks = None
        if hasattr(self, "set_callbacks"):  # scikit-learn has them
            callbacks = Callbacks(self, data, self._attributes_with)
        return Runner(checkpoint, callbacks, verbose=self.verbose)

    def _attributes_with(self, result: FitResult) -> dict[str, Any]:
        """Return the attributes that the estimator would have with a fit result."""
        ended, own = copy(self), vars(self)
        ended._set_fit_result(result)
        return {name: value for name, value in vars(ended).items() if own.get(name) is not value}

    def _checkpoint(self, given: Mapping[str, Any], data: TrainingData) -> Checkpoint | None:
        """Return what another process found of the fit, if the user asked for a checkpoint."""
        if self.checkpoint is None:
            return None
        if not isinstance(self.checkpoint, str | PathLike):
            raise TypeError(f"checkpoint={self.checkpoint!r}, expected None or the path of a file")
        path = Path(self.checkpoint)
        if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise ValueError(
                f"checkpoint={self.checkpoint!r}, expected a file in a folder that exists and that "
                "you may write to"
            )
        rows = dict(given) | data.identity()
        own = self.get_params(deep=False)
        fixed = {name: value for name, value in own.items() if name not in FREE}
        made_by = {"the estimator": type(self).__name__, "relvec's version": version("relvec")}
        return Checkpoint(path, fingerprints(rows, made_by | fixed))

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
            self._read_parameters(),
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
            alpha_prior=self._alpha_prior(),
        )

    def _search(self) -> dict[str, Any]:
        """Return the parameters of the solver that say how hard it searches, and for how little."""
        return {"tol": self.tol, "n_starts": self.n_starts}

    def _adapted(self, solver: Solver, design: Design) -> Solver:
        """Return the solver for a design of all candidates."""
        return solver

    def _alpha_prior(self) -> Gamma:
        """Prior of every weight's precision, in the users' units."""
        return check_weight_prior(self.alpha_prior, "alpha_prior")

    @abstractmethod
    def _dictionary(self) -> Basis:
        """Return the candidate functions that the parameters describe, not placed yet."""

    def _candidates(self, data: TrainingData) -> Basis:
        """Return the same, as far as the rows have a say."""
        return self._dictionary()

    def _basis(self, data: TrainingData) -> Basis:
        """Return the candidate functions, which know their inputs."""
        return self._of_inputs(self._with_remainder(self._candidates(data)), data)

    def _of_inputs(self, basis: Basis, data: TrainingData) -> Basis:
        """Tell a basis what inputs there are."""
        basis.n_features_in_ = data.X.shape[1]
        if hasattr(self, "feature_names_in_"):
            basis.feature_names_in_ = self.feature_names_in_
        return basis

    def _noise_candidates(
        self, data: TrainingData, likelihood: Likelihood, config: FitConfig, runner: Runner
    ) -> Callable[[Basis], Basis]:
        """Return what makes candidates of noise that is learnt; see `pipeline.fit`."""
        raise NotImplementedError(f"{type(self).__name__} has no noise to learn")

    def _with_remainder(self, basis: Basis) -> Basis:
        """Return the candidates with a process for what the chosen ones leave, if there is one."""
        if self.remainder is None:
            return basis
        if self.augment or isinstance(basis, Precomputed):
            raise ValueError(
                f"remainder={self.remainder!r}, expected None with augment=True or a precomputed "
                "kernel"
            )
        return Concatenate([basis, self._process(basis)])

    def _process(self, basis: Basis) -> Basis:
        """Return the group of functions that `remainder` describes, beside the `basis`."""
        given = self.remainder
        if self.remainder_centers is not None:
            check_count(self.remainder_centers, "remainder_centers")
        if isinstance(given, str) and given == "process":
            own = isinstance(basis, Kernel) and getattr(basis, "gamma", None) not in LEARNT
            return Process(basis if own else None, self.remainder_centers)
        if isinstance(given, Kernel):
            return Process(given, self.remainder_centers)
        if isinstance(given, Basis):
            return cast(Basis, clone(given))
        raise ValueError(f"remainder={given!r}, expected None, 'process' or a relvec.basis object")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        constant = isinstance(self.noise, str) and self.noise == "constant"
        tags.input_tags.sparse = constant and not self.augment
        return tags

    @with_default_float_errors
    def calibrate(
        self,
        X: ArrayLike,
        y: ArrayLike,
        cv: Any = None,
        groups: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> CalibratedRegressor | CalibratedClassifier:
        """Make intervals, or sets of classes, that hold what they say; see `relvec.calibrate`."""
        return calibrate(self, X, y, cv, groups, exposure)

    def _known_exposure(self, exposure: ArrayLike | None, n_rows: int) -> dict[str, Array]:
        """Return the exposures of rows by name, if the model was fitted with some, or else nothing.

        Raise where one is given and the other is not.
        """
        if (exposure is not None) != self.fit_result_.exposed:
            expected = "that of each row" if self.fit_result_.exposed else "None"
            given = "None" if exposure is None else "given"
            raise ValueError(f"exposure is {given}, expected {expected}, as in the fit")
        if exposure is None:
            return {}
        return {"exposure": check_positive_rows(exposure, n_rows, "exposure")}

    def _check_rows_not_kept(self, where: str) -> None:
        """Raise if parameters need rows in memory that are not."""
        if self.augment:
            raise ValueError(f"augment={self.augment!r}, expected False {where}")

    def _check_out_of_core(self, likelihood: Likelihood) -> None:
        """Raise if parameters or likelihood need rows in memory."""
        self._check_rows_not_kept("for sparse X or rows out of memory")
        if isinstance(self._dictionary(), Precomputed):
            raise ValueError(
                "kernel='precomputed', expected a kernel of rows for sparse X or rows out of memory"
            )
        if not likelihood.learns_scales:
            raise ValueError(
                f"{type(likelihood).__name__} noise, expected another for sparse X or rows out of "
                "memory: it sorts the rows"
            )
