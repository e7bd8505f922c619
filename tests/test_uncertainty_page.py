"""The code on the page about uncertainty runs as printed, and does what the page says it does."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "uncertainty.md").read_text(encoding="utf-8")


def test_error_bars_grow_as_the_page_says():
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/uncertainty.md", "exec"), names)
    inside, beside, far = (
        names["augmented"].predict([[x]], return_std=True)[1][0] for x in (0.0, 6.0, 20.0)
    )
    assert inside < beside < far
    plain = names["plain"].predict([[20.0]], return_std=True)[1][0]
    assert plain < 1.5 * inside < 0.5 * far


def test_the_picture_is_small():
    assert (ROOT / "docs" / "images" / "augmentation.png").stat().st_size < 150_000
