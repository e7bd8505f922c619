"""What the parameter ``kernel`` may be: above all, a list of several in one dictionary."""

import numpy as np
import pytest
from sklearn.base import clone

from relvec import RVC, RVR
from relvec.basis import (
    KERNELS,
    RBF,
    Bias,
    CallableKernel,
    Columns,
    Concatenate,
    Polynomial,
    Sigmoid,
)
from tests.support.inputs import noisy_sinc
from tests.support.machines import answers


def ramp(X, Z):
    """No condition of Mercer holds: (z, x) has another value than (x, z)."""
    return np.maximum(X - Z.T, 0.0)


def test_list_is_the_concatenation_of_its_elements(machine):
    X, y = noisy_sinc(slope=0.1)
    y = machine.target(y)
    listed = machine.make(kernel=["rbf", ramp, Columns()], gamma=0.2).fit(X, y)
    spelt_out = Concatenate([RBF(0.2), CallableKernel(ramp), Columns()])
    same = machine.make(kernel=spelt_out).fit(X, y)
    assert isinstance(listed.basis_, Concatenate)
    assert listed.basis_.names() == same.basis_.names()
    np.testing.assert_array_equal(answers(listed, X), answers(same, X))
    again = clone(listed).fit(X, y)
    np.testing.assert_array_equal(answers(again, X), answers(listed, X))


def test_the_fit_leaves_the_list_as_it_was(machine):
    X, y = noisy_sinc()
    kernel = [RBF(0.2), "linear"]
    before = dict(vars(kernel[0]))
    machine.make(kernel=kernel).fit(X, machine.target(y))
    assert kernel[1:] == ["linear"]
    assert vars(kernel[0]) == before


def test_two_widths_find_a_narrow_bump_on_a_wide_one(rng):
    """The wide one alone misses the bump, the narrow one alone needs many functions."""
    x = np.linspace(-10, 10, 200)
    truth = np.exp(-0.02 * x**2) + np.exp(-5 * (x - 3) ** 2)
    y = truth + 0.02 * rng.standard_normal(200)
    mixed, wide, narrow = (
        RVR(kernel=kernel).fit(x[:, None], y)
        for kernel in ([RBF(0.02), RBF(5.0)], RBF(0.02), RBF(5.0))
    )
    assert {name.split("[")[0] for name in mixed.basis_.names()} == {"0:rbf", "1:rbf"}
    assert mixed.log_evidence_ > max(wide.log_evidence_, narrow.log_evidence_) + 10
    errors = [np.std(model.predict(x[:, None]) - truth) for model in (mixed, wide, narrow)]
    assert errors[0] < 0.01 < min(errors[1:])
    assert len(mixed.relevance_) < len(narrow.relevance_) / 2


def test_linear_term_is_kept_beside_a_kernel_only_where_there_is_one(rng):
    X = rng.uniform(-10, 10, (100, 2))
    noise = 0.05 * rng.standard_normal(100)
    wave = np.sin(X[:, 0])
    tilted, flat = (
        RVR(kernel=[RBF([0.3, 0.0]), Columns()]).fit(X, wave + slope * X[:, 1] + noise)
        for slope in (0.5, 0.0)
    )
    kept = dict(zip(tilted.basis_.names(), tilted.dual_coef_, strict=True))
    assert kept["x1"] == pytest.approx(0.5, abs=0.01)
    assert "x1" not in flat.basis_.names()


def test_kernels_without_mercers_condition_mix_with_others(rng):
    """A ramp that begins at 2 beside a parabola; the functions that made the data are found."""
    x = np.linspace(-3, 5, 80)
    truth = 3 * np.maximum(x - x[50], 0.0) - 0.5 * x**2
    y = truth + 0.01 * rng.standard_normal(80)
    model = RVR(kernel=[ramp, Sigmoid(0.3), Polynomial(2)]).fit(x[:, None], y)
    names = model.basis_.names()
    assert "x0^2" in names
    assert "callablekernel[50]" in names
    assert len(names) < 8
    assert np.std(model.predict(x[:, None]) - truth) < 0.01
    X, labels = x[:, None], (truth > -1.5).astype(int)
    assert RVC(kernel=[ramp, "sigmoid"]).fit(X, labels).score(X, labels) > 0.95


class Shifted(RBF):
    """A kernel with a parameter that no estimator has."""

    def __init__(self, gamma="scale", shift=0.5):
        self.gamma, self.shift = gamma, shift

    def k(self, X, Z):
        return super().k(X + self.shift, Z)


def test_registered_kernel_keeps_its_own_parameters(machine, monkeypatch):
    """Parameters that RVR has are set from it, and others have their defaults."""
    monkeypatch.setitem(KERNELS, "shifted", Shifted)
    X, y = noisy_sinc()
    y = machine.target(y)
    named, given = (
        machine.make(kernel=kernel, gamma=0.7).fit(X, y) for kernel in ("shifted", Shifted(0.7))
    )
    np.testing.assert_array_equal(answers(named, X), answers(given, X))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ([], "kernel=.* is empty"),
        (["rbf", "gauss"], r"kernel\[1\]='gauss' is not known"),
        ([RBF(), 3.0], r"kernel\[1\]=3.0 is not known"),
        (["rbf", ["linear"]], r"kernel\[1\]=\['linear'\] is not known"),
        (RBF, "kernel=.* is not known, expected one of"),
        ([Bias(), "precomputed"], r"kernel\[1\]='precomputed' stands beside others"),
    ],
)
def test_element_that_is_none_is_named(kernel, message, machine):
    X, y = noisy_sinc()
    with pytest.raises(ValueError, match=message):
        machine.make(kernel=kernel).fit(X, machine.target(y))
