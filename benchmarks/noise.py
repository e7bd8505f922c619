"""Learnt noise that varies beside constant noise, on functions whose noise is known and on tables.

``python -m benchmarks.noise functions`` draws the functions of Goldberg et al. (1998), of Yuan and
Wahba (2004) and of Williams (1996), and even noise; ``tables`` takes the splits of `benchmarks.uci`
of five sets, standardised. A line has means over the draws or splits: in how many the noise varies,
the negative log density of test rows under learnt and constant noise and, where it is known, under
the truth, the largest loss of learnt noise in a draw, the root mean square error of the log
standard deviation, and the share of test rows in intervals of 95 %, by thirds of x or of all.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.preprocessing import StandardScaler

from benchmarks.paper.draws import seeds
from benchmarks.table import print_table
from benchmarks.uci.problems import PUBLIC, diabetes, few_rows
from relvec import RVR

Array = NDArray[np.float64]

#: Test rows of a draw, and of each third, and tables with the rows that are trained on at most.
N_TEST, TABLES = 3000, {"concrete": 1000, "energy": 1000, "yacht": 1000, "protein": 800}


class Truth(NamedTuple):
    """A function of one input, and the standard deviation of its noise."""

    end: float  # inputs are uniform from 0 on
    mean: Callable[[Array], Array]
    std: Callable[[Array], Array]

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Inputs (n, 1) in their order, and targets."""
        x = np.sort(rng.uniform(0, self.end, n))
        return x[:, None], self.mean(x) + self.std(x) * rng.standard_normal(n)


TRUTHS: Mapping[str, Truth] = {
    "Goldberg": Truth(1, lambda x: 2 * np.sin(2 * np.pi * x), lambda x: 0.5 + x),
    "Yuan, Wahba": Truth(
        1,
        lambda x: 2 * (np.exp(-30 * (x - 0.25) ** 2) + np.sin(np.pi * x**2)) - 2,
        lambda x: np.exp(0.5 * np.sin(2 * np.pi * x)),
    ),
    "Williams": Truth(
        np.pi,
        lambda x: np.sin(2.5 * x) * np.sin(1.5 * x),
        lambda x: 0.01 + 0.25 * (1 - np.sin(2.5 * x)) ** 2,
    ),
    "even": Truth(1, lambda x: 2 * np.sin(2 * np.pi * x), lambda x: np.full(len(x), 0.5)),
}


class Measured(NamedTuple):
    """Figures of one draw or split."""

    varies: bool
    learnt: float
    constant: float
    truth: float
    std_error: float
    inside: Array  # (n_parts,)


def of_truth(truth: Truth, n: int, seed: int) -> Measured:
    """Fit a draw of n rows with a tenth of the range for the width of the kernel."""
    rng = np.random.default_rng(seed)
    (X, y), (X_new, y_new) = truth.draw(n, rng), truth.draw(N_TEST, rng)
    std, gamma = truth.std(X_new[:, 0]), 10 / truth.end**2
    known = norm(truth.mean(X_new[:, 0]), std).logpdf(y_new)
    return measured(gamma, (X, y), (X_new, y_new), float(-known.mean()), std, 3)


def measured(
    gamma: str | float,
    train: tuple[Array, Array],
    test: tuple[Array, Array],
    truth: float = np.nan,
    std: float | Array = np.nan,
    n_parts: int = 1,
) -> Measured:
    """Fit both kinds of noise to rows, and judge them on others."""
    learnt = RVR(gamma=gamma, noise="learnt").fit(*train)
    constant = RVR(gamma=gamma).fit(*train)
    lower, upper = learnt.predict_interval(test[0])
    inside = np.array_split((lower <= test[1]) & (test[1] <= upper), n_parts)
    return Measured(
        len(learnt.noise_summary()) > 0,
        float(-learnt.predict_log_density(*test).mean()),
        float(-constant.predict_log_density(*test).mean()),
        truth,
        float(np.sqrt(np.mean(np.log(learnt.predict_noise(test[0]) / std) ** 2))),
        np.array([part.mean() for part in inside]),
    )


def of_table(name: str, n_splits: int) -> Iterator[Measured]:
    """Fit the training rows of public splits, or some of them, with the defaults."""
    whole = few_rows(diabetes(), 1000) if name == "diabetes" else PUBLIC[name]()
    for split in islice(whole, n_splits):
        most = np.random.RandomState(0).permutation(len(split.y_train))[: TABLES.get(name, 1000)]
        scaler = StandardScaler().fit(split.X_train[most])
        train = scaler.transform(split.X_train[most]), split.y_train[most]
        yield measured("scale", train, (scaler.transform(split.X_test), split.y_test))


def line(name: str, found: list[Measured]) -> list[str]:
    """Cells of one problem."""
    worst = max(one.learnt - one.constant for one in found)
    mean = Measured(*(np.mean([one[k] for one in found], axis=0) for k in range(6)))
    numbers = mean.learnt, mean.constant, worst, mean.truth, mean.std_error
    return [
        name,
        f"{sum(one.varies for one in found)} of {len(found)}",
        *("" if np.isnan(number) else f"{number:.3f}" for number in numbers),
        " ".join(f"{100 * part:.1f}" for part in mean.inside),
    ]


def main() -> None:
    """Print a line a problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["functions", "tables"])
    parser.add_argument("--draws", type=int, default=20)
    options, rows = parser.parse_args(), []
    if options.part == "functions":
        for name, truth in TRUTHS.items():
            for n in (100, 200):
                found = [of_truth(truth, n, seed) for seed in seeds(options.draws)]
                rows.append(line(f"{name}, {n} rows", found))
    else:
        names = [*TABLES, "diabetes"]
        rows += [line(name, list(of_table(name, options.draws))) for name in names]
    print_table(
        ["problem", "varies", "learnt", "constant", "worst", "truth", "log sd", "inside, %"], rows
    )


if __name__ == "__main__":
    main()
