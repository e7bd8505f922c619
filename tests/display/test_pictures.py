"""Pictures are those that were looked at, and can be read without colour.

Draw them anew with ``RELVEC_DRAW=1 pytest tests/display/test_pictures.py``, and look.
"""

import os
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

from relvec.display import (
    BLUE,
    INK,
    MIST,
    STEEL,
    BoundaryDisplay,
    CalibrationDisplay,
    CoverageDisplay,
    Curve,
    EffectCurve,
    EffectMap,
    EffectsDisplay,
    EffectSharesDisplay,
    EvidenceDisplay,
    Map,
    RegressionDisplay,
    RelevanceDisplay,
)
from relvec.display.boundary import MARKS
from relvec.display.evidence import LINES
from relvec.solvers import Pass

IMAGES = Path(__file__).with_name("images")
#: Root mean square of the differences of pixels, from 0 to 255. Matplotlib 3.9 and 3.11 draw six of
#: these pictures alike and the other to within 0.23; one tone that becomes white makes 5.2 or more.
TOLERANCE = 1.0


def curve():
    """A sinc with bands that widen, and its rows, three of them circled."""
    x = np.linspace(-10, 10, 40)
    y = np.sinc(x / np.pi) + 0.1 * np.cos(7 * x)
    grid = np.linspace(-11, 11, 200)
    mean, half = np.sinc(grid / np.pi), 0.05 + 0.002 * grid**2
    bands = (mean - 0.2 - half, mean + 0.2 + half), (mean - half, mean + half)
    kept = np.isin(np.arange(40), [8, 19, 31])
    line = Curve(grid, mean, *bands)
    return RegressionDisplay(y=y, mean=y, x=x, curve=line, is_relevance_vector=kept)


def against_true():
    """Predictions with error bars, longer above the mean than below."""
    y = np.linspace(0, 10, 30)
    mean = y + np.sin(5 * y)
    return RegressionDisplay(y=y, mean=mean, interval=(mean - 1, mean + 2))


def boundary(n_classes):
    """Classes around as many corners of a triangle."""
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0]])[:n_classes]
    first, second = np.linspace(-2, 6, 60), np.linspace(-2, 5, 60)
    at = np.stack(np.meshgrid(first, second), axis=-1)
    decay = np.exp(-0.5 * ((at[:, :, None] - corners) ** 2).sum(axis=-1)) + 0.01
    angles = np.linspace(0, 2 * np.pi, 9)[:-1]
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.concatenate([corner + ring for corner in corners])
    return BoundaryDisplay(
        X=X,
        y=np.repeat(np.arange(n_classes), 8),
        classes=np.arange(n_classes),
        is_relevance_vector=np.arange(len(X)) % 8 == 0,
        surface=Map(first, second, decay / decay.sum(axis=-1, keepdims=True)),
    )


def calibration():
    """Probabilities that are bolder than what comes true."""
    probability = np.linspace(0.01, 0.99, 400)
    outcome = np.arange(400) % 20 < 20 * (0.5 + 0.7 * (probability - 0.5))
    return CalibrationDisplay(probability=probability, outcome=outcome)


def coverage():
    """Intervals that are too narrow, those of 90 % the most."""
    said = np.linspace(0.1, 0.9, 9)
    return CoverageDisplay(coverage=said, held=said * (1.1 - 0.3 * said), n_samples=80)


def evidence():
    """Two machines of different length."""
    return EvidenceDisplay(
        history=[
            Pass(0, -100 / passed - 20 * machine, 3 + 2 * passed % 5 + machine, 0.1, 0.0, machine)
            for machine, passes in enumerate((12, 7))
            for passed in range(1, passes + 1)
        ]
    )


def relevance():
    """Five inputs, two of which do not matter."""
    return RelevanceDisplay(relevance=np.array([0.4, 0.0, 1.5, 0.9, 0.0]), names="abcde")


def effects():
    """A curve whose band widens, categories, a map of two numbers, and one with categories."""
    x = np.linspace(-1, 1, 50)
    wave, names, rows = np.sin(3 * x), np.array(["a", "b", "c"]), np.linspace(-0.9, 0.9, 25) ** 3
    product = np.outer(x, x)
    return EffectsDisplay(
        effects=[
            EffectCurve("x", x, wave, 0.1 + 0.2 * x**2, rows),
            EffectCurve(
                "k", names, np.array([0.5, -1, 0.2]), np.array([0.1, 0.2, 0.3]), names, True
            ),
            EffectMap(("x", "y"), x, x, product, np.full((50, 50), 0.05), (rows, rows[::-1])),
            EffectMap(
                ("k", "x"),
                names,
                x,
                np.outer(wave, [1, -1, 0]),
                np.full((50, 3), 0.05),
                (names, x[:3]),
                (True, False),
            ),
        ]
    )


def effect_shares():
    """Three terms, the last of which is hardly known to matter."""
    std = np.array([0.1, 0.05, 0.09])
    return EffectSharesDisplay(terms="abc", share=np.array([0.6, 0.3, 0.1]), std=std)


PICTURES = {
    "curve": curve,
    "against_true": against_true,
    "two_classes": lambda: boundary(2),
    "three_classes": lambda: boundary(3),
    "calibration": calibration,
    "coverage": coverage,
    "effects": effects,
    "effect_shares": effect_shares,
    "evidence": evidence,
    "relevance": relevance,
}


def save(display, path):
    """Draw without letters, which differ with the fonts and their renderer."""
    with rc_context({"savefig.dpi": 60}):
        figure = Figure(figsize=(5, 4))
        display().plot(ax=figure.add_subplot())
        for axes in figure.axes:
            if axes.get_legend():
                axes.get_legend().remove()
        for text in figure.findobj(Text):
            text.set_visible(False)
        figure.savefig(path)


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_those_that_were_looked_at(name, tmp_path):
    expected, drawn = IMAGES / f"{name}.png", tmp_path / f"{name}.png"
    if os.environ.get("RELVEC_DRAW"):
        save(PICTURES[name], expected)
    save(PICTURES[name], drawn)
    assert compare_images(str(expected), str(drawn), tol=TOLERANCE) is None


@pytest.mark.parametrize(
    ("name", "tone"),
    [
        ("curve", "regression.MIST"),
        ("calibration", "calibration.MIST"),
        ("coverage", "base.STEEL"),
        ("effects", "effects.STEEL"),
        ("effect_shares", "effect_shares.STEEL"),
    ],
)
def test_a_changed_tone_is_seen(name, tone, tmp_path, monkeypatch):
    monkeypatch.setattr(f"relvec.display.{tone}", "white")
    drawn = tmp_path / f"{name}.png"
    save(PICTURES[name], drawn)
    assert compare_images(str(IMAGES / f"{name}.png"), str(drawn), tol=TOLERANCE) is not None


def _grey(tone):
    """Luma of a colour, as a printer without colours takes it, from 0 to 1."""
    return np.dot(to_rgb(tone), [0.299, 0.587, 0.114])


def test_tones_stay_apart_in_grey():
    greys = [_grey(tone) for tone in (INK, BLUE, STEEL, MIST, "white")]
    assert all(light - dark > 0.08 for dark, light in pairwise(greys))


def test_classes_and_machines_differ_in_more_than_hue():
    assert len({marker for marker, _ in MARKS}) == len(MARKS)
    for (line, tone), (other_line, other_tone) in combinations(LINES, 2):
        assert line != other_line or abs(_grey(tone) - _grey(other_tone)) > 0.08
