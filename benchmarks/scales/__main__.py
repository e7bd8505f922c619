"""Gain by learnt input scales: ``python -m benchmarks.scales``, then a table."""

import argparse
from collections.abc import Collection
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.scales import defaults, friedman, gaussian_process, toy, widths
from benchmarks.scales.problems import PROBLEMS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scales", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for add in (add_defaults, add_gp, add_friedman, add_toy, add_widths):
        add(commands)
    arguments = parser.parse_args()
    with threadpool_limits(1):
        arguments.run(arguments)


def add_defaults(commands: Any) -> None:
    parser = commands.add_parser("defaults", help="every kind of gamma on real problems")
    add_problems(parser, PROBLEMS, 3)
    parser.add_argument("--search", action="store_true", help="a cross-validated width too")

    def run(arguments: argparse.Namespace) -> None:
        defaults.run(arguments.only or list(PROBLEMS), arguments.splits, arguments.search)

    parser.set_defaults(run=run)


def add_gp(commands: Any) -> None:
    parser = commands.add_parser("gp", help="against scikit-learn's Gaussian process")
    add_problems(parser, gaussian_process.NAMES, 3)

    def run(arguments: argparse.Namespace) -> None:
        gaussian_process.run(arguments.only or gaussian_process.NAMES, arguments.splits)

    parser.set_defaults(run=run)


def add_friedman(commands: Any) -> None:
    parser = commands.add_parser("friedman", help="Friedman's function 1")
    parser.add_argument("--repetitions", type=int, default=100)
    parser.set_defaults(run=lambda arguments: friedman.run(arguments.repetitions))


def add_toy(commands: Any) -> None:
    parser = commands.add_parser("toy", help="section 4.3 of Tipping (2001)")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.set_defaults(run=lambda arguments: toy.run(arguments.repetitions))


def add_widths(commands: Any) -> None:
    parser = commands.add_parser("widths", help="criteria that choose one width")
    parser.add_argument("--repetitions", type=int, default=50)
    parser.set_defaults(run=lambda arguments: widths.run(arguments.repetitions))


def add_problems(parser: argparse.ArgumentParser, names: Collection[str], n_splits: int) -> None:
    parser.add_argument("--only", choices=names, action="append", help="default: all problems")
    parser.add_argument("--splits", type=int, default=n_splits, help="at most so many a problem")


if __name__ == "__main__":
    main()
