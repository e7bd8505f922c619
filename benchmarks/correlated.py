"""Correlated noise beside independent noise, on linear models and on tables in time.

``python -m benchmarks.correlated linear`` draws ten columns that drift in time themselves, with the
correlation 0.8 from row to row, of which three matter, and noise of the correlation ρ. A line has
means over the draws: the learnt ρ, its error in standard errors (root mean square), the share of
the three coefficients in their 95 % intervals, zero for one that was left out, with
``noise_correlation="ar1"``, with ρ known, and with independent noise, columns kept of the three and
of the seven others, and the share of the ten rows after the end in 95 % intervals of `forecast`.

``tables`` predicts a river and batteries, at several times, from the rows before: a line has the
learnt ρ, and the negative log density of the rows that follow and the share of them in 95 %
intervals, by thirds of the time ahead, by `forecast` and under independent noise. The river has the
weather for its inputs, not the flow of the days before.
"""

import argparse
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.stats import norm
from sklearn.preprocessing import StandardScaler

from benchmarks.paper.draws import seeds
from benchmarks.staged import load_staged
from benchmarks.table import print_table
from relvec import SparseBayesianRegressor
from relvec.likelihoods import AR1

Array = NDArray[np.float64]

#: Correlation of the columns from row to row, rows to forecast, and a standard normal's quantile.
DRIFT, AHEAD, REACH = 0.8, 10, float(norm.ppf(0.975))
TRUTH = np.array([1.0, -1.0, 0.5] + [0.0] * 7)


class Measured(NamedTuple):
    """Figures of one draw."""

    rho: float
    error: float  # in standard errors, squared; NaN of a ρ at the end of its range
    inside: float
    inside_known: float
    inside_alone: float
    kept: float
    others: float
    kept_alone: float
    others_alone: float
    ahead: float


def drifting(rho: float, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Autoregressions of variance one along the first axis."""
    drawn = rng.standard_normal(shape) * np.sqrt(1 - rho**2)
    drawn[0] /= np.sqrt(1 - rho**2)
    found: Array = lfilter([1.0], [1.0, -rho], drawn, axis=0)
    return found


def of_coefficients(model: SparseBayesianRegressor) -> tuple[float, float, float]:
    """Share of true coefficients in their intervals, and columns kept of both kinds.

    The interval of a column that was left out is zero.
    """
    std = np.zeros(len(TRUTH))
    std[model.relevance_] = np.sqrt(np.diag(model.weight_covariance_))
    inside = np.abs(model.coef_ - TRUTH) <= REACH * std
    return inside[:3].mean(), np.sum(model.relevance_ < 3), np.sum(model.relevance_ >= 3)


def measured(rho: float, n: int, seed: int) -> Measured:
    """Fit a draw of n rows both ways."""
    rng = np.random.default_rng(seed)
    X = drifting(DRIFT, (n + AHEAD, len(TRUTH)), rng)
    y = X @ TRUTH + drifting(rho, (n + AHEAD,), rng)
    model = SparseBayesianRegressor(noise_correlation="ar1").fit(X[:n], y[:n])
    inside, kept, others = of_coefficients(model)
    known = SparseBayesianRegressor(noise_correlation=AR1(rho)).fit(X[:n], y[:n])
    alone = of_coefficients(SparseBayesianRegressor().fit(X[:n], y[:n]))
    ar1 = model.noise_correlation_
    mean, std = model.forecast(X[n:], return_std=True)
    ahead = np.abs(y[n:] - mean) <= REACH * std
    error = ((ar1.rho - rho) / ar1.std_error) ** 2
    shares = inside, of_coefficients(known)[0], alone[0]
    return Measured(ar1.rho, error, *shares, kept, others, *alone[1:], ahead.mean())


def line(name: str, found: list[Measured]) -> list[str]:
    """Cells of one problem."""
    mean = Measured(*np.nanmean(found, axis=0))
    return [
        name,
        f"{mean.rho:.3f}",
        f"{np.sqrt(mean.error):.2f}",
        f"{100 * mean.inside:.1f}",
        f"{100 * mean.inside_known:.1f}",
        f"{100 * mean.inside_alone:.1f}",
        f"{mean.kept:.2f} + {mean.others:.2f}",
        f"{mean.kept_alone:.2f} + {mean.others_alone:.2f}",
        f"{100 * mean.ahead:.1f}",
    ]


def linear(draws: int) -> None:
    """Print a line a problem."""
    rows = []
    for n in (100, 500):
        for rho in (0.0, 0.5, 0.8, 0.95):
            found = [measured(rho, n, seed) for seed in seeds(draws)]
            rows.append(line(f"rho {rho}, {n} rows", found))
    header = ["problem", "rho", "error", "inside", "rho known", "alone", "kept", "kept alone"]
    print_table([*header, "ahead"], rows)


class Rows(NamedTuple):
    """Rows of one or several series in time."""

    X: Array
    y: Array
    time: Array
    series: Array


class Ahead(NamedTuple):
    """How many steps of time are trained on, are predicted, and lie between the predictions."""

    before: int
    after: int
    every: int


TABLES: Mapping[str, Ahead] = {
    "durance_streamflow": Ahead(500, 30, 100),
    "nasa_battery_capacity": Ahead(80, 15, 15),
    "xjtu_battery_2c": Ahead(100, 30, 50),
}


def table(name: str) -> Rows:
    """Read a table; inputs are finite in all rows."""
    X, y, names = load_staged(name)
    if name == "durance_streamflow":
        weather = [not column.startswith(("year", "Q_")) for column in names]
        return Rows(X[:, weather], y, np.arange(len(y), dtype=np.float64), np.zeros(len(y)))
    finite = np.isfinite(X).all(axis=0)
    cells = (X[:, :1] == np.unique(X[:, 0])).astype(np.float64)
    return Rows(np.hstack([X[:, finite][:, 1:], cells]), y, X[:, 1], X[:, 0])


def parted(rows: Rows, ahead: Ahead) -> Iterator[tuple[Rows, Rows]]:
    """Rows up to some times, and those that follow, with inputs standardised by the former."""
    for end in range(ahead.before, int(rows.time.max()) - ahead.after, ahead.every):
        known = (rows.time > end - ahead.before) & (rows.time <= end)
        known &= np.isin(rows.series, np.unique(rows.series[known & (rows.time == end)]))
        new = (rows.time > end) & (rows.time <= end + ahead.after)
        new &= np.isin(rows.series, rows.series[known])
        scaler = StandardScaler().fit(rows.X[known])
        train, test = (Rows(*(values[some] for values in rows)) for some in (known, new))
        yield train._replace(X=scaler.transform(train.X)), test._replace(X=scaler.transform(test.X))


def of_table(name: str) -> tuple[list[float], Array]:
    """Learnt ρ, and what the predicted rows were, shape (2 kinds of noise, 3 figures, n_rows).

    Figures are the share of the time ahead, the negative log density and whether a row is inside.
    """
    ahead, found, rhos = TABLES[name], [], []
    rows = table(name)
    for train, test in parted(rows, ahead):
        order = {"times": train.time, "series": train.series}
        ar1 = SparseBayesianRegressor(noise_correlation="ar1").fit(train.X, train.y, **order)
        rhos.append(float(ar1.noise_correlation_.rho))
        follow = ar1.forecast(test.X, times=test.time, series=test.series, return_std=True)
        alone = SparseBayesianRegressor().fit(train.X, train.y).predict(test.X, return_std=True)
        share = (test.time - train.time.max()) / ahead.after
        judged = [
            [share, -norm(mean, std).logpdf(test.y), np.abs(test.y - mean) <= REACH * std]
            for mean, std in (follow, alone)
        ]
        found.append(np.array(judged, dtype=np.float64))
    return rhos, np.concatenate(found, axis=2)


def tables() -> None:
    """Print a line a table."""
    rows = []
    for name in TABLES:
        rhos, figures = of_table(name)
        cells = [name, f"{np.mean(rhos):.3f}"]
        for share, density, inside in figures:
            thirds = np.minimum(np.floor(3 * (share - 1e-9)), 2)
            parts = [f"{100 * inside[thirds == third].mean():.1f}" for third in range(3)]
            cells += [f"{density.mean():.3f}", " ".join(parts)]
        rows.append(cells)
    print_table(["table", "rho", "density", "inside, %", "alone", "inside, %"], rows)


def main() -> None:
    """Print one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["linear", "tables"])
    parser.add_argument("--draws", type=int, default=30)
    options = parser.parse_args()
    if options.part == "linear":
        linear(options.draws)
    else:
        tables()


if __name__ == "__main__":
    main()
