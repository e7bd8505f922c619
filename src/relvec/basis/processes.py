"""Gaussian processes of several widths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from relvec._numerics.checks import check_count
from relvec._numerics.typing import Array
from relvec.basis.base import Centers
from relvec.basis.combine import Concatenate
from relvec.basis.kernels import RBF
from relvec.basis.process import Process
from relvec.basis.scale import LEARNT, resolve_gamma

#: Factors of γ, and the share of the centres that the process with each has at most: wider kernels
#: need fewer.
WIDTHS = {1 / 16: 1 / 4, 1 / 4: 1 / 2, 1.0: 1.0}


class Processes(Concatenate):
    """Gaussian processes of three widths, with kernels exp(−γ|x − z|²) of γ, γ/4 and γ/16.

    Each is a group of functions with a precision of its own, see `Process`, so that the evidence
    chooses between nearly linear functions and those that follow single rows, and adds them up.

    Parameters
    ----------
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        Inverse squared width of the narrowest; see :class:`relvec.RVC`.
    n_centers : int, default=200
        Centres of the narrowest at most; the others have half and a quarter as many.

    Attributes
    ----------
    parts_ : list of Process
        The processes, the widest first.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.basis import Processes
    >>> X = np.linspace(-1, 1, 9)[:, None]
    >>> np.unique(Processes(gamma=4.0, n_centers=4).fit(X).groups, return_counts=True)[1]
    array([1, 2, 4])
    """

    def __init__(self, gamma: str | float | ArrayLike = "scale", n_centers: int = 200) -> None:
        self.gamma, self.n_centers = gamma, n_centers

    centred = False
    any_rows = False
    follows_rows = True

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Place each process on the training rows; see `Basis.place`."""
        check_count(self.n_centers, "n_centers")
        if isinstance(self.gamma, str) and self.gamma in LEARNT:
            raise ValueError(
                f"gamma={self.gamma!r}, expected 'scale', 'auto' or numbers: processes of several "
                "widths have precisions that are learnt in the place of a width"
            )
        gamma = np.asarray(resolve_gamma(self.gamma, X, weights))
        parts = [
            Process(RBF(factor * gamma), max(1, int(share * self.n_centers)))
            for factor, share in WIDTHS.items()
        ]
        return self._of([part.place(X, centers, weights) for part in parts])

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Return names as `Process` has them, with the number of the process before."""
        own = enumerate(part.names(features) for part in self.parts_)
        return [f"{number}:{name}" for number, names in own for name in names]
