"""A design whose rows are elsewhere: blocks of a few, behind handles that nobody can look into."""

import pickle
from functools import reduce
from operator import add

import numpy as np

from relvec._design import DenseDesign
from relvec._design.base import Design


class Handle:
    """Parts of a vector; it is no array, no number and no sequence."""

    def __init__(self, parts):
        self._parts = parts

    def __array__(self, *arguments, **keywords):
        raise TypeError("values of the rows asked for outside of the design")


class Scattered(Design):
    """The rows of a dense design, some to a block, and functions sent there as bytes."""

    evaluation_is_a_pass = True

    def __init__(self, dense, size=7):
        self._dense, self._size = dense, size
        for name in ("shape", "has_intercept", "center", "scale", "groups"):
            setattr(self, name, getattr(dense, name))
        for name in ("total_weight", "n_copies", "precision_evidence"):
            setattr(self, name, getattr(dense, name))
        self.row_weights = self.scatter(dense.row_weights)
        self.looked_at = []

    def scatter(self, vector):
        """The handle of an array."""
        return Handle(np.split(vector, range(self._size, self.shape[0], self._size)))

    def gather(self, handle):
        """The array behind a handle."""
        return np.concatenate(handle._parts)

    def columns(self, index):
        return self.scatter(self._dense.columns(index))

    def map_rows(self, function, *vectors, index=None):
        return Handle(self._parts(function, vectors, index))

    def sum_rows(self, function, *vectors, index=None):
        return reduce(lambda s, p: tuple(map(add, s, p)), self._parts(function, vectors, index))

    def _parts(self, function, vectors, index):
        sent = pickle.dumps(function)
        if index is not None:
            self.looked_at.append(len(self.scale[index]))
            vectors = (self.columns(index), *vectors)
        parts = []
        for block in zip(*(vector._parts for vector in vectors), strict=True):
            for part in block:
                part.flags.writeable = False
            parts.append(pickle.loads(sent)(*block))
        return parts

    def restrict(self, index):
        return Scattered(self._dense.restrict(index), self._size)

    def subset(self, rows, *vectors):
        Phi = self._dense.columns(slice(None))[rows] * self.scale + self.center
        weights = self._dense.row_weights[rows]
        few = DenseDesign(Phi, center=self.has_intercept, weights=weights, groups=self.groups.label)
        return few, [self.gather(vector)[rows] for vector in vectors]

    def frame(self, target):
        raise AssertionError("a frame needs the rows")

    closed_frame = frame

    def with_precision(self, precision):
        raise AssertionError("no likelihood of Laplace's method has row precisions")
