"""Quick examples of the gallery run as scripts, warn of nothing, and draw labelled pictures.

`make docs` runs all of them, which would take most of the time of the suite, and asks the same.
"""

import runpy
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot

ROOT = Path(__file__).resolve().parents[1]
QUICK = ["1_start/plot_curve.py", "1_start/plot_ripley.py", "3_uncertainty/plot_counts.py"]
says_what_it_shows = runpy.run_path(str(ROOT / "docs/_ext/strict_examples.py"))[
    "says_what_it_shows"
]


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


@pytest.mark.parametrize("example", QUICK)
def test_the_example_runs_and_its_axes_have_labels(example, shown):
    runpy.run_path(str(ROOT / "examples" / example), run_name="__main__")
    assert shown
    assert not pyplot.get_fignums(), "a figure was drawn and not shown"
    for figure in shown:
        assert any(map(says_what_it_shows, figure.axes))
