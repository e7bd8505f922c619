"""Tipping (2001) measured again: ``python -m benchmarks.paper regression`` or ``figures``."""

import argparse

from benchmarks import figures, regression


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    table = commands.add_parser("regression", help="the table of section 4.4.1")
    table.add_argument("--repetitions", type=int, default=100)
    table.add_argument("--jobs", type=int, default=2, help="processes, each with one thread")
    table.add_argument(
        "--problem", choices=sorted(regression.PROBLEMS), action="append", help="default: all"
    )
    pictures = commands.add_parser("figures", help="the numbers of figures 1 and 2")
    pictures.add_argument("--draws", type=int, default=50, help="noise draws for figure 2")
    arguments = parser.parse_args()
    if arguments.command == "regression":
        names = arguments.problem or list(regression.PROBLEMS)
        regression.run(names, arguments.repetitions, arguments.jobs)
    else:
        figures.run(arguments.draws)


if __name__ == "__main__":
    main()
