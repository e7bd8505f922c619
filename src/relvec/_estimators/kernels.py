"""Estimators whose candidate functions a parameter ``kernel`` describes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from relvec._estimators.base import RelevanceEstimator
from relvec._numerics.typing import Array
from relvec.basis import KERNELS, Basis, CallableKernel, Concatenate, Precomputed

KernelPart = str | Callable[[Array, Array], ArrayLike] | Basis
KernelLike = KernelPart | Sequence[KernelPart]


class KernelEstimator(RelevanceEstimator):
    """What the parameters of kernels mean; they are documented in the estimators."""

    kernel: KernelLike
    gamma: str | float | ArrayLike
    degree: int
    coef0: float

    def _dictionary(self) -> Basis:
        """Build the unfitted basis that ``kernel`` describes; a list is several side by side."""
        kernel = self.kernel
        if not isinstance(kernel, list | tuple):
            return self._one("kernel", kernel)
        if not kernel:
            raise ValueError(f"kernel={kernel!r} is empty, expected one kernel or more")
        parts = [self._one(f"kernel[{position}]", part) for position, part in enumerate(kernel)]
        for position, part in enumerate(parts):
            if isinstance(part, Precomputed):
                raise ValueError(
                    f"kernel[{position}]={kernel[position]!r} stands beside others, expected "
                    "kernel='precomputed' alone: X then holds kernel values, which are no inputs"
                )
        return Concatenate(parts)

    def _one(self, name: str, kernel: Any) -> Basis:
        """Build one basis, which messages call `name`."""
        if isinstance(kernel, Basis):
            basis: Basis = clone(kernel)
            return basis
        if callable(kernel):
            return CallableKernel(kernel)
        if isinstance(kernel, str) and kernel in KERNELS:
            basis = KERNELS[kernel]()
            shared = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
            basis.set_params(**{key: shared[key] for key in basis.get_params()})
            return basis
        raise ValueError(
            f"{name}={kernel!r} is not known, expected one of {list(KERNELS)}, a function k(X, Z) "
            "or a relvec.basis object"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(
            self.kernel, Precomputed
        )
        return tags
