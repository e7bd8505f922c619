"""Build the report: measure every part, and write the page."""

import os
import platform
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks.paper.report import (
    classification,
    covariances,
    log_odds,
    priors,
    regression,
    ripley,
    scales,
    sinc,
)
from benchmarks.paper.report.page import Part, render
from benchmarks.paper.report.settings import Settings
from benchmarks.paper.widths import workers

#: Every part by name, in the paper's order; benchmarks/README.md says what each holds.
PARTS: dict[str, Callable[[Settings], Part]] = {
    "sinc": sinc.build,
    "ripley": ripley.build,
    "scales": scales.build,
    "regression": regression.build,
    "classification": classification.build,
    "priors": priors.build,
    "covariances": covariances.build,
    "log-odds": log_odds.build,
}
LIBRARIES = ["relvec", "numpy", "scipy", "scikit-learn"]


def run(
    names: Sequence[str], output: Path, *, repetitions: int | None, quick: bool, jobs: int
) -> None:
    """Measure the parts in `names`, saying how long each takes, and write them to `output`."""
    start = time.perf_counter()
    parts: dict[str, Part] = {}
    with workers(jobs) as parallel:
        settings = Settings(parallel, repetitions, quick)
        for name in names:
            parts[name] = timed(PARTS[name], settings)
            print(f"{name}: {parts[name].seconds:.1f} s", flush=True)
            for what in parts[name].missing:
                print(f"  missing: {what}", flush=True)
            # After every part, so that one who stops a long run keeps what it has found.
            left_out = [other for other in PARTS if other not in parts]
            known = facts(settings, jobs, left_out, time.perf_counter() - start)
            output.write_text(render(list(parts.values()), known), encoding="utf-8")
    print(f"written: {output}")


def timed(build: Callable[[Settings], Part], settings: Settings) -> Part:
    start = time.perf_counter()
    part = build(settings)
    part.seconds = time.perf_counter() - start
    return part


def facts(settings: Settings, jobs: int, left_out: Sequence[str], seconds: float) -> dict[str, str]:
    """Return what a reader must know to measure the same again."""
    counts = "as each table says"
    if settings.repetitions is not None:
        counts = f"{settings.repetitions} where draws are repeated"
    elif settings.quick:
        counts = "few, for a quick report"
    return {
        "Repetitions": counts,
        "Parts left out": ", ".join(left_out) or "none",
        "Libraries": ", ".join(f"{name} {version(name)}" for name in LIBRARIES),
        "Python": platform.python_version(),
        "Machine": f"{platform.machine()}, {os.cpu_count()} cores; {jobs} at work",
        "Time in all": f"{seconds:.0f} s",
        "Date": time.strftime("%Y-%m-%d"),
    }
