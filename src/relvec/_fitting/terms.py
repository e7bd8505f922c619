"""Contributions of the terms of a model, and their shares of the variance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from relvec._design.moments import Moments
from relvec._fitting.result import FittedOutput
from relvec._numerics.typing import Array, Index


@dataclass(frozen=True)
class Terms:
    """Terms that the functions of a model are part of, f(x) = constant + Σ f_term(x).

    The mean of every term over the training rows is zero.
    """

    names: list[str]  # of the terms, in the order of their first functions
    label: Index  # (n_active,), term of each function
    center: Array  # (n_active,), mean of each function over the training rows
    covariances: list[Array]  # (m, m) of the functions of each term over the training rows

    @classmethod
    def of(cls, of_functions: Sequence[str], moments: Moments) -> Self:
        """Describe functions, each `of` a term, by their moments over the training rows."""
        names = list(dict.fromkeys(of_functions))
        label = np.array([names.index(term) for term in of_functions], dtype=np.intp)
        own = [np.flatnonzero(label == number) for number in range(len(names))]
        covariances = [moments.products[np.ix_(one, one)] / moments.weight for one in own]
        return cls(names, label, moments.mean, covariances)

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
