"""Faults put into a copy of the package one at a time, and whether the tests notice them.

    python -m tests.support.mutants COUNT [SEED]

Tests of the mathematics are run once without a fault, to learn which functions each of them calls
and how long it takes. Then a fault is put to the tests that call its function, those that call and
take least first; one with which they never end is noticed too. Prints what became of every fault.
"""

import gc
import importlib
import os
import pickle
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from time import process_time

import pytest

from tests.support.faults import Fault, drawn

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src", "tests", "benchmarks", "examples", "docs", "pyproject.toml")
TESTS = [
    *("basis", "cases", "design", "evidence", "export", "groups", "likelihoods", "scales"),
    *("solvers", "test_conformal.py", "test_counts.py", "test_evidence.py", "test_gains.py"),
    *("test_golden.py", "test_gradient.py", "test_hyperpriors.py", "test_learnt_noise.py"),
    *("test_leave_one_out.py", "test_linalg.py", "test_posterior.py", "test_regression.py"),
    *("test_row_noise.py", "test_several_targets.py", "test_student_t.py"),
]
#: Seconds of tests that a fault is put to at most, and how many of them are collected at first.
SECONDS, FIRST = 20.0, 30
#: Imported before processes are forked, for all of them.
WARM = ["mpmath", "pandas", "scipy.optimize", "scipy.stats", "sklearn.datasets", "sklearn.pipeline"]


class Calls:
    """What every test calls, as files and first lines of functions, and how long it takes."""

    def __init__(self) -> None:
        self.calls: dict[str, set[tuple[str, int]]] = {}
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        codes, begin = {}, process_time()
        sys.settrace(lambda frame, *_: codes.update({id(frame.f_code): frame.f_code}))
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.seconds.setdefault(item.nodeid, process_time() - begin)
            self.calls[item.nodeid] = {
                (code.co_filename.partition("/src/relvec/")[2], code.co_firstlineno)
                for code in codes.values()
            }

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:  # without a fault: it says nothing of any
            self.seconds[report.nodeid] = float("inf")

    def of(self, fault: Fault) -> list[str]:
        """Tests that a fault is put to."""
        place = fault.path.as_posix(), fault.function
        found = [test for test, calls in self.calls.items() if place in calls]
        found.sort(key=lambda test: (1 + self.seconds[test]) * len(self.calls[test]))
        chosen, left = [], SECONDS
        for test in found:
            if self.seconds[test] <= left:
                left -= self.seconds[test]
                chosen.append(test)
        return chosen


class Chosen:
    """Takes some of the tests that are collected, in an order, and ends the process at a hang."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds
        self.rank = {test: number for number, test in enumerate(seconds)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = (item for item in items if item.nodeid in self.rank)
        items[:] = sorted(chosen, key=lambda item: self.rank[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        signal.setitimer(signal.ITIMER_PROF, 10 + 5 * self.seconds[nodeid])


def run(plugin: object, paths: list[str], *options: str) -> int:
    """Exit status of pytest in the folder at hand."""
    options = ("-q", "-n0", "-p", "no:cacheprovider", *options)
    return int(pytest.main([*options, *paths], plugins=[plugin]))


def in_a_process(work: Callable[[], int]) -> int:
    """Exit status of work in a forked process, negative where a signal ended it."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            status = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def calls_of_tests() -> Calls:
    """Run all tests without a fault."""
    store = Path("calls.pickle")

    def work() -> int:
        calls = Calls()
        run(calls, [f"tests/{name}" for name in TESTS])
        store.write_bytes(pickle.dumps(calls))
        return 0

    in_a_process(work)
    found: Calls = pickle.loads(store.read_bytes())
    return found


def survives(fault: Fault, calls: Calls) -> bool:
    """Whether the tests pass on the copy at hand with a fault."""
    tests = calls.of(fault)

    def work() -> int:
        status = 0
        for part in (tests[:FIRST], tests[FIRST:]):
            files = list(dict.fromkeys(test.partition("::")[0] for test in part))
            if files and status == 0:
                chosen = Chosen({test: calls.seconds[test] for test in part})
                with redirect_stdout(StringIO()):
                    status = run(chosen, files, "-x", "--tb=no")
        return status

    file = Path("src/relvec", fault.path)
    sound = file.read_text(encoding="utf-8")
    file.write_text(fault.source, encoding="utf-8")
    status = in_a_process(work)
    file.write_text(sound, encoding="utf-8")
    return status == 0


def main(count: int, seed: int) -> None:
    """Put so many faults to the tests of a copy, in the folder at hand."""
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, name)
    here = Path.cwd()
    sys.path[:0] = [str(here), str(here / "src")]
    os.environ["PYTHONPATH"] = str(here / "src")
    faults, noticed = drawn(count, seed), 0
    for module in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[module]  # those of the copy are imported
    calls = calls_of_tests()
    sys.dont_write_bytecode = True  # of what has a fault
    for number, fault in enumerate(faults, 1):
        alive = survives(fault, calls)
        noticed += not alive
        sys.stdout.write(f"{number} {'SURVIVED' if alive else 'noticed'} {fault}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{noticed} of {count} noticed, {noticed / count:.1%}\n")


if __name__ == "__main__":
    for name in WARM:
        importlib.import_module(name)
    gc.freeze()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main(int(sys.argv[1]), int((*sys.argv, 0)[2]))
        os.chdir(ROOT)
