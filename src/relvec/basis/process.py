"""A Gaussian process as a group of functions that share a precision."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from relvec._numerics.checks import check_count
from relvec._numerics.linalg import LOST, inverse_root_of_covariance
from relvec._numerics.objects import numbered
from relvec._numerics.typing import Array, Index
from relvec.basis.base import Basis, Centers
from relvec.basis.curves import holds_numbers, numbers
from relvec.basis.kernel import Kernel, at_itself
from relvec.basis.kernels import RBF
from relvec.basis.products import Products
from relvec.basis.scale import resolve_gamma

#: Centres to begin with where the rows are few, and where they are not too many for all.
FEWEST, MOST = 200, 1000
#: Part of the variance of the noise that the functions may leave unspanned at so few centres.
UNSPANNED = 0.2
#: Share of the variance of the process under which no row needs a centre of its own.
SPANNED = 1e-12


class Process(Basis):
    """A Gaussian process with covariance k/α, as functions whose weights share the precision α.

    With the centres c the functions are k(x, c) k(c, c)^(−1/2). Their covariance is that of the
    process at the centres, and Nyström's approximation of it elsewhere; variance of the process
    that they do not span is added to that of predictions, where it is more than it is on average
    over the training rows, where the noise has it. Centres are chosen among the training rows one
    after the other, each where the variance that the earlier ones leave is largest (a pivoted
    Cholesky factorisation). A kernel that is no covariance has functions k(x, c) as they are, with
    centres spread evenly over the training rows in their lexicographic order.

    Parameters
    ----------
    kernel : Kernel, default=None
        Covariance k. None is a Gaussian with a width for every input, √(n_features / 2) standard
        deviations of it.
    n_centers : int, default=None
        Number of centres at most. None is 200, or 5√n_samples where that is more; where a fit under
        Gaussian noise shows that they leave more than a fifth of its variance unspanned, but less
        than half of the process's, twice as many, and so on to 1000.
    excluded : sequence of int, default=()
        Inputs that the process does not depend on, besides those that hold other than numbers where
        the kernel takes no others.

    Attributes
    ----------
    kernel_ : Kernel
        The fitted kernel, centred on c.
    features_ : ndarray of int, shape (n_inputs,)
        The inputs that the process depends on.
    root_ : ndarray of shape (n_centers, n_directions)
        k(c, c)^(−1/2), or the identity where the kernel is no covariance.
    unspanned_ : float
        Mean over the training rows of the variance that the functions do not span, for α = 1;
        infinite where the kernel is no covariance.
    spans_most_ : bool
        Whether that is less than half of the variance of the process.
    terms_ : ndarray of int, shape (n_functions,)
        The directions that are functions.

    References
    ----------
    Quiñonero-Candela, J. and Rasmussen, C. E. (2005). A unifying view of sparse approximate
    Gaussian process regression. *Journal of Machine Learning Research* 6, 1939-1959.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.basis import RBF, Process
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> Phi = Process(RBF(gamma=2.0)).fit(X).transform(X)
    >>> np.allclose(Phi @ Phi.T, RBF(gamma=2.0).fit(X).transform(X))
    True
    """

    kernel_: Kernel
    features_: Index
    root_: Array
    terms_: Index
    unspanned_: float
    spans_most_: bool

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_centers: int | None = None,
        excluded: Sequence[int] = (),
    ) -> None:
        self.kernel, self.n_centers, self.excluded = kernel, n_centers, excluded

    follows_rows = True

    @property
    def any_rows(self) -> bool:  # type: ignore[override]
        """True unless the kernel takes numbers alone."""
        return self.kernel is None or bool(getattr(self.kernel, "any_rows", False))

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Choose the centres among the rows that count; see `Basis.place`."""
        return self._placed(
            X, weights, self._most(len(X) if weights is None else int((weights > 0).sum()))
        )

    def _placed(self, X: Array, weights: Array | None, most: int) -> Self:
        """Choose so many centres at most."""
        self.features_ = self._inputs(X)
        rows = self._rows(X if weights is None else X[weights > 0])
        counts = None if weights is None else weights[weights > 0]
        different, same = _different(rows)
        share = np.bincount(same, counts)
        most = min(most, len(different))
        kernel = self._kernel(rows, counts).place(rows, Centers.at(different[:1]), counts)
        if kernel.hyper:
            raise ValueError(
                f"kernel={self.kernel!r} has a width that is learnt, expected one that is known"
            )
        spread = np.linspace(0, len(different) - 1, most).round().astype(np.intp)
        if is_covariance(kernel.k(different[spread], different[spread])):
            chosen, left = pivots(kernel, different, most)
            own = kernel.k(different[chosen], different[chosen])
            self.root_ = inverse_root_of_covariance(own)
            self.unspanned_ = float(np.average(left, weights=share))
            whole = np.average(at_itself(kernel.k, different), weights=share)
            self.spans_most_ = bool(self.unspanned_ < 0.5 * whole)
        else:
            chosen, self.root_ = spread, np.eye(most)
            self.unspanned_, self.spans_most_ = np.inf, False
        places = np.arange(len(chosen))
        self.kernel_ = kernel._at(different[chosen], np.full(len(chosen), -1), places)
        return self._of(np.arange(self.root_.shape[1]))

    def _most(self, n_rows: int) -> int:
        """Number of centres at most."""
        if self.n_centers is None:
            return max(FEWEST, int(np.sqrt(n_rows) * FEWEST / 40))
        check_count(self.n_centers, "n_centers")
        return self.n_centers

    def _kernel(self, X: Array, weights: Array | None) -> Kernel:
        """Return the kernel, not placed yet."""
        if self.kernel is not None:
            if not isinstance(self.kernel, Kernel):
                raise TypeError(f"kernel={self.kernel!r}, expected None or a Kernel")
            kernel: Kernel = clone(self.kernel)
            return kernel
        gamma = resolve_gamma("ard", X, weights)
        return RBF(gamma if np.any(gamma) else 1.0)

    def _inputs(self, X: NDArray[Any]) -> Index:
        """Inputs that the process depends on, shape (n_inputs,)."""
        takes_any = getattr(self.kernel, "any_rows", False)
        return np.array(
            [
                j
                for j in range(X.shape[1])
                if j not in self.excluded and (takes_any or holds_numbers(X, j))
            ],
            dtype=np.intp,
        )

    def _rows(self, X: NDArray[Any]) -> NDArray[Any]:
        """Columns of the rows X (n_samples, n_features) that the kernel takes."""
        if X.dtype == object and not getattr(self.kernel, "any_rows", False):
            columns = [numbers(X, j) for j in self.features_]
            return np.column_stack([np.empty((len(X), 0)), *columns])
        return X[:, self.features_]

    def _of(self, terms: Index) -> Self:
        self.terms_, self.rows_ = terms, np.full(len(terms), -1)
        return self

    def evaluate(self, X: Array) -> Array:
        """k(x, c) k(c, c)^(−1/2); see `Basis.evaluate`."""
        return self.kernel_.evaluate(self._rows(X)) @ self.root_[:, self.terms_]

    def derivatives(self, X: Array) -> Iterator[Array]:
        """Yield derivatives of the kernel times k(c, c)^(−1/2); see `Basis.derivatives`."""
        own, root = self.kernel_.derivatives(self._rows(X)), self.root_[:, self.terms_]
        used = set(self.features_.tolist())
        for d in range(X.shape[1]):
            yield next(own) @ root if d in used else np.zeros((len(X), len(self.terms_)))

    def products(self) -> list[Products]:
        """Return products of the kernel at the centres, mixed; see `Basis.products`."""
        root = self.root_[:, self.terms_]
        return [
            Products(self.features_[part.features], partial(self._values, part), part.mix @ root)
            for part in self.kernel_.products()
        ]

    def _values(self, part: Products, X: Array) -> Array:
        """Factors of the kernel at rows of all inputs."""
        return part.values(self._rows(X))

    def restrict(self, active: Index) -> Self:
        """Keep some of the directions; see `Basis.restrict`."""
        return copy.copy(self)._of(self.terms_[active])

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Return "process" with the number of each direction."""
        return [f"process[{number}]" for number in self.terms_]

    def terms(self, features: Sequence[str] | None = None) -> list[str]:
        """Return "process" for all; see `Basis.terms`."""
        return ["process"] * len(self.terms_)

    @property
    def groups(self) -> Index:
        return np.zeros(len(self.terms_), dtype=np.intp)

    @property
    def coarse(self) -> bool:
        """True where the number of centres is not given and more may help; see `Basis.coarse`.

        Where these do not span half of the variance, rows are far apart for the kernel, and more
        centres span no more than the rows that they are.
        """
        few = self.n_centers is None and len(self.root_) < MOST
        return few and self.spans_most_ and self.unspanned_ > 0

    def refined(self, X: Array, weights: Array | None, noise: Array) -> Self:
        """Place twice as many centres if these leave too much; see `Basis.refined`."""
        if not self.coarse or self.unspanned_ <= UNSPANNED * noise.min():
            return self
        return copy.copy(self)._placed(X, weights, min(2 * len(self.root_), MOST))

    def unspanned(self, X: Array) -> dict[int, Array]:
        """Variance above the mean of the training rows, see above; see `Basis.unspanned`."""
        if not len(self.terms_) or np.isinf(self.unspanned_):
            return {}
        left = at_itself(self.kernel_.k, self._rows(X)) - (self.evaluate(X) ** 2).sum(axis=1)
        return {0: np.maximum(left - self.unspanned_, 0.0)}


def _different(rows: NDArray[Any]) -> tuple[NDArray[Any], Index]:
    """Different rows, and which of them each row (n_samples, n_features) is.

    In lexicographic order, but for rows of objects, which may have none.
    """
    if rows.dtype == object:
        same = numbered(rows)
        return rows[np.unique(same, return_index=True)[1]], same
    different, inverse = np.unique(rows, axis=0, return_inverse=True)
    return different, inverse.ravel()


def is_covariance(K: Array) -> bool:
    """Return whether a square matrix of kernel values is symmetric and positive semidefinite."""
    size = np.abs(K).max()
    if np.abs(K - K.T).max() > LOST * size:
        return False
    values = np.linalg.eigvalsh(K)
    return bool(values[0] >= -LOST * values[-1])


def pivots(kernel: Kernel, X: Array, most: int) -> tuple[Index, Array]:
    """Rows of X chosen by a pivoted Cholesky factorisation, and the variance that they leave.

    Shapes (n_centers,) and (n_samples,).
    """
    left = at_itself(kernel.k, X)
    least, size = SPANNED * float(left.max()), min(most, len(X))
    factor, chosen = np.empty((size, len(X))), list[int]()
    for row in range(size):
        pivot = int(left.argmax())
        if left[pivot] <= least:
            break
        column = kernel.k(X[[pivot]], X)[0] - factor[:row, pivot] @ factor[:row]
        factor[row] = column / np.sqrt(left[pivot])
        left = np.maximum(left - factor[row] ** 2, 0.0)
        chosen.append(pivot)
    return np.array(chosen, dtype=np.intp), left
