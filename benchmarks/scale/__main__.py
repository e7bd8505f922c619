"""What fits of many rows take, and what they hold: ``python -m benchmarks.scale``, or a part of it.

Every part runs in a process of its own, so that its peak of memory is its own. As many threads are
used as BLAS has: set OMP_NUM_THREADS. Time a quiet machine only.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.scale import (
    block,
    classes,
    gaussian,
    predict,
    real,
    resumed,
    same,
    shuttle,
    sparse,
)

PARTS: dict[str, Callable[[Any], None]] = {
    "block": lambda arguments: block.run(arguments.quick),
    "gaussian": lambda arguments: gaussian.run(arguments.quick),
    "classes": lambda arguments: classes.run(arguments.quick),
    "real": lambda arguments: real.run(arguments.only, arguments.quick),
    "shuttle": lambda arguments: shuttle.run(arguments.quick),
    "sparse": lambda arguments: sparse.run(arguments.quick),
    "predict": lambda arguments: predict.run(arguments.quick),
    "same": lambda arguments: same.run(arguments.quick),
    "resumed": lambda arguments: resumed.run(arguments.quick),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("part", nargs="?", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--quick", action="store_true", help="fewer rows and centres")
    parser.add_argument("--only", nargs="+", choices=real.NAMES, default=real.NAMES, help="of real")
    arguments = parser.parse_args()
    if arguments.part != "all":
        PARTS[arguments.part](arguments)
        return
    options = ["--quick"] * arguments.quick + ["--only", *arguments.only]
    ended = [
        subprocess.run([sys.executable, "-m", "benchmarks.scale", part, *options]).returncode
        for part in PARTS
    ]
    sys.exit(max(ended))


if __name__ == "__main__":
    main()
