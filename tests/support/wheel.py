"""What is handed out, as its users get it: the contents, and the README with nothing but the wheel.

    python -m tests.support.wheel dist

Installs the wheel in a new environment, runs the Python of the README there, installs the extra of
the command line, and runs the demo of the README.
"""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.pages import README, check_printed, commands, python_blocks

SOURCE = README.parent / "src"
CONSTRAINTS = README.parent / "constraints.txt"
#: Beside the package: in the wheel's folder of metadata, and in the source distribution.
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
BESIDE = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md"}
BUILD = {".gitignore", "PKG-INFO", "pyproject.toml"}


def package() -> set[str]:
    """Files of the package."""
    files = (path for path in SOURCE.rglob("*") if path.is_file())
    return {str(p.relative_to(SOURCE)) for p in files if "__pycache__" not in p.parts}


def check_contents(wheel: Path, sdist: Path) -> None:
    """Raise unless both hold the package, its licence, and nothing that is not named here."""
    info = "-".join(wheel.name.split("-")[:2])
    expected = package() | {f"{info}.dist-info/{name}" for name in METADATA}
    assert "relvec/py.typed" in expected
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert names == expected, f"{wheel.name}: {sorted(names ^ expected)}"
    expected = {f"{info}/{name}" for name in BESIDE | BUILD}
    expected |= {f"{info}/src/{name}" for name in package()}
    with tarfile.open(sdist) as archive:
        names = {member.name for member in archive if member.isfile()}
    assert names == expected, f"{sdist.name}: {sorted(names ^ expected)}"


def run(*words: str | Path, folder: str) -> str:
    """Run a program away from the checkout, and return what it printed."""
    elsewhere = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=folder, env=elsewhere, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def check_session(blocks: list[tuple[str, str]], folder: str) -> None:
    """Raise unless code in an environment in a folder prints what is expected."""
    session = "".join(code for code, _ in blocks)
    python = Path(folder) / "bin" / "python"
    printed = run(python, "-W", "error", "-c", session, folder=folder)
    check_printed(printed, "".join(expected for _, expected in blocks))


def check_readme(wheel: Path, folder: str) -> None:
    """Raise unless the README works in a new environment in a folder, and prints what it says."""
    venv.create(folder, with_pip=True)
    programs = Path(folder) / "bin"
    pip = programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"
    pip = *pip, "--constraint", CONSTRAINTS
    run(*pip, wheel, folder=folder)
    blocks = python_blocks(README)
    # Examples with tables of pandas, which is not among what the wheel itself needs, wait for it.
    check_session([block for block in blocks if "as_frame" not in block[0]], folder)
    run(*pip, f"{wheel}[cli]", folder=folder)
    check_session(blocks, folder)
    (demo,) = (found for found in commands(README, "relvec") if found[0] == ["demo"])
    check_printed(run(programs / "relvec", *demo[0], folder=folder), demo[1])
    assert (Path(folder) / "relvec-demo.png").stat().st_size > 10_000


def main(folder: str) -> None:
    """Check the one wheel and the one source distribution in a folder."""
    dist = Path(folder).resolve()
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    check_contents(wheel, sdist)
    with TemporaryDirectory() as folder:
        check_readme(wheel, folder)


if __name__ == "__main__":
    main(sys.argv[1])
