"""Fits share the thread pools of a process, and leave them as they found them."""

import threading
from contextlib import ExitStack

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from relvec import RVC, RVR
from relvec._numerics.linalg import single_threaded
from tests.long_fits.fits import assert_same_fit, curve, iris


def blas():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def two_threads():
    """Pools of two threads each, whatever the machine has."""
    with threadpool_limits(2, user_api="blas"):
        assert set(blas()) == {2}
        yield


class Fitting(threading.Thread):
    """A fit in a thread of its own, which lasts until it may go on."""

    def __init__(self):
        super().__init__()
        self.inside, self.may_go_on = threading.Event(), threading.Event()

    def run(self):
        self.model = RVR(kernel=self.kernel).fit(*curve())

    def kernel(self, X, Z):
        self.inside.set()
        assert self.may_go_on.wait(60)
        return np.exp(-0.1 * (X - Z.T) ** 2)


@pytest.mark.parametrize("first_in", ["here", "there"])
@pytest.mark.parametrize("first_out", ["here", "there"])
def test_fits_that_overlap_leave_the_pools_as_they_found_them(two_threads, first_in, first_out):
    """In whatever order: a pool may only be restored by the thread that limited it."""
    there, here = Fitting(), ExitStack()

    def enter(one):
        if one == "here":
            here.enter_context(single_threaded())
        else:
            there.start()
            assert there.inside.wait(60)

    def leave(one):
        if one == "here":
            here.close()
        else:
            there.may_go_on.set()
            there.join(60)

    for act, first in ((enter, first_in), (leave, first_out)):
        for one in sorted(["here", "there"], key=lambda name: name != first):
            act(one)
    assert set(blas()) == {2}
    with single_threaded():
        assert set(blas()) == {1}
    assert set(blas()) == {2}
    assert np.isfinite(there.model.log_evidence_)


def test_a_fit_within_another_takes_no_thread_back(two_threads):
    with single_threaded():
        with single_threaded():
            assert set(blas()) == {1}
        assert set(blas()) == {1}
    assert set(blas()) == {2}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_fits_that_fail_leave_the_pools_as_they_were(two_threads, error):
    def kernel(X, Z):
        assert set(blas()) == {1}
        raise error

    with pytest.raises(error):
        RVR(kernel=kernel).fit(*curve())
    assert set(blas()) == {2}


def fitted(model, X, y):
    before = blas()
    model.fit(X, y)
    return model, before == blas()


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_fits_in_workers_are_those_of_one_process(two_threads, backend):
    X, y = iris()
    models = [RVC(gamma=gamma) for gamma in (0.1, 0.2, 0.3, 0.4)]
    alone = [RVC(gamma=model.gamma).fit(X, y) for model in models]
    with parallel_config(backend=backend, n_jobs=2):
        together = Parallel()(delayed(fitted)(model, X, y) for model in models)
    assert set(blas()) == {2}
    for (model, unchanged), expected in zip(together, alone, strict=True):
        assert_same_fit(model, expected)
        assert unchanged or backend == "threading"  # where others may be fitting by then


def test_results_do_not_depend_on_the_threads_of_the_process():
    X, y = curve()
    one, two = [], []
    for found, threads in ((one, 1), (two, 2)):
        with threadpool_limits(threads, user_api="blas"):
            found += Parallel(n_jobs=2, backend="threading")(
                delayed(RVR(gamma=gamma).fit)(X, y) for gamma in np.linspace(0.05, 0.2, 6)
            )
    for model, other in zip(one, two, strict=True):
        assert_same_fit(model, other)
