"""Evidence that the search ends with, by how it begins.

``python -m benchmarks.starts`` prints, for families of problems with a constant eliminated, the
mean log evidence and functions kept by

- bottom-up with the noise learnt from the first step,
- bottom-up with the noise held until the first convergence,
- top-down (where the dictionary is of low rank), and
- MacKay's updates from the full dictionary, an independent dense implementation, up to 200 rows.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import print_table
from relvec._design import DenseDesign
from relvec._evidence import EvidenceModel, SparseModel
from relvec._evidence.exact import ExactEvidence
from relvec.basis import RBF, Kernel, LinearSpline
from relvec.datasets import make_friedman, make_sinc
from relvec.likelihoods import Gaussian
from relvec.solvers import Sequential
from relvec.solvers.starts import BOTTOM_UP, FROM_LOW_RANK, Start
from tests.support.reference import top_down

Array = NDArray[np.float64]


class Family(NamedTuple):
    draw: Callable[[int], tuple[Array, Array]]
    kernel: Kernel


def draw_bumpy(seed: int, n_samples: int) -> tuple[Array, Array]:
    """Waves and a bump in three dimensions, noise 0.1."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n_samples, 3))
    waves = np.sin(6 * X[:, 0]) * np.cos(4 * X[:, 1])
    bump = 2 * np.exp(-4 * (X**2).sum(axis=1))
    return X, waves + bump + 0.1 * rng.standard_normal(n_samples)


FAMILIES = {
    "figure 2": Family(
        lambda s: make_sinc(noise="uniform", noise_scale=0.2, random_state=s), LinearSpline()
    ),
    "sinc, 100 rows, wide": Family(lambda s: make_sinc(100, random_state=s), RBF("scale")),
    "sinc, 200 rows, wide": Family(lambda s: make_sinc(200, random_state=s), RBF("scale")),
    "sinc, 1000 rows": Family(lambda s: make_sinc(1000, random_state=s), RBF(1 / 9)),
    "bumps, 1000 rows": Family(lambda s: draw_bumpy(s, 1000), RBF(3.0)),
    "Friedman 1, 240 rows": Family(lambda s: make_friedman(1, random_state=s), RBF(0.5)),
}


@dataclass(frozen=True)
class OneStart(Sequential):
    """Forward selection from one start of a kind."""

    stages: tuple[str, ...] = BOTTOM_UP

    def starts(self, model: EvidenceModel) -> tuple[Start, ...]:
        if self.stages is FROM_LOW_RANK:
            return self.low_rank_start(model)
        return (Start(self.stages),)


NOISE_LEARNT_AT_ONCE = ("add first", "ascend")


def fit_from(stages: tuple[str, ...], Phi: Array, t: Array) -> SparseModel:
    """Fit with the noise learnt, from one start of the search."""
    return OneStart(stages=stages).solve(evidence(Phi, t))


def evidence(Phi: Array, t: Array) -> EvidenceModel:
    return ExactEvidence(DenseDesign(Phi.copy(), center=True), t[:, None], Gaussian())


def fits(family: Family, seed: int) -> Iterator[tuple[float, int]]:
    """Log evidence and functions kept, in the order of the columns; NaN where there is none."""
    X, t = family.draw(seed)
    Phi = family.kernel.fit(X).transform(X)
    for stages in (NOISE_LEARNT_AT_ONCE, BOTTOM_UP):
        fit = fit_from(stages, Phi, t)
        yield fit.log_evidence, len(fit.active)
    if evidence(Phi, t).low_rank_starts():
        fit = fit_from(FROM_LOW_RANK, Phi, t)
        yield fit.log_evidence, len(fit.active)
    else:
        yield np.nan, 0
    if len(t) <= 200:
        slow = top_down(Phi, t, fit_intercept=True)
        yield slow.log_evidence, len(slow.active)
    else:
        yield np.nan, 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    rows = []
    for name, family in FAMILIES.items():
        table = np.array([list(fits(family, seed)) for seed in range(draws)])
        means = table.mean(axis=0)
        rows.append(
            [name]
            + [
                "-" if np.isnan(evidence) else f"{evidence:.2f} / {kept:.1f}"
                for evidence, kept in means
            ]
        )
    print_table(
        ["evidence / functions", "noise learnt at once", "noise held", "top-down", "MacKay"], rows
    )


if __name__ == "__main__":
    main()
