"""How often intervals hold what they are to hold: ``python -m benchmarks.coverage``."""

import argparse

from threadpoolctl import threadpool_limits

from benchmarks.coverage import causes, staged, truths


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument(
        "part", nargs="?", choices=["truths", "staged", "causes", "all"], default="all"
    )
    parser.add_argument("--truths", type=int, default=200)
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--rows", type=int, default=1000, help="of real problems to train on")
    parser.add_argument("--gamma", default="scale", help="of RVR on the real problems")
    parser.add_argument(
        "--also",
        nargs="*",
        choices=["chosen", "others"],
        default=["chosen", "others"],
        help="models beside the default one",
    )
    parser.add_argument(
        "--only", nargs="+", choices=staged.NAMES + staged.SHUFFLED, default=staged.NAMES
    )
    arguments = parser.parse_args()
    real = arguments.only, arguments.splits, arguments.rows, arguments.gamma
    with threadpool_limits(1):
        if arguments.part in ("truths", "all"):
            truths.run(arguments.truths)
        if arguments.part in ("staged", "all"):
            staged.run(*real, also=arguments.also)
        if arguments.part in ("causes", "all"):
            causes.run(*real, times=arguments.truths)


if __name__ == "__main__":
    main()
