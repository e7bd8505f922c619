"""Several bases in one: side by side, or as one function of several kernels for each point."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from relvec._numerics.typing import Array, Index
from relvec.basis.base import Basis, Centers
from relvec.basis.kernels import Kernel


class Composite(Basis):
    """A basis made of others: their scales are its own, in their order.

    Attributes
    ----------
    parts_ : list of Basis
        The fitted parts.
    """

    parts_: list[Basis]

    def _placed(
        self,
        name: str,
        kind: type,
        X: Array,
        centers: Centers,
        weights: Array | None,
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

    @abstractmethod
    def _of(self, parts: list[Basis]) -> Self:
        """Take other fitted parts."""

    def log_scales(self) -> Array:
        """See `Basis.log_scales`."""
        return np.concatenate([part.log_scales() for part in self.parts_])

    def idle_scales(self) -> NDArray[np.bool_]:
        """See `Basis.idle_scales`."""
        return np.concatenate([part.idle_scales() for part in self.parts_])

    def with_log_scales(self, values: Array) -> Self:
        """See `Basis.with_log_scales`."""
        ends = np.cumsum([part.n_scales for part in self.parts_])
        shares = np.split(values, ends[:-1])
        moved = [part.with_log_scales(v) for part, v in zip(self.parts_, shares, strict=True)]
        return copy.copy(self)._of(moved)

    def relevance(self, spread: Array) -> Array | None:
        """See `Basis.relevance`; of the part with the most in each input."""
        found = [part.relevance(spread) for part in self.parts_ if len(part.rows_)]
        known = [part for part in found if part is not None]
        return np.max(known, axis=0) if known else None


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
        """Whether any part is."""
        return any(getattr(basis, "centred", False) for basis in self.bases)

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Fix the functions of every part; see `Basis.place`."""
        return self._of(self._placed("bases", Basis, X, centers, weights))

    def _of(self, parts: list[Basis]) -> Self:
        self.parts_ = parts
        self.rows_ = np.concatenate([part.rows_ for part in parts])
        return self

    def _ends(self) -> Index:
        """Where the functions of each part end."""
        ends: Index = np.cumsum([len(part.rows_) for part in self.parts_])
        return ends

    def evaluate(self, X: Array) -> Array:
        """Values of all parts side by side; see `Basis.evaluate`."""
        return np.hstack([part.evaluate(X) for part in self.parts_])

    def restrict(self, active: Index) -> Self:
        """Keep the functions `active` of each part, in ascending order; see `Basis.restrict`."""
        parts, begin = [], 0
        for part, end in zip(self.parts_, self._ends(), strict=True):
            parts.append(part.restrict(active[(active >= begin) & (active < end)] - begin))
            begin = end
        return copy.copy(self)._of(parts)

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Names of all parts; kernels of one class have their position among the parts before."""
        classes = Counter(type(part) for part in self.parts_ if part.centred)
        return [
            f"{position}:{name}" if classes[type(part)] > 1 else name
            for position, part in enumerate(self.parts_)
            for name in part.names(features)
        ]

    @property
    def vectors(self) -> Array:
        """Points that functions of any part are centred on, shape (n_centred, n_features)."""
        found = [part.vectors for part in self.parts_ if part.vectors.shape[1]]
        return np.vstack(found) if found else np.empty((0, 0))

    def families(self) -> Index:
        """See `Basis.families`: those of one part after those of another."""
        found, begin = [], 0
        for part in self.parts_:
            found.append(part.families() + begin)
            begin = max(begin, int(found[-1].max(initial=-1)) + 1)
        return np.concatenate(found)

    def kernel_parts(self) -> list[tuple[Kernel, Index]]:
        """See `Basis.kernel_parts`: those of all parts."""
        begins = self._ends() - [len(part.rows_) for part in self.parts_]
        return [
            (kernel, begin + functions)
            for part, begin in zip(self.parts_, begins, strict=True)
            for kernel, functions in part.kernel_parts()
        ]

    def linear_map(self) -> Array | None:
        """The parts' maps side by side, if every part is linear."""
        maps = [part.linear_map() for part in self.parts_]
        known = [part for part in maps if part is not None]
        return np.hstack(known) if len(known) == len(maps) else None

    def scale_slope(self, X: Array, D: Array) -> Array:
        """See `Basis.scale_slope`: of each part for its own functions."""
        shares = np.split(D, self._ends()[:-1], axis=1)
        slopes = [part.scale_slope(X, d) for part, d in zip(self.parts_, shares, strict=True)]
        return np.concatenate(slopes)


class CombinedKernel(Composite, Kernel):
    """One function for each point, made of the kernels of several kinds between it and x."""

    parts_: list[Any]
    sign: ClassVar[str]

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = kernels

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Centre every kernel on the same points; see `Basis.place`."""
        super().place(X, centers, weights)
        return self._of(self._placed("kernels", Kernel, X, centers, weights))

    def _of(self, parts: list[Basis]) -> Self:
        self.parts_ = parts
        return self

    def _at(self, centers: Array, rows: Index, places: Index) -> Self:
        moved = super()._at(centers, rows, places)
        return moved._of([part._at(centers, rows, places) for part in self.parts_])

    @property
    def label(self) -> str:
        """The kernels' names with the sign between them."""
        return f"({f' {self.sign} '.join(part.label for part in self.parts_)})"


class Sum(CombinedKernel):
    """Sum of kernels, k(x, z) = Σ_j k_j(x, z); ``a + b`` is ``Sum([a, b])``.

    There is one weight for the sum at each point, where `Concatenate` has one for every term.

    Parameters
    ----------
    kernels : sequence of Kernel
        The terms.

    Attributes
    ----------
    parts_ : list of Kernel
        The fitted terms.

    Examples
    --------
    >>> from relvec.basis import RBF, LinearKernel
    >>> kernel = RBF(gamma=0.5) + LinearKernel()
    >>> kernel.fit([[1.0], [2.0]]).transform([[1.0]]).round(3)
    array([[2.   , 2.607]])
    """

    sign = "+"

    def k(self, X: Array, Z: Array) -> Array:
        """Σ_j k_j(x, z)."""
        first, *others = self.parts_
        K: Array = first.k(X, Z)
        for part in others:
            K += part.k(X, Z)
        return K

    def scale_slope(self, X: Array, D: Array) -> Array:
        """See `Basis.scale_slope`: the sum has the slope of its terms."""
        return np.concatenate([part.scale_slope(X, D) for part in self.parts_])


class Product(CombinedKernel):
    """Product of kernels, k(x, z) = Π_j k_j(x, z); ``a * b`` is ``Product([a, b])``.

    Parameters
    ----------
    kernels : sequence of Kernel
        The factors.

    Attributes
    ----------
    parts_ : list of Kernel
        The fitted factors.

    Examples
    --------
    >>> from relvec.basis import RBF, LinearKernel
    >>> kernel = RBF(gamma=0.5) * LinearKernel()
    >>> kernel.fit([[1.0], [2.0]]).transform([[1.0]]).round(3)
    array([[1.   , 1.213]])
    """

    sign = "*"

    def k(self, X: Array, Z: Array) -> Array:
        """Π_j k_j(x, z)."""
        first, *others = self.parts_
        K: Array = first.k(X, Z)
        for part in others:
            K *= part.k(X, Z)
        return K

    def scale_slope(self, X: Array, D: Array) -> Array:
        """See `Basis.scale_slope`: each factor's slope is multiplied by the other factors."""
        values, slopes = [part.evaluate(X) for part in self.parts_], []
        for position, part in enumerate(self.parts_):
            others = D.copy()
            for other in values[:position] + values[position + 1 :]:
                others *= other
            slopes.append(part.scale_slope(X, others))
        return np.concatenate(slopes)
