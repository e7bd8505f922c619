"""What the package says of itself in several places is the same in all of them."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import relvec

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: Extras for those who work on the package.
DEVELOPERS = {"benchmarks", "docs", "lint", "tests"}


def brought_by(extra):
    """The extra and all that it asks for, at any remove."""
    named = [name for line in EXTRAS[extra] for name in re.findall(r"relvec\[(.*)\]", line)]
    extras = {name for names in named for name in names.split(",")}
    return {extra}.union(*map(brought_by, extras))


def test_all_is_what_users_may_want_and_tests_need_it():
    assert brought_by("all") == set(EXTRAS) - DEVELOPERS
    assert brought_by("all") - {"all"} <= brought_by("tests")


def test_a_version_of_every_library_that_make_installs_is_pinned():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {normalised(re.fullmatch(r"([\w.-]+)==[\w.!]+", line)[1]) for line in lines}
    extras = [EXTRAS[name] for extra in DEVELOPERS - {"benchmarks"} for name in brought_by(extra)]
    asked = [line for lines in (PROJECT["dependencies"], *extras) for line in lines]
    names = {normalised(re.match(r"[\w.-]+", line)[0]) for line in asked} - {"relvec"}
    assert {"numpy", "pytest-xdist", "sphinx", "mypy", "dask"} <= names <= pinned


def normalised(name):
    """Name of a project by which registries know it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_extras_that_texts_name_exist():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*/*.md"), *ROOT.glob("docs/*.md")]
    for path in [*pages, *ROOT.glob("src/**/*.py"), *ROOT.glob("examples/**/*.py")]:
        text = path.read_text(encoding="utf-8")
        for names in re.findall(r"(?:relvec|'\.)\[([a-z,]+)\]", text):
            assert set(names.split(",")) <= set(EXTRAS), path


def test_the_version_is_one():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", cited, re.MULTILINE)[1] == PROJECT["version"]
    assert relvec.__version__ == version("relvec") == PROJECT["version"]
    newest = re.search(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1]
    assert newest == PROJECT["version"]


def test_everything_public_is_listed():
    for name in relvec.__all__:
        assert hasattr(relvec, name)
    assert (Path(relvec.__file__).parent / "py.typed").exists()
