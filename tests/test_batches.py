"""Predictions by batches are those of all rows at once, on as many threads as BLAS has."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from relvec import RVR
from relvec._fitting import batches
from relvec._fitting.batches import by_batches, rows_of_a_batch
from tests.support.inputs import noisy_sinc
from tests.support.machines import answers


def test_batches_hold_what_fits_in_cache_but_never_few_rows_or_more_than_may_be_held():
    assert rows_of_a_batch(20) * 20 <= batches.CACHED < (rows_of_a_batch(20) + 1) * 20
    assert rows_of_a_batch(1000) == batches.ROWS
    assert rows_of_a_batch(100_000) * 100_000 <= batches.MOST
    assert rows_of_a_batch(10 * batches.MOST) == 1
    assert rows_of_a_batch(0) == batches.CACHED


def seen_by_threads(limit, rows):
    """Threads that batches are looked at on, one after the other or two together."""
    meeting, seen = threading.Barrier(limit), set()

    def look(some):
        meeting.wait(60)
        seen.add(threading.get_ident())
        return some

    with threadpool_limits(limit, user_api="blas"):
        found = by_batches(look, rows, batches.MOST)
    np.testing.assert_array_equal(found, rows)
    return seen


@pytest.mark.parametrize("limit", [1, 2])
def test_as_many_batches_together_as_blas_has_threads(limit):
    assert len(seen_by_threads(limit, np.arange(6.0)[:, None])) == limit


def test_what_one_batch_raises_is_raised():
    def fails(some):
        if 3.0 in some:
            raise OverflowError("at three")
        return some

    with threadpool_limits(2, user_api="blas"), pytest.raises(OverflowError, match="at three"):
        by_batches(fails, np.arange(6.0)[:, None], batches.MOST)


@pytest.mark.parametrize("augment", [False, True])
def test_predictions_do_not_depend_on_threads_and_batches(machine, augment, monkeypatch):
    X, y = noisy_sinc(40, seed=4)
    model = machine.make(augment=augment).fit(X, machine.target(y))
    queries = np.linspace(-15, 15, 61)[:, None]
    together = answers(model, queries)
    monkeypatch.setattr("relvec._fitting.batches.CACHED", 100)
    monkeypatch.setattr("relvec._fitting.batches.ROWS", 3)
    for limit in (1, 2):
        with threadpool_limits(limit, user_api="blas"):
            np.testing.assert_allclose(answers(model, queries), together, rtol=1e-9)


def test_error_bars_of_many_rows_are_those_of_few():
    rng = np.random.RandomState(0)
    X, queries = rng.standard_normal((200, 3)), rng.standard_normal((30_000, 3))
    model = RVR(gamma=0.1).fit(X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(200))
    assert len(queries) > 2 * rows_of_a_batch(len(model.relevance_))
    mean, std = model.predict(queries, return_std=True)
    few = np.append(np.arange(5), 30_000 - np.arange(1, 6))
    for many, alone in zip((mean, std), model.predict(queries[few], return_std=True), strict=True):
        np.testing.assert_allclose(many[few], alone, rtol=1e-12)
