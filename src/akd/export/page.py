"""Pieces of an HTML page that stands on its own: no script, font or picture from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from akd.export.atomic import write_whole

STYLE = """
body{font:15px/1.5 system-ui,Helvetica,Arial,sans-serif;color:#222;margin:2rem auto;
max-width:1080px;padding:0 1rem;background:#fff}
h1{font-size:1.5rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2rem 0 .6rem}
p.about{color:#555;margin:.1rem 0}p.verdict{font-size:1.1rem;font-weight:600}
ul.notes{color:#8a4b00}table{border-collapse:collapse;margin:.4rem 0}
th,td{border-bottom:1px solid #e2e2e2;padding:.25rem .8rem .25rem 0;text-align:left;
vertical-align:top;font-variant-numeric:tabular-nums}th{font-weight:600}
td.good{color:#00714c}td.bad{color:#b03a00}
.side{display:flex;flex-wrap:wrap;gap:1rem}.side figure{margin:0;flex:1 1 320px;max-width:640px}
video,img{width:100%;border-radius:4px;background:#ddd}figcaption{color:#555;font-size:.9rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1rem}
details{margin:.5rem 0}summary{cursor:pointer}pre{background:#f6f6f6;padding:.8rem;overflow:auto}
"""


def page(title: str, body: str, *, script: str = "") -> str:
    """A whole page. `body` and `script` are taken as they are."""
    code = f"<script>{script}</script>" if script else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body>\n{body}\n{code}</body></html>\n"
    )


def write_page(path: Path, text: str) -> None:
    """Write a page whole or not at all."""
    with write_whole(path) as file:
        file.write(text.encode("utf-8"))


def data_uri(path: Path) -> str:
    """A file as a link that carries it: .mp4, .png or .glb."""
    kinds = {".mp4": "video/mp4", ".png": "image/png", ".glb": "model/gltf-binary"}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise ValueError(f"a page can carry .mp4, .png or .glb, got {path.name!r}")
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def video(path: Path, caption: str) -> str:
    """A video that plays by itself, over and over, with a caption."""
    return (
        f'<figure><video src="{data_uri(path)}" controls autoplay loop muted playsinline></video>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, marks: Sequence[str] | None = None
) -> str:
    """A table of text. `marks` gives each row's cells a class, such as `good` or `bad`."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = []
    for i, row in enumerate(rows):
        mark = f' class="{marks[i]}"' if marks is not None and marks[i] else ""
        cells = "".join(f"<td{mark if k else ''}>{escape(cell)}</td>" for k, cell in enumerate(row))
        lines.append(f"<tr>{cells}</tr>")
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
