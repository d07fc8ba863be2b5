"""Pieces of an HTML page that stands on its own: no script, font or image from elsewhere.

The style sheet (`page.css`) knows light, dark, narrow and printed pages; `films.js` runs videos in
step. Without scripts everything is there as well, each video with controls of its own.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Film:
    """One video of a page."""

    path: Path
    name: str
    text: str = ""
    """Said under it, besides the name."""
    badge: str = ""
    """HTML before the text, such as `badge("moves", good=True)`."""


@dataclass(frozen=True)
class Row:
    """One line of a table of numbers."""

    name: str
    cells: Sequence[str]
    marks: Sequence[str] = ()
    """A class for each cell: `good`, `bad` or nothing."""
    wanted: str = ""
    """Limits of the values, in words."""


def page(title: str, body: str, *, scripts: Sequence[str] = ()) -> str:
    """A whole page. `body` is HTML; `scripts` are files beside this one."""
    code = "".join(f"<script>{(_HERE / name).read_text('utf-8')}</script>\n" for name in scripts)
    style = (_HERE / "page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        # A browser asks for an icon unless it is given one.
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style></head>\n"
        f"<body>\n{body}\n{code}</body></html>\n"
    )


def data_uri(path: Path) -> str:
    """A file as a link that carries it: .mp4, .png or .glb."""
    kinds = {".mp4": "video/mp4", ".png": "image/png", ".glb": "model/gltf-binary"}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise ValueError(f"a page can carry .mp4, .png or .glb, got {path.name!r}")
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def header(title: str, *, above: str = "", facts: Mapping[str, str] | None = None) -> str:
    """The top of a page: its title, a small line above, and facts under it."""
    parts = [f'<p class="eyebrow">{escape(above)}</p>'] if above else []
    parts.append(f"<h1>{escape(title)}</h1>")
    if facts:
        pairs = "".join(
            f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
            for name, value in facts.items()
        )
        parts.append(f'<dl class="facts">{pairs}</dl>')
    return f"<header>{''.join(parts)}</header>"


def notes(lines: Sequence[str], *, warn: bool = True) -> str:
    """A list of notes; empty if there are none. In the colours of a warning unless told not to."""
    shown = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="notes{" warn" if warn else ""}">{shown}</ul>' if shown else ""


def links(files: Mapping[str, str]) -> str:
    """Links to files beside the page, each with what it is; nothing where there are none."""
    shown = "".join(
        f'<li><a href="{escape(quote(name), quote=True)}">{escape(name)}</a>{escape(what)}</li>'
        for name, what in files.items()
    )
    return f'<ul class="files">{shown}</ul>' if shown else ""


def badge(text: str, *, good: bool) -> str:
    """A word or two that tell good from bad."""
    return f'<span class="badge {"good" if good else "bad"}">{escape(text)}</span>'


def checks_badge(fails: Sequence[str]) -> str:
    """Whether a motion passes its checks."""
    if not fails:
        return badge("passes all checks", good=True)
    return badge(f"fails {len(fails)} check{'s' if len(fails) > 1 else ''}", good=False)


def outcome(
    headline: str,
    lines: Sequence[str],
    *,
    score: float,
    fails: Sequence[str],
    advice: str = "",
    good: bool = True,
) -> str:
    """The result, at the top of a page: a headline, its score, and the checks that fail.

    Args:
        headline: Such as the clip to use.
        lines: Sentences under it.
        score: From 0 to 1.
        fails: The checks that it fails.
        advice: What to do about those; left out where there are none.
        good: Whether it is to be used, if it passes all checks.
    """
    parts = [f'<p class="headline">{escape(headline)} {checks_badge(fails)}</p>']
    parts += [f"<p>{escape(line)}</p>" for line in lines]
    if fails:
        failed = "".join(f"<li>{escape(check)}</li>" for check in fails)
        parts.append(f"<p>Failed checks:</p><ul>{failed}</ul>")
        parts += [f"<p>{escape(advice)}</p>"] if advice else []
    return (
        f'<div class="outcome {"good" if good and not fails else "bad"}">'
        f'<p class="score"><b>{score:.2f}</b> score, 0 to 1</p><div>{"".join(parts)}</div></div>'
    )


def verdict(text: str) -> tuple[str, str]:
    """A verdict as a badge and what comes after its colon."""
    word, _, rest = text.partition(": ")
    return badge(word, good=word == "moves"), rest


def films(
    shown: Sequence[Film],
    *,
    fps: float = 24.0,
    clip_fps: float | None = None,
    charts: bool = False,
    whole: bool = False,
) -> str:
    """Videos side by side that run in step, with one row of controls.

    With `charts`, those of the page whose axis is time show where the videos are. Videos are
    cropped to 16:9 unless they are to be seen `whole`. The controls count the clip's frames at
    `clip_fps`, from 0 as an animation program does, and the videos' own where that is left out.
    """
    figures = "".join(
        f'<figure><video src="{data_uri(film.path)}" controls autoplay loop muted playsinline '
        f'preload="auto"></video><figcaption><b>{escape(film.name)}</b> {film.badge} '
        f"{escape(film.text)}</figcaption></figure>"
        for film in shown
    )
    synced = " data-charts" if charts else ""
    synced += "" if clip_fps is None else f' data-clip-fps="{clip_fps:g}"'
    kind = "films whole" if whole else "films"
    return f'<div class="{kind}" data-fps="{fps:g}"{synced}><div class="side">{figures}</div></div>'


def film_scripts(scene: str = "") -> tuple[str, ...]:
    """Scripts of a page with `films`, and with a 3D view where `scene` is not empty."""
    # The view listens before the videos begin to tell the time.
    return ("scene3d.js", "films.js") if scene else ("films.js",)


def strip(inner: str, caption: str) -> str:
    """A wide image (HTML) that is moved to and fro where the page is narrow."""
    return f'<figure class="strip">{inner}<figcaption>{escape(caption)}</figcaption></figure>'


def wide_image(path: Path, caption: str) -> str:
    """A wide image from a file."""
    return strip(f'<img src="{data_uri(path)}" alt="{escape(caption, quote=True)}">', caption)


def section(heading: str, charts: Sequence[str], *, about: str = "") -> str:
    """A heading, what the charts show, and the charts; nothing where there are none."""
    if not charts:
        return ""
    inner = f'<div class="charts">{"".join(charts)}</div>'
    caption = f'<p class="about">{escape(about)}</p>' if about else ""
    return f"<section><h2>{escape(heading)}</h2>{caption}{inner}</section>"


def table(head: Sequence[str], parts: Mapping[str, Sequence[Row]], *, wanted: bool = False) -> str:
    """A table: rows by the name of the part they belong to ("" for none), a column for each of
    `head`. With `wanted` there is one more, of what the values should be."""
    columns = ["", *head, *(["wanted"] if wanted else [])]
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in columns)
    bodies = []
    for part, rows in parts.items():
        lines = [f'<tr class="part"><th colspan="{len(columns)}">{escape(part)}</th></tr>']
        lines = lines if part else []
        for row in rows:
            marks = [*row.marks, *[""] * (len(row.cells) - len(row.marks))]
            cells = "".join(
                f"<td{f' class={chr(34)}{mark}{chr(34)}' if mark else ''}>{escape(cell)}</td>"
                for cell, mark in zip(row.cells, marks, strict=True)
            )
            last = f'<td class="wanted">{escape(row.wanted)}</td>' if wanted else ""
            lines.append(f'<tr><th scope="row">{escape(row.name)}</th>{cells}{last}</tr>')
        bodies.append(f"<tbody>{''.join(lines)}</tbody>")
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead>{"".join(bodies)}</table></div>'
