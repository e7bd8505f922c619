"""The code on the page about uncertainty runs as printed, and does what the page says it does."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "guide" / "uncertainty.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def blocks():
    """What is defined after each block, one after the other."""
    names, found = {}, []
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/guide/uncertainty.md", "exec"), names)
        found.append(dict(names))
    return found


def first_with(name, blocks):
    return next(names for names in blocks if name in names)


def test_error_bars_grow_as_the_page_says(blocks):
    names = first_with("augmented", blocks)
    inside, beside, far = (
        names["augmented"].predict([[x]], return_std=True)[1][0] for x in (0.0, 6.0, 20.0)
    )
    assert inside < beside < far
    plain = names["plain"].predict([[20.0]], return_std=True)[1][0]
    assert plain < 1.5 * inside < 0.5 * far


def test_calibrated_intervals_are_narrower_where_plain_ones_hold_too_much(blocks):
    names = first_with("calibrated", blocks)
    X, y = names["X"][names["new"]], names["y"][names["new"]]
    ends = [names[which].predict_interval(X, coverage=0.8) for which in ("model", "calibrated")]
    held = [((lower <= y) & (y <= upper)).mean() for lower, upper in ends]
    widths = [(upper - lower).mean() for lower, upper in ends]
    assert 0.8 <= held[1] < held[0]
    assert widths[1] < widths[0]


def test_the_picture_is_small():
    assert (ROOT / "docs" / "images" / "augmentation.png").stat().st_size < 150_000
