"""Pages of the documentation site as a browser shows them without a network, once it is built."""

import re
from pathlib import Path

import pytest

from tests.support.browser import DESKTOP, PHONE

DOCS = Path(__file__).resolve().parents[1] / "docs"
DRAWN = "[...document.querySelectorAll('svg.formula path')].map(path => path.getBBox().width)"


@pytest.mark.site
@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
def test_formulas_are_drawn_without_a_network(browser, width, scheme):
    shown = browser.open(DOCS / "_build/html/maths/index.html", width=width, scheme=scheme)
    assert [url for url in shown.asked if not url.startswith("file:")] == []
    tags = re.findall(r"\\tag\{(\w+)\}", (DOCS / "maths/index.md").read_text(encoding="utf-8"))
    assert shown.of("[...document.querySelectorAll('div.formula')].map(one => one.innerText)") == [
        f"({tag})" for tag in tags
    ]
    drawn = shown.of(DRAWN)
    assert len(drawn) > 2 * len(tags)
    assert min(drawn) > 10
    assert shown.overflow <= 0
