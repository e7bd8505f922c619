"""Contributions of the terms of a model, and their shares of the variance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from relvec._fitting.result import FittedOutput
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis

#: Rows at which functions are evaluated at a time.
BATCH = 4096


@dataclass(frozen=True)
class Terms:
    """Terms that the functions of a model are part of, f(x) = constant + Σ f_term(x).

    The mean of every term over the training rows is zero.

    Attributes
    ----------
    names : list of str
        Names of the terms, in the order of their first functions.
    label : ndarray of int, shape (n_active,)
        Term of each function.
    center : ndarray of shape (n_active,)
        Mean of each function over the training rows.
    covariances : list of ndarray of shape (m, m)
        Covariance of the functions of each term over the training rows.
    """

    names: list[str]
    label: Index
    center: Array
    covariances: list[Array]

    @classmethod
    def of(cls, of_functions: Sequence[str], basis: Basis, X: Array, weights: Array | None) -> Self:
        """Describe the functions of a basis, each `of` a term, over rows with frequencies."""
        names = list(dict.fromkeys(of_functions))
        label = np.array([names.index(term) for term in of_functions], dtype=np.intp)
        share = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
        center = np.zeros(len(label))
        for rows in gen_batches(len(X), BATCH):
            center += share[rows] @ basis.values(X[rows])
        covariances = [np.zeros((size, size)) for size in np.bincount(label).tolist()]
        for rows in gen_batches(len(X), BATCH):
            part = np.sqrt(share[rows])[:, None] * (basis.values(X[rows]) - center)
            for number, covariance in enumerate(covariances):
                own = part[:, label == number]
                covariance += own.T @ own
        return cls(names, label, center, covariances)

    def constant(self, output: FittedOutput) -> float:
        """Mean of the linear predictor of an output over the training rows."""
        posterior = output.posterior
        return float(posterior.intercept[0] + self.center[output.columns] @ posterior.mean[:, 0])

    def contributions(self, Phi: Array, output: FittedOutput) -> tuple[Array, Array]:
        """Mean and standard deviation of every term, shapes (n_samples, n_terms).

        Given all kept functions at the rows, of shape (n_samples, n_active).
        """
        mean, std = np.zeros((2, len(Phi), len(self.names)))
        for number, own in self._of_each(output):
            columns = output.columns[own]
            part = Phi[:, columns] - self.center[columns]
            mean[:, number] = part @ output.posterior.mean[own, 0]
            std[:, number] = np.linalg.norm(part @ output.posterior.root[own], axis=1)
        return mean, std

    def shares(self, output: FittedOutput) -> tuple[Array, Array]:
        """Share of the variance of each term, and its standard deviation, shapes (n_terms,).

        With the covariance C of its functions over the training rows the variance of a term is
        wᵀCw, of which the mean is μᵀCμ + tr CΣ and the variance 2 tr(CΣ)² + 4 μᵀCΣCμ. The sum over
        the terms stands for the variance of the function.
        """
        variance, deviation = np.zeros((2, len(self.names)))
        for number, own in self._of_each(output):
            within = np.isin(np.flatnonzero(self.label == number), output.columns[own])
            C = self.covariances[number][np.ix_(within, within)]
            mean, root = output.posterior.mean[own, 0], output.posterior.root[own]
            spread = C @ root @ root.T
            variance[number] = mean @ C @ mean + np.trace(spread)
            deviation[number] = np.sqrt(
                2 * np.vdot(spread, spread.T) + 4 * mean @ spread @ C @ mean
            )
        total = variance.sum() or 1.0
        return variance / total, deviation / total

    def worth(self, output: FittedOutput) -> Array:
        """Nats of log evidence that deleting each term alone would cost, shape (n_terms,)."""
        cost = np.zeros(len(self.names))
        for number, own in self._of_each(output):
            cost[number] = output.worth(own)
        return cost

    def _of_each(self, output: FittedOutput) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Number of each term, and which functions of an output it has, shape (n_columns,)."""
        label = self.label[output.columns]
        for number in range(len(self.names)):
            own = label == number
            if own.any():
                yield number, own
