"""C that is written of models, compiled and compared with what they predict."""

import re
import subprocess

import numpy as np
import pandas
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from relvec import RVC, RVR
from relvec.datasets import make_sinc
from relvec.exceptions import EmptyModelWarning
from relvec.export import to_c
from tests.export.bounds import bounds
from tests.export.compiled import Compiled, gcc
from tests.export.problems import CLASSES, HOSTILE, NUMBERS, columns, diabetes, fitted, iris, sinc
from tests.support import needs


@pytest.mark.parametrize("problem", NUMBERS)
def test_mean_and_std_are_those_of_predict(problem, tmp_path):
    model, X = fitted(problem)
    mean, std = map(columns, model.predict(X, return_std=True))
    _, of_mean, of_std = Compiled(model, tmp_path, return_std=True)(X)
    scale = 1e-12 * np.abs(mean).max(axis=0)
    assert (np.abs(of_mean - mean) <= scale).all()
    assert (np.abs(of_std - std) <= scale).all()


@pytest.mark.parametrize("problem", NUMBERS)
def test_float_is_off_by_roundings_of_the_terms(problem, tmp_path):
    model, X = fitted(problem)
    mean, std = map(columns, model.predict(X, return_std=True))
    _, of_mean, of_std = Compiled(model, tmp_path, return_std=True, real="float")(X)
    most_of_mean, most_of_std = bounds(model, X)
    assert (np.abs(of_mean - mean) <= most_of_mean).all()
    assert (np.abs(of_std - std) <= most_of_std).all()
    assert np.abs(of_mean - mean).max() > 0


@pytest.mark.parametrize("problem", CLASSES)
def test_probabilities_and_labels_are_those_of_the_model(problem, tmp_path):
    model, X = fitted(problem)
    compiled = Compiled(model, tmp_path)
    code, probability = compiled(X)
    np.testing.assert_allclose(probability, model.predict_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(compiled.classes[code], model.predict(X))


@pytest.mark.parametrize("problem", CLASSES)
def test_probabilities_in_float(problem, tmp_path):
    model, X = fitted(problem)
    _, probability = Compiled(model, tmp_path, real="float")(X)
    np.testing.assert_allclose(probability, model.predict_proba(X), rtol=0, atol=1e-5)


def test_code_prints_as_one_line():
    code = to_c(RVR().fit(*make_sinc(50, random_state=0)), name="sinc")
    lines = len(code.source.splitlines())
    assert repr(code) == (
        f"CCode('sinc', {lines} lines, {code.constant_bytes} bytes of constants, "
        f"{code.buffer_bytes} on the stack)"
    )


def test_without_std_there_is_no_table_of_it(tmp_path):
    model, X = fitted(diabetes)
    whole, mean_only = to_c(model, return_std=True), to_c(model)
    size = len(model[-1].relevance_)
    # Half of a square matrix, and the place that it is centred at.
    assert whole.constant_bytes - mean_only.constant_bytes == 8 * (size * (size + 1) // 2 + size)
    _, mean = Compiled(model, tmp_path)(X)
    np.testing.assert_allclose(mean[:, 0], model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("real", ["double", "float"])
def test_bytes_of_constants_are_those_in_the_object_file(real, tmp_path):
    model, _ = fitted(iris)
    code = to_c(model, tmp_path / "model.c", real=real)
    gcc(tmp_path, "-O0", "-c", "model.c")
    symbols = subprocess.run(
        ["nm", "--print-size", "model.o"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    sizes = [int(size, 16) for size in re.findall(r"^\w+ (\w+) r model_", symbols, re.MULTILINE)]
    assert sum(sizes) == code.constant_bytes
    assert f"{code.constant_bytes} bytes of constants" in code.header


def test_it_needs_nothing_but_the_mathematical_library(tmp_path):
    model, _ = fitted(iris)
    to_c(model, tmp_path / "model.c")
    gcc(tmp_path, "-O2", "-fno-builtin", "-c", "model.c")
    undefined = subprocess.run(
        ["nm", "--undefined-only", "model.o"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    mathematical = {"erfc", "exp", "fabs", "fmax", "fmin", "log", "sqrt"}
    allowed = mathematical | {"memset", "memcpy", "_GLOBAL_OFFSET_TABLE_"}
    assert {name for name in undefined if len(name) > 1} <= allowed


def test_a_caller_in_c_and_one_in_cplusplus_can_include_the_header(tmp_path):
    model, X = fitted(sinc)
    to_c(model, tmp_path / "sinc.c", return_std=True)
    main = f"""
#include <stdio.h>
#include "sinc.h"
int main(void) {{
    const double x[SINC_INPUTS] = {{{float(X[0, 0])!r}}};
    double mean[SINC_TARGETS], std[SINC_TARGETS];
    sinc_predict(x, mean, std);
    printf("%.17g %.17g", mean[0], std[0]);
    return 0;
}}
"""
    (tmp_path / "main.c").write_text(main)
    gcc(tmp_path, "-o", "main", "main.c", "sinc.c", "-lm")
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    expected = np.concatenate(model.predict(X[:1], return_std=True))
    np.testing.assert_allclose([float(word) for word in printed.split()], expected, rtol=1e-12)
    (tmp_path / "main.cpp").write_text(main)
    done = subprocess.run(
        [needs.program("g++"), "-fsyntax-only", "-Wall", "-Werror", "main.cpp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def symbols_of(folder, *words):
    """Names that an object file defines and asks for, each with the letter of its kind."""
    gcc(folder, "-trigraphs", "-c", "model.c", *words)
    done = subprocess.run(["nm", "model.o"], cwd=folder, capture_output=True, text=True, check=True)
    return {tuple(line.split()[-2:]) for line in done.stdout.splitlines()}


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_of_columns_and_classes_stay_inside_their_comment(name, tmp_path):
    X = pandas.DataFrame({name: np.arange(20.0)})
    model = RVC(gamma=0.1).fit(X, np.repeat([name, "b"], 10))
    code = to_c(model, tmp_path / "model.c")
    functions = {symbol for kind, symbol in symbols_of(tmp_path) if kind in "Tt"}
    assert functions == {"model_predict"}
    outside = re.sub(r"/\*.*?\*/", "", code.header, flags=re.DOTALL)
    assert "injected" not in outside
    assert "injected" in code.header


def test_names_of_inputs_are_in_the_header():
    X, y = make_sinc(50, noise_scale=0.1, random_state=0)
    model = RVR(gamma=0.1).fit(pandas.DataFrame(X, columns=["height"]), y)
    assert "Inputs: height" in to_c(model).header


def test_a_model_without_functions_is_a_constant(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    with pytest.warns(EmptyModelWarning):
        model = RVR(tol=1e6).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    _, of_mean, of_std = Compiled(model, tmp_path, return_std=True)(X)
    np.testing.assert_allclose(np.column_stack([of_mean, of_std]), np.column_stack([mean, std]))


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {"real": "long double"}, "real='long double'"),
        ({}, {"name": "my model"}, "name='my model'"),
        ({}, {"path": "model.cpp"}, "path='model.cpp'"),
        ({}, {"path": "model.c", "name": "other"}, "path='model.c' with name='other'"),
        ({}, {"return_std": "yes"}, "return_std='yes'"),
        ({"augment": True}, {}, "augment=True"),
    ],
)
def test_arguments_that_make_no_sense_are_named(change, arguments, message):
    X, y = make_sinc(50, noise_scale=0.1, random_state=0)
    with pytest.raises((TypeError, ValueError), match=message):
        to_c(RVR(gamma=0.1, **change).fit(X, y), **arguments)


def test_classifiers_have_no_std():
    with pytest.raises(ValueError, match="return_std=True, expected False with RVC"):
        to_c(fitted(iris)[0], return_std=True)


def columns_of(*transformers, **parameters):
    return ColumnTransformer([(str(n), *each) for n, each in enumerate(transformers)], **parameters)


@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 2)),
        "passthrough",
        make_pipeline(MinMaxScaler(), "passthrough", StandardScaler()),
        columns_of((StandardScaler(), slice(1, 3)), ("drop", [3]), remainder="passthrough"),
        columns_of((MinMaxScaler(), [4, 0]), (make_pipeline(StandardScaler()), [-3])),
        columns_of((StandardScaler(), np.arange(10) > 6), (StandardScaler(), [])),
    ],
    ids=str,
)
def test_what_scales_or_picks_columns_is_part_of_the_function(step, tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = make_pipeline(step, RVR()).fit(X, y)
    _, mean = Compiled(model, tmp_path)(X)
    expected = model.predict(X)
    np.testing.assert_allclose(mean[:, 0], expected, rtol=0, atol=1e-12 * expected.max())


def test_columns_may_have_names(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = make_pipeline(columns_of((StandardScaler(), ["bmi", "s5"])), RVR()).fit(X, y)
    _, mean = Compiled(model, tmp_path)(X.to_numpy())
    np.testing.assert_allclose(mean[:, 0], model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("step", [PCA(2), MinMaxScaler(clip=True)])
def test_steps_that_cannot_be_written_are_named(step):
    X, y = fitted(diabetes)[1], np.arange(442.0)
    model = make_pipeline(StandardScaler(), step, RVR()).fit(X, y)
    with pytest.raises(ValueError, match=rf"{type(step).__name__}\(.*cannot be exported to C"):
        to_c(model)


def test_what_is_no_model_is_named():
    with pytest.raises(TypeError, match="PCA"):
        to_c(PCA())
