"""Changes of variables between a target and what an estimator was fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._assess.derivatives import slopes
from relvec._numerics.floats import EPSILON
from relvec._numerics.naming import rows_named
from relvec._numerics.typing import Array

#: Points at which a transformer is looked at, and by how many standard deviations they reach
#: beyond the predictions.
POINTS, BEYOND = 257, 40.0
#: Share of the range of values by which those of an affine function may be off a line.
OFF_LINE = 1e-9
#: Relative error of a derivative from which on there is none.
NO_DERIVATIVE = 1e-6


@dataclass(frozen=True)
class TargetChange:
    """Transformers between the target y of a model and the target z of its estimator.

    The model is y = g⁻¹(z), by ``inverse_transform``. Arrays y and z are of shape (n_samples,) or
    (n_samples, n_targets).

    Attributes
    ----------
    transformers : tuple of transformer
        Fitted, in the order in which they make z of y; none where z is y.
    """

    transformers: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.transformers)

    def __str__(self) -> str:
        return " and ".join(" ".join(repr(one).split()) for one in self.transformers)

    def forward(self, y: Any) -> Any:
        """Return z for y: y itself, as it was given, where there are no transformers."""
        if not self:
            return y
        z = np.asarray(y, dtype=np.float64)
        single, z = z.ndim == 1, z.reshape(len(z), -1)
        with np.errstate(all="ignore"):
            for transformer in self.transformers:
                z = np.asarray(transformer.transform(z), dtype=np.float64).reshape(len(z), -1)
        lost = ~np.isfinite(z) & np.isfinite(np.asarray(y, dtype=np.float64).reshape(len(z), -1))
        if lost.any():
            raise ValueError(f"y has no finite transform by {self} in {rows_named(lost)}")
        return z[:, 0] if single and z.shape[1] == 1 else z

    def back(self, z: Array) -> Array:
        """Return y for z."""
        y = z.reshape(len(z), -1)
        with np.errstate(all="ignore"):
            for transformer in reversed(self.transformers):
                y = np.asarray(transformer.inverse_transform(y), dtype=np.float64)
                y = y.reshape(len(z), -1)
        return y[:, 0] if z.ndim == 1 and y.shape[1] == 1 else y

    def ends(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Return the ends of intervals of y, a monotone function of z, for those of z."""
        if not self:
            return lower, upper
        _, values = self._look_at(lower, upper)
        steps = np.diff(values, axis=0)
        if not (np.isfinite(values).all() and ((steps >= 0).all(0) | (steps <= 0).all(0)).all()):
            raise ValueError(
                f"the inverse of {self} is not monotone over the intervals, expected a function "
                "that rises or falls everywhere: ask the regressor inside for intervals of what it "
                "was fitted to"
            )
        first, second = self.back(lower), self.back(upper)
        return np.minimum(first, second), np.maximum(first, second)

    def scale(self, mean: Array, std: Array) -> Array:
        """Return standard deviations of y for means and standard deviations of z.

        y has to be an affine function of z: of others more than `std` makes up its own.
        """
        if not self:
            return std
        reach = BEYOND * std.max(axis=0)
        points, values = self._look_at(mean - reach, mean + reach)
        slope = (values[-1] - values[0]) / (points[-1] - points[0])
        line = values[0] + slope * (points - points[0])
        allowed = OFF_LINE * np.ptp(values, axis=0) + 8 * EPSILON * np.abs(values).max(axis=0)
        if not (np.abs(values - line) <= allowed).all():
            raise ValueError(
                f"standard deviations are asked for and {self} is not linear, expected a scaler: "
                "ask for intervals, whose ends any monotone transformer has"
            )
        scaled: Array = std * np.abs(slope if std.ndim > 1 else slope[0])
        return scaled

    def log_slope(self, z: Array) -> Array:
        """Return log |dz/dy| at z, shaped as z; raise where the transformer has no derivative."""
        self._look_at(z, z)
        columns = z.reshape(len(z), -1)
        found, error = slopes(self.back, columns)
        none = ~(error <= NO_DERIVATIVE * np.abs(found)) | (found == 0)
        if none.any():
            raise ValueError(
                f"the inverse of {self} has no derivative at y in {rows_named(none)}, expected a "
                "transformer that is smooth, as densities of y need its slope"
            )
        return -np.log(np.abs(found)).reshape(z.shape)

    def _look_at(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return points z over a range, and y there, each (n_points, n_targets).

        Raise if a column of y depends on several columns of z.
        """
        low, high = low.reshape(len(low), -1).min(axis=0), high.reshape(len(high), -1).max(axis=0)
        points = np.linspace(low, high, POINTS)
        values = self.back(points)
        for column in range(points.shape[1]):
            others = points[::-1].copy()
            others[:, column] = points[:, column]
            found = self.back(others)
            if values.shape != points.shape or not np.array_equal(
                found[:, column], values[:, column], equal_nan=True
            ):
                raise ValueError(
                    f"{self} mixes the targets, expected a transformer of each by itself"
                )
        return points, values
