"""Models in files: `save`, `load`, and the types that a stored model is made of."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from relvec import basis, likelihoods
from relvec._assess.conformal import CalibratedClassifier, CalibratedRegressor
from relvec._earlier import EARLIER_NAMES
from relvec._estimators.classification import RVC
from relvec._estimators.effects import EffectsClassifier, EffectsRegressor
from relvec._estimators.linear import SparseBayesianClassifier, SparseBayesianRegressor
from relvec._estimators.regression import RVR
from relvec._evidence.posterior import Posterior
from relvec._files import write_file
from relvec._fitting.augmentation import Residuals
from relvec._fitting.correlated_rows import FittedCorrelation, SeriesEnds
from relvec._fitting.noise_model import LearntNoise
from relvec._fitting.result import FitResult, FittedOutput
from relvec._fitting.terms import Terms
from relvec._numerics.optional import need
from relvec._numerics.priors import Gamma
from relvec.basis.curves import Curve, Levels, Line
from relvec.basis.effects import Effect
from relvec.solvers import SOLVERS

__all__ = ["TRUSTED", "load", "save"]

#: Suffix of models that skops writes, which can hold no code.
SAFE = ".skops"
#: Suffixes of pickles, which run any code that is in them when they are read.
PICKLES = (".joblib", ".pickle", ".pkl")

#: Bases that hold functions of the users' own, which are code.
HOLD_CODE = (basis.CallableKernel, basis.FunctionColumns)

STORED = [
    *(getattr(basis, name) for name in basis.__all__ if isinstance(getattr(basis, name), type)),
    *(
        kind
        for kind in vars(likelihoods).values()
        if isinstance(kind, type) and issubclass(kind, likelihoods.Likelihood)
    ),
    *SOLVERS.values(),
    CalibratedClassifier,
    CalibratedRegressor,
    likelihoods.AR1,
    Curve,
    Effect,
    EffectsClassifier,
    EffectsRegressor,
    FitResult,
    FittedCorrelation,
    FittedOutput,
    Gamma,
    LearntNoise,
    Levels,
    Line,
    Posterior,
    RVC,
    RVR,
    Residuals,
    SeriesEnds,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
    Terms,
    np.dtype,  # scikit-learn's imputers hold that of their columns
]

#: Names of the types that `skops.io.load` has to trust to read any model of this package. None of
#: them runs code that is in the file; a function of the users' own has to be trusted by its name.
TRUSTED = sorted(
    f"{kind.__module__}.{kind.__qualname__}"
    for kind in STORED
    if not (getattr(kind, "__abstractmethods__", None) or kind in HOLD_CODE)
) + sorted(EARLIER_NAMES)


def save(model: Any, path: Path | str) -> None:
    """Write a model to a file, which holds the earlier one until the new one is whole.

    Parameters
    ----------
    model : estimator
        A model, or a pipeline that holds one.
    path : path-like
        File that ends in .skops, which can hold no code and needs the extra ``relvec[cli]``; or in
        .joblib, .pickle or .pkl, which is a pickle. Both have a checksum that tells damage.

    Raises
    ------
    ValueError
        The file ends in something else.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from relvec import RVR, storage
    >>> from relvec.datasets import make_sinc
    >>> model = RVR(gamma=0.1).fit(*make_sinc(100, noise_scale=0.1, random_state=0))
    >>> path = os.path.join(tempfile.mkdtemp(), "sinc.skops")
    >>> storage.save(model, path)
    >>> len(storage.load(path).relevance_)
    5
    """
    path = Path(path)
    if prepare(path) == SAFE:
        content = need("skops.io", f"a model in a {SAFE} file", "cli").dumps(
            model, compression=zipfile.ZIP_DEFLATED
        )
    else:
        buffer = io.BytesIO()
        joblib.dump(model, buffer, compress=3)
        content = buffer.getvalue()
    write_file(path, content)


def load(path: Path | str, *, trusted: Iterable[str] = (), trust_pickle: bool = False) -> Any:
    """Read a model from a file.

    Parameters
    ----------
    path : path-like
        File that `save` wrote. One that ends in .skops is read as such and in no other way.
    trusted : iterable of str, default=()
        Names of types and functions of your own that a .skops file may hold beside `TRUSTED`.
    trust_pickle : bool, default=False
        Read a file of any other suffix as a pickle, which runs any code that is in it.

    Returns
    -------
    model : estimator
        The model.

    Raises
    ------
    ValueError
        The file is damaged, is no model, holds types that are not trusted, or is a pickle that
        nobody said to trust.
    OSError
        The file cannot be read.
    """
    path = Path(path)
    if path.suffix != SAFE and not trust_pickle:
        raise ValueError(
            f"{path} does not end in {SAFE}: it is read as a pickle, which can run any code, and "
            "only with trust_pickle=True (--trust-pickle on the command line), for those that you "
            "trust"
        )
    try:
        if path.suffix == SAFE:
            library = need("skops.io", f"a model in a {SAFE} file", "cli")
            return library.load(path, trusted=[*TRUSTED, *trusted])
        return joblib.load(path)
    except (OSError, ImportError):
        raise
    except Exception as error:  # whatever the damage makes the readers do
        raise ValueError(
            f"{path} is not a saved model of trusted types "
            f"({type(error).__name__}{f': {error}' if str(error) else ''}); load takes names of "
            "others that you trust as trusted=[...]"
        ) from error


def prepare(path: Path) -> str:
    """Return the suffix of a file that can be saved to; raise where it, or a library, is amiss."""
    if path.suffix not in (SAFE, *PICKLES):
        raise ValueError(
            f"{path} must end in {SAFE}, which can hold no code, or in {', '.join(PICKLES)}, which "
            "are pickles"
        )
    if path.suffix == SAFE:
        need("skops.io", f"a model in a {SAFE} file", "cli")
    return path.suffix
