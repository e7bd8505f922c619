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
    """Estimator with the parameters of kernels, which `RVR` and `RVC` document."""

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
        """Build the basis of one kernel, which messages call `name`.

        Of a registered kernel, parameters named as those of the estimator have its values, and
        others their defaults.
        """
        if isinstance(kernel, Basis):
            basis: Basis = clone(kernel)
        elif callable(kernel) and not isinstance(kernel, type):
            basis = CallableKernel(kernel)
        elif isinstance(kernel, str) and kernel in KERNELS:
            basis = KERNELS[kernel]()
            shared = basis.get_params().keys() & {"gamma", "degree", "coef0"}
            basis.set_params(**{parameter: getattr(self, parameter) for parameter in shared})
        else:
            raise ValueError(
                f"{name}={kernel!r} is not known, expected one of {list(KERNELS)}, a function "
                "k(X, Z) or a relvec.basis object"
            )
        return basis

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(
            self.kernel, Precomputed
        )
        tags.input_tags.sparse &= not tags.input_tags.pairwise
        return tags
