"""Fits of every kind that passes are made in, and the places where they may end early."""

from contextlib import contextmanager

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_moons

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec._runner import Runner
from relvec.datasets import make_sinc
from tests.support import needs


def curve():
    return make_sinc(60, noise_scale=0.1, random_state=0)


def moons():
    return make_moons(60, noise=0.2, random_state=0)


def iris():
    X, y = load_iris(return_X_y=True)
    return X[::3], y[::3]


def two_inputs():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((40, 2))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(40)


def counts():
    X, y = curve()
    return X, np.round(5 * np.abs(y))


def pair():
    X, y = curve()
    return X, np.column_stack([y, y**2])


def sparse_counts():
    X, y = counts()
    return csr_array(X), y


def in_dask():
    da = needs.library("dask.array")
    X, y = curve()
    targets = np.column_stack([y, y + 0.1 * X[:, 0]])
    return da.from_array(X, chunks=(25, 1)), da.from_array(targets, chunks=(25, 2))


#: An estimator for every loop of passes there is, and data.
FITS = {
    "starts": (RVR(gamma=0.1, n_starts=4), curve),
    "em": (RVR(gamma=0.1, solver="em", tol=0.3), curve),
    "fixed point": (RVR(gamma=0.1, solver="fixed_point"), curve),
    "variational": (RVR(gamma=0.1, solver="variational", tol=0.3), curve),
    "student t": (RVR(gamma=0.1, likelihood="student_t"), curve),
    "poisson": (RVR(gamma=0.1, likelihood="poisson"), counts),
    "two targets": (RVR(gamma=0.1, multi_output="independent"), pair),
    "ard": (RVR(gamma="ard"), two_inputs),
    "linear": (SparseBayesianRegressor(), two_inputs),
    "two classes": (RVC(gamma=1.0, n_starts=3), moons),
    "bound": (RVC(gamma=1.0, solver="variational", tol=1.0), moons),
    "evidence": (RVC(gamma="evidence"), moons),
    "one against the rest": (RVC(gamma=0.3, multi_class="ovr"), iris),
    "linear classes": (SparseBayesianClassifier(), iris),
}
#: The same of rows that are elsewhere.
ELSEWHERE = {
    "sparse rows": (RVR(likelihood="poisson", centers=9, tol=1, random_state=0), sparse_counts),
    "rows in Dask": (RVR(multi_output="independent", centers=9, random_state=0), in_dask),
}
#: Those that take a second or more.
LONG = {"em", "variational", "ard", "bound", "evidence"}
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in FITS]


@contextmanager
def ending(monkeypatch, error, at, *, passes=False):
    """Let a fit end with an error when so many results, or passes, are kept; yields them."""
    keep, once, found = Runner._keep, Runner.once, []

    def reached(result):
        found.append(result)
        if len(found) == at:
            raise error
        return result

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "_keep", lambda self, state: reached(keep(self, state) or state))
        if not passes:
            patch.setattr(Runner, "once", lambda self, compute: reached(once(self, compute)))
        yield found


def assert_same_fit(found, expected):
    """Everything that was learnt is the same, but for rounding, and so is the way there."""
    np.testing.assert_array_equal(found.relevance_, expected.relevance_)
    scale = np.abs(expected.dual_coef_).max(initial=0.0)
    # where the evidence is at its maximum, a weight moves by the root of what that loses
    np.testing.assert_allclose(found.dual_coef_, expected.dual_coef_, rtol=1e-8, atol=1e-8 * scale)
    # an evidence near zero is a sum of a hundred terms that cancel
    evidence = {"rtol": 1e-10, "atol": 1e-9}
    np.testing.assert_allclose(found.log_evidence_, expected.log_evidence_, **evidence)
    assert (found.n_iter_, found.status_) == (expected.n_iter_, expected.status_)
    for row, there in zip(found.history_, expected.history_, strict=True):
        assert (row.start, row.machine) == (there.start, there.machine)
        assert row.n_active == there.n_active
        # a pass that is not at rest magnifies what another order of orthogonalisation rounds away
        np.testing.assert_allclose(row.log_evidence, there.log_evidence, rtol=1e-7, atol=1e-5)
        np.testing.assert_allclose(row.noise_variance, there.noise_variance, rtol=1e-5)
