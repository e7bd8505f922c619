"""Estimators whose candidate functions a parameter ``kernel`` describes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from relvec._estimator import Array, RelevanceMachine
from relvec.basis import KERNELS, Basis, CallableKernel, Precomputed

KernelLike = str | Callable[[Array, Array], ArrayLike] | Basis


class KernelMachine(RelevanceMachine):
    """What the parameters of kernels mean; they are documented in the estimators."""

    kernel: KernelLike
    gamma: str | float | ArrayLike
    degree: int
    coef0: float

    def _dictionary(self) -> Basis:
        """Build the unfitted basis that ``kernel`` describes."""
        kernel = self.kernel
        if isinstance(kernel, Basis):
            basis: Basis = clone(kernel)
            return basis
        if callable(kernel):
            return CallableKernel(kernel)
        if isinstance(kernel, str) and kernel in KERNELS:
            basis = KERNELS[kernel]()
            shared = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
            basis.set_params(**{name: shared[name] for name in basis.get_params()})
            return basis
        raise ValueError(
            f"kernel={kernel!r} is not known, expected one of {list(KERNELS)}, a function "
            "k(X, Z) or a relvec.basis object"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(
            self.kernel, Precomputed
        )
        return tags
