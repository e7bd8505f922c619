"""The page on a model and how it does on a table, which `relvec report` writes."""

from __future__ import annotations

import base64
import io
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from relvec import effects, importance
from relvec._assess.facts import facts
from relvec._commands import arguments, files
from relvec._commands.columns import check_usable, complete_rows
from relvec._commands.preparation import Preparation
from relvec._commands.tables import options_of
from relvec._commands.tasks import Drawing, Task, diagnosis, has_effects, load_model, noise
from relvec._commands.terminal import listed, print_text, progress
from relvec._files import write_file
from relvec.display import EffectsDisplay, EffectSharesDisplay, EvidenceDisplay, RelevanceDisplay
from relvec.display.base import rows_among
from relvec.display.relevance import AROUND, BAR

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Template
    from matplotlib.axes import Axes

# Inches: a width that makes the letters readable where a phone shrinks the picture.
WIDTH = 5.4
# Marks of more rows are drawn as dots of a raster, at this many to the inch.
MOST_MARKS, DOTS_PER_INCH = 2000, 200
# Functions in the table, and inputs in the picture of their relevance.
MOST_FUNCTIONS, MOST_INPUTS = 100, 20
# Rows, drawn at random, on which the columns of a model without effects are permuted.
MOST_PERMUTED = 1000
# Effects in pictures, those with the largest shares.
MOST_EFFECTS = 12
# Letters at either end of a long name of an input there, which takes its place from the bars.
FIRST_LETTERS, LAST_LETTERS = 14, 9


def write_page(options: Namespace) -> None:
    """Write the page."""
    files.need("jinja2")
    files.need("matplotlib")
    task, model = load_model(options.model, trust_pickle=options.trust_pickle)
    preparation = Preparation.of(model)
    table, inputs = preparation.read(options.data, options_of(options))
    check_usable(table, inputs.unusable)
    target = options.target or preparation.target
    target = target or _only_other(table, list(preparation.columns.kinds), options.data)
    files.require_columns(table, [target], options.data)
    needed = preparation.columns.needed(inputs.X, impute=preparation.impute)
    rows, _ = complete_rows(needed.assign(**{target: table[target]}), drop=options.drop_missing)
    if not rows.any():
        raise ValueError(f"{options.data} has no row to judge the model on")
    X, y = inputs.X.loc[rows, model.feature_names_in_], task.checked(table.loc[rows, target])
    preparation.warn_of_unknown(X)
    _check_classes(model, y)
    html = _template().render(
        target=target,
        task=type(task).__name__,
        model_name=options.model.name,
        data_name=options.data.name,
        n_left_out=len(table) - len(y),
        columns=[_column(table[name], preparation, model, target) for name in table.columns],
        scores=task.scores(model, X, y),
        inputs=_inputs(task, model, X, y),
        **_pictures(task, model, X, y),
        **_fit(task, model, X, y),
    )
    write_file(options.out, html.encode())
    print_text(f"report on {len(y)} rows written to {options.out}")


def _only_other(table: pd.DataFrame, names: list[str], path: Path) -> str:
    """Name of the only column that the model does not read."""
    others = [name for name in table.columns if name not in names]
    if len(others) != 1:
        raise ValueError(
            f"--target is needed: {path} has {len(others)} columns that the model does not read, "
            f"expected one{': ' * bool(others)}{listed(others)}"
        )
    return str(others[0])


def _check_classes(model: Pipeline, y: pd.Series) -> None:
    """Raise unless a classifier knows every class of these rows."""
    classes = getattr(model, "classes_", y)
    unknown = set(y) - set(classes)
    if unknown:
        raise ValueError(
            f"the target {y.name!r} holds {listed(sorted(map(str, unknown)))}, which the model "
            f"does not know; it knows {listed(classes)}"
        )


def _template() -> Template:
    """Template of the page, which refers to nothing outside itself."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("relvec._commands", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html")


def _fit(task: Task, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> dict[str, Any]:
    """Variables of the template that tell of the fit, and of these rows beside it."""
    estimator, inputs = model[-1], model[:-1].transform(X)
    gamma = getattr(estimator, "gamma_", None)
    width = f", gamma {gamma:.4g}" if isinstance(arguments.gamma, float) else ""
    kernel = {"kernel": f"{estimator.kernel}{width}"} if hasattr(estimator, "kernel") else {}
    return {
        "fit": {
            "model": type(estimator).__name__,
            **kernel,
            **facts(estimator),
            **noise(model, str(y.name)),
        },
        "n_inputs": X.shape[1] - len(task.known(X)),
        "n_rows": len(y),
        "n_fitted": int(rows_among(np.asarray(inputs), estimator.relevance_vectors_).sum()),
        "n_vectors": len(estimator.relevance_vectors_),
        "functions": estimator.summary().head(MOST_FUNCTIONS),
        "n_functions": len(estimator.relevance_),
        "diagnosis": diagnosis(task, model, X, y),
    }


def _inputs(task: Task, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> pd.DataFrame:
    """Table of the effects, or else of the log density that the largest permutations cost."""
    if has_effects(model[-1]):
        return effects(model)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_PERMUTED])
    with progress(f"permuting {X.shape[1]} columns"):
        lost = importance(
            model, X.iloc[rows], y.iloc[rows], scoring=task.log_density, random_state=0
        )
    return lost.head(MOST_INPUTS)


def _pictures(task: Task, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> dict[str, Any]:
    """Variables of the template that hold pictures: captions, and addresses of the pictures."""
    drawings = [*task.drawings(model, X, y)]
    if np.ndim(getattr(model[-1], "gamma_", 0.0)):
        drawings.append(_relevance(model))
    if has_effects(model[-1]):
        drawings.extend(_effects(model, X))
    history = Drawing(
        "Log evidence and number of functions after every pass of the fit.",
        lambda ax: EvidenceDisplay.from_estimator(model, ax=ax),
    )
    raster = len(y) > MOST_MARKS
    return {
        "pictures": [(drawing.caption, _address(drawing, raster=raster)) for drawing in drawings],
        "history": (history.caption, _address(history, raster=False)),
    }


def _relevance(model: Pipeline) -> Drawing:
    """Drawing of the relevance of the inputs, where each has a width of its own."""
    relevance = model[-1].feature_relevance_
    names = model[:-1].get_feature_names_out()
    display = RelevanceDisplay(relevance=relevance, names=list(map(_shortened, names)))
    shown = min(len(relevance), MOST_INPUTS)
    return Drawing(
        "How much each input matters: over how many widths of the kernel it extends.",
        lambda ax: display.plot(n_features=shown, ax=ax),
        height=AROUND + BAR * shown,
    )


def _effects(model: Pipeline, X: pd.DataFrame) -> Iterator[Drawing]:
    """Drawings of the shares of the terms and of each effect; of more than two classes, of each."""
    estimator = model[-1]
    several = np.ndim(estimator.constant_) > 0
    features = dict(zip(estimator.terms_, estimator.term_features_, strict=True))
    for target in estimator.classes_.tolist() if several else [None]:
        whose, column = (f" for {target}", f"share[{target}]") if several else ("", "share")
        share = estimator.effects_[column].nlargest(MOST_EFFECTS)
        terms = share.index[share > 0]
        if len(terms):
            yield Drawing(
                f"Shares of the terms in the variance of the function{whose}.",
                partial(_draw_shares, model, target, len(terms)),
                height=AROUND + BAR * len(terms),
            )
        for term in terms:
            if 0 < len(features[term]) < 3:
                draw = partial(_draw_effect, model, X, term, target)
                yield Drawing(f"Effect of {term}{whose}, with 95 % intervals.", draw)


def _draw_shares(model: Pipeline, target: Any, n_terms: int, ax: Axes) -> None:
    EffectSharesDisplay.from_estimator(model, n_terms=n_terms, target=target, ax=ax)


def _draw_effect(model: Pipeline, X: pd.DataFrame, term: str, target: Any, ax: Axes) -> None:
    EffectsDisplay.from_estimator(model, X, [term], target=target, ax=ax)


def _shortened(name: str) -> str:
    """Both ends of a long name, as those of one column's categories begin alike."""
    if len(name) <= FIRST_LETTERS + 1 + LAST_LETTERS:
        return name
    return f"{name[:FIRST_LETTERS]}…{name[-LAST_LETTERS:]}"


def _column(
    column: pd.Series, preparation: Preparation, model: Pipeline, target: str
) -> dict[str, str]:
    """Use of a column, its values and the number of those that are missing."""
    if files.holds_texts(column):  # or lists, which are not told apart but as texts
        column = column.astype(str).where(column.notna())
    name = str(column.name)
    role = "input" if name in preparation.columns.kinds else "not read"
    role = {target: "target", preparation.columns.exposure: "exposure"}.get(name, role)
    return {
        "name": name,
        "role": role,
        "values": _values(column, counted=role == "target" and hasattr(model, "classes_")),
        "distinct": str(column.nunique()),
        "missing": str(int(column.isna().sum())),
    }


def _values(column: pd.Series, *, counted: bool) -> str:
    """Range and median of numbers, unless they are counted as the commonest of other values are."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if column.isna().all():
        return "none"
    counted = counted or is_bool_dtype(column) or files.holds_texts(column)
    if is_numeric_dtype(column) and not counted:
        return f"{column.min():.4g} to {column.max():.4g}, median {column.median():.4g}"
    if counted:
        counts = column.value_counts().head(6)
        rest = column.nunique() - len(counts)
        shown = ", ".join(f"{value} ({count})" for value, count in counts.items())
        return f"{shown} and {rest} more" if rest else shown
    return f"{column.min()} to {column.max()}"


def _address(drawing: Drawing, *, raster: bool) -> str:
    """Address of a picture that holds the picture itself."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    svg = io.BytesIO()
    # Letters become shapes, so that no font is asked for; names are the same in every run.
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "relvec"}):
        figure = Figure(figsize=(WIDTH, drawing.height), layout="constrained")
        ax = figure.subplots()
        if raster:
            ax.set_rasterization_zorder(3)
        drawing.draw(ax)
        figure.savefig(
            svg, format="svg", transparent=True, dpi=DOTS_PER_INCH, metadata={"Date": None}
        )
    return "data:image/svg+xml;base64," + base64.b64encode(svg.getvalue()).decode()
