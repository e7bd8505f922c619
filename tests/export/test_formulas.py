"""Every basis is written as what it evaluates to, or refused by name."""

import numpy as np
import pytest
from sklearn.base import clone

from relvec import RVR, EffectsRegressor
from relvec.basis import (
    Basis,
    CallableKernel,
    CategoricalKernel,
    Columns,
    Effects,
    FunctionColumns,
    Hamming,
    Kernel,
    Precomputed,
    Sigmoid,
    Tanimoto,
)
from relvec.export import formula, to_c, to_onnx
from relvec.export.outputs import observed
from relvec.likelihoods import RegressionLikelihood
from tests.export.bounds import bounds
from tests.export.compiled import Compiled
from tests.export.graph import run
from tests.support import rows
from tests.support.rows import concrete

#: Kernels whose inputs are the same or not, and their counts.
DISCRETE = (CategoricalKernel, Hamming, Tanimoto)
#: Those that hold functions in Python.
NOT_EXPORTABLE = {CallableKernel, FunctionColumns}


def parts_of(basis):
    """The basis and all that it is made of."""
    inner = getattr(basis, "bases", getattr(basis, "kernels", ()))
    return [basis, *(part for one in inner for part in parts_of(one))]


def is_exportable(basis):
    return NOT_EXPORTABLE.isdisjoint(map(type, parts_of(basis)))


EXPORTABLE = [basis for basis in rows.BASES if is_exportable(basis)]
REFUSED = [basis for basis in rows.BASES if not is_exportable(basis)]


def test_every_basis_has_a_formula_or_is_named_as_having_none():
    unknown = formula.dispatch(object)
    found = {cls for cls in concrete(Basis) if formula.dispatch(cls) is not unknown}
    assert found == set(concrete(Basis))
    tested = {type(part) for basis in EXPORTABLE for part in parts_of(basis)}
    # `Product` stands with a callable in the contract tests, and by itself below.
    assert found - NOT_EXPORTABLE - tested <= {type(PRODUCT)}


PRODUCT = next(basis for basis in rows.BASES if type(basis).__name__ == "Product").kernels[0] * (
    rows.BASES[2] + rows.BASES[4]
)


def test_every_distribution_of_numbers_has_its_moments():
    unknown = observed.dispatch(object)
    found = {cls for cls in concrete(RegressionLikelihood) if observed.dispatch(cls) is not unknown}
    assert found == set(concrete(RegressionLikelihood))


def model_of(basis, n_rows=40):
    """A model of targets that functions of the basis make up, and rows that float32 holds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    if isinstance(basis, DISCRETE):
        X = rng.integers(0, 3, size=X.shape).astype(float)
    if isinstance(basis, Precomputed):
        X = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    Phi = clone(basis).fit(X).transform(X)
    some = rng.choice(Phi.shape[1], size=min(5, Phi.shape[1]), replace=False)
    y = (Phi[:, some] / (1e-9 + Phi[:, some].std(axis=0))).sum(axis=1)
    model = RVR(kernel=basis, fit_intercept=False, noise_variance=0.01)
    model.fit(X, y + 0.1 * rng.normal(size=n_rows))
    return model, X.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("basis", [*EXPORTABLE, PRODUCT], ids=rows.name_of)
def test_c_and_onnx_agree_with_predict(basis, tmp_path):
    model, X = model_of(basis)
    assert len(model.relevance_) > 0
    mean, std = model.predict(X, return_std=True)
    expected = np.stack([mean, std])
    scale = np.abs(mean).max()
    compiled = np.hstack(Compiled(model, tmp_path, return_std=True)(X)[1:]).T
    np.testing.assert_allclose(compiled, expected, rtol=0, atol=1e-12 * scale)
    graph = np.hstack(run(to_onnx(model, X, return_std=True), X)).T
    np.testing.assert_allclose(graph, expected, rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("basis", [*EXPORTABLE, PRODUCT], ids=rows.name_of)
def test_single_precision_is_off_by_roundings_of_the_terms(basis, tmp_path):
    model, X = model_of(basis)
    expected = model.predict(X, return_std=True)
    X32 = X.astype(np.float32)
    graph = run(to_onnx(model, X32, return_std=True), X32)
    compiled = Compiled(model, tmp_path, return_std=True, real="float")(X)[1:]
    for found in (graph, compiled):
        for one, value, most in zip(found, expected, bounds(model, X), strict=True):
            assert (np.abs(one[:, 0] - value) <= most[:, 0]).all()


@pytest.mark.parametrize("basis", REFUSED, ids=rows.name_of)
def test_what_has_no_formula_is_refused_by_name(basis):
    model, X = model_of(basis)
    for export in (to_c, lambda model: to_onnx(model, X)):
        with pytest.raises(ValueError, match=r"(cauchy|squares_and_sums).*cannot be exported"):
            export(model)


KERNELS = [basis for basis in EXPORTABLE if isinstance(basis, Kernel)]


@pytest.mark.parametrize("kernel", [*KERNELS, PRODUCT], ids=rows.name_of)
def test_error_bars_have_what_a_process_does_not_span(kernel, tmp_path, rng):
    X, y = rng.normal(size=(40, 6)), rng.normal(size=40)
    later = 1.5 * rng.normal(size=(20, 6))
    if isinstance(kernel, DISCRETE):
        X, later = abs(X).round(), abs(later).round()
    model = RVR(Columns(), remainder=clone(kernel), remainder_centers=5, noise_variance=0.01)
    model.fit(X, y + X[:, 0])
    std = model.predict(later, return_std=True)[1]
    found = Compiled(model, tmp_path, return_std=True)(later)[2][:, 0]
    np.testing.assert_allclose(found, std, rtol=1e-10)
    if (unspanned := model.basis_.unspanned(later)) and type(kernel) is not Sigmoid:
        assert max(values.max() for values in unspanned.values()) > 0


def test_a_mean_alone_needs_no_formula_of_the_variance(monkeypatch, rng):
    X = rng.normal(size=(40, 2))
    model = RVR(Columns(), remainder="process", noise_variance=0.01).fit(X, np.sin(X[:, 0]))
    assert "process" in model.basis_.terms()

    def unknown(*_):
        raise ValueError("no formula of k(x, x)")

    monkeypatch.setattr("relvec.export.effects.variance", unknown)
    for export in (to_c, lambda model, **options: to_onnx(model, X, **options)):
        export(model)
        with pytest.raises(ValueError, match="no formula"):
            export(model, return_std=True)


def test_unknown_categories_have_no_effect_and_the_variance_of_the_prior(tmp_path, rng):
    X = rng.integers(0, 4, size=(80, 3)).astype(float)
    y = X[:, 0] * (X[:, 1] - 1) + X[:, 2] + 0.1 * rng.normal(size=80)
    model = RVR(Effects(categorical=[0, 1], interactions=[(0, 1)])).fit(X, y)
    later = np.array([[7.0, 1, 0], [0, 9, 1], [8, -1, 2], [3, 2, 1], [1.5, 0, 3]])
    expected = np.stack(model.predict(later, return_std=True))
    assert expected[1].max() > 3 * expected[1].min()
    compiled = np.hstack(Compiled(model, tmp_path, return_std=True)(later)[1:]).T
    np.testing.assert_allclose(compiled, expected, rtol=1e-11)
    graph = np.hstack(run(to_onnx(model, later, return_std=True), later)).T
    np.testing.assert_allclose(graph, expected, rtol=1e-9)


def test_categories_that_are_texts_are_refused_with_their_column(rng):
    X = np.empty((40, 2), dtype=object)
    X[:, 0], X[:, 1] = rng.normal(size=40), rng.choice(["red", "blue"], size=40)
    y = (X[:, 1] == "red") + 0.1 * rng.normal(size=40)
    model = EffectsRegressor(remainder=None).fit(X, y)
    with pytest.raises(ValueError, match=r"column 1 has categories.*red.*expected numbers"):
        to_c(model)


@pytest.mark.parametrize("kernel", ["hamming", "categorical"])
def test_kernels_of_texts_are_refused(kernel, rng):
    X = rng.choice(["red", "blue", "green"], size=(40, 2)).astype(object)
    model = RVR(kernel).fit(X, (X[:, 0] == "red") + 0.1 * rng.normal(size=40))
    with pytest.raises(
        ValueError, match="categories that are no numbers, which cannot be exported"
    ):
        to_c(model)


def test_a_basis_of_ones_own_is_exported_once_its_formula_is_registered(tmp_path):
    class Squares(Columns):
        def evaluate(self, X):
            return X[:, self.terms_] ** 2

    model, X = model_of(Squares())
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(Compiled(model, tmp_path)(X)[1][:, 0], model.predict(X))

    @formula.register(Squares)
    def _(basis, x, feature, function):
        columns = formula.dispatch(Columns)(basis, x, feature, function)
        return columns * columns

    (tmp_path / "registered").mkdir()
    _, mean = Compiled(model, tmp_path / "registered")(X)
    np.testing.assert_allclose(mean[:, 0], model.predict(X), rtol=1e-12)
