"""Fitted models as files that need no Python: C99 and ONNX.

Both are written from the same expressions. ``formulas`` has that of every basis, ``outputs`` that
of what an estimator predicts; ``expression`` says what they are made of.
"""

from relvec.export.c import CCode, to_c
from relvec.export.formulas import formula
from relvec.export.onnx import register, to_onnx

__all__ = ["CCode", "formula", "register", "to_c", "to_onnx"]
