"""Public splits of UCI data sets: this package, other libraries, and what was published.

The twenty 90/10 splits of Hernández-Lobato and Adams (2015), five of protein; with ``--rows``,
draws of that many rows of larger sets, at most four fifths of one, tested on all others. Inputs are
standardised on training rows, targets are as they are. Methods have the defaults of their library,
run one after another on one thread, and are timed in processor seconds: the fit, and mean and
intervals of all test rows. RMSE and negative log density, in nats a row, are in units of the
target; "hold" is the share of test rows, in per cent, that lie in intervals of that level. Means
over splits ± their standard errors.

NGBoost has as many trees, of 2000, as do best on a fifth of the training rows, and is fitted to all
of them again; its time is that of the last fit. EBM (InterpretML) predicts means: its density is
normal, with the mean square of residuals of training rows in five folds as variance, fitted with 2
bags for 14, which its time does not count. The Gaussian process (scikit-learn) is a constant times
an RBF kernel of one width, and white noise, on at most 1500 training rows. MAPIE has intervals and
no density: "plus" intervals of five folds around scikit-learn's HistGradientBoostingRegressor.
Kept: functions of RVR, terms of effects and of EBM, rows of the process. Published results are in
italics and not measured here: benchmarks/uci/published.py has their sources. "SD" stands before a
standard deviation over the splits.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import islice

from threadpoolctl import threadpool_limits

from benchmarks.scales.problems import standardised
from benchmarks.staged import Split
from benchmarks.table import markdown
from benchmarks.uci.measure import (
    HEADER,
    measured,
    measured_cells,
    missing_cells,
    published_cells,
)
from benchmarks.uci.methods import METHODS
from benchmarks.uci.problems import LARGER, N_DRAWS, PUBLIC, few_rows
from benchmarks.uci.published import SOURCES

#: Draws of few rows unless another number is asked for.
DRAWS = 3


def splits_of(name: str, n_splits: int, n_rows: int | None) -> list[Split]:
    splits = few_rows(LARGER[name](), n_rows) if n_rows else PUBLIC[name]()
    return [standardised(split) for split in islice(splits, n_splits)]


def rows_of(name: str, splits: Sequence[Split], methods: Sequence[str]) -> Iterator[list[str]]:
    """Yield a row for each method, when it has been measured."""
    first = f"{name}, {' × '.join(map(str, splits[0].X_train.shape))}"
    for key in methods:
        method = METHODS[key]
        if method.missing():
            yield [first, *missing_cells(method)]
        else:
            yield [first, *measured_cells(method.label, [measured(method, s) for s in splits])]
        first = ""


def run(names: Sequence[str], methods: Sequence[str], n_splits: int, n_rows: int | None) -> None:
    """Print the table, each row when it has been measured."""
    print(__doc__)
    print(markdown(["set", *HEADER]))
    print(markdown(["---"] * (len(HEADER) + 1)), flush=True)
    for name in names:
        splits = splits_of(name, n_splits, n_rows)
        for row in rows_of(name, splits, methods):
            print(markdown(row), flush=True)
        if not n_rows:
            for source in SOURCES:
                print(markdown(["", *published_cells(source, name)]), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.uci", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*{**PUBLIC, **LARGER}], help="data sets")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--splits", type=int, help="at most so many a set")
    parser.add_argument("--rows", type=int, help="train on so many rows of larger sets instead")
    chosen = parser.parse_args(arguments)
    known = LARGER if chosen.rows else PUBLIC
    names = chosen.only or list(known)
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"--only: got {' '.join(unknown)}, expected of {' '.join(known)}")
    with threadpool_limits(1):
        run(
            names, chosen.methods, chosen.splits or (DRAWS if chosen.rows else N_DRAWS), chosen.rows
        )


if __name__ == "__main__":
    main()
