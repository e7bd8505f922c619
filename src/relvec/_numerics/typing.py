"""Types of arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]
#: A value, or an array, for every row. Only the design knows how it is stored: in memory it is an
#: array, elsewhere a handle, which nobody but the design looks into.
RowVector = Any
