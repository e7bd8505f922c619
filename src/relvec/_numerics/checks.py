"""Checks of arguments; scikit-learn's own let NaN through, which passes every comparison."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import date
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from relvec._numerics.naming import cell_name, places_named, rows_named
from relvec._numerics.typing import Array

#: Weight of a row up to which sums over the rows stay well inside the range of float64.
LARGEST_WEIGHT = 1e50
#: Remedy where inputs are categories.
CATEGORIES = " (categories go through a OneHotEncoder, or to estimators of effects)"
#: Size of inputs up to which sums of them, and inverse ranges, are in the range of float64.
LARGEST_SIZE = 1e300
#: Remedy where inputs are missing.
GAPS = " (SimpleImputer(add_indicator=True) in a pipeline fills them in)"


def in_memory(values: Any) -> Any:
    """Return values in memory: those of Dask are computed, blocks of rows read, others are there.

    It is for what is said of all rows together, and for what there are as many of as rows.
    """
    if hasattr(values, "dask") and hasattr(values, "compute"):
        return values.compute()
    return values.in_memory() if hasattr(values, "in_memory") else values


def of_rows(function: Callable[[Array], NDArray[Any]], X: Any) -> NDArray[Any]:
    """Apply a function, of which no row of the result depends on others, to an array or blocks."""
    values: NDArray[Any] = function(X) if isinstance(X, np.ndarray) else X.map(function)
    return values


@contextmanager
def named_errors(*names: str) -> Iterator[None]:
    """Have NumPy and scikit-learn name the argument, one of these, that they refuse.

    They look for infinite values by sums, which NumPy would warn of.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (ValueError, TypeError) as error:
        if re.search(rf"\b({'|'.join(names)})\b", str(error)):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{' or '.join(names)}: {error}") from error


def missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values of an array of any type are None, NaN, NaT, NA or masked."""
    absent: NDArray[np.bool_] = np.ma.getmaskarray(values).copy()
    values = np.ma.getdata(values)
    if values.dtype.kind in "fc":
        absent |= np.isnan(values)
    elif values.dtype.kind in "Mm":
        absent |= np.isnat(values)
    elif values.dtype.kind in "OT":
        each = map(is_missing, values.astype(object).flat)
        absent |= np.fromiter(each, np.bool_, values.size).reshape(values.shape)
    return absent


def is_missing(value: Any) -> bool:
    """Return whether an object stands for a value that is not there."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    known = isinstance(value, float | np.floating | np.datetime64 | np.timedelta64)
    return known and bool(value != value)  # NaN and NaT are the values that are not themselves


def refuse_missing(name: str, values: Any, array: NDArray[Any] | None = None) -> None:
    """Raise, with rows and columns, if values of an argument, or of it as an array, are missing."""
    absent = missing(_as_array(name, values) if array is None else array)
    if absent.ndim and absent.any():
        raise ValueError(
            f"{name} contains missing values (None, NaN, NaT or NA) in "
            f"{places_named(values, absent)}, expected none{GAPS if name == 'X' else ''}"
        )


def refuse_infinite(X: Any) -> None:
    """Raise, with rows and columns, if inputs of any type hold infinity."""
    wrong = np.isin(_as_array("X", X).astype(object), [np.inf, -np.inf])
    if wrong.any():
        raise ValueError(f"X contains infinity in {places_named(X, wrong)}, expected finite values")


def refuse_by_place(X: Any, error: ValueError) -> None:
    """Raise, with rows and columns, what an error about NaN or infinity in numbers X says."""
    if "NaN" in str(error) and not issparse(X):
        refuse_missing("X", X)
    if "infinity" in str(error) and not issparse(X):
        refuse_infinite(X)


def refuse_times(name: str, values: Any) -> None:
    """Raise if an argument, or a column of it, holds times, as numbers of a unit not to be seen."""
    types = getattr(values, "dtypes", None)
    types = _as_array(name, values).dtype if types is None else types
    for column, kind in enumerate(np.ravel(np.array(types, dtype=object))):
        if getattr(kind, "kind", "O") in "mM":
            raise TypeError(_times_found(name, values, column, f"times of type {kind}"))


def refuse_no_categories(name: str, rows: Any) -> None:
    """Raise if a column holds times, or objects that are neither all numbers nor categories.

    Categories are no texts among numbers, and no dates; in a pandas table a column of dates that
    was declared to be categorical holds them.
    """
    if issparse(rows):  # numbers, and refused as such
        return
    refuse_times(name, rows)
    array = _as_array(name, rows)
    if array.ndim != 2 or array.dtype.kind not in "OUT":
        return
    types = getattr(rows, "dtypes", [array.dtype] * array.shape[1])
    for column, kind in enumerate(types):
        known = (value for value in array[:, column] if not is_missing(value))
        first = next(known, None)
        if str(kind) != "category" and _is_date(first) and all(map(_is_date, known)):
            found = f"dates such as {str(first)!r}"
            raise TypeError(_times_found(name, rows, column, found))
        texts = [row for row, value in enumerate(array[:, column]) if isinstance(value, str)]
        if texts and any(isinstance(value, Number) for value in array[:, column]):
            refuse_texts(name, rows, array, [column])
            raise ValueError(
                f"{name} holds the text {str(array[texts[0], column])!r} among numbers in "
                f"{cell_name(rows, array, texts[0], column)}, expected numbers or texts alone"
            )


def _is_date(value: Any) -> bool:
    """Return whether a value is a text that begins with year, month and day, or a NumPy time."""
    return isinstance(value, date | np.datetime64) or (
        isinstance(value, str) and bool(re.match(r"\d{4}-\d{2}-\d{2}(?!\d)", value))
    )


def _times_found(name: str, values: Any, column: int, found: str) -> str:
    """Return an error for times in an argument, with the code that makes numbers of them."""
    if hasattr(values, "columns"):
        label = values.columns[column]
        where, named = f" in column {label!r}", f"{name}[{label!r}]"
    elif np.ndim(values) == 2:
        where, named = f" in column {column}", f"{name}[:, {column}]"
    else:
        where, named = "", name
    span = "timedelta" in found
    days = f"pd.to_timedelta({named})" if span else f"pd.to_datetime({named}, utc=True)"
    start = "" if span else " - pd.Timestamp('2000-01-01', tz='UTC')"
    return (
        f"{name} holds {found}{where}, expected numbers, such as the days that are "
        f"({days}{start}) / pd.Timedelta(days=1)"
    )


def refuse_texts(
    name: str, values: Any, array: NDArray[Any], columns: Collection[int] | None = None
) -> None:
    """Raise, with row and column, if a text among values that are to be numbers is none.

    The values are given as an array too, of which some `columns` or all are looked at.
    """
    if not array.ndim or array.dtype.kind not in "OUT":
        return
    table = array.reshape(len(array), -1)
    for column in range(table.shape[1]) if columns is None else columns:
        for row, value in enumerate(table[:, column]):
            if isinstance(value, str) and not _is_number(value):
                raise ValueError(
                    f"{name}: could not convert string to float: {str(value)!r} in "
                    f"{cell_name(values, array, row, column)}, expected numbers"
                    f"{CATEGORIES if name == 'X' else ''}"
                )


def _is_number(text: str) -> bool:
    """Return whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def refuse_no_numbers(name: str, values: Any) -> None:
    """Raise if values of an argument that is to be numbers are times, missing or masked."""
    if not (_of_numbers(values) or issparse(values)):
        refuse_times(name, values)
        refuse_missing(name, values)


def reading(takes_objects: Callable[[], bool], X: Any, **others: Any) -> dict[str, Any]:
    """Return how scikit-learn is to read rows: as numbers, or as objects if they are none.

    Times are refused, and texts, objects and masked values that are missing, in other arguments,
    too; among numbers scikit-learn finds them itself. That `takes_objects` is asked where a column
    holds no number; what stands between numbers in a column is read as one, and refused if it is
    none.
    """
    to_read: dict[str, Any] = {}
    for name, values in {"X": X, **others}.items():
        if _of_numbers(values) or issparse(values):
            continue
        refuse_times(name, values)
        array = _as_array(name, values)
        if not _of_numbers(array):
            refuse_missing(name, values, array)
            to_read[name] = array
    objects = "X" in to_read and _holds_objects(to_read["X"]) and takes_objects()
    for name, array in to_read.items():
        if not (objects and name == "X"):
            refuse_texts(name, X if name == "X" else others[name], array)
    return {"dtype": object, "ensure_all_finite": False} if objects else {"dtype": np.float64}


def _holds_objects(array: NDArray[Any]) -> bool:
    """Return whether a column holds no number at all, but texts, say."""
    if array.dtype.kind not in "USTO":
        return False
    return any(not any(isinstance(v, Number) for v in column) for column in np.atleast_2d(array).T)


def _as_array(name: str, values: Any) -> NDArray[Any]:
    """Return values as an array, a masked one as it is."""
    with named_errors(name):
        return values if isinstance(values, np.ndarray) else np.asarray(values)


def _of_numbers(values: Any) -> bool:
    """Return whether values are of types of numbers, an array's or those of a table's columns."""
    if isinstance(values, np.ma.MaskedArray):
        return False
    types = getattr(values, "dtypes", getattr(values, "dtype", None))
    each = np.ravel(np.array(types, dtype=object))
    return all(getattr(one, "kind", "O") in "biufc" for one in each)


def as_numbers(values: ArrayLike, source: str) -> Array:
    """Return values as a new array of float64, with NaN where one is missing.

    Complex numbers of the `source` are refused, as their imaginary parts would be lost.
    """
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = np.where(missing(array), np.nan, array)
    complex_objects = array.dtype.kind == "O" and any(isinstance(v, complex) for v in array.flat)
    if array.dtype.kind == "c" or complex_objects:
        raise ValueError(f"{source}: Complex data not supported, expected real numbers")
    try:
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{source}: {error}, expected numbers") from error


def read_only(values: Array) -> Array:
    """Return a view of an array that functions of users' own cannot write to."""
    view = values.view()
    view.flags.writeable = False
    return view


def all_finite(values: Array) -> bool:
    """Return whether all values are finite, mostly without an array of as many truth values."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def check_squares(found: float | Array) -> None:
    """Raise if sums of squares of y, or roots of these, exceed the range of float64."""
    if not np.isfinite(found).all():
        raise OverflowError("squares of y exceed the range of float64; rescale y")


def check_range(name: str, low: Array, high: Array) -> None:
    """Raise where columns reach too far from zero, or not far enough, from `low` to `high`."""
    extent = high / 2 - low / 2
    far = np.maximum(np.abs(low), np.abs(high)) > LARGEST_SIZE
    if len(wrong := np.flatnonzero(far | ((extent > 0) & (extent < 1 / LARGEST_SIZE)))):
        column = wrong[0]
        raise OverflowError(
            f"{name} reaches from {low[column]:.3g} to {high[column]:.3g} in column {column}, "
            f"expected sizes up to {LARGEST_SIZE:g} and ranges of {2 / LARGEST_SIZE:g} or more; "
            f"rescale {name}"
        )


def check_function_values(values: Array, source: str, *, pairs: bool = False) -> None:
    """Raise unless values (n_samples, …) of a user's function are finite; name their rows.

    Values of `pairs` of rows have a row for each of one argument, and a column for each of another.
    """
    if all_finite(values):
        return
    word, wrong = "NaN", np.isnan(values)
    if not wrong.any():
        word, wrong = "infinity", np.isinf(values)
    rows, argument = np.any(wrong, axis=1, keepdims=True), "its argument"
    if pairs:
        whole, others = np.all(wrong, axis=1, keepdims=True), np.all(wrong, axis=0)[:, None]
        rows, argument = (whole if whole.any() else rows), "its first argument"
        if others.any() and not whole.any():
            rows, argument = others, "its second argument"
    raise ValueError(
        f"{source} returned {word} in {rows_named(rows)} of the {len(rows)} of {argument}, "
        "expected finite numbers"
    )


def check_finite(value: Any, name: str) -> None:
    """Raise unless `value` is a finite real number."""
    usable = isinstance(value, Real) and bool(np.isfinite(float(value)))
    _check(value, name, usable, "a finite number")


def check_positive(value: Any, name: str, expected: str = "a finite number > 0") -> None:
    """Raise unless `value` is a finite real number above zero."""
    usable = isinstance(value, Real) and bool(np.isfinite(float(value))) and float(value) > 0
    _check(value, name, usable, expected)


def check_not_negative(value: Any, name: str) -> None:
    """Raise unless `value` is a finite real number of zero or more."""
    usable = isinstance(value, Real) and bool(np.isfinite(float(value))) and float(value) >= 0
    _check(value, name, usable, "a finite number >= 0")


def check_count(value: Any, name: str, most: float = np.inf) -> None:
    """Raise unless `value` is a whole number from 1 to `most`."""
    usable = isinstance(value, Integral) and 1 <= int(value) <= most
    _check(value, name, usable, "an int >= 1" + (f" and <= {most}" if most < np.inf else ""))


def check_coverage(value: Any, name: str = "coverage") -> None:
    """Raise unless `value` is a probability strictly between zero and one."""
    usable = isinstance(value, Real) and 0 < float(value) < 1
    _check(value, name, usable, "a probability > 0 and < 1")


def _check(value: Any, name: str, usable: bool, expected: str) -> None:
    if isinstance(value, bool) or not usable:
        kind = ValueError if isinstance(value, Real) else TypeError
        raise kind(f"{name}={value!r}, expected {expected}")


def check_weights(sample_weight: ArrayLike | None, n_samples: int) -> Array | None:
    """Return weights as an array, one positive at least, or None where every row counts once."""
    weights = None if sample_weight is None else weights_of(in_memory(sample_weight), n_samples)
    if weights is None:
        return None
    check_any_weight(weights.sum())
    return None if (weights == 1).all() else weights


def weights_of(sample_weight: ArrayLike, n_samples: int) -> Array:
    """Return the weights of some rows as an array, with each of them checked."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight)
    refuse_no_numbers("sample_weight", sample_weight)
    with named_errors("sample_weight"):
        weights: Array = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
        )
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected {(n_samples,)}")
    if (weights < 0).any():
        raise ValueError(f"sample_weight has a minimum of {weights.min():g}, expected none below 0")
    positive = weights[weights > 0]
    if weights.max() > LARGEST_WEIGHT or positive.min(initial=1.0) < 1 / LARGEST_WEIGHT:
        raise OverflowError(
            f"sample_weight reaches from {positive.min():g} to {weights.max():g}, expected zeros "
            f"and numbers from {1 / LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
        )
    return weights


def check_any_weight(total: float) -> None:
    """Raise unless frequencies of all rows have a positive sum."""
    if not total > 0:
        raise ValueError("sample_weight is zero in every row, expected a positive one")
