"""Functions that are composed of the operators of expressions."""

import ctypes

import mpmath
import numpy as np
import pytest

from relvec.export.c_writer import CWriter
from relvec.export.expression import Axis, Input, keep, pick
from relvec.export.special import WIDTH, _pairs, principal_root, tail_coefficients
from tests.export.compiled import DTYPES, POINTERS, gcc


def test_the_tail_of_the_normal_distribution_has_thirteen_digits():
    z = np.linspace(0, 37, 200)
    t = WIDTH / (WIDTH + z)
    tail = 0.5 * np.exp(-0.5 * z**2) * t * np.polyval(tail_coefficients(), 2 * t - 1)
    with mpmath.workdps(30):
        exact = [float(mpmath.ncdf(-value)) for value in z]
    # e^(−z²/2) has the rounding of z²/2.
    np.testing.assert_array_less(np.abs(tail / exact - 1), 1e-13 + z**2 * np.finfo(float).eps)


@pytest.fixture(params=["double", "float"])
def real(request):
    return request.param


@pytest.fixture
def root(real, tmp_path):
    """The root in C, of a matrix, and the precision of the type."""

    def root(matrix):
        size = len(matrix)
        column, row, entry = Axis("column", size), Axis("row", size), Axis("entry", size**2)
        places = np.arange(size**2).reshape(size, size)
        matrix_of = pick(Input(entry), entry, places, row, column)
        found = keep(principal_root(matrix_of, row, column), row, column)
        writer = CWriter("root", real, ["x", "root"], found)
        writer.write("root", found)
        lines = [
            "#include <math.h>",
            *writer.tables,
            f"void find(const {real} *x, {real} root[{size}][{size}]);",
            f"void find(const {real} *x, {real} root[{size}][{size}]) {{",
            *writer.body.lines,
            "}",
        ]
        (tmp_path / "root.c").write_text("\n".join(lines))
        gcc(tmp_path, "-O2", "-fPIC", "-shared", "-o", "root.so", "root.c", "-lm")
        given = np.ascontiguousarray(matrix, dtype=DTYPES[real])
        found = np.empty_like(given)
        ctypes.CDLL(str(tmp_path / "root.so")).find(
            *(values.ctypes.data_as(POINTERS[real]) for values in (given, found))
        )
        return found.astype(np.float64)

    return root


@pytest.mark.parametrize("size", [2, 3, 5, 9, 20])
@pytest.mark.parametrize("rank", [1, 3, 20])
def test_the_root_is_that_of_the_matrix_the_widest_axis_first(root, rng, real, size, rank):
    factor = rng.normal(size=(size, rank))
    matrix = factor @ factor.T
    found = root(matrix)
    error = 500 * np.finfo(DTYPES[real]).eps * np.trace(matrix)
    np.testing.assert_allclose(found.T @ found, matrix, atol=error)
    values = np.maximum(np.linalg.eigvalsh(matrix)[::-1], 0)
    # Rows are orthogonal, of the lengths of the axes.
    np.testing.assert_allclose(found @ found.T, np.diag(values), atol=error)
    kept = found[values > 1e4 * np.finfo(DTYPES[real]).eps * values[0]]
    assert (kept[np.arange(len(kept)), np.abs(kept).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_units_of_the_matrix_do_not_matter(root, rng, real, unit):
    factor = rng.normal(size=(4, 6))
    error = 1e3 * np.finfo(DTYPES[real]).eps
    found = root(unit * factor @ factor.T) / np.sqrt(unit)
    np.testing.assert_allclose(found, root(factor @ factor.T), rtol=error, atol=error)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.eye(3), np.ones((3, 3))])
def test_axes_of_the_same_width_are_some_axes(root, real, matrix):
    found = root(matrix)
    error = 50 * np.finfo(DTYPES[real]).eps
    np.testing.assert_allclose(found.T @ found, matrix, rtol=error, atol=error)


def test_every_pair_meets_once_a_sweep():
    for size in range(2, 12):
        met = [
            (one, two) for partners in _pairs(size) for one, two in enumerate(partners) if one < two
        ]
        assert sorted(met) == [(i, j) for i in range(size) for j in range(i + 1, size)]
