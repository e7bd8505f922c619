"""What a report is made of, and the one HTML file that it becomes."""

import base64
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib.figure import Figure

TEMPLATE = Path(__file__).with_name("page.html")
DOTS_PER_INCH = 130


@dataclass(frozen=True)
class Table:
    """Cells that are ready to be printed, the first column naming the row."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def __post_init__(self) -> None:
        wrong = [row for row in self.rows if len(row) != len(self.header)]
        if wrong:
            raise ValueError(f"rows {wrong} have not the {len(self.header)} cells of the header")


@dataclass(frozen=True)
class Picture:
    """A drawing, what it shows in words, and its caption."""

    figure: Figure
    description: str
    caption: str

    @cached_property
    def uri(self) -> str:
        """The drawing itself, as an address."""
        png = io.BytesIO()
        self.figure.savefig(png, format="png", dpi=DOTS_PER_INCH)
        return "data:image/png;base64," + base64.b64encode(png.getvalue()).decode()


@dataclass
class Part:
    """Tables and figures that belong together."""

    title: str
    about: Sequence[str]
    draws: str
    contents: list[Table | Picture] = field(default_factory=list)
    #: What could not be shown, and why.
    missing: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def tables(self) -> list[Table]:
        return [content for content in self.contents if isinstance(content, Table)]

    @property
    def pictures(self) -> list[Picture]:
        return [content for content in self.contents if isinstance(content, Picture)]

    @contextmanager
    def names_missing_data(self, what: str) -> Iterator[None]:
        """Write down that `what` is missing where the block does not find its data."""
        try:
            yield
        except FileNotFoundError as error:
            self.missing.append(f"{what}: {error}")


def render(parts: Sequence[Part], facts: dict[str, str]) -> str:
    """Return the page, which refers to nothing outside itself."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATE.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(TEMPLATE.name).render(parts=parts, facts=facts)
