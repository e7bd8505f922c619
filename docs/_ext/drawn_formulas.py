"""Formulas drawn by Matplotlib while the site is built: pages ask for no script and no network."""

import re
from functools import cache
from html import escape

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from sphinx.application import Sphinx

TAG = re.compile(r"\\tag\{(\w+)\}")
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}
#: Units of the drawing to an em, and an em of formulas in those of the text beside them.
UNITS, SIZE = 100, 1.1


def setup(app: Sphinx) -> dict[str, object]:
    """Add the renderer."""
    app.add_html_math_renderer("drawn", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True}


def write_inline(translator: nodes.NodeVisitor, node: nodes.math) -> None:
    """Write a formula among words."""
    translator.body.append(drawn(node.astext()))
    raise nodes.SkipNode


def write_block(translator: nodes.NodeVisitor, node: nodes.math_block) -> None:
    """Write a formula by itself, with its number at the right end."""
    latex = node.astext()
    number = "".join(f"<span>({tag})</span>" for tag in TAG.findall(latex))
    formula = drawn(TAG.sub("", latex))
    translator.body.append(f'<div class="formula" tabindex="0">{formula}{number}</div>\n')
    raise nodes.SkipNode


@cache
def drawn(latex: str) -> str:
    """Return a formula as SVG that stands on the line of the text and has its colour."""
    latex = " ".join(latex.split())
    font = FontProperties(math_fontfamily="stix")
    path = TextPath((0, 0), f"${latex}$", size=UNITS, prop=font)
    left, bottom, right, top = path.get_extents().extents
    width, height = right - left, top - bottom
    outline = []
    for points, code in path.iter_segments(simplify=False, curves=True):
        pairs = " ".join(f"{x:.0f} {-y:.0f}" for x, y in points.reshape(-1, 2))
        outline.append("Z" if code == Path.CLOSEPOLY else LETTERS[code] + pairs)
    style = f"width:{width * SIZE / UNITS:.3f}em;vertical-align:{bottom * SIZE / UNITS:.3f}em"
    return (
        f'<svg class="formula" role="img" aria-label="{escape(latex)}" style="{style}" '
        f'viewBox="{left:.0f} {-top:.0f} {width:.0f} {height:.0f}">'
        f'<path d="{"".join(outline)}"/></svg>'
    )
