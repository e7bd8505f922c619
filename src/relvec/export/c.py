"""Models as C99 that needs nothing but <math.h>."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from relvec._files import write_file
from relvec.export.c_writer import CWriter
from relvec.export.expression import Axis, Expression, Input, Stored, keep
from relvec.export.outputs import exported, predicted
from relvec.export.scalers import n_inputs, scaled

#: Names of arguments and variables of the function.
TAKEN = ("x", "mean", "std", "probability", "label")
#: Signs that names of inputs and classes keep in a comment, beside letters and digits.
PLAIN_SIGNS = frozenset(" _-+.,:;()[]'\"/%°")
#: Comments of the function, by the last of its outputs.
COMMENTS = {
    "mean": "Mean of a new observation of every target, for one row x of inputs.",
    "std": "Mean and standard deviation of a new observation of every target, for one row x of "
    "inputs.",
    "probability": "Probability of every class for one row x of inputs; returns the most probable.",
}
HEADER = """\
/* {title}
 *
 * {constant_bytes} bytes of constants, {buffer_bytes} bytes of arrays on the stack
{notes} */
#ifndef {macro}_H
#define {macro}_H

#define {macro}_INPUTS {n_inputs}
#define {macro}_{kind} {n_outputs}

#ifdef __cplusplus
extern "C" {{
#endif

/* {comment} */
{declaration};

#ifdef __cplusplus
}}
#endif

#endif
"""
SOURCE = """\
/* {title} */
#include <math.h>

#include "{name}.h"

{tables}

{declaration}
{{
{unused}{body}
}}
"""


@dataclass(frozen=True)
class CCode:
    """A model as C.

    Attributes
    ----------
    name : str
        Prefix of the names in C, and name of the files.
    header, source : str
        Text of the header and of the source, which includes it.
    constant_bytes : int
        Size of its tables, which are constant.
    buffer_bytes : int
        Size of the arrays that it puts on the stack; nothing is allocated.
    """

    name: str
    header: str
    source: str
    constant_bytes: int
    buffer_bytes: int

    def __repr__(self) -> str:
        return (
            f"CCode({self.name!r}, {len(self.source.splitlines())} lines, {self.constant_bytes} "
            f"bytes of constants, {self.buffer_bytes} on the stack)"
        )

    def save(self, folder: Path | str) -> None:
        """Write `name`.h and `name`.c to a folder.

        Parameters
        ----------
        folder : path-like
            An existing folder.
        """
        write_file(Path(folder, f"{self.name}.h"), self.header.encode())
        write_file(Path(folder, f"{self.name}.c"), self.source.encode())


def to_c(
    model: Any,
    path: Path | str | None = None,
    *,
    name: str | None = None,
    return_std: bool = False,
    real: str = "double",
) -> CCode:
    """Write a fitted model as C99.

    There is one function, ``NAME_predict``, which takes a row and writes the mean of every target,
    or the probability of every class; for classes it returns the position of the most probable in
    ``classes_``. It allocates nothing, calls itself nowhere, and needs ``<math.h>`` only. It checks
    nothing either: of NaN it makes NaN.

    Parameters
    ----------
    model : estimator
        A fitted `RVR`, `RVC`, `SparseBayesianRegressor` or `SparseBayesianClassifier`, or a
        pipeline that ends in one, after steps that scale or pick columns: ``StandardScaler``,
        ``MinMaxScaler`` and a ``ColumnTransformer`` of these.
    path : path-like, default=None
        File of the source, which ends in .c; the header is written beside it. None writes no files.
    name : str, default=None
        Prefix of the names in C, without a path: with one it is the name of the file. None is
        ``relvec_model``.
    return_std : bool, default=False
        Write the standard deviation of new observations too, noise included. It needs a table of
        about half the square of the number of functions.
    real : {"double", "float"}, default="double"
        Type of all numbers.

    Returns
    -------
    code : CCode
        Header, source, and sizes in bytes.

    Raises
    ------
    ValueError
        Something in the model cannot be exported; the message names it.

    Examples
    --------
    >>> from relvec import RVR
    >>> from relvec.datasets import make_sinc
    >>> from relvec.export import to_c
    >>> X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    >>> code = to_c(RVR(gamma=0.1).fit(X, y), name="sinc")
    >>> print(code.header)
    /* RVR with 5 functions of 1 inputs, by relvec ...
     *
     * 80 bytes of constants, 40 bytes of arrays on the stack
     */
    #ifndef SINC_H
    #define SINC_H
    <BLANKLINE>
    #define SINC_INPUTS 1
    #define SINC_TARGETS 1
    ...
    /* Mean of a new observation of every target, for one row x of inputs. */
    void sinc_predict(const double x[SINC_INPUTS], double mean[SINC_TARGETS]);
    ...
    """
    if real not in ("double", "float"):
        raise ValueError(f"real={real!r}, expected 'double' or 'float'")
    name = _checked_name(name, path)
    estimator = exported(model, return_std=return_std)
    x: Expression = Input(Axis("feature", n_inputs(model)))
    if estimator is not model:
        x = scaled(model[:-1], x)
        x = keep(x, *x.axes, name="scaled")
    outputs = predicted(estimator, x, return_std=return_std)
    writer = CWriter(name, real, TAKEN, *outputs.values())
    score = outputs.pop("score", None)
    for argument, node in outputs.items():
        writer.write(argument, node)
    if score is not None:
        _write_label(writer, score)
    code = _assembled(writer, model, estimator, outputs)
    if path is not None:
        code.save(Path(path).parent)
    return code


def _checked_name(name: str | None, path: Path | str | None) -> str:
    """The name in C, which the files have too."""
    if path is not None:
        if Path(path).suffix != ".c" or name not in (None, Path(path).stem):
            raise ValueError(
                f"path={str(path)!r} with name={name!r}, expected a file that ends in .c and no "
                "name, which is that of the file"
            )
        name = Path(path).stem
    elif name is None:
        name = "relvec_model"
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(
            f"name={name!r}, expected a name that C takes: letters, digits and underscores, a "
            "letter first"
        )
    return name


def _write_label(writer: CWriter, score: Stored) -> None:
    """Return the position of the largest score, in C."""
    name, (label,) = writer.stored(score), score.axes
    writer.body.lines += [
        "int label = 0;",
        f"for (int i = 1; i < {label.size}; ++i) {{",
        f"    label = {name}[i] > {name}[label] ? i : label;",
        "}",
        "return label;",
    ]


def _assembled(writer: CWriter, model: Any, estimator: Any, outputs: dict[str, Stored]) -> CCode:
    """Header and source of the outputs that were written."""
    name, macro, inputs = writer.prefix, writer.prefix.upper(), n_inputs(model)
    kind, returns = ("CLASSES", "int") if "probability" in outputs else ("TARGETS", "void")
    arguments = [f"const {writer.real} x[{macro}_INPUTS]"]
    arguments += [f"{writer.real} {output}[{macro}_{kind}]" for output in outputs]
    notes = []
    if hasattr(model, "feature_names_in_"):
        notes.append(f"Inputs: {', '.join(map(str, model.feature_names_in_))}")
    if hasattr(estimator, "classes_"):
        labels = (f"{code} {label!r}" for code, label in enumerate(estimator.classes_.tolist()))
        notes.append(f"Classes: {', '.join(labels)}")
    *_, (last, node) = outputs.items()
    fields = {
        "name": name,
        "macro": macro,
        "n_inputs": inputs,
        "kind": kind,
        "n_outputs": node.axes[0].size,
        "comment": COMMENTS[last],
        "title": _plain(
            f"{type(estimator).__name__} with {len(estimator.relevance_)} functions of "
            f"{inputs} inputs, by relvec {version('relvec')}"
        ),
        "constant_bytes": writer.constant_bytes,
        "buffer_bytes": writer.buffer_bytes,
        "notes": "".join(map(_comment, notes)),
        "declaration": f"{returns} {name}_predict({', '.join(arguments)})",
        "tables": "\n".join(writer.tables),
        "body": textwrap.indent("\n".join(writer.body.lines), "    "),
        "unused": "" if writer.reads_row else "    (void)x;\n",
    }
    header, source = HEADER.format(**fields), SOURCE.format(**fields)
    return CCode(name, header, source, writer.constant_bytes, writer.buffer_bytes)


def _comment(text: str) -> str:
    """Lines inside a comment, made of letters, digits and signs that mean nothing to C.

    Any other character could, with its neighbours, end the comment (``*/``, also spelt with a
    spliced line or a trigraph), and is given by its code point.
    """
    return "".join(f" * {line}\n" for line in textwrap.wrap(_plain(text), 92))


def _plain(text: str) -> str:
    """Text of letters, digits and plain signs, with the code points of all others."""
    return "".join(
        sign if sign.isalnum() or sign in PLAIN_SIGNS else f"<U+{ord(sign):04X}>" for sign in text
    )
