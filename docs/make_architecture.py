"""Draws `images/architecture.svg`: the rooms of akd and who imports whom.

    python docs/make_architecture.py

The order of the rooms is that of the import contract in `pyproject.toml`, the imports are those of
the source, and a room's description is the first line of its docstring. A test fails when the
drawing is out of date.
"""

from __future__ import annotations

import ast
import tomllib
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "images" / "architecture.svg"

STEP_X, STEP_Y = 31, 34
BOX_WIDTH, BOX_HEIGHT = 82, 24
MARGIN = 12
TEXT_WIDTH = 500
"""Pixels that the longest description may take."""
STYLE = """
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.name { font-family: ui-monospace, Menlo, Consolas, monospace; text-anchor: middle }
.what { fill: #59636e }
rect { fill: #ddf4ff; stroke: #0969da }
path { fill: none; stroke: #b6c2cf }
circle { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .what { fill: #9198a1 }
  rect { fill: #0d2d4f; stroke: #4493f8 }
  path { stroke: #3d444d }
  circle { fill: #4493f8 }
}
"""


def rooms() -> list[str]:
    """Rooms and modules of the top level, upstream first, as the layers contract lists them."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = (c["layers"] for c in options["contracts"] if c["type"] == "layers")
    return [layer for layer in reversed(layers) if layer != "__main__"]


def imports(names: list[str]) -> set[tuple[int, int]]:
    """Pairs (importer, imported) of places in `names`, from the source."""
    graph = grimp.build_graph("akd", cache_dir=None)
    place = {f"akd.{name}": i for i, name in enumerate(names)}
    found = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            ends = [place.get(".".join(m.split(".")[:2])) for m in (module, imported)]
            if ends[0] is not None and ends[1] is not None and ends[0] != ends[1]:
                found.add((ends[0], ends[1]))
    return found


def describe(name: str) -> str:
    """First line of the docstring of a room or module."""
    path = ROOT / "src" / "akd" / name
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or ""
    return docstring.partition("\n")[0].replace("`", "")


def draw() -> str:
    """SVG text. Boxes run down the diagonal; a dot in the row of a box and in the column of
    another says that the first imports the second."""
    names = rooms()
    pairs = sorted(imports(names))
    lines, dots, boxes = [], [], []
    for i, name in enumerate(names):
        x, y = _corner(i)
        column, row = _middle(i)
        across = [_middle(to)[0] for start, to in pairs if start == i]
        down = [_middle(start)[1] for start, to in pairs if to == i]
        if across:
            lines.append(f'<path d="M{column} {row}H{min(across)}"/>')
        if down:
            lines.append(f'<path d="M{column} {row}V{max(down)}"/>')
        what = escape(describe(name))
        boxes.append(
            f'<rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="4"/>'
            f'<text class="name" x="{x + BOX_WIDTH // 2}" y="{row + 5}">{name}</text>'
            f'<text class="what" x="{x + BOX_WIDTH + 10}" y="{row + 5}">{what}</text>'
        )
    for start, to in pairs:
        title = f"{names[start]} imports {names[to]}"
        centre = f'cx="{_middle(to)[0]}" cy="{_middle(start)[1]}"'
        dots.append(f'<circle {centre} r="4"><title>{title}</title></circle>')
    last_x, last_y = _corner(len(names) - 1)
    width = last_x + BOX_WIDTH + TEXT_WIDTH + MARGIN
    height = last_y + BOX_HEIGHT + MARGIN
    body = "\n".join([*lines, *dots, *boxes])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="Rooms of akd and their imports">'
        f"\n<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


def _corner(i: int) -> tuple[int, int]:
    return MARGIN + i * STEP_X, MARGIN + i * STEP_Y


def _middle(i: int) -> tuple[int, int]:
    """Where the lines of a box meet: its row's middle, and a column near its left edge, so that
    no box stands in another's column."""
    x, y = _corner(i)
    return x + STEP_X // 2, y + BOX_HEIGHT // 2


if __name__ == "__main__":
    TARGET.write_text(draw(), "utf-8")
