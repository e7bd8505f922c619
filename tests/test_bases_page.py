"""The code on the page about bases runs as printed, and keeps what the page says it does."""

import re
from pathlib import Path

import relvec.basis
from relvec.basis import Basis

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "guide" / "bases.md").read_text(encoding="utf-8")


def test_the_code_keeps_what_the_page_says(capsys):
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/guide/bases.md", "exec"), names)
    kept = names["model"].basis_.names()
    assert {"x0", "sin(0.0172142 x0)"} <= set(kept)
    (bump,) = set(kept) - {"x0", "sin(0.0172142 x0)"}
    row = int(re.fullmatch(r"rbf\[(\d+)\]", bump)[1])
    assert abs(names["day"][row, 0] - 500) < 10
    both = {"sin(0.0172142 x0)", "cos(0.0172142 x0)"}
    assert {"x0"} | both < set(names["waves"].basis_.names())
    assert list(names["linear"].relevance_) == [7, 1234]
    assert "x1234" in capsys.readouterr().out


def test_the_table_has_every_basis():
    table = "".join(line for line in PAGE.splitlines() if line.startswith("|"))
    for name in relvec.basis.__all__:
        cls = getattr(relvec.basis, name)
        abstract = name in ("Basis", "Kernel", "ScaledKernel")
        if isinstance(cls, type) and issubclass(cls, Basis) and not abstract:
            assert re.search(rf"`{name}\b", table) or name == "Precomputed", name
