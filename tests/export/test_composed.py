"""What neither C nor ONNX has a function for."""

import ctypes

import mpmath
import numpy as np
import pytest

from relvec.export.c_root import principal_root
from relvec.export.composed import WIDTH, tail_coefficients
from tests.export.compiled import gcc


def test_the_tail_of_the_normal_distribution_has_thirteen_digits():
    z = np.linspace(0, 37, 200)
    t = WIDTH / (WIDTH + z)
    tail = 0.5 * np.exp(-0.5 * z**2) * t * np.polyval(tail_coefficients(), 2 * t - 1)
    with mpmath.workdps(30):
        exact = [float(mpmath.ncdf(-value)) for value in z]
    # e^(−z²/2) has the rounding of z²/2.
    np.testing.assert_array_less(np.abs(tail / exact - 1), 1e-13 + z**2 * np.finfo(float).eps)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The root in C, of a copy of a matrix."""
    folder = tmp_path_factory.mktemp("root")
    entry = "void root(int n, double *a, double *r);\nvoid root(int n, double *a, double *r)"
    text = f"#include <math.h>\n{principal_root('double')}{entry} {{ principal_root(n, a, r); }}\n"
    (folder / "root.c").write_text(text)
    gcc(folder, "-O2", "-fPIC", "-shared", "-o", "root.so", "root.c", "-lm")
    function = ctypes.CDLL(str(folder / "root.so")).root

    def root(matrix):
        pointer, found = ctypes.POINTER(ctypes.c_double), np.empty_like(matrix)
        both = matrix.copy(), found
        function(len(matrix), *(values.ctypes.data_as(pointer) for values in both))
        return found

    return root


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9, 20])
@pytest.mark.parametrize("rank", [1, 3, 20])
def test_the_root_is_that_of_the_matrix_the_widest_axis_first(root, rng, size, rank):
    factor = rng.normal(size=(size, rank))
    matrix = factor @ factor.T
    found = root(matrix)
    np.testing.assert_allclose(found.T @ found, matrix, atol=1e-13 * np.trace(matrix))
    values = np.maximum(np.linalg.eigvalsh(matrix)[::-1], 0)
    # Rows are orthogonal, of the lengths of the axes.
    np.testing.assert_allclose(found @ found.T, np.diag(values), atol=1e-13 * np.trace(matrix))
    kept = found[values > 1e-12 * values[0]]
    assert (kept[np.arange(len(kept)), np.abs(kept).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.eye(3), np.ones((3, 3))])
def test_axes_of_the_same_width_are_some_axes(root, matrix):
    found = root(matrix)
    np.testing.assert_allclose(found.T @ found, matrix, atol=1e-14)
