"""``relvec export``: write a model as C or ONNX, which need no Python."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from relvec._commands import arguments, files
from relvec._commands.terminal import print_text

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline

HELP = "write a model as C or ONNX"
DESCRIPTION = (
    "Write a model of `relvec fit` as C99 (a .c file and a .h file beside it, "
    "which need nothing but <math.h>) or as an ONNX graph (extra relvec[onnx]), with the "
    "preparation of its inputs. Categories are for ONNX only. " + arguments.PICKLES
)
EXAMPLES = """\
export price.skops price.onnx --std
export price.skops price.c --float"""


def run(options: Namespace) -> None:
    """Write the model in the form that the suffix says."""
    from relvec._commands.tasks import load_model
    from relvec.export import to_c, to_onnx

    _, model = load_model(options.model, trust_pickle=options.trust_pickle)
    if options.out.suffix == ".c":
        real = "float" if options.float else "double"
        code = to_c(model, options.out, return_std=options.std, real=real)
        print_text(f"model written to {options.out} and {options.out.with_suffix('.h')}")
        print(f"{code.constant_bytes} bytes of constants, {code.buffer_bytes} on the stack")
    else:
        row = _row(model, "float32" if options.float else "float64")
        graph = to_onnx(model, row, options.out, return_std=options.std)
        print_text(f"model written to {options.out}")
        print_text("inputs: " + ", ".join(given.name for given in graph.graph.input))
        print_text("outputs: " + ", ".join(output.name for output in graph.graph.output))


def _row(model: Pipeline, dtype: str) -> pd.DataFrame:
    """A row of the types that the model takes: numbers, or categories that it knows."""
    import numpy as np

    from relvec.export.scalers import positions_of

    names = model.feature_names_in_
    row = dict.fromkeys(names, np.zeros(1, dtype=dtype))
    for _, step, columns in model[0].transformers_:
        own = names[positions_of(model[0], columns)]
        for name, known in zip(own, getattr(step, "categories_", ()), strict=False):
            row[name] = known[:1].astype(object)
    return files.need("pandas").DataFrame(row)


def _out_path(text: str) -> Path:
    path = arguments.output_path(text)
    if path.suffix not in {".c", ".onnx"}:
        raise ArgumentTypeError(f"{text} must end in .c or .onnx")
    return path


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser)
    arguments.add_file(
        parser, "out", metavar="OUT", type=_out_path, help="file that ends in .c or .onnx"
    )
    parser.add_argument(
        "--std", action="store_true", help="standard deviations of new observations too"
    )
    parser.add_argument("--float", action="store_true", help="single precision, not double")
