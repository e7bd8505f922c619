"""What evidence the solvers end with, each on the same problems.

``python -m benchmarks.solvers`` prints, for families of problems with a constant eliminated, the
mean log evidence, functions kept and passes of the sequential solver from one and from three starts
and of the solvers that begin with all functions.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import print_table
from relvec._design import DenseDesign
from relvec._fitting.alternating import fit
from relvec.basis import RBF, Kernel, LinearSpline
from relvec.datasets import make_sinc
from relvec.likelihoods import Bernoulli, Gaussian, Likelihood
from relvec.solvers import EM, FixedPoint, Sequential, Solution, Solver, Variational

Array = NDArray[np.float64]

ROWS, MAX_ITER = 100, 20_000
SOLVERS: dict[str, Solver] = {
    "sequential": Sequential(),
    "three starts": Sequential(n_starts=3),
    "fixed point": FixedPoint(max_iter=MAX_ITER),
    "EM": EM(max_iter=MAX_ITER),
    "variational": Variational(max_iter=MAX_ITER),
}


class Family(NamedTuple):
    draw: Callable[[int], tuple[Array, Array]]
    kernel: Kernel
    likelihood: Likelihood


def classes(y: Array, rng: np.random.RandomState) -> Array:
    """Draw a class from each row's log-odds."""
    return (rng.uniform(size=len(y)) < 1 / (1 + np.exp(-y))).astype(np.float64)


def draw_plane(seed: int) -> tuple[Array, Array, np.random.RandomState]:
    """Hills in two dimensions."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-3, 3, (ROWS, 2))
    return X, np.sin(X[:, 0]) * np.cos(X[:, 1]), rng


def noisy_plane(seed: int) -> tuple[Array, Array]:
    """Noise of 0.2."""
    X, y, rng = draw_plane(seed)
    return X, y + 0.2 * rng.standard_normal(ROWS)


def classes_of_a_plane(seed: int) -> tuple[Array, Array]:
    """Log-odds of four times the hills."""
    X, y, rng = draw_plane(seed)
    return X, classes(4 * y, rng)


def classes_of_a_line(seed: int) -> tuple[Array, Array]:
    """Log-odds of six times sinc."""
    X, y = make_sinc(ROWS, noise_scale=0.0, random_state=seed)
    return X, classes(6 * y, np.random.RandomState(seed))


def overlapping_clouds(seed: int) -> tuple[Array, Array]:
    """Two clouds a class, as Ripley's are."""
    rng = np.random.RandomState(seed)
    t = (rng.uniform(size=ROWS) < 0.5).astype(np.float64)
    side = np.where(rng.uniform(size=ROWS) < 0.5, 0.7, -0.3)
    return 0.4 * rng.standard_normal((ROWS, 2)) + np.column_stack([side, 0.5 * t]), t


FAMILIES = {
    "figure 2": Family(
        lambda s: make_sinc(noise="uniform", noise_scale=0.2, random_state=s),
        LinearSpline(),
        Gaussian(),
    ),
    "sinc": Family(lambda s: make_sinc(ROWS, random_state=s), RBF(0.1), Gaussian()),
    "plane": Family(noisy_plane, RBF(0.5), Gaussian()),
    "classes, sinc": Family(classes_of_a_line, RBF(0.1), Bernoulli()),
    "classes, plane": Family(classes_of_a_plane, RBF(0.5), Bernoulli()),
    "classes, clouds": Family(overlapping_clouds, RBF(1.0), Bernoulli()),
}


def fit_draw(solver: Solver, family: Family, seed: int) -> Solution:
    """Fit one draw."""
    X, t = family.draw(seed)
    design = DenseDesign(family.kernel.fit(X).transform(X), center=True)
    return fit(family.likelihood, solver, design, t[:, None])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    rows = []
    for name, family in FAMILIES.items():
        cells = [name]
        for solver in SOLVERS.values():
            found = [fit_draw(solver, family, seed) for seed in range(draws)]
            unfinished = sum(s.status.code != "converged" for s in found)
            evidence = np.mean([solution.log_evidence for solution in found])
            kept = np.mean([len(solution.active) for solution in found])
            passes = np.mean([solution.n_iter for solution in found])
            cells.append(f"{evidence:.2f} / {kept:.1f} / {passes:.0f}{'*' * unfinished}")
        rows.append(cells)
    print_table(["evidence / functions / passes", *SOLVERS], rows)


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
