"""Friedman's function 1: ten inputs of which the last five do not matter, 240 rows, noise of sd 1.

Errors are mean squares at 1000 rows without noise. An input is dropped where its
`feature_relevance_` is zero. Seconds are processor time of a fit, a search with all of its fits.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks.paper.draws import seeds
from benchmarks.paper.regression import PROBLEMS
from benchmarks.paper.scales import PAPER_FRIEDMAN
from benchmarks.scales.measure import Score, format_all, score, searched
from benchmarks.staged import Split
from benchmarks.table import print_table
from relvec import RVR

N_RELEVANT = 5
HEADER = ["gamma", "error", "vectors", "noise sd", "seconds", "longest", "idle dropped"]
HEADER += ["all idle", "used dropped"]


def machines(n_inputs: int) -> dict[str, RVR | GridSearchCV]:
    learnt = {gamma: RVR(gamma=gamma) for gamma in ("scale", "evidence", "ard")}
    return {"scale": learnt.pop("scale"), "searched": searched(False, n_inputs), **learnt}


def fit_all(split: Split) -> dict[str, Score]:
    return {name: score(each, split) for name, each in machines(split.X_train.shape[1]).items()}


def row(name: str, scores: Sequence[Score]) -> list[str]:
    cells = [format_all([each.error**2 for each in scores])]
    cells += [format_all([each.vectors for each in scores])]
    cells += [f"{np.mean([each.machine.noise_variance_**0.5 for each in scores]):.3f}"]
    seconds = [each.seconds for each in scores]
    cells += [f"{np.median(seconds):.2f}", f"{np.max(seconds):.2f}"]
    if name != "ard":
        return [name, *cells, "", "", ""]
    dropped = np.array([each.machine.feature_relevance_ for each in scores]) == 0
    idle, used = dropped[:, N_RELEVANT:], dropped[:, :N_RELEVANT]
    shares = idle.mean(), idle.all(axis=1).mean(), used.mean()
    return [name, *cells, *(f"{share:.0%}" for share in shares)]


def run(repetitions: int) -> None:
    """Print the table."""
    print(__doc__)
    fits = [fit_all(PROBLEMS["friedman1"].draw(seed)) for seed in seeds(repetitions)]
    print(f"{repetitions} draws; means ± their standard errors. Paper: error", end=" ")
    print(
        "{:g} with {:g} vectors with learnt scales, {:g} with {:g} without.".format(
            *PAPER_FRIEDMAN, *PROBLEMS["friedman1"].paper_rvm
        )
    )
    print(
        "idle dropped: of the five inputs that do not matter; all idle: draws that drop all five;"
    )
    print("used dropped: of the five that matter.\n")
    print_table(HEADER, [row(name, [fit[name] for fit in fits]) for name in fits[0]])
