"""Bases that are made of others."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from relvec._numerics.typing import Array, Index
from relvec.basis.base import Basis, Centers, KernelFunction
from relvec.basis.products import Products


class Composite(Basis):
    """A basis made of others. What they have to learn is its own: ``0:gamma`` of the first, ….

    Attributes
    ----------
    parts_ : list of Basis
        The fitted parts.
    """

    parts_: list[Basis]

    def _placed(
        self, name: str, kind: type, X: Array, centers: Centers, weights: Array | None
    ) -> list[Basis]:
        """Fix copies of the parts that the parameter `name` holds, all of one kind."""
        parts = getattr(self, name)
        if not len(parts):
            raise ValueError(f"{name} is empty, expected one {kind.__name__} or more")
        for position, part in enumerate(parts):
            if not isinstance(part, kind):
                raise TypeError(
                    f"{name}[{position}] is {part!r}, expected a relvec.basis object derived from "
                    f"{kind.__name__}"
                )
        return [clone(part).place(X, centers, weights) for part in parts]

    @property
    def hyper(self) -> dict[str, float | Array]:
        return _by_position(part.hyper for part in self.parts_)

    def with_hyper(self, values: Mapping[str, float | Array]) -> Self:
        moved = copy.copy(self)
        own: list[dict[str, float | Array]] = [{} for _ in self.parts_]
        for key, value in values.items():
            position, _, name = key.partition(":")
            own[int(position)][name] = value
        moved.parts_ = [part.with_hyper(its) for part, its in zip(self.parts_, own, strict=True)]
        return moved

    def hyper_gradient(self, X: Array, D: Array) -> dict[str, float | Array]:
        shares = zip(self.parts_, self._part_gradients(X, D), strict=True)
        return _by_position(part.hyper_gradient(X, share) for part, share in shares)

    @abstractmethod
    def _part_gradients(self, X: Array, D: Array) -> list[Array]:
        """∂L/∂φ of the functions of each part, given that of all, of shapes (n_samples, n_part)."""

    def relevance(self, deviations: Array) -> Array | None:
        """Relevance in the part where it is greatest, for each input; see `Basis.relevance`."""
        found = [part.relevance(deviations) for part in self.parts_ if len(part.rows_)]
        known = [relevance for relevance in found if relevance is not None]
        return np.max(known, axis=0) if known else None


def _by_position(found: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Join what the parts have by name, with their positions before the names."""
    return {f"{j}:{name}": value for j, each in enumerate(found) for name, value in each.items()}


class Concatenate(Composite):
    """The functions of several bases side by side.

    Parameters
    ----------
    bases : sequence of Basis
        The parts, in the order of their functions.

    Attributes
    ----------
    parts_ : list of Basis
        The fitted parts.

    Examples
    --------
    >>> from relvec.basis import RBF, Bias, Concatenate
    >>> Concatenate([Bias(), RBF(gamma=0.5)]).fit([[0.0], [1.0]]).transform([[0.0]]).round(3)
    array([[1.   , 1.   , 0.607]])
    """

    def __init__(self, bases: Sequence[Basis]) -> None:
        self.bases = bases

    @property
    def centred(self) -> bool:  # type: ignore[override]
        """True if any part is."""
        return any(getattr(basis, "centred", False) for basis in self.bases)

    @property
    def any_rows(self) -> bool:  # type: ignore[override]
        """True if every part takes any."""
        return all(getattr(basis, "any_rows", False) for basis in self.bases)

    @property
    def follows_rows(self) -> bool:  # type: ignore[override]
        """True if any part does."""
        return any(getattr(basis, "follows_rows", False) for basis in self.bases)

    @property
    def centers_(self) -> Array:  # type: ignore[override]
        """Points that functions of any part are centred on, shape (n_centred, n_features)."""
        found = [part.centers_ for part in self.parts_ if part.centers_.shape[1]]
        return np.vstack(found) if found else np.empty((0, 0))

    @classmethod
    def of(cls, parts: list[Basis]) -> Self:
        """Put bases that are placed side by side, as they are."""
        return cls(parts)._of(parts)

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        return self._of(self._placed("bases", Basis, X, centers, weights))

    def _of(self, parts: list[Basis]) -> Self:
        """Take other fitted parts."""
        self.parts_ = parts
        rows = [part.rows_ for part in parts]
        self.rows_ = np.concatenate([np.empty(0, dtype=np.intp), *rows])
        return self

    def _begins(self) -> list[int]:
        """Position of the first function of each part, and the number of all."""
        return list(accumulate((len(part.rows_) for part in self.parts_), initial=0))

    def evaluate(self, X: Array) -> Array:
        return np.hstack([np.empty((len(X), 0)), *(part.evaluate(X) for part in self.parts_)])

    def derivatives(self, X: Array) -> Iterator[Array]:
        none = np.empty((X.shape[1], len(X), 0))
        parts = [part.derivatives(X) if len(part.rows_) else none for part in self.parts_]
        for each in zip(none, *parts, strict=True):
            yield np.hstack(each)

    def products(self) -> list[Products]:
        size = len(self.rows_)
        return [
            each.among(np.arange(begin, begin + len(part.rows_)), size)
            for part, begin in zip(self.parts_, self._begins(), strict=False)
            if len(part.rows_)
            for each in part.products()
        ]

    def restrict(self, active: Index) -> Self:
        own, none = self._divided(active), np.empty(0, dtype=np.intp)
        parts = [part.restrict(own.get(number, none)) for number, part in enumerate(self.parts_)]
        return copy.copy(self)._of(parts)

    def _divided(self, active: Index) -> dict[int, Index]:
        """Some functions, by the number of the part that they are of, as positions in that part."""
        begins = np.array(self._begins())
        part = np.searchsorted(begins[1:], active, side="right")
        order = np.argsort(part, kind="stable")
        numbers, first = np.unique(part[order], return_index=True)
        own = np.split((active - begins[part])[order], first[1:])
        return dict(zip(numbers.tolist(), own, strict=False))

    def distinct(self, constant: NDArray[np.bool_]) -> Index:
        parts = zip(self.parts_, self._begins(), strict=False)
        found = [begin + part.distinct(constant) for part, begin in parts]
        return np.concatenate([np.empty(0, dtype=np.intp), *found])

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Names of all parts; kernels of one class have their position among the parts before."""
        return self._by_part([part.names(features) for part in self.parts_])

    def terms(self, features: Sequence[str] | None = None) -> list[str]:
        return self._by_part([part.terms(features) for part in self.parts_])

    def _by_part(self, names: list[list[str]]) -> list[str]:
        """Names of the functions of all parts, those of like kernels with their positions."""
        classes = Counter(_class_of(part) for part in self.parts_ if part.centred)
        return [
            f"{position}:{name}" if classes[_class_of(part)] > 1 else name
            for position, (part, own) in enumerate(zip(self.parts_, names, strict=True))
            for name in own
        ]

    @property
    def groups(self) -> Index:
        found, begin = [], 0
        for part in self.parts_:
            found.append(part.groups + begin)
            begin = max(begin, int(found[-1].max(initial=-1)) + 1)
        return np.concatenate([np.empty(0, dtype=np.intp), *found])

    @property
    def optional(self) -> NDArray[np.bool_]:
        found = [part.optional for part in self.parts_]
        return np.concatenate([np.empty(0, dtype=np.bool_), *found])

    def unspanned(self, X: Array) -> dict[int, Array]:
        parts = zip(self.parts_, self._begins(), strict=False)
        return {
            begin + position: variance
            for part, begin in parts
            for position, variance in part.unspanned(X).items()
        }

    @property
    def coarse(self) -> bool:
        return any(part.coarse for part in self.parts_)

    def refined(self, X: Array, weights: Array | None, noise: Array) -> Basis:
        own = np.split(noise, self._begins()[1:-1])
        return self._changed(lambda part, its: part.refined(X, weights, its), own)

    @property
    def to_screen(self) -> bool:
        return any(part.to_screen for part in self.parts_)

    def screened(self, X: Array, weights: Array | None, gain: Array) -> Basis:
        own = np.split(gain, self._begins()[1:-1])
        return self._changed(lambda part, its: part.screened(X, weights, its), own)

    def _changed(self, change: Callable[[Basis, Array], Basis], own: list[Array]) -> Basis:
        """Take what a change makes of each part and its `own` values, unless all stay the same."""
        parts = list(map(change, self.parts_, own))
        same = all(part is old for part, old in zip(parts, self.parts_, strict=True))
        return self if same else copy.copy(self)._of(parts)

    @property
    def nothing(self) -> float | Array:
        sizes = [np.broadcast_to(part.nothing, len(part.rows_)) for part in self.parts_]
        return np.concatenate([np.empty(0), *sizes])

    def kernel_parts(self) -> list[tuple[KernelFunction, Index]]:
        return [
            (k, begin + functions)
            for part, begin in zip(self.parts_, self._begins(), strict=False)
            for k, functions in part.kernel_parts()
        ]

    def linear_map(self) -> Array | None:
        """Maps of the parts side by side, if there are parts and every one is linear."""
        maps = [part.linear_map() for part in self.parts_]
        known = [part for part in maps if part is not None]
        return np.hstack(known) if known and len(known) == len(maps) else None

    def _part_gradients(self, X: Array, D: Array) -> list[Array]:
        return np.split(D, self._begins()[1:-1], axis=1)


class Group(Concatenate):
    """The functions of a basis with one precision for all: they are in the model together or out.

    Parameters
    ----------
    basis : Basis
        The functions.

    Attributes
    ----------
    parts_ : list of Basis
        The fitted basis alone.

    Examples
    --------
    >>> from relvec.basis import RBF, Columns, Concatenate, Group
    >>> Concatenate([Group(RBF(0.5)), Columns()]).fit([[0.0], [1.0]]).groups
    array([0, 0, 1])
    """

    def __init__(self, basis: Basis) -> None:
        self.basis = basis

    @property
    def bases(self) -> Sequence[Basis]:  # type: ignore[override]
        """The basis alone."""
        return [self.basis]

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Fix the functions; see `Basis.place`."""
        if not isinstance(self.basis, Basis):
            raise TypeError(f"basis is {self.basis!r}, expected a relvec.basis object")
        return super().place(X, centers, weights)

    @property
    def groups(self) -> Index:
        return np.zeros(len(self.rows_), dtype=np.intp)

    @property
    def optional(self) -> NDArray[np.bool_]:
        """All functions if all of the basis are; see `Basis.optional`."""
        return np.full(len(self.rows_), super().optional.all())

    def terms(self, features: Sequence[str] | None = None) -> list[str]:
        """Name the class of the basis for all; see `Basis.terms`."""
        return [type(self.basis).__name__] * len(self.rows_)


def _class_of(part: Basis) -> type[Basis]:
    """Return the class of a basis by which functions are named; a group names those in it."""
    return _class_of(part.parts_[0]) if isinstance(part, Group) else type(part)
