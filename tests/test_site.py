"""The pages of the documentation site: code that prints what they say, and numbers that exist."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.modules import MODULES
from tests.support.pages import python_blocks

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = {str(path.relative_to(DOCS)): path for path in sorted(DOCS.glob("**/*.md"))}
#: Pages whose code has tests of its own.
TESTED = {"guide/bases.md", "guide/uncertainty.md"}


@pytest.mark.parametrize(
    "page", [page for page, path in PAGES.items() if python_blocks(path) and page not in TESTED]
)
def test_the_code_prints_what_the_page_says(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages write files
    names = {"__name__": page}
    for code, printed in python_blocks(PAGES[page]):
        exec(compile(code, page, "exec"), names)
        assert capsys.readouterr().out == printed


def test_every_equation_the_code_cites_is_on_the_page():
    page = PAGES["maths/index.md"].read_text(encoding="utf-8")
    tags = re.findall(r"\\tag\{(\w+)\}", page)
    assert len(set(tags)) == len(tags)
    # each has its number for an address, which stands right before it
    addresses = re.findall(r"^\(eq-(\w+)\)=\n\$\$.*?\\tag\{(\w+)\}", page, re.M | re.S)
    assert [(tag.lower(), tag) for tag in tags] == addresses
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8").replace("Tipping & Faul 2003, eq.", "")
        for cited in re.findall(r"\beq\.\s(\d+(?:(?:, | to | and )\d+)*)", text):
            assert set(re.findall(r"\d+", cited)) <= set(tags), (path.name, cited)


@pytest.mark.parametrize("page", PAGES)
def test_links_to_other_sites_are_well_formed(page):
    for link in re.findall(r"https?:[^\s)>\"`]*", PAGES[page].read_text(encoding="utf-8")):
        parts = urlsplit(link)
        assert parts.scheme == "https", link
        assert re.fullmatch(r"([a-z0-9-]+\.)+[a-z]{2,}", parts.netloc), link


def test_every_cell_of_the_comparison_says_how_it_was_checked():
    page = PAGES["guide/comparison.md"].read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ")]
    features = [row for row in rows if row[0].strip()]
    assert len(features) > 20
    for row in features:
        assert len(row) == 10, row[0]
        for cell in row[1:]:
            assert re.search(r"\((r|s|m|r, m)\)$|^\?$|^$", cell.strip()), (row[0], cell)


def promised():
    """Modules that the page of what stays as it is lists by name."""
    page = PAGES["stability.md"].read_text(encoding="utf-8")
    (names,) = re.findall(r"^- \*\*Names\.\*\*.*?(?=^- )", page, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`(relvec[\w.]*)`", names))


def test_public_modules_are_those_promised_and_are_in_the_reference():
    top = {name for name in MODULES if name.count(".") < 2 and "._" not in name}
    assert {name for name in promised() if name.count(".") < 2} == top
    page = PAGES["reference/index.md"].read_text(encoding="utf-8")
    assert promised() <= set(re.findall(r"^   (relvec[\w.]*)$", page, re.MULTILINE))


def test_pages_import_from_promised_modules_alone():
    pages = [*ROOT.glob("*.md"), *PAGES.values(), *ROOT.glob("examples/**/*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    found = re.findall(r"^\s*(?:>>> )?(?:from|import) (relvec[\w.]*)", text, re.MULTILINE)
    assert len(found) > 50
    assert set(found) <= promised()
