"""Limits of float64."""

import numpy as np

#: Half of this share of a number is lost when it is rounded.
EPSILON = float(np.finfo(np.float64).eps)
#: A column, residual or difference is zero that is under this many roundings of what it came from.
ROUNDINGS = 8 * EPSILON
#: The smallest normal number: no variance, squared norm or probability is told below it.
SMALLEST = float(np.finfo(np.float64).tiny)
