"""Files of fitted pipelines: skops, which can hold no code, or pickles by joblib."""

from __future__ import annotations

import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib

from relvec.storage import TRUSTED

#: Suffix of a file that skops writes; every other one is a pickle.
SAFE = ".skops"


def skops() -> Any:
    """Import the optional library, or name the extra that brings it."""
    try:
        return import_module("skops.io")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"a model in a {SAFE} file needs skops: install relvec with its extra relvec[cli]"
        ) from error


def save(model: Any, path: Path) -> None:
    """Write a model, in either form with a checksum that tells damage."""
    if path.suffix == SAFE:
        skops().dump(model, path, compression=zipfile.ZIP_DEFLATED)
    else:
        joblib.dump(model, path, compress=3)


def load(path: Path) -> Any:
    """Read a model; a file that is none raises ValueError."""
    try:
        if path.suffix == SAFE:
            return skops().load(path, trusted=TRUSTED)
        return joblib.load(path)
    except (OSError, ImportError):
        raise
    except Exception as error:  # whatever the damage makes the readers do
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path} is not a saved model: {reason}") from error
