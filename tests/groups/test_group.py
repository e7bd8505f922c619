"""`Group`: all functions of a basis with one precision."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from relvec import RVC, RVR
from relvec.basis import RBF, Bias, Columns, Concatenate, Fourier, Group, Kernel


@pytest.fixture(name="X")
def inputs(rng):
    return rng.uniform(-3, 3, (60, 2))


@pytest.fixture(name="y")
def target(X, rng):
    return np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(60)


def test_a_group_is_a_process_of_its_functions(X, y):
    """C = σ²I + ΦΦᵀ/α, at the maximum over both."""
    model = RVR(kernel=Group(RBF(0.5)), fit_intercept=False).fit(X, y)
    Phi = RBF(0.5).fit_transform(X)

    def surprise(logs):
        alpha, variance = np.exp(logs)
        cov = Phi @ Phi.T / alpha + variance * np.eye(60)
        return -multivariate_normal.logpdf(y, cov=cov)

    found = np.log([model.weight_precision_[0], model.noise_variance_])
    assert model.log_evidence_ == pytest.approx(-surprise(found), rel=1e-10)
    best = minimize(surprise, found + 0.3, method="Nelder-Mead", options={"xatol": 1e-8})
    assert model.log_evidence_ == pytest.approx(-best.fun, abs=1e-6)
    assert_allclose(found, best.x, rtol=1e-3)


@pytest.mark.parametrize("estimator", [RVR, RVC])
def test_groups_stand_beside_single_functions(estimator, X, y):
    t = y > 0 if estimator is RVC else y
    kernel = [Group(RBF(0.5)), Group(Fourier(4)), Columns()]
    model = estimator(kernel=kernel).fit(X, t)
    sizes = {"RBF": 60, "Fourier": 16}
    table = model.group_relevance_
    for name in set(table.index) & set(sizes):
        assert table.n_functions[name] == sizes[name]
    assert len(model.relevance_) == table.n_functions.sum()
    assert set(table.index) & set(sizes)


def test_a_group_of_one_function_is_the_function(X, y):
    alone = RVR(kernel=[RBF(0.5), Bias()], fit_intercept=False).fit(X, y)
    group = RVR(kernel=[RBF(0.5), Group(Bias())], fit_intercept=False).fit(X, y)
    assert_array_equal(group.relevance_, alone.relevance_)
    assert_allclose(group.weight_precision_, alone.weight_precision_, rtol=1e-12)


def test_which_kernel_matters_is_told(rng):
    """Of two whole kernels of different width the one that made the target is kept."""
    X = np.sort(rng.uniform(-10, 10, 150))[:, None]
    names = []
    for gamma in (0.02, 5.0):
        K = RBF(gamma).fit_transform(X)
        y = K @ rng.standard_normal(150) + 0.3 * rng.standard_normal(150)
        model = RVR(kernel=[Group(RBF(0.02)), Group(RBF(5.0))]).fit(X, y)
        names.append(model.group_relevance_.evidence.idxmax())
    assert [name.split(":")[0] for name in names] == ["0", "1"]


def test_a_width_is_learnt_in_a_group(X, y):
    model = RVR(kernel=Group(RBF("evidence")), fit_intercept=False).fit(X, y)
    gamma = model.basis_.parts_[0].gamma_
    for other in (0.8 * gamma, 1.25 * gamma):
        fixed = RVR(kernel=Group(RBF(other)), fit_intercept=False).fit(X, y)
        assert fixed.log_evidence_ < model.log_evidence_
    assert len(model.relevance_) == 60


def test_names_tell_functions_of_groups_apart():
    parts = Concatenate([Group(RBF(0.1)), RBF(1.0), Group(Columns())]).fit([[0.0], [1.0]])
    assert parts.names() == ["0:rbf[0]", "0:rbf[1]", "1:rbf[0]", "1:rbf[1]", "x0"]
    assert parts.terms() == ["0:RBF", "0:RBF", "1:rbf[0]", "1:rbf[1]", "Columns"]
    assert_array_equal(parts.groups, [0, 0, 1, 2, 3])


def test_what_is_no_basis_is_refused(X, y):
    with pytest.raises(TypeError, match=r"basis is 'rbf', expected a relvec\.basis object"):
        RVR(kernel=Group("rbf")).fit(X, y)
    assert not isinstance(Group(RBF(0.1)), Kernel)


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"]])
def test_columns_have_a_label_each(labels, X):
    with pytest.raises(ValueError, match=rf"labels has {len(labels)} entries, expected one for"):
        Columns(labels).fit(X)
