"""Shapley values in closed form beside those of ``shap.KernelExplainer``.

``python -m benchmarks.shapley`` explains rows of a model of 15 inputs with one background row. It
prints the processor time a row and how far the explainer's values are from those of
`RVR.shapley_values`, where it draws 2078 coalitions, its default, and where it enumerates all
2¹⁵ − 2. Calls check their input, so that our time is that of one row alone, and of one among 20.
"""

import time
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import print_table
from relvec import RVR

Array = NDArray[np.float64]

N_INPUTS, N_ROWS, REPEATS = 15, 20, 20


def problem(seed: int = 0) -> tuple[RVR, Array]:
    """Model of 15 inputs, and the rows that it was fitted to."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (300, N_INPUTS))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3:].sum(axis=1) / 6
    return RVR(gamma=0.02).fit(X, y + 0.1 * rng.standard_normal(300)), X


def clock(explain: Callable[[], Array], repeats: int) -> tuple[Array, float]:
    """Values, and seconds of the processor that they take."""
    values = explain()
    began = time.process_time()
    for _ in range(repeats):
        explain()
    return values, (time.process_time() - began) / repeats


def main() -> None:
    """Print a line for each number of coalitions."""
    warnings.simplefilter("ignore")  # of the explainer, about its regression
    import shap  # which warns of what it imports

    model, X = problem()
    background, row = X[-1:], X[:1]
    own, alone = clock(lambda: model.shapley_values(row, background).values, REPEATS)
    _, among = clock(lambda: model.shapley_values(X[:N_ROWS], background).values, REPEATS)
    among /= N_ROWS
    rows = []
    for coalitions, settings in {
        "2078, by chance": {},
        "all 32766": {"nsamples": 2**N_INPUTS, "l1_reg": 0},
    }.items():
        explainer = shap.KernelExplainer(model.predict, background)
        found, seconds = clock(
            lambda explainer=explainer, given=settings: explainer.shap_values(
                row, silent=True, **given
            ),
            1,
        )
        ratios = [f"{seconds / ours:.0f}" for ours in (alone, among)]
        rows.append(
            [coalitions, f"{1e3 * seconds:.0f}", *ratios, f"{np.abs(found - own).max():.1g}"]
        )
    print(f"{len(model.relevance_)} functions; {1e3 * alone:.2f} ms alone, {1e3 * among:.3f} of 20")
    names = ["coalitions", "ms a row", "over ours, alone", "over ours, of 20", "largest difference"]
    print_table(names, rows)


if __name__ == "__main__":
    main()
