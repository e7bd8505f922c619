"""The one fit pipeline: validate, basis, design, solver, store, warn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, check_random_state, check_scalar, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec.basis import KERNELS, Basis, CallableKernel, Centers, Precomputed
from relvec.checks import check_count, check_positive
from relvec.design import DenseDesign
from relvec.exceptions import CentersWarning
from relvec.likelihoods import Gaussian
from relvec.linalg import single_threaded
from relvec.posterior import Posterior
from relvec.solvers import SOLVERS, Pass, Solution

Array = NDArray[np.float64]
Index = NDArray[np.intp]
CentersLike = int | ArrayLike | None

#: Entries of the design matrix up to which every row carries a candidate function (800 MB).
MAX_ENTRIES = 100_000_000
#: Numbers held at a time while predicting.
BATCH_ENTRIES = 4_000_000


class RelevanceMachine(BaseEstimator):  # type: ignore[misc]
    """What regression and classification share; parameters and attributes are documented there."""

    kernel: str | Callable[[Array, Array], ArrayLike] | Basis
    gamma: str | float | ArrayLike
    degree: int
    coef0: float
    fit_intercept: bool
    centers: CentersLike
    solver: str
    n_starts: int
    tol: float
    max_iter: int
    random_state: int | np.random.RandomState | None
    verbose: int

    n_features_in_: int
    basis_: Basis
    posterior_: Posterior
    likelihood_: Gaussian
    relevance_: Index
    relevance_rows_: Index
    relevance_vectors_: Array
    dual_coef_: Array
    intercept_: float
    weight_precision_: Array
    well_determined_: Array
    log_evidence_: float
    history_: list[Pass]
    n_iter_: int
    status_: str
    gamma_: float | Array

    def _fit(
        self, X: Array, y: Array, likelihood: Gaussian, sample_weight: ArrayLike | None
    ) -> None:
        """Fit validated data: choose and place the candidates, solve, store, warn."""
        solver = self._solver()
        weights = _check_weights(sample_weight, len(y))
        present = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
        self._check_enough(present, weights)
        basis = self._basis(X)
        distinct = present if isinstance(basis, Precomputed) else _distinct(X, present)
        centers = _choose_centers(
            self.centers, distinct, X, self.random_state, capped=basis.centred
        )
        basis = basis.place(X, centers, weights)
        if weights is not None:
            X, y, weights = X[present], y[present], weights[present]
        with single_threaded():
            # What leaves the range of float64 is refused by the design, by name.
            with np.errstate(over="ignore", invalid="ignore"):
                Phi = basis.evaluate(X)
            design = DenseDesign(Phi, y, center=bool(self.fit_intercept), weights=weights)
            solution = solver.solve(design, likelihood)
        self._store(basis.restrict(solution.active), solution)
        for note in solution.notes:
            warnings.warn(note, stacklevel=3)

    def _solver(self) -> Any:
        """Check the solver's parameters and build it."""
        check_scalar(self.fit_intercept, "fit_intercept", (bool, np.bool_))
        if self.solver not in SOLVERS:
            raise ValueError(
                f"solver={self.solver!r} is not known, expected one of {list(SOLVERS)}"
            )
        check_positive(self.tol, "tol")
        check_count(self.max_iter, "max_iter")
        check_count(self.n_starts, "n_starts")
        return SOLVERS[self.solver](
            tol=self.tol, max_iter=self.max_iter, n_starts=self.n_starts, verbose=int(self.verbose)
        )

    def _basis(self, X: Array) -> Basis:
        """Build the unfitted basis that ``kernel`` describes."""
        basis: Basis
        if isinstance(self.kernel, Basis):
            basis = clone(self.kernel)
        elif callable(self.kernel):
            basis = CallableKernel(self.kernel)
        elif isinstance(self.kernel, str) and self.kernel in KERNELS:
            basis = KERNELS[self.kernel]()
            shared = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
            basis.set_params(**{name: shared[name] for name in basis.get_params()})
        else:
            raise ValueError(
                f"kernel={self.kernel!r} is not known, expected one of {list(KERNELS)}, a function "
                "k(X, Z) or a relvec.basis object"
            )
        if isinstance(basis, Precomputed) and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"X has shape {X.shape}, expected a square matrix with kernel='precomputed': "
                "one row and one column a training row"
            )
        basis.n_features_in_ = X.shape[1]
        if hasattr(self, "feature_names_in_"):
            basis.feature_names_in_ = self.feature_names_in_
        return basis

    def _check_enough(self, rows: Index, weights: Array | None) -> None:
        total = float(len(rows) if weights is None else weights.sum())
        needed = 1 if self.fit_intercept else 0
        if total <= needed:
            raise ValueError(
                f"n_samples = {len(rows)} with a total weight of {total:g}, expected more than "
                f"{needed} with fit_intercept={self.fit_intercept}"
            )

    def _store(self, basis: Basis, solution: Solution) -> None:
        posterior = solution.posterior
        self.basis_, self.posterior_, self.likelihood_ = basis, posterior, solution.likelihood
        self.relevance_ = solution.active
        self.relevance_rows_, self.relevance_vectors_ = basis.rows_, basis.vectors
        self.dual_coef_, self.intercept_ = posterior.mean, posterior.intercept
        self.weight_precision_ = solution.alpha
        self.well_determined_ = solution.well_determined
        self.log_evidence_ = solution.log_evidence
        self.history_, self.n_iter_ = solution.history, solution.n_iter
        self.status_ = solution.status
        if hasattr(basis, "gamma_"):
            self.gamma_ = basis.gamma_

    def _latent(self, X: ArrayLike, *, variance: bool) -> tuple[Array, Array | None]:
        """Mean, and variance if wanted, of the function at each row, a block of rows at a time."""
        X = self._queries(X)
        mean, spread = np.empty(len(X)), np.empty(len(X)) if variance else None
        size = max(1, BATCH_ENTRIES // max(1, len(self.dual_coef_)))
        for batch in gen_batches(len(X), size):
            Phi = self.basis_.evaluate(X[batch])
            mean[batch] = self.posterior_.latent_mean(Phi)
            if spread is not None:
                spread[batch] = self.posterior_.latent_variance(Phi)
        return mean, spread

    def _evaluate(self, X: ArrayLike) -> Array:
        """Kept functions at query rows, shape (n_samples, n_active)."""
        return self.basis_.evaluate(self._queries(X))

    def _queries(self, X: ArrayLike) -> Array:
        """Validate query rows against the fitted ones."""
        check_is_fitted(self)
        queries: Array = validate_data(self, X, dtype=np.float64, reset=False)
        return queries

    @property
    def coef_(self) -> Array:
        """Weights of the inputs (n_features,), where every basis function is linear in them."""
        check_is_fitted(self)
        linear_map = self.basis_.linear_map()
        if linear_map is None:
            raise AttributeError("coef_ is only available with functions that are linear in X")
        return linear_map @ self.dual_coef_

    @property
    def weight_covariance_(self) -> Array:
        """Posterior covariance Σ of the weights (eq. 12), shape (n_active, n_active)."""
        check_is_fitted(self)
        return self.posterior_.covariance

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(
            self.kernel, Precomputed
        )
        return tags


def _check_weights(sample_weight: ArrayLike | None, n_samples: int) -> Array | None:
    """Return weights as an array, or None where every row counts once."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight)
    weights: Array = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected {(n_samples,)}")
    if (weights < 0).any():
        raise ValueError(f"sample_weight has a minimum of {weights.min():g}, expected none below 0")
    if not weights.any():
        raise ValueError("sample_weight is zero in every row, expected a positive one")
    return None if (weights == 1).all() else weights


def _distinct(X: Array, rows: Index) -> Index:
    """Rows without repetitions, in an order that depends on their values alone.

    Repeated rows would carry the same function again, and make the search depend on the copies.
    """
    values = np.ascontiguousarray(X[rows] + 0.0)  # one zero only
    as_bytes = values.view(np.dtype((np.void, values.strides[0]))).ravel()
    first: Index = np.unique(as_bytes, return_index=True)[1]
    return rows[first]


def _check_points(centers: ArrayLike, n_features: int) -> Array:
    """Return centres of the users' own as an array."""
    if isinstance(centers, str) or np.ndim(centers) != 2 or np.shape(centers)[1] != n_features:
        raise ValueError(
            f"centers={centers!r}, expected None, a number of rows or a 2-D array of shape "
            f"(n_centers, {n_features})"
        )
    points: Array = check_array(centers, dtype=np.float64, input_name="centers")
    return points


def _choose_centers(
    centers: CentersLike,
    rows: Index,
    X: Array,
    random_state: int | np.random.RandomState | None,
    *,
    capped: bool,
) -> Centers:
    """Return the points that carry candidate functions, out of the usable `rows` of X.

    With `capped` every row carries one only as long as the design matrix stays of bounded size.
    """
    if isinstance(centers, Integral):
        check_count(centers, "centers", len(rows))
        size = int(centers)
    elif centers is not None:
        return Centers.at(_check_points(centers, X.shape[1]))
    elif capped and len(rows) ** 2 > MAX_ENTRIES:
        size = MAX_ENTRIES // len(rows)
        warnings.warn(
            CentersWarning(
                f"{len(rows)} rows are too many for each to carry a candidate function: a random "
                f"{size} do; set centers to choose how many, or which"
            ),
            stacklevel=4,
        )
    else:
        size = len(rows)
    if size < len(rows):
        rows = check_random_state(random_state).choice(rows, size, replace=False)
    return Centers.on(X, np.sort(rows))
