"""Speed as ratios in one run, beside what is wanted: ``python -m benchmarks.speed``.

``imports``: processor time of a new process that imports the package, or prints the help of its
command, beside one that imports `sklearn.svm`. ``widths``: that of fits which learn one width, or
one for each input, in fits with ``gamma="scale"`` of the same rows, and the peak memory. ``peers``:
how many times faster than fastrvm, as ``python -m benchmarks.peers`` finds it. Short times are the
shortest of several, of sides that take turns.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec

from benchmarks.peers.__main__ import compare
from benchmarks.scales.problems import PROBLEMS
from benchmarks.table import print_table, verdict
from relvec import RVR
from relvec.exceptions import RelvecWarning

ROUNDS = 3
SKLEARN = "import sklearn.svm"
#: Script of each import, and its time at most beside that of `SKLEARN`.
IMPORTS = {
    "import relvec": ("import relvec", 1.05),
    "relvec --help": ("from relvec._commands.main import main\nmain(['--help'])", 0.15),
}
#: Real problems whose widths are learnt, and fits' time at most that each kind of gamma may take.
LEARNT, KINDS = ("yacht", "energy", "concrete", "boston"), {"evidence": 4.0, "ard": None}
#: How many times faster than fastrvm each problem of so many rows is wanted.
FASTER = {
    ("sinc", 100): 0.5,
    ("sinc", 500): 1.5,
    ("sinc", 1000): 2.5,
    ("sinc", 2000): 5.0,
    ("friedman1", 240): 4.0,
    ("friedman1", 1000): 6.0,
    ("friedman1", 2000): 10.0,
    ("bumpy", 1000): 6.0,
    ("bumpy", 2000): 6.0,
    ("ripley", 250): 1.0,
    ("banana", 400): 4.0,
    ("moons", 1000): 4.0,
    ("german", 700): 20.0,
    ("image", 1300): 50.0,
}
HEADER = ("line", "wanted", "got", "holds", "MiB")


def line(
    name: str, wanted: float | None, got: float, mib: str = "", *, least: bool = False
) -> list[str]:
    """Row of the table; what is wanted is a ratio at most, or at least."""
    if wanted is None:
        return [name, "", f"{got:.2f}", "", mib]
    holds = got >= wanted if least else got <= wanted
    return [name, f"{wanted:g}", f"{got:.2f}", verdict(holds), mib]


def taken(script: str) -> float:
    """Processor time of a new process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The help ends its process by an exception.
    subprocess.run([sys.executable, "-c", script], stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports() -> list[list[str]]:
    scripts = [SKLEARN, *(script for script, _ in IMPORTS.values())]
    rounds = [[taken(script) for script in scripts] for _ in range(ROUNDS)]
    sklearn, *ours = map(min, zip(*rounds, strict=True))
    return [
        line(f"{name}, beside {SKLEARN}", wanted, seconds / sklearn)
        for (name, (_, wanted)), seconds in zip(IMPORTS.items(), ours, strict=True)
    ]


def fits_of(problem: str, kind: str) -> float:
    """Times of a default fit that one with learnt widths takes, which is looked at once."""
    (split,) = PROBLEMS[problem].first(1)

    def seconds(gamma: str) -> float:
        start = time.process_time()
        RVR(gamma=gamma).fit(split.X_train, split.y_train)
        return time.process_time() - start

    plain = min(seconds("scale") for _ in range(ROUNDS))
    return seconds(kind) / plain


def widths() -> list[list[str]]:
    rows = []
    for problem in LEARNT:
        for kind, wanted in KINDS.items():
            command = [sys.executable, "-m", "benchmarks.speed", "--fits", problem, kind]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
            got, mib = json.loads(done.stdout)
            rows.append(line(f"gamma={kind!r}, {problem}, in fits", wanted, got, f"{mib:.0f}"))
    return rows


def peers() -> list[list[str]]:
    if find_spec("fastrvm") is None:
        return [["fastrvm is not installed", "", "", "", ""]]
    rows = []
    for (name, n_samples), wanted in FASTER.items():
        outcome = compare(name, n_samples)
        got = outcome["fastrvm"].seconds / outcome["relvec"].seconds
        rows.append(line(f"{name}, {n_samples} rows, beside fastrvm", wanted, got, least=True))
    return rows


PARTS: dict[str, Callable[[], list[list[str]]]] = {
    "imports": imports,
    "widths": widths,
    "peers": peers,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("part", nargs="?", choices=list(PARTS), help="default: all")
    parser.add_argument("--fits", nargs=2, metavar=("PROBLEM", "GAMMA"), help="print it as JSON")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", RelvecWarning)
    if arguments.fits:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps((fits_of(*arguments.fits), peak / 1024)))
        return
    parts = [arguments.part] if arguments.part else list(PARTS)
    print_table(HEADER, [row for part in parts for row in PARTS[part]()])


if __name__ == "__main__":
    main()
