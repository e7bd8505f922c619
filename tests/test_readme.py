"""The code and commands in the documents run as they are printed, and links lead somewhere."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relvec._commands.main import main
from tests.support.pages import README, check_printed, commands, python_blocks

ROOT = Path(__file__).resolve().parents[1]


def test_the_code_prints_what_it_says(capsys):
    blocks, names = python_blocks(README), {}
    assert len([line for line in blocks[0][0].splitlines() if line.strip()]) == 10
    for code, printed in blocks:
        exec(compile(code, "README.md", "exec"), names)
        assert capsys.readouterr().out == printed != ""


def test_the_commands_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    houses = pd.DataFrame(
        {"size": rng.uniform(20, 200, 80), "district": rng.choice(["a", "b"], 80)}
    )
    houses.to_csv("new_houses.csv", index=False)
    houses["price"] = houses["size"] / 50 + rng.normal(scale=0.1, size=80)
    houses.to_csv("houses.csv", index=False)
    houses.to_csv("sold_houses.csv", index=False)

    session = commands(README, "relvec")
    assert [words[0] for words, _ in session] == ["demo", "fit", "predict", "report"]
    for words, expected in session:
        assert main(words) == 0
        out, err = capsys.readouterr()
        assert err == ""
        if expected:
            check_printed(out, expected)
    predicted = pd.read_csv("predicted.csv")
    np.testing.assert_allclose(predicted["mean"], houses["price"], atol=1)
    assert "<h1>price</h1>" in Path("houses.html").read_text(encoding="utf-8")


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pages = README.read_text("utf-8") + (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for target in re.findall(r"(?:\$ |`)make ([a-z-]+)", pages):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/maths/notation.md",
        "docs/maths/solver.md",
        "docs/guide/uncertainty.md",
    ],
)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    local = [link.partition("#")[0] for link in links if "://" not in link]
    for link in filter(None, local):
        assert ((ROOT / page).parent / link).exists(), link


def test_files_that_pages_name_exist():
    """In the checkout, or in the package."""
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for name in re.findall(r"`([\w./]+\.py)`", page.read_text(encoding="utf-8")):
            found = [(folder / name).exists() for folder in (ROOT, ROOT / "src" / "relvec")]
            assert any(found) or page.name == "CHANGELOG.md", (page, name)


def test_the_picture_is_small():
    assert (ROOT / "docs" / "images" / "demo.png").stat().st_size < 150_000
