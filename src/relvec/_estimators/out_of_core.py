"""Validation of rows that are not in memory, block by block."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from relvec._design import RowBlocks
from relvec._design.blocks import named
from relvec._design.moments import Squares, nonconstant_norms
from relvec._design.sparse import SparseBlocks
from relvec._estimators.labels import plain_labels
from relvec._estimators.targets import check_positive_rows, relative_precision, with_exposure
from relvec._fitting.data import OutOfCoreData
from relvec._fitting.summaries import summarise
from relvec._numerics.checks import as_numbers, check_any_weight, named_errors, weights_of
from relvec._numerics.typing import Array, Index, RowVector
from relvec.likelihoods import Likelihood


def is_dask(X: Any) -> bool:
    """Return whether inputs are a collection of Dask, which is imported then."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def as_rows(X: Any) -> Any:
    """Return sparse inputs, those of a table of sparse columns too, as blocks of rows."""
    of_table = hasattr(X, "columns") and hasattr(X, "sparse")
    if not (issparse(X) or of_table):
        return X
    names = _names_of(X)
    with named_errors("X"):
        rows = X.sparse.to_coo() if of_table else X
        rows = check_array(rows, accept_sparse="csr", dtype=np.float64, input_name="X")
    return SparseBlocks(csr_array(rows), names)


def validate_with_sparse(estimator: Any, X: SparseBlocks, y: Any, **of_targets: Any) -> Any:
    """Return validated targets of sparse queries, whose inputs are validated, too."""
    estimator._queries(head_of(X))  # which has the names of the columns
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        of_inputs = {"accept_sparse": "csr", "reset": False}
        return validate_data(estimator, X.X, y, **of_inputs, **of_targets)[1]


def is_out_of_core(X: Any) -> bool:
    """Return whether inputs are of a kind that is reached block by block."""
    return isinstance(X, RowBlocks) or is_dask(X)


def head_of(X: Any) -> Any:
    """Return a row of zeros that looks like the rows of inputs out of core."""
    if isinstance(X, RowBlocks):
        return _head(X.n_features, X.names)
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}, expected 2 dimensions")
    return _head(X.shape[1], _names_of(X))


def _names_of(X: Any) -> list[str] | None:
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def _head(n_features: int, names: Sequence[str] | None) -> Any:
    zeros = np.zeros((1, n_features))
    return zeros if names is None else named(zeros, names)


@dataclass(frozen=True)
class OutOfCoreRows:
    """Inputs that are reached block by block, and what is validated of them."""

    blocks: RowBlocks
    names: Sequence[str] | None = None  # names of the inputs

    @classmethod
    def of(cls, X: Any) -> OutOfCoreRows | None:
        """Return inputs of a kind that is not in memory; None if X is of another."""
        if isinstance(X := as_rows(X), RowBlocks):
            return cls(X, X.names)
        if not is_dask(X):
            return None
        from relvec._design.dask import DaskBlocks, as_array  # Dask is there

        head_of(X)  # refuses what has no columns
        return cls(DaskBlocks(as_array(X)), _names_of(X))

    @property
    def head(self) -> Any:
        """A row of zeros that looks like the others to whoever validates them."""
        return _head(self.blocks.n_features, self.names)

    def data(
        self,
        targets: dict[str, RowVector],
        weights: RowVector | None,
        precision: RowVector | None = None,
        *,
        intercept: bool,
        exposed: bool = False,
    ) -> OutOfCoreData:
        """Return training data of these rows; inputs that are not finite are refused."""
        summary = self.blocks.sum_stored(summarise, *(() if weights is None else (weights,)))
        return OutOfCoreData(
            summary.rows[0],
            targets,
            intercept,
            summary.rows[1],
            precision,
            exposed=exposed,
            blocks=self.blocks,
            frequencies=weights,
            weight=summary.weight,
        )

    def numbers(self, values: Any, name: str) -> RowVector:
        """Return numbers of the rows, (n_rows, d), checked and taken to where the rows are."""
        return self.blocks.alone().map(partial(_numbers, name), self.blocks.vector(values, name))

    def weights(self, values: Any) -> RowVector | None:
        """Return frequencies of the rows, checked."""
        if values is None:
            return None
        weights = self.blocks.alone().map(_weights, self.blocks.vector(values, "sample_weight"))
        check_any_weight(self.blocks.alone().sum(_total, weights))
        return weights

    def noise(self, variances: Any, weights: RowVector | None) -> tuple[float, RowVector]:
        """Return the mean of the rows' noise variances, and their precisions relative to that."""
        name, rows = "noise_variance_per_row", self.blocks.alone()
        known = rows.map(partial(_positive, name), self.blocks.vector(variances, name))
        given = known, *(() if weights is None else (weights,))
        common = float(rows.sum(_moments, *given).mean[0])
        return common, rows.map(partial(_relative_precision, common), known)

    def exposed(self, t: RowVector, exposure: Any, likelihood: Likelihood) -> RowVector:
        """Return targets with the logarithm of their exposure beside them; see `with_exposure`."""
        given = self.blocks.vector(exposure, "exposure")
        return self.blocks.alone().map(partial(_exposed, likelihood), t, given)

    def labels(self, values: Any) -> RowVector:
        """Return labels of classes, checked and taken to where the rows are."""
        return self.blocks.alone().map(_labels, self.blocks.vector(values, "y"))

    def columns(self, values: RowVector, index: Index) -> RowVector:
        """Return some columns of numbers of the rows."""
        return self.blocks.alone().map(partial(_columns, index), values)

    def varying(self, values: RowVector) -> NDArray[np.bool_]:
        """Return whether each column of such numbers varies by more than rounding."""
        found = self.blocks.alone().sum(_moments, values)
        return np.isfinite(nonconstant_norms(np.sqrt(found.squares), found.mean, found.weight))


# Functions of a block of rows.


def numbers_of(values: Any, name: str) -> Array:
    """Return the values of an argument at some rows as finite numbers, (n_rows, d)."""
    with named_errors(name):
        numbers: Array = check_array(as_numbers(values, name), ensure_2d=False, input_name=name)
    return numbers.reshape(len(numbers), -1)


def _labels(_X: Array, values: Any) -> NDArray[Any]:
    labels: NDArray[Any] = plain_labels(column_or_1d(values))
    if labels.dtype.kind == "O":  # as columns of nullable types arrive
        numbers = np.array(labels.tolist())
        labels = numbers if numbers.dtype.kind in "biu" else labels
    with named_errors("y"), warnings.catch_warnings():
        # that few of a block's labels are the same says nothing of all rows
        warnings.filterwarnings("ignore", "The number of unique classes is greater")
        check_classification_targets(labels)
    return labels


def _columns(index: Index, _X: Array, values: Array) -> Array:
    return values[:, index]


def _moments(X: Array, values: Array, weights: Array | None = None) -> Squares:
    return Squares.of(values.reshape(len(X), -1), np.empty((len(X), 0)), weights)


def _positive(name: str, X: Array, values: Any) -> Array:
    return check_positive_rows(values, len(X), name)


def _relative_precision(common: float, _X: Array, variances: Array) -> Array:
    return relative_precision(variances, common)


def _exposed(likelihood: Likelihood, _X: Array, t: Array, exposure: Any) -> Array:
    return with_exposure(t, exposure, likelihood)


def _numbers(name: str, _X: Array, values: Any) -> Array:
    return numbers_of(values, name)


def _weights(X: Array, values: Any) -> Array:
    return weights_of(values, len(X))


def _total(_X: Array, weights: Array) -> float:
    return float(weights.sum())
