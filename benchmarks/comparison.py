"""How far evidence and leave-one-out density tell which model predicts best, and how well.

A noisy sinc of 100 rows, and `relvec.compare` on widths of the Gaussian kernel on a grid. Each row
of the table is the width with the highest log evidence, the highest log evidence less ½ log N for
every function (Schwarz), the highest leave-one-out log density at the fitted precisions, and the
highest log density of 1000 fresh rows, in hindsight. "own" is the leave-one-out density that the
model claims, "refitted" what refits without each row reach, everything learnt again, and "fresh"
that of the fresh rows; all three in nats a row.
"""

import argparse

import numpy as np
from sklearn.base import clone

from benchmarks.paper.draws import seeds
from benchmarks.table import format_mean, print_table
from relvec import RVR, compare, log_density
from relvec.datasets import make_sinc

N_ROWS, NOISE, N_FRESH = 100, 0.1, 1000
GRID = {f"r = {gamma**-0.5:.2f}": RVR(gamma=gamma) for gamma in np.geomspace(0.01, 4, 25)}
Numbers = dict[str, float]


def refitted(model: RVR, X: np.ndarray, y: np.ndarray) -> float:
    """Leave-one-out log density a row with everything learnt again."""
    rows = np.arange(len(y))
    return float(
        np.mean(
            [
                log_density(clone(model).fit(X[rows != out], y[rows != out]), X[[out]], y[[out]])
                for out in rows
            ]
        )
    )


def chosen(seed: int) -> dict[str, Numbers]:
    """What each criterion chooses on one draw."""
    X, y = make_sinc(N_ROWS, noise_scale=NOISE, grid=False, random_state=seed)
    fresh = make_sinc(N_FRESH, noise_scale=NOISE, grid=False, random_state=seed + 1)
    table = compare(GRID, X, y)
    models = {name: clone(model).fit(X, y) for name, model in GRID.items()}
    table["fresh"] = [log_density(models[name], *fresh) for name in table.index]
    found = {}
    for name, criterion in {
        "log evidence": "log_evidence",
        "Schwarz's criterion": "schwarz",
        "leave-one-out density": "loo_log_density",
        "fresh rows": "fresh",
    }.items():
        best = table[criterion].idxmax()
        found[name] = {
            "width r": models[best].gamma_ ** -0.5,
            "vectors": table.loc[best, "n_functions"],
            "own": table.loc[best, "loo_log_density"] / N_ROWS,
            "refitted": refitted(models[best], X, y),
            "fresh": table.loc[best, "fresh"],
        }
    return found


def run(repetitions: int) -> None:
    """Print the table."""
    print(__doc__)
    draws = [chosen(seed) for seed in seeds(repetitions)]
    print(f"{repetitions} draws; means ± their standard errors.\n")
    columns = list(next(iter(draws[0].values())))
    rows = [
        [name, *(format_mean([draw[name][column] for draw in draws]) for column in columns)]
        for name in draws[0]
    ]
    print_table(["highest", *columns], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=20)
    run(parser.parse_args().repetitions)
