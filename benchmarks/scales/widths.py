"""Which criterion finds the width that predicts best: a noisy sinc of 100 rows, widths on a grid.

"evidence" is the width of the highest log evidence; "BIC" that of the highest log evidence less
½ log N for every function; "learnt" is `gamma="evidence"`; "hindsight" is the width of least error.
Errors are root mean squares to the function, times ten as the paper has them.
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.paper.draws import seeds
from benchmarks.scales.measure import format_all
from benchmarks.table import print_table
from relvec import RVR

N_ROWS, NOISE = 100, 0.1
GRID = np.geomspace(0.01, 4, 25)
QUERIES = np.linspace(-10, 10, 1000)[:, None]


def sinc(X: np.ndarray) -> np.ndarray:
    """Evaluate sin(x)/x."""
    return np.sinc(X[:, 0] / np.pi)


def error(machine: RVR) -> float:
    return 10 * float(np.sqrt(np.mean((machine.predict(QUERIES) - sinc(QUERIES)) ** 2)))


def bic(machine: RVR) -> float:
    return machine.log_evidence_ - 0.5 * np.log(N_ROWS) * len(machine.relevance_)


def chosen(seed: int) -> dict[str, RVR]:
    """Return the model that each criterion chooses on one draw."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-10, 10, (N_ROWS, 1))
    y = sinc(X) + NOISE * rng.standard_normal(N_ROWS)
    grid = [RVR(gamma=gamma).fit(X, y) for gamma in GRID]
    return {
        "evidence": max(grid, key=lambda machine: machine.log_evidence_),
        "BIC": max(grid, key=bic),
        "learnt": RVR(gamma="evidence").fit(X, y),
        "hindsight": min(grid, key=error),
    }


def row(name: str, machines: Sequence[RVR]) -> list[str]:
    return [
        name,
        format_all([error(machine) for machine in machines]),
        format_all([len(machine.relevance_) for machine in machines]),
        format_all([machine.gamma_**-0.5 for machine in machines]),
        format_all([machine.log_evidence_ for machine in machines]),
    ]


def run(repetitions: int) -> None:
    """Print the table."""
    print(__doc__)
    draws = [chosen(seed) for seed in seeds(repetitions)]
    print(f"{repetitions} draws; means ± their standard errors.\n")
    header = ["chosen by", "error x 10", "vectors", "width r", "log evidence"]
    print_table(header, [row(name, [draw[name] for draw in draws]) for name in draws[0]])
