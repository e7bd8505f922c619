"""Functions centred on points, φ_m(x) = k(x, z_m) with z_m the centres; sums and products of k."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product as combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import gen_batches

from relvec._numerics.floats import EPSILON
from relvec._numerics.typing import Array, Index
from relvec.basis.base import Basis, Centers, KernelFunction
from relvec.basis.combine import Composite
from relvec.basis.products import Products, multiplied
from relvec.basis.scale import LEARNT, resolve_gamma

#: Rows whose kernel with themselves is taken from one block of kernel values.
BLOCK = 16


def at_itself(k: KernelFunction, X: Array) -> Array:
    """k(x, x) of every row, shape (n_samples,)."""
    return np.concatenate([k(X[rows], X[rows]).diagonal() for rows in gen_batches(len(X), BLOCK)])


class Kernel(Basis):
    """Functions φ_m(x) = k(x, z_m). Mercer's condition is not needed.

    Attributes
    ----------
    centers_ : ndarray of shape (n_functions, n_features)
        The points z_m.
    places_ : ndarray of int, shape (n_functions,)
        Number of each in its name: the training row, or the position among points of one's own.
    peak : float
        k(z, z) of a kernel that falls off from there to zero; 0 of others.
    """

    centred = True
    peak: float = 0.0
    centers_: Array
    places_: Index

    @abstractmethod
    def k(self, X: Array, Z: Array) -> Array:
        """Kernel between the rows of X and of Z, a new array of shape (n, m)."""

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Centre one function on each of `centers`; see `Basis.place`."""
        rows = centers.rows
        return self._at(centers.points, rows, np.where(rows >= 0, rows, np.arange(len(rows))))

    def _at(self, centers: Array, rows: Index, places: Index) -> Self:
        """Take other centres."""
        self.centers_, self.rows_, self.places_ = centers, rows, places
        return self

    def evaluate(self, X: Array) -> Array:
        """Kernel between the rows of X and every centre; see `Basis.evaluate`."""
        return self.k(X, self.centers_) if len(self.centers_) else np.empty((len(X), 0))

    def derivatives(self, X: Array) -> Iterator[Array]:
        """Slopes of the kernel in x at every centre; see `Basis.derivatives`."""
        if not len(self.centers_):
            return iter(np.empty((X.shape[1], len(X), 0)))
        return self.slopes(X, self.centers_)

    def products(self) -> list[Products]:
        """Products of the factors of the inputs; see `Basis.products`."""
        every = np.arange(self.centers_.shape[1])
        return [Products(every, self._stacked_factors, np.eye(len(self.centers_)))]

    def factors(self, X: Array, Z: Array) -> Iterator[Array]:
        """Yield factors of k(x, z), of shape (n, m), for one input after the other."""
        raise self._no_products()

    def _stacked_factors(self, X: Array) -> Array:
        """Factors at the centres, shape (n_samples, n_features, n_functions)."""
        return np.stack(list(self.factors(X, self.centers_)), axis=1)

    def slopes(self, X: Array, Z: Array) -> Iterator[Array]:
        """Yield ∂k(x_n, z_m)/∂x_d, of shape (n, m), for one input d after the other."""
        del Z
        return super().derivatives(X)

    @property
    def nothing(self) -> float | Array:
        """Size that is lost beside the peak, where no row is the centre; see `Basis.nothing`."""
        own = self.rows_ < 0
        return np.where(own, EPSILON / 2 * self.peak, 0.0) if self.peak and own.any() else 0.0

    def restrict(self, active: Index) -> Self:
        """Keep the centres `active`; see `Basis.restrict`."""
        kept = self.centers_[active], self.rows_[active], self.places_[active]
        return copy.copy(self)._at(*kept)

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Name of the kernel, with the number of each function."""
        return [f"{self.label}[{place}]" for place in self.places_]

    @property
    def label(self) -> str:
        """Name of the kernel."""
        return type(self).__name__.lower()

    def kernel_parts(self) -> list[tuple[KernelFunction, Index]]:
        """The kernel itself, of all functions; see `Basis.kernel_parts`."""
        return [(self.k, np.arange(len(self.rows_)))]

    def __add__(self, other: Kernel) -> Kernel:
        """Sum of two kernels; see `relvec.basis.Sum`."""
        return Sum.of(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel) -> Kernel:
        """Product of two kernels; see `relvec.basis.Product`."""
        return Product.of(self, other) if isinstance(other, Kernel) else NotImplemented


class ScaledKernel(Kernel):
    """A kernel with an input scale γ.

    Parameters
    ----------
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        The scale; see `relvec.basis.scale.resolve_gamma`.

    Attributes
    ----------
    gamma_ : float or ndarray of shape (n_features,)
        γ as a number; one per feature where it was given so or learnt so.
    power : int
        γ has the unit of X to minus this power.
    """

    gamma_: float | Array
    power: ClassVar[int] = 2

    def __init__(self, gamma: str | ArrayLike = "scale") -> None:
        self.gamma = gamma

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Resolve γ and centre the functions; see `Basis.place`."""
        self.gamma_ = resolve_gamma(self.gamma, X, weights, self.power)
        return super().place(X, centers, weights)

    def _apart(self, X: Array, Z: Array) -> Iterator[tuple[float, Array]]:
        """Yield γ_d and x_d − z_d, of shape (n, m), for one input d after the other."""
        for gamma, x, z in zip(np.broadcast_to(self.gamma_, X.shape[1]), X.T, Z.T, strict=True):
            yield float(gamma), x[:, None] - z

    @abstractmethod
    def gamma_slope(self, X: Array, Z: Array, D: Array) -> Array:
        """Σ_nm D_nm ∂k(x_n, z_m)/∂log γ_d for every feature d, shape (n_features,)."""

    @property
    def hyper(self) -> dict[str, float | Array]:
        """γ, where it is learnt; see `Basis.hyper`."""
        return {"gamma": self.gamma_} if self._learns_gamma else {}

    @property
    def _learns_gamma(self) -> bool:
        return isinstance(self.gamma, str) and self.gamma in LEARNT

    def hyper_gradient(self, X: Array, D: Array) -> dict[str, float | Array]:
        """Gradient in log γ, which is summed over features that share it; see `Basis`."""
        if not self._learns_gamma:
            return {}
        slopes = self.gamma_slope(X, self.centers_, D) if D.size else np.zeros(X.shape[1])
        return {"gamma": slopes if np.ndim(self.gamma_) else slopes.sum()}

    def relevance(self, deviations: Array) -> Array | None:
        """γ^(1/power) times each of `deviations`, zero without functions; see `Basis.relevance`."""
        relevance: Array = np.asarray(self.gamma_) ** (1 / self.power) * deviations
        return relevance * (len(self.rows_) > 0)


class CombinedKernel(Composite, Kernel):
    """One function for each point, k_1 ∘ k_2 ∘ … with an operation ∘ of NumPy."""

    parts_: list[Any]
    sign: ClassVar[str]
    _operation: ClassVar[np.ufunc]

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = kernels

    @classmethod
    def of(cls, *kernels: Kernel) -> Self:
        """Combine kernels; those that are such a combination themselves are taken apart.

        A loop may add any number of kernels to each other, and Python nests objects so deep only.
        """
        flat = [kernel.kernels if type(kernel) is cls else [kernel] for kernel in kernels]
        return cls([part for parts in flat for part in parts])

    @property
    def any_rows(self) -> bool:  # type: ignore[override]
        """True if every kernel takes any."""
        return all(getattr(kernel, "any_rows", False) for kernel in self.kernels)

    @property
    def peak(self) -> float:  # type: ignore[override]
        """Peak of the kernels together, if all of them fall off."""
        peaks = [part.peak for part in self.parts_]
        return float(self._operation.reduce(peaks)) if all(peaks) else 0.0

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Centre every kernel on the same points; see `Basis.place`."""
        self.parts_ = self._placed("kernels", Kernel, X, centers, weights)
        return super().place(X, centers, weights)

    def _at(self, centers: Array, rows: Index, places: Index) -> Self:
        self.parts_ = [copy.copy(part)._at(centers, rows, places) for part in self.parts_]
        return super()._at(centers, rows, places)

    def k(self, X: Array, Z: Array) -> Array:
        """k_1(x, z) ∘ k_2(x, z) ∘ …."""
        first, *others = self.parts_
        K: Array = first.k(X, Z)
        for part in others:
            self._operation(K, part.k(X, Z), out=K)
        return K

    @property
    def label(self) -> str:
        """Names of the kernels with the sign between them."""
        return f"({f' {self.sign} '.join(part.label for part in self.parts_)})"


class Sum(CombinedKernel):
    """Sum of kernels, k(x, z) = Σ_j k_j(x, z); ``a + b + c`` is ``Sum([a, b, c])``.

    There is one weight for the sum at each point, where `Concatenate` has one for every term.

    Parameters
    ----------
    kernels : sequence of Kernel
        The terms.

    Attributes
    ----------
    parts_ : list of Kernel
        The fitted kernels.

    Examples
    --------
    >>> from relvec.basis import RBF, LinearKernel
    >>> kernel = RBF(gamma=0.5) + LinearKernel()
    >>> kernel.fit([[1.0], [2.0]]).transform([[1.0]]).round(3)
    array([[2.   , 2.607]])
    """

    sign, _operation = "+", np.add

    def derivatives(self, X: Array) -> Iterator[Array]:
        """Sums of those of the kernels; see `Basis.derivatives`."""
        for slopes in zip(*(part.derivatives(X) for part in self.parts_), strict=True):
            yield reduce(np.add, slopes)

    def products(self) -> list[Products]:
        """Parts of all kernels; see `Basis.products`."""
        return [each for part in self.parts_ for each in part.products()]

    def _part_gradients(self, X: Array, D: Array) -> list[Array]:
        return [D] * len(self.parts_)


class Product(CombinedKernel):
    """Product of kernels, k(x, z) = Π_j k_j(x, z); ``a * b * c`` is ``Product([a, b, c])``.

    Parameters
    ----------
    kernels : sequence of Kernel
        The factors.

    Attributes
    ----------
    parts_ : list of Kernel
        The fitted kernels.

    Examples
    --------
    >>> from relvec.basis import RBF, LinearKernel
    >>> kernel = RBF(gamma=0.5) * LinearKernel()
    >>> kernel.fit([[1.0], [2.0]]).transform([[1.0]]).round(3)
    array([[1.   , 1.213]])
    """

    sign, _operation = "*", np.multiply

    def derivatives(self, X: Array) -> Iterator[Array]:
        """Yield derivatives of each kernel times the others; see `Basis.derivatives`."""
        others = self._part_gradients(X, np.ones((len(X), len(self.rows_))))
        for slopes in zip(*(part.derivatives(X) for part in self.parts_), strict=True):
            yield reduce(np.add, map(np.multiply, slopes, others))

    def products(self) -> list[Products]:
        """Products of a part of each kernel, of all combinations; see `Basis.products`."""
        return list(map(multiplied, combinations(*(part.products() for part in self.parts_))))

    def _part_gradients(self, X: Array, D: Array) -> list[Array]:
        values = [part.evaluate(X) for part in self.parts_]
        others = [values[:j] + values[j + 1 :] for j in range(len(values))]
        return [reduce(np.multiply, factors, D) for factors in others]
