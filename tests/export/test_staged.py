"""Exports of models of larger data, which are not part of the repository."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.staged import find_staged, load_raetsch, load_staged, load_usps
from relvec import RVC, RVR
from relvec.export import to_onnx
from tests.export.bounds import bounds
from tests.export.compiled import Compiled
from tests.export.graph import run
from tests.support import needs

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["boston_housing", "energy_efficiency", "yacht_hydrodynamics"])
def test_numbers(name, tmp_path):
    table = needs.staged(load_staged, name)
    X = table.X.astype(np.float32).astype(np.float64)
    model = make_pipeline(StandardScaler(), RVR(max_iter=5000)).fit(table.X, table.y)
    expected = np.stack(model.predict(X, return_std=True))
    digits = 1e-12 * np.abs(expected[0]).max()
    compiled = np.hstack(Compiled(model, tmp_path, return_std=True)(X)[1:]).T
    np.testing.assert_allclose(compiled, expected, rtol=0, atol=digits)
    graph = np.hstack(run(to_onnx(model, X, return_std=True), X)).T
    np.testing.assert_allclose(graph, expected, rtol=0, atol=100 * digits)
    single = X.astype(np.float32)
    found = run(to_onnx(model, single, return_std=True), single)
    for one, value, most in zip(found, expected, bounds(model, X), strict=True):
        assert (np.abs(one[:, 0] - value) <= most[:, 0]).all()


def test_two_classes(tmp_path):
    split = needs.staged(load_raetsch, "banana")[0]
    model = RVC(gamma=1.0).fit(split.X_train, split.y_train)
    expected = model.predict_proba(split.X_test)
    compiled = Compiled(model, tmp_path)
    code, probability = compiled(split.X_test)
    np.testing.assert_allclose(probability, expected, rtol=0, atol=1e-12)
    label, graph = run(to_onnx(model, split.X_test), split.X_test)
    np.testing.assert_allclose(graph, expected, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(label, model.predict(split.X_test))
    np.testing.assert_array_equal(compiled.classes[code], label)


def test_ten_classes(tmp_path):
    needs.staged(find_staged, "usps")
    split = load_usps()
    rows = slice(None, None, 20)
    model = RVC(gamma="scale").fit(split.X_train[rows], split.y_train[rows])
    X = split.X_test[:200]
    expected = model.predict_proba(X)
    np.testing.assert_allclose(Compiled(model, tmp_path)(X)[1], expected, rtol=0, atol=1e-12)
    label, graph = run(to_onnx(model, X), X)
    np.testing.assert_allclose(graph, expected, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(label, model.predict(X))
