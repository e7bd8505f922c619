"""Section 4.3 of Tipping (2001) with two dictionaries: sinc(x₁) + 0.1 x₂, 100 points, noise 0.1.

Errors are mean squares to the function on a grid. Seconds are processor time of a fit.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.paper import scales as paper
from benchmarks.paper.draws import seeds
from benchmarks.scales.measure import Score, format_all, score
from benchmarks.table import print_table
from relvec import RVR
from relvec.basis import RBF, Basis, Columns

DICTIONARIES: dict[str, list[Basis]] = {
    "x1, x2": [Columns(), RBF("ard")],
    "x1, x2, squares, product": paper.DICTIONARIES[paper.LEARNT],
}
#: The weight of x₂ is right where it is no further than this from what the data came from.
TRUE_WEIGHT, NEAR = 0.1, 0.01
HEADER = ["terms", "error", "largest", "functions", "weight of x2", "near 0.1", "x1 out", "γ2/γ1"]
HEADER += ["noise sd", "log evidence", "seconds"]


class Learnt(NamedTuple):
    score: Score
    first: float
    second: float
    ratio: float


def fit(dictionary: list[Basis], seed: int) -> Learnt:
    measured = score(RVR(dictionary), paper.draw(seed))
    weights, gamma = paper.term_weights(measured.machine), paper.kernel_scales(measured.machine)
    first, second = weights["x0"], weights["x1"]
    return Learnt(measured, first, second, float(gamma[1] / gamma[0]))


def row(name: str, fits: Sequence[Learnt]) -> list[str]:
    errors = [each.score.error**2 for each in fits]
    second = np.array([each.second for each in fits])
    machines = [each.score.machine for each in fits]
    return [
        name,
        format_all(errors),
        f"{np.max(errors):.4f}",
        format_all([each.score.vectors for each in fits]),
        format_all(second),
        f"{np.sum(np.abs(second - TRUE_WEIGHT) <= NEAR)} of {len(fits)}",
        f"{sum(each.first == 0 for each in fits)} of {len(fits)}",
        f"{np.median([each.ratio for each in fits]):.4f}",
        f"{np.mean([machine.noise_variance_**0.5 for machine in machines]):.3f}",
        f"{np.mean([machine.log_evidence_ for machine in machines]):.2f}",
        f"{np.median([each.score.seconds for each in fits]):.2f}",
    ]


def run(repetitions: int) -> None:
    """Print the table."""
    print(__doc__)
    print(f"{repetitions} draws; means ± their standard errors. Paper: error", end=" ")
    print("{:g} with {:g} functions,".format(*paper.PAPER_RVM), end=" ")
    print(
        "weight {:g}, γ2/γ1 {:.4f}.\n".format(
            paper.PAPER_WEIGHTS["x1"], paper.PAPER_SCALES[1] / paper.PAPER_SCALES[0]
        )
    )
    table = []
    for name, dictionary in DICTIONARIES.items():
        table.append(row(name, [fit(dictionary, seed) for seed in seeds(repetitions)]))
    print_table(HEADER, table)
