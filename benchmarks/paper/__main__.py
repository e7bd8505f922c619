"""Tipping (2001) measured again: ``python -m benchmarks.paper``, then a table or figure."""

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from benchmarks.paper import calibration, classification, regression, ripley, sinc, usps
from benchmarks.paper.report import build
from benchmarks.paper.report.build import PARTS


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for add in (
        add_all,
        add_regression,
        add_figures,
        add_classification,
        add_ripley,
        add_calibration,
    ):
        add(commands)
    parsed = parser.parse_args(arguments)
    parsed.run(parsed)


def add_all(commands: Any) -> None:
    parser = commands.add_parser("all", help="every table and figure, as one HTML file")
    parser.add_argument("--output", type=Path, default=Path("report.html"), help="the file")
    parser.add_argument("--only", choices=list(PARTS), action="append", help="default: all parts")
    parser.add_argument(
        "--repetitions", type=at_least_two, help="of every draw; default: as each table usually has"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few repetitions, and no handwritten digits"
    )
    add_jobs(parser, 1)

    def run(arguments: argparse.Namespace) -> None:
        build.run(
            [name for name in PARTS if name in (arguments.only or PARTS)],
            arguments.output,
            repetitions=arguments.repetitions,
            quick=arguments.quick,
            jobs=arguments.jobs,
        )

    parser.set_defaults(run=run)


def at_least_two(text: str) -> int:
    """Read a count that has a standard error."""
    if (count := int(text)) < 2:
        raise argparse.ArgumentTypeError(f"{text}, expected at least 2, for a standard error")
    return count


def add_regression(commands: Any) -> None:
    parser = commands.add_parser("regression", help="the table of section 4.4.1")
    parser.add_argument("--repetitions", type=int, default=100)
    add_jobs(parser, 2)
    add_problem(parser, regression.PROBLEMS, "default: all")

    def run(arguments: argparse.Namespace) -> None:
        names = arguments.problem or list(regression.PROBLEMS)
        regression.run(names, arguments.repetitions, arguments.jobs)

    parser.set_defaults(run=run)


def add_figures(commands: Any) -> None:
    parser = commands.add_parser("figures", help="the numbers of figures 1 and 2")
    parser.add_argument("--draws", type=int, default=50, help="noise draws for figure 2")
    parser.set_defaults(run=lambda arguments: sinc.run(arguments.draws))


def add_classification(commands: Any) -> None:
    parser = commands.add_parser("classification", help="the table of section 4.4.2")
    add_splits(parser)
    add_jobs(parser, 1)
    add_problem(parser, [*classification.PROBLEMS, "usps"], "default: all but usps")

    def run(arguments: argparse.Namespace) -> None:
        names = arguments.problem or list(classification.PROBLEMS)
        with_splits = [name for name in names if name != "usps"]
        if with_splits:
            classification.run(with_splits, arguments.splits, arguments.jobs)
        if "usps" in names:
            usps.run(arguments.jobs)

    parser.set_defaults(run=run)


def add_ripley(commands: Any) -> None:
    parser = commands.add_parser("ripley", help="figure 3, over draws of its training rows")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("ripley.png"), help="the picture")
    parser.set_defaults(run=lambda arguments: ripley.run(arguments.draws, arguments.out))


def add_calibration(commands: Any) -> None:
    parser = commands.add_parser("calibration", help="appendix D.2, and three real problems")
    parser.add_argument("--draws", type=int, default=20, help="draws for appendix D.2")
    add_splits(parser)
    add_jobs(parser, 1)
    parser.set_defaults(
        run=lambda arguments: calibration.run(arguments.draws, arguments.splits, arguments.jobs)
    )


def add_problem(parser: argparse.ArgumentParser, names: Collection[str], text: str) -> None:
    parser.add_argument("--problem", choices=sorted(names), action="append", help=text)


def add_splits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--splits", type=int, default=10, help="how many of the ten splits")


def add_jobs(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument("--jobs", type=int, default=default, help="processes, each with one thread")


if __name__ == "__main__":
    main()
