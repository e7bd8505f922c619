"""Functions centred on the queries, with which error bars grow away from the data.

C. E. Rasmussen and J. Quiñonero-Candela, *Healing the relevance vector machine through
augmentation*, ICML 2005. When a row x* is predicted, φ*(x) = k(x, x*) joins the kept functions,
with a weight N(0, 1/α*) that the fit never saw. The kept functions and the intercept stand in for
it with the weights v = H⁻¹XᵀBφ*, and what they leave is ρ = φ* − Xv. Then

    s* = ρᵀBρ + vᵀAv        φ*ᵀC⁻¹φ*, as a sum that loses no digits
    q* = φ*ᵀ ∂log p/∂y      φ*ᵀC⁻¹t
    e* = ρ(x*)

and the outputs at x* have the mean e*q*/(α* + s*) and the variance e*²/(α* + s*) more. Of several
outputs each has a weight of its own with the same α*, so that s* and e* are matrices and q* is a
vector; several kernels have a function each. Gaussian noise has B = β; under other likelihoods B
and the slope are those that the weights were inferred with, at the mode, as if they stayed. In the
code φ* has units that make α* one.

How large the weight may be is not learnt: at x* the function is to vary as much as the functions of
the kernel do over the training rows, 1/α* = ⟨f²⟩ / ⟨k(x, x)²⟩. Both are means over these rows, and
⟨f²⟩ is of the part f of the outputs that the kernel's functions make up, about its mean if there is
an intercept, under the posterior. Several kernels, whose functions may cancel, share the ⟨f²⟩ of
all in the proportion of their own. A kernel of which nothing was kept adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relvec._evidence.posterior import Posterior
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis
from relvec.basis.kernel import at_itself

#: Arrays of the size of the functions that are held at a time.
COPIES = 5


@dataclass(frozen=True)
class Extra:
    """Functions centred on some queries, beside the kept ones."""

    rows: Array  # (n_kernels, n_samples, n_queries), φ* of each kernel at the training rows
    own: Array  # (n_kernels, n_queries), φ*(x*)
    Phi: Array  # (n_samples, n_active), kept functions at the training rows

    def of(self, columns: Index) -> Extra:
        """Beside some of the kept functions only."""
        return Extra(self.rows, self.own, self.Phi[:, columns])


@dataclass(frozen=True)
class TrainingRows:
    """Training rows, which a function centred on a query has to be known at."""

    X: Array  # (n_samples, n_features)
    basis: Basis  # the kept functions

    @cached_property
    def Phi(self) -> Array:  # noqa: N802
        """Kept functions at the rows."""
        return self.basis.evaluate(self.X)

    def extra(self, queries: Array) -> Extra:
        """Functions of every kernel centred on the queries."""
        kernels = [k for k, _ in self.basis.kernel_parts()]
        with np.errstate(over="ignore", invalid="ignore"):
            rows = np.stack([k(self.X, queries) for k in kernels])
            own = np.stack([at_itself(k, queries) for k in kernels])
        if not (np.isfinite(rows).all() and np.isfinite(own).all()):
            raise OverflowError("functions centred on the rows of X exceed the range of float64")
        return Extra(rows, own, self.Phi)

    def numbers(self, n_outputs: int) -> int:
        """Numbers that are held for each query."""
        return COPIES * len(self.X) * len(self.basis.kernel_parts()) * n_outputs**2

    def sizes(self, columns: Index, posterior: Posterior, share: Array, *, center: bool) -> Array:
        """α*^(-1/2) of each kernel: see the head of this file.

        The posterior is that of the weights of the kept functions in `columns` (n_columns,), and
        `share` (n_samples,) is that of each row in the copies of all.
        """
        parts, root = self.basis.kernel_parts(), np.sqrt(share)[:, None]

        def signal(functions: Index) -> float:
            used = np.flatnonzero(np.isin(columns, functions))
            own = self.Phi[:, columns[used]]
            own = root * (own - share @ own if center else own)
            return _signal(own, posterior, used)

        each = np.array([signal(functions) for _, functions in parts])
        if not each.any():
            return each
        together = signal(np.concatenate([functions for _, functions in parts]))
        peaks = np.array([_norm(root[:, 0] * at_itself(k, self.X)) for k, _ in parts])
        if not peaks.all():
            raise ValueError(
                "k(x, x) is zero at all rows x, expected functions that do not vanish where they "
                "are centred with augment=True"
            )
        sizes: Array = together * each / _norm(each) / peaks
        return sizes


@dataclass(frozen=True)
class Residuals:
    """Residuals at the training rows, and the size of functions that are added."""

    #: (n_samples, n_outputs), ∂log p/∂y of every row at the mean of its outputs, copies counted:
    #: β(t − y) under Gaussian noise
    slope: Array
    curvature: Array  # (n_samples, n_outputs, n_outputs), B = −∂² log p/∂y² there
    sizes: Array  # (n_kernels,), α*^(-1/2) of each kernel

    def correction(
        self, posterior: Posterior, alpha: Array, extra: Extra, Phi: Array
    ) -> tuple[Array, Array]:
        """Return additions of functions centred on the queries to mean and covariance there.

        They are (n_queries, n_outputs) and (n_queries, n_outputs, n_outputs). The kept functions
        have the values Φ (n_queries, n_active) at the queries, prior precisions α (n_active,) and
        a posterior of their weights.
        """
        added, own = self._for_each_output(extra)
        constant, v = _stand_in(posterior, extra.Phi, _weighted(self.curvature, added))
        n_queries, outputs, weights = own.shape
        flat = v.reshape(len(alpha), outputs * weights * n_queries)
        rest = added - constant - (extra.Phi @ flat).reshape(added.shape)
        penalty = np.sqrt(alpha)[:, None, None, None] * v
        s = np.einsum("nrvb,nrwb->bvw", rest, _weighted(self.curvature, rest))
        s += np.einsum("krvb,krwb->bvw", penalty, penalty)
        q = np.einsum("nrwb,nr->bw", added, self.slope)
        e = own - constant.transpose(2, 0, 1) - np.einsum("bk,krwb->brw", Phi, v)
        values, axes = np.linalg.eigh(s)  # of which near copies leave no more than rounding
        axes /= np.sqrt(1 + np.maximum(values, 0.0))[:, None]  # (1 + s)^(-1/2), a column an axis
        reach, pull = e @ axes, q[:, None] @ axes
        return (reach @ pull.transpose(0, 2, 1))[:, :, 0], reach @ reach.transpose(0, 2, 1)

    def _for_each_output(self, extra: Extra) -> tuple[Array, Array]:
        """φ* ⊗ I at the rows (n_samples, n_outputs, n_weights, n_queries), and at the queries.

        The latter has the shape (n_queries, n_outputs, n_weights); there is a weight for each
        kernel and output.
        """
        n_kernels, n, n_queries = extra.rows.shape
        outputs = self.slope.shape[1]
        rows = np.zeros((n, outputs, n_kernels, outputs, n_queries))
        own = np.zeros((n_queries, outputs, n_kernels, outputs))
        for output in range(outputs):
            rows[:, output, :, output] = (self.sizes[:, None, None] * extra.rows).swapaxes(0, 1)
            own[:, output, :, output] = (self.sizes[:, None] * extra.own).T
        weights = n_kernels * outputs
        return rows.reshape(n, outputs, weights, n_queries), own.reshape(-1, outputs, weights)


def check_augmentable(basis: Basis) -> None:
    """Raise unless functions can be centred on any row."""
    if not basis.kernel_parts():
        raise ValueError(
            f"augment=True has nothing to centre on a query with {basis!r}, expected a kernel that "
            "gives k(x, x) of any row x: functions that sit on no point have none, nor has a "
            "precomputed kernel, which can be handed over as a function k(X, Z) instead"
        )


def _signal(rows: Array, posterior: Posterior, used: Index) -> float:
    """Root mean square over the outputs of rowsᵀw, w the weights of the functions `used`."""
    outputs = len(posterior.level)
    spread = [posterior.root[used * outputs + output] for output in range(outputs)]
    triangle = np.linalg.qr(rows, mode="r")  # the same sums of squares from fewer rows
    return _norm(triangle @ np.hstack([posterior.mean[used], *spread])) / float(np.sqrt(outputs))


def _norm(values: Array) -> float:
    """Root of the sum of squares, whatever its range."""
    largest = float(np.abs(values).max(initial=0.0))
    return largest * float(np.linalg.norm(values / largest)) if largest > 0 else 0.0


def _weighted(B: Array, values: Array) -> Array:
    """B of every row times something with one value a row and output."""
    weighted: Array = np.einsum("nrs,nswb->nrwb", B, values)
    return weighted


def _stand_in(posterior: Posterior, Phi: Array, weighted: Array) -> tuple[Array, Array]:
    """H⁻¹Xᵀ times something of shape (n_samples, n_outputs, …): a constant, and weights.

    They are c (n_outputs, …) and w (n_active, n_outputs, …) in y(x) = c + (φ(x) ⊗ I)ᵀw.
    """
    n, n_active = Phi.shape
    outputs, others = weighted.shape[1], weighted.shape[2:]
    width = int(np.prod(others))
    by_level = weighted.sum(axis=0).reshape(outputs, width)
    by_weight = (Phi.T @ weighted.reshape(n, -1)).reshape(n_active * outputs, width)
    by_weight -= posterior.center.T @ by_level
    w = posterior.root @ (posterior.root.T @ by_weight)
    constant = posterior.level_covariance @ by_level - posterior.center @ w
    return constant.reshape(outputs, *others), w.reshape(n_active, outputs, *others)
