"""Every example of the gallery runs as a script, warns of nothing, and draws labelled pictures."""

import runpy
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*/plot_*.py"))
#: Those that stay out of the default suite would take most of its time.
QUICK = {"plot_curve", "plot_counts", "plot_ripley"}


@pytest.fixture
def shown(monkeypatch):
    """Collect what a script shows, and close it."""
    figures = []

    def show():
        figures.extend(map(pyplot.figure, pyplot.get_fignums()))
        pyplot.close("all")

    backend = matplotlib.get_backend()
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(pyplot, "show", show)
    yield figures
    pyplot.close("all")
    pyplot.switch_backend(backend)


def says_what_it_shows(ax):
    """Images, or both axes with a label; bars have names instead."""
    return ax.images or (ax.get_xlabel() and (ax.get_ylabel() or ax.containers))


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow, id=path.stem)
        for path in EXAMPLES
    ],
)
def test_the_example_runs_and_its_axes_have_labels(path, shown):
    runpy.run_path(str(path), run_name="__main__")
    assert shown
    assert not pyplot.get_fignums(), "a figure was drawn and not shown"
    for figure in shown:
        assert any(map(says_what_it_shows, figure.axes))


def test_quick_examples_exist():
    assert {path.stem for path in EXAMPLES} >= QUICK
