"""C that was written, compiled by gcc with every warning an error, and called."""

import ctypes
import subprocess

import numpy as np

from relvec.export import to_c
from tests.support import needs

WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic"]
POINTERS = {
    "double": ctypes.POINTER(ctypes.c_double),
    "float": ctypes.POINTER(ctypes.c_float),
}
DTYPES = {"double": np.float64, "float": np.float32}


def gcc(folder, *words):
    """Run gcc in a folder."""
    done = subprocess.run(
        [needs.program("gcc"), *WARNINGS, *words], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


class Compiled:
    """A model as the function that its C compiles to."""

    def __init__(self, model, folder, *, return_std=False, real="double"):
        self.code = to_c(model, folder / "model.c", return_std=return_std, real=real)
        gcc(folder, "-O2", "-fPIC", "-shared", "-o", "model.so", "model.c", "-lm")
        self.function = ctypes.CDLL(str(folder / "model.so")).model_predict
        machine = model[-1] if hasattr(model, "steps") else model
        self.classes = getattr(machine, "classes_", None)
        self.width = len(machine.fit_result_.outputs) if self.classes is None else len(self.classes)
        self.outputs = 2 if return_std else 1
        self.real = real

    def __call__(self, X):
        """What the function returns and writes for every row."""
        rows = np.ascontiguousarray(X, dtype=DTYPES[self.real])
        written = np.full((self.outputs, len(rows), self.width), np.nan, dtype=rows.dtype)
        returned = [
            self.function(*(values.ctypes.data_as(POINTERS[self.real]) for values in each))
            for each in zip(rows, *written, strict=True)
        ]
        return (returned, *written.astype(np.float64))
