"""What is done so that float32 keeps its digits."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec.export.expression import Expression, Input, Pick, Table, table

#: How far from zero constants may lie, in their own extents, for their rounding to be no more than
#: that of their differences.
NEAR = 2.0


def low_part(minuend: Expression, subtrahend: Table, dtype: np.dtype[Any]) -> Table | None:
    """What is left of constants once they are rounded to `dtype`, if it has to be subtracted too.

    x − z of a row and a constant has all its digits as (x − high) − low: of the constant's rounding
    error nothing is left, however far from zero the two are. An x that was computed has rounding
    errors of its own.
    """
    given = minuend.parts[0] if isinstance(minuend, Pick) else minuend
    if dtype != np.float32 or not isinstance(given, Input):
        return None
    values = subtrahend.values
    low = values - values.astype(np.float32)
    across = tuple(place for place, axis in enumerate(subtrahend.axes) if axis not in minuend.axes)
    far = np.abs(values) > NEAR * np.ptp(values, axis=across, keepdims=True)
    if not (far & (low != 0)).any():
        return None
    return table(low, *subtrahend.axes, name=f"{subtrahend.name}_low")
