"""What a fitted machine tells: what it kept, what is wrong with it, and what it says of rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._assess.diagnose import diagnose
from relvec._assess.findings import Case, Diagnosis
from relvec._estimators.fitting import Fitting
from relvec._estimators.notebook import NotebookBlock
from relvec._estimators.summary import table, weight_std
from relvec._fitting.at_rows import at_rows
from relvec._fitting.augmentation import TrainingRows
from relvec._fitting.batches import by_batches
from relvec._fitting.out_of_core import head_of, is_out_of_core
from relvec._fitting.result import Queries
from relvec._numerics.checks import named_errors
from relvec._numerics.typing import Array


class RelevanceEstimator(Fitting, NotebookBlock):
    """What regression and classification share; parameters and attributes are documented there."""

    def summary(self) -> Any:
        """Table of the functions that were kept, one row each.

        Returns
        -------
        summary : pandas.DataFrame or Summary
            Indexed by name; a plain table that prints the same where pandas is not installed. With
            several outputs, classes or machines there are columns for each, with its name behind.

            weight, std
                Mean and standard deviation of the weight under its posterior.
            weight_precision
                α, the precision of its prior; infinite where a machine does not use the function.
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
        """A name for each row of what every output has: the name alone, where it is one row."""
        if np.ndim(values) == 1 or len(values) == 1:
            return [name]
        return [f"{name}[{output}]" for output in self._output_names()]

    @abstractmethod
    def _output_names(self) -> list[str]:
        """Names of several outputs."""

    def _log_density_left_out(self, X: ArrayLike, y: ArrayLike, **given: ArrayLike | None) -> float:
        """Σ log p(t_n | t_−n) over the training rows, NaN where it has no closed form."""
        del X, y, given
        return float("nan")

    def _weight_std(self) -> Array:
        """Standard deviation of every weight, one row an output as in ``dual_coef_``."""
        rows = []
        for machine in self.machines_:
            std = weight_std(machine.posterior, machine.likelihood.functions).T
            row = np.zeros((len(std), len(self.relevance_)))
            row[:, machine.columns] = std
            rows.append(row)
        return np.vstack(rows)

    def _by_batches(self, X: Any, function: Callable[[Self, Queries], Array], *shape: int) -> Array:
        """Apply a function of the machines, and of what is known of the rows, by batches of rows.

        Rows that are not in memory are looked at where they are, those in Dask later. What it
        makes of one row has the `shape`.
        """
        if is_out_of_core(X):
            self._queries(head_of(X))
            said: Array = at_rows(partial(copy(self)._of_rows, function), X, shape)
            return said
        return self._of_rows(function, self._queries(X))

    def _of_rows(self, function: Callable[[Self, Queries], Array], X: Array) -> Array:
        """See `_by_batches`; of rows in memory that were validated."""
        rows = None
        outputs = max(len(machine.posterior.level) for machine in self.machines_)
        numbers = len(self.relevance_) * outputs**2
        if self.training_rows_ is not None:
            rows = TrainingRows(self.training_rows_, self.basis_)
            numbers += rows.numbers(outputs)
        return by_batches(
            lambda some: function(self, Queries.of(some, self.basis_, rows)), X, numbers
        )

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
