"""Speed against fastrvm, a C++ package: ``python -m benchmarks.peers``.

Both sides get the same data and the same Gaussian kernel and otherwise their defaults; in
regression no intercept, so that evidence compares. Each fit runs alone on the machine in a process
of its own, the sides take turns, and the time is the shortest over all runs and thread settings.
Log evidence includes -N/2 log 2 pi: ours is recomputed from the kept functions by
`tests.support.reference`, theirs is the last value of its own trace. Classes are judged by the
share of errors on test rows.
"""

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys

from benchmarks.peers.problems import FAMILIES
from benchmarks.peers.sides import SIDES, Outcome
from benchmarks.table import print_table, verdict

THREADS = (1, 2)
ROUNDS = 3
EVIDENCE_SLACK = 0.5


def run_alone(side: str, name: str, n_samples: int, threads: int) -> Outcome:
    """Run one side in a process of its own with a fixed number of threads."""
    command = [sys.executable, "-m", "benchmarks.peers", "--problem", name, "--side", side]
    limits = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads)
    )
    finished = subprocess.run(
        [*command, "--rows", str(n_samples)],
        env=os.environ | limits,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return Outcome(*json.loads(finished.stdout))


def compare(name: str, n_samples: int) -> dict[str, Outcome]:
    """Let the sides take turns; each keeps its fastest run."""
    best: dict[str, Outcome] = {}
    for _ in range(ROUNDS):
        for threads in THREADS:
            for side in SIDES:
                outcome = run_alone(side, name, n_samples, threads)
                best[side] = min(best.get(side, outcome), outcome)
    return best


def row(name: str, n_samples: int, task: str) -> list[str]:
    outcome = compare(name, n_samples)
    ours, theirs = outcome["relvec"], outcome["fastrvm"]
    ratio = theirs.seconds / ours.seconds
    wanted = FAMILIES[name].wanted(n_samples, ours.n_active)
    if task == "regression":
        scores = [f"{outcome.score:.2f}" for outcome in (ours, theirs)]
        holds = ours.score >= theirs.score - EVIDENCE_SLACK
    else:
        scores = [f"{100 * outcome.score:.1f} %" for outcome in (ours, theirs)]
        holds = ours.score <= theirs.score
    return [
        name,
        str(n_samples),
        f"{ours.seconds:.4f}",
        f"{theirs.seconds:.4f}",
        f"{ratio:.2f}",
        "" if wanted is None else f"{wanted:.2f}",
        "" if wanted is None else verdict(ratio >= wanted),
        str(ours.n_active),
        str(theirs.n_active),
        *scores,
        verdict(holds),
    ]


def profile(name: str, n_samples: int) -> None:
    """Print where the time of our side goes, over the fits that it times."""
    problem = FAMILIES[name].draw(n_samples)
    profiler = cProfile.Profile()
    profiler.runcall(SIDES["relvec"], problem)
    print(f"{name}, {n_samples} rows")
    pstats.Stats(profiler).sort_stats("tottime").print_stats(20)


def print_tables(sizes: list[tuple[str, int]]) -> None:
    print(__doc__)
    common = ["problem", "N", "relvec s", "fastrvm s", "faster", "wanted", "holds"]
    common += ["our vectors", "theirs"]
    judged = {
        "regression": ["our evidence", "theirs", "as high"],
        "classification": ["our errors", "theirs", "no more"],
    }
    for task, columns in judged.items():
        rows = [
            row(name, n_samples, task)
            for name, n_samples in sizes
            if FAMILIES[name].draw(n_samples).task == task
        ]
        if rows:
            print_table(common + columns, rows)
            print()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--problem", choices=sorted(FAMILIES), help="default: all")
    parser.add_argument("--rows", type=int, help="default: every size of the problem")
    parser.add_argument("--profile", action="store_true", help="profile our side instead")
    parser.add_argument("--side", choices=sorted(SIDES), help="fit once, print the outcome as JSON")
    arguments = parser.parse_args()
    sizes = [
        (name, n_samples)
        for name in ([arguments.problem] if arguments.problem else FAMILIES)
        for n_samples in ([arguments.rows] if arguments.rows else FAMILIES[name].sizes)
    ]
    if arguments.side:
        for name, n_samples in sizes:
            print(json.dumps(SIDES[arguments.side](FAMILIES[name].draw(n_samples))))
    elif arguments.profile:
        for name, n_samples in sizes:
            profile(name, n_samples)
    else:
        print_tables(sizes)


if __name__ == "__main__":
    main()
