"""Models as ONNX graphs."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from relvec._files import write_file
from relvec._numerics.optional import need
from relvec.export.outputs import CLASSIFIERS, exported


def register() -> None:
    """Tell skl2onnx how to convert the estimators of relvec.

    Afterwards ``skl2onnx.to_onnx`` takes them, by themselves, in pipelines and in what else it can
    convert, with these options:

    return_std : bool, default=False
        Of regressors: a second output, the standard deviation of new observations.
    zipmap : bool or "columns", default=True
        Of classifiers, as for those of scikit-learn.
    double : bool, default=False
        Compute in double precision where the inputs are single too. Averaged probabilities of more
        than two classes always are.

    Raises
    ------
    ImportError
        skl2onnx is not installed, which the extra ``relvec[onnx]`` brings.

    Examples
    --------
    >>> from skl2onnx import to_onnx
    >>> from relvec import RVR
    >>> from relvec.datasets import make_sinc
    >>> from relvec.export import register
    >>> X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    >>> register()
    >>> graph = to_onnx(RVR(gamma=0.1).fit(X, y), X, options={RVR: {"return_std": True}}).graph
    >>> [output.name for output in graph.output]
    ['mean', 'std']
    """
    need("skl2onnx", "export to ONNX", "onnx")
    from relvec.export.converters import register_all

    register_all()


def to_onnx(
    model: Any,
    X: Any,
    path: Path | str | None = None,
    *,
    return_std: bool = False,
    double: bool = False,
) -> Any:
    """Convert a fitted model to ONNX.

    The graph has the outputs ``mean``, and ``std`` if asked for, or ``label`` and
    ``probabilities``, in columns: one a target or class.

    Parameters
    ----------
    model : estimator
        A fitted `RVR`, `RVC`, `SparseBayesianRegressor` or `SparseBayesianClassifier`, or a
        pipeline that ends in one, with steps that skl2onnx knows. Others that hold one, such as a
        grid search, ``skl2onnx.to_onnx`` takes after `register`.
    X : array or DataFrame
        One row of inputs or more, for their types: an array is one input of the graph, and so is a
        table where the model is an estimator by itself; of a pipeline a table has one input for
        every column. With float32 the graph computes in single precision, and its mean is
        within a few roundings of Σ|w_m φ_m(x)|, which is much larger than the mean where functions
        cancel; with float64 in double.
    path : path-like, default=None
        Where to write the graph; None writes no file.
    return_std : bool, default=False
        Output the standard deviation of new observations too, noise included.
    double : bool, default=False
        Compute in double precision where X is float32 too. Averaged probabilities of more than two
        classes always are.

    Returns
    -------
    graph : onnx.ModelProto
        The converted model.

    Raises
    ------
    ValueError
        Something in the model cannot be exported; the message names it.
    ImportError
        skl2onnx is not installed, which the extra ``relvec[onnx]`` brings.

    Examples
    --------
    >>> from relvec import RVR
    >>> from relvec.datasets import make_sinc
    >>> from relvec.export import to_onnx
    >>> X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    >>> model = RVR(gamma=0.1).fit(X, y)
    >>> graph = to_onnx(model, X, return_std=True)

    ONNX Runtime computes what `predict` does:

    >>> from onnxruntime import InferenceSession
    >>> mean, std = InferenceSession(graph.SerializeToString()).run(None, {"X": X[:1]})
    >>> print(mean.round(4), std.round(4), model.predict(X[:1]).round(4))
    [[0.0394]] [[0.0996]] [0.0394]
    """
    register()
    estimator = exported(model, return_std=return_std)
    own = {"zipmap": False} if isinstance(estimator, CLASSIFIERS) else {"return_std": return_std}
    options = {type(estimator): own | {"double": double}}
    graph = need("skl2onnx", "export to ONNX", "onnx").to_onnx(
        _silenced(model), _first_row(estimator, model, X), options=options
    )
    if path is not None:
        write_file(Path(path), graph.SerializeToString())
    return graph


def _first_row(estimator: Any, model: Any, X: Any) -> Any:
    """Return the first row; of a table as an array where no step takes its columns apart."""
    if not hasattr(X, "columns") or estimator is not model:
        return X[:1]
    row = np.asarray(X[:1])
    return row if row.dtype.kind == "f" else row.astype(np.float64)


def _silenced(model: Any) -> Any:
    """The model with encoders that ignore what they would warn of, which a graph cannot do."""
    silenced = deepcopy(model)
    waiting = [silenced]
    while waiting:
        step = waiting.pop()
        if isinstance(step, Pipeline):
            waiting.extend(part for _, part in step.steps)
        elif isinstance(step, ColumnTransformer):
            waiting.extend(part for _, part, _ in step.transformers_)
        elif isinstance(step, OneHotEncoder) and step.handle_unknown == "warn":
            step.set_params(handle_unknown="ignore")
    return silenced
