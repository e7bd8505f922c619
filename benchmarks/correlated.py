"""Correlated noise beside independent noise, on linear models whose noise is an autoregression.

``python -m benchmarks.correlated`` draws ten columns that drift in time themselves, with the
correlation 0.8 from row to row, of which three matter, and noise of the correlation ρ. A line has
means over the draws: the learnt ρ, its error in standard errors (root mean square), the share of
the three coefficients in their 95 % intervals, columns kept of the three and of the seven others,
with ``noise_correlation="ar1"`` and with independent noise, and the share of the ten rows after the
end in 95 % intervals of `forecast`.
"""

import argparse
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.stats import norm

from benchmarks.paper.draws import seeds
from benchmarks.table import print_table
from relvec import SparseBayesianRegressor

Array = NDArray[np.float64]

#: Correlation of the columns from row to row, rows to forecast, and a standard normal's quantile.
DRIFT, AHEAD, REACH = 0.8, 10, float(norm.ppf(0.975))
TRUTH = np.array([1.0, -1.0, 0.5] + [0.0] * 7)


class Measured(NamedTuple):
    """Figures of one draw."""

    rho: float
    error: float  # in standard errors, squared; NaN of a ρ at the end of its range
    inside: float
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
    alone = of_coefficients(SparseBayesianRegressor().fit(X[:n], y[:n]))
    ar1 = model.noise_correlation_
    mean, std = model.forecast(X[n:], return_std=True)
    ahead = np.abs(y[n:] - mean) <= REACH * std
    error = ((ar1.rho - rho) / ar1.std_error) ** 2
    return Measured(ar1.rho, error, inside, alone[0], kept, others, *alone[1:], ahead.mean())


def line(name: str, found: list[Measured]) -> list[str]:
    """Cells of one problem."""
    mean = Measured(*np.nanmean(found, axis=0))
    return [
        name,
        f"{mean.rho:.3f}",
        f"{np.sqrt(mean.error):.2f}",
        f"{100 * mean.inside:.1f}",
        f"{100 * mean.inside_alone:.1f}",
        f"{mean.kept:.2f} + {mean.others:.2f}",
        f"{mean.kept_alone:.2f} + {mean.others_alone:.2f}",
        f"{100 * mean.ahead:.1f}",
    ]


def main() -> None:
    """Print a line a problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=30)
    options, rows = parser.parse_args(), []
    for n in (100, 500):
        for rho in (0.0, 0.5, 0.8, 0.95):
            found = [measured(rho, n, seed) for seed in seeds(options.draws)]
            rows.append(line(f"rho {rho}, {n} rows", found))
    print_table(
        ["problem", "rho", "error", "inside", "alone", "kept", "kept alone", "ahead"],
        rows,
    )


if __name__ == "__main__":
    main()
