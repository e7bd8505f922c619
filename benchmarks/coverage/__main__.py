"""How often intervals hold what they are to hold: ``python -m benchmarks.coverage``."""

import argparse

from threadpoolctl import threadpool_limits

from benchmarks.coverage import staged, truths


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("part", nargs="?", choices=["truths", "staged", "all"], default="all")
    parser.add_argument("--truths", type=int, default=200)
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--gamma", default="ard", help="of RVR on the real problems")
    parser.add_argument("--ours", action="store_true", help="leave the other methods out")
    parser.add_argument("--only", nargs="+", choices=staged.NAMES, default=staged.NAMES)
    arguments = parser.parse_args()
    with threadpool_limits(1):
        if arguments.part != "staged":
            truths.run(arguments.truths)
        if arguments.part != "truths":
            staged.run(arguments.only, arguments.splits, arguments.gamma, not arguments.ours)


if __name__ == "__main__":
    main()
