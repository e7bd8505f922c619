"""What must not matter: units, origins, orders, copies, threads, and when it was done."""

import subprocess
import sys

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.random import RandomState
from threadpoolctl import threadpool_limits

from relvec import RVR, SparseBayesianRegressor
from relvec.basis import Columns
from tests.support.machines import MACHINES, answers

pytestmark = pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")

#: Roundings enter in another order; what they change is this far under the digits of an answer.
CLOSE = {"rtol": 1e-5, "atol": 1e-6}
machines = st.sampled_from(list(MACHINES.values()))
seeds = st.integers(0, 2**31)


def problem(seed, n=24, d=2):
    """A function of two inputs, with noise that leaves no doubt which model is best."""
    draw = RandomState(seed)
    X = draw.standard_normal((n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * draw.standard_normal(n)


def fitted(machine, X, y, **parameters):
    return machine.make(**parameters).fit(X, y)


@given(seeds, st.floats(-60, 60), st.booleans(), st.floats(-1e3, 1e3))
def test_unit_and_origin_of_the_target(seed, power, mirrored, shift):
    X, y = problem(seed)
    a = 10.0**power * (-1 if mirrored else 1)
    b = a * shift
    plain, moved = RVR().fit(X, y), RVR().fit(X, a * y + b)
    mean, std = plain.predict(X, return_std=True)
    np.testing.assert_allclose((moved.predict(X) - b) / a, mean, **CLOSE)
    np.testing.assert_allclose(moved.predict(X, return_std=True)[1] / abs(a), std, **CLOSE)
    evidence = plain.log_evidence_ - (len(y) - 1) * np.log(abs(a))
    assert moved.log_evidence_ == pytest.approx(evidence, abs=1e-4)


@given(seeds, machines, st.floats(-60, 60), st.sampled_from(["rbf", "poly"]))
def test_unit_of_the_inputs(seed, machine, power, kernel):
    X, y = problem(seed)
    c, y = 10.0**power, machine.target(y)
    plain = fitted(machine, X, y, kernel=kernel, gamma="scale")
    moved = fitted(machine, c * X, y, kernel=kernel, gamma="scale")
    np.testing.assert_allclose(answers(moved, c * X), answers(plain, X), **CLOSE)


@given(seeds, machines)
def test_order_of_the_rows(seed, machine):
    X, y = problem(seed)
    y, order = machine.target(y), RandomState(seed).permutation(len(X))
    plain, mixed = fitted(machine, X, y), fitted(machine, X[order], y[order])
    np.testing.assert_allclose(answers(mixed, X), answers(plain, X), **CLOSE)


@given(seeds, machines, st.lists(st.integers(0, 3), min_size=24, max_size=24))
def test_copies_of_rows_are_weights(seed, machine, copies):
    X, y = problem(seed)
    y, copies = machine.target(y), np.maximum(copies, (np.arange(24) % 5 == 0).astype(int))
    if len(np.unique(y[copies > 0])) < len(np.unique(y)) and y.dtype.kind == "i":
        copies = np.maximum(copies, 1)  # no class may vanish
    weighted = machine.make().fit(X, y, sample_weight=copies)
    repeated = machine.make().fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    np.testing.assert_allclose(answers(weighted, X), answers(repeated, X), **CLOSE)


@given(seeds, machines, st.sampled_from(["rbf", Columns()]))
def test_order_of_the_columns(seed, machine, kernel):
    X, y = problem(seed, d=4)
    y, order = machine.target(y), RandomState(seed).permutation(4)
    plain = fitted(machine, X, y, kernel=kernel)
    mixed = fitted(machine, X[:, order], y, kernel=kernel)
    np.testing.assert_allclose(answers(mixed, X[:, order]), answers(plain, X), **CLOSE)


@given(seeds)
def test_order_of_the_columns_of_a_linear_model(seed):
    X, y = problem(seed, n=40, d=6)
    order = RandomState(seed).permutation(6)
    plain, mixed = (
        SparseBayesianRegressor().fit(X, y),
        SparseBayesianRegressor().fit(X[:, order], y),
    )
    np.testing.assert_allclose(mixed.coef_, plain.coef_[order], **CLOSE)


@pytest.mark.parametrize("seed", range(3))
def test_order_of_the_columns_while_their_scales_are_learnt(seed):
    X, y = problem(seed, n=40, d=3)
    order = np.array([2, 0, 1])
    plain, mixed = RVR(gamma="ard").fit(X, y), RVR(gamma="ard").fit(X[:, order], y)
    np.testing.assert_allclose(mixed.log_evidence_, plain.log_evidence_, atol=1e-3)
    np.testing.assert_allclose(mixed.gamma_, plain.gamma_[order], rtol=1e-2, atol=1e-6)


@given(seeds, machines)
def test_number_of_threads(seed, machine):
    X, y = problem(seed, n=60)
    y, found = machine.target(y), []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(answers(fitted(machine, X, y), X))
    np.testing.assert_allclose(found[1], found[0], **CLOSE)


@given(seeds, machines)
def test_a_second_run_gives_the_same_bits(seed, machine):
    X, y = problem(seed)
    one, two = (answers(fitted(machine, X, machine.target(y)), X) for _ in range(2))
    np.testing.assert_array_equal(one, two)


RUN = """
import sys
from tests.support.machines import MACHINES, answers
from tests.properties.test_invariance import problem
X, y = problem(5)
for machine in MACHINES.values():
    sys.stdout.write(answers(machine.make().fit(X, machine.target(y)), X).tobytes().hex() + "\\n")
"""


def test_another_process_gives_the_same_bits():
    X, y = problem(5)
    told = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    here = [answers(m.make().fit(X, m.target(y)), X).tobytes().hex() for m in MACHINES.values()]
    assert told.stdout.split() == here
