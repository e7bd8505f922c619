"""Fits whose rows are with worker processes, some of which die."""

import os
import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from relvec import RVC, RVR
from tests.support import needs

da = needs.library("dask.array")
needs.library("distributed")

N = 400


@pytest.fixture
def data(rng):
    X = rng.standard_normal((N, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(N)


def in_dask(X, y):
    return da.from_array(X, chunks=(90, 1)), da.from_array(y, chunks=130)


def fatal(directory, n):
    """A kernel that kills the worker that evaluates it for the n-th time in all, once."""
    here, log, killed = os.getpid(), directory / "evaluations", directory / "killed"

    def kernel(X, Z):
        if os.getpid() != here:
            with log.open("a") as file:
                file.write(".")
            if log.stat().st_size >= n and not killed.exists():
                killed.write_text(str(os.getpid()))
                os.kill(os.getpid(), signal.SIGKILL)
        return rbf_kernel(X, Z, gamma=0.5)

    return kernel, killed


def pids(cluster):
    return set(cluster.run(os.getpid).values())


MODELS = [
    # evaluation by which there are results, some of which are lost with the worker
    pytest.param(RVR(), 4, id="regression"),
    pytest.param(RVC(tol=1.0), 25, id="classes", marks=pytest.mark.slow),  # hundreds of passes
]


def target(model, y):
    return y > 0.3 if isinstance(model, RVC) else y


@pytest.mark.parametrize(("model", "_"), MODELS)
def test_the_answer_is_that_in_memory(cluster, data, model, _):
    X, y = data
    y = target(model, y)
    model.set_params(kernel="rbf", centers=X[::80])
    here = model.fit(X, y)
    relevant, expected = here.relevance_, here.predict(X)
    there = model.fit(*in_dask(X, y))
    assert_array_equal(there.relevance_, relevant)
    assert_allclose(there.predict(X), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("model", "evaluation"), MODELS)
def test_a_worker_that_is_killed_is_made_up_for(cluster, data, tmp_path, model, evaluation):
    X, y = data
    y = target(model, y)
    kernel, killed = fatal(tmp_path, evaluation)
    model.set_params(kernel=kernel, centers=X[::80])
    here = model.fit(X, y)
    assert not killed.exists()
    relevant, evidence, expected = here.relevance_, here.log_evidence_, here.predict(X)
    before = pids(cluster)
    there = model.fit(*in_dask(X, y))
    assert int(killed.read_text()) in before
    assert_array_equal(there.relevance_, relevant)
    assert_allclose(there.log_evidence_, evidence, rtol=1e-9)
    assert_allclose(there.predict(X), expected, rtol=1e-8, atol=1e-8)
    cluster.wait_for_workers(2, timeout=60)
    assert int(killed.read_text()) not in pids(cluster)
