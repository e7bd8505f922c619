"""Benchmarks follow the package: each can be imported, whatever it takes to run."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_benchmark_can_be_imported(path):
    import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
