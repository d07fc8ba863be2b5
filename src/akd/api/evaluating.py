"""`evaluate`: motions of runs and files measured the same way, as a table and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from akd.base.files import write_json, write_text
from akd.metrics.action import ActionScore
from akd.metrics.measures import measure_with_recognisers
from akd.metrics.motion_metrics import MotionMetrics
from akd.metrics.recognise.recogniser import reporting_recognisers
from akd.metrics.travel import with_implied_travel
from akd.metrics.videophy import VideoPhyScore
from akd.motion.actions import action_label
from akd.report.entries import Entry, load_entries
from akd.report.eval_page import eval_page
from akd.report.page import Film, Row, checks_badge
from akd.scene.film import film_motion
from akd.scene.settings import SceneSettings
from akd.scene.video import Video


@dataclass(frozen=True)
class Evaluation:
    """Motions and their metrics."""

    entries: tuple[Entry, ...]
    metrics: dict[str, MotionMetrics]
    """By the name of the entry."""

    def table(
        self, scores: Mapping[str, VideoPhyScore] | None = None, *, columns: int | None = None
    ) -> str:
        """The metrics as text.

        Args:
            scores: VideoPhy's scores by the name of the entry, for two more columns.
            columns: Width of the terminal: numbers that do not fit are left out, and named below
                the table. By default all are shown.

        Returns:
            A table, one motion per line.
        """
        scores = scores or {}
        rows = [["", *_COLUMNS, *(["SA", "PC"] if scores else []), "verdict"]]
        for name, metrics in self.metrics.items():
            row = [name, *_cells(metrics)]
            if scores:
                row += [line[1] for line in videophy_rows([name], scores)]
            word, failed = metrics.verdict.split(":")[0], len(metrics.fails)
            rows.append([*row, f"{word}, fails {failed}" if failed else word])
        left_out: list[str] = []
        for name in _SPARED:
            if columns is None or max(map(len, _aligned(rows))) <= columns:
                break
            place = rows[0].index(name)
            left_out.append(name)
            rows = [[*row[:place], *row[place + 1 :]] for row in rows]
        more = f"also in metrics.json: {', '.join(left_out)}"
        return "\n".join([*_aligned(rows), *([more] if left_out else [])])

    def save(
        self, out: str | Path, *, scores: Mapping[str, VideoPhyScore] | None = None
    ) -> dict[str, Path]:
        """Write `index.html`, `metrics.json`, and a video of every motion that has none yet.

        Args:
            out: The folder.
            scores: VideoPhy's scores by the name of the entry.

        Returns:
            The video of each entry that has a mesh.
        """
        out, scores = Path(out), scores or {}
        out.mkdir(parents=True, exist_ok=True)
        values = {
            entry.name: {
                "prompt": entry.prompt,
                **self.metrics[entry.name].to_json(),
                **({"videophy": asdict(scores[entry.name])} if entry.name in scores else {}),
            }
            for entry in self.entries
        }
        write_json(out / "metrics.json", values)
        videos, shown, images = {}, [], {}
        for entry in self.entries:
            if entry.video is None and entry.character.mesh is None:
                continue
            path = entry.video or film_entry(entry, out / f"{entry.file_name}.mp4")
            found = self.metrics[entry.name]
            said = f"“{entry.prompt}”: {found.verdict.removeprefix('moves: ')}"
            shown.append(Film(path, entry.name, said, checks_badge(found.fails)))
            strip = out / f"{entry.file_name}.png"
            images[entry.name] = Video.read(path).write_strip(strip)
            videos[entry.name] = path
        more = {"VideoPhy": [Row(n, c) for n, *c in videophy_rows(list(self.metrics), scores)]}
        text = eval_page(shown, self.metrics, images=images, more=more if scores else {})
        write_text(out / "index.html", text)
        return videos


def evaluate(
    sources: Sequence[str | Path] | str | Path, *, weights: str | Path | None = None
) -> Evaluation:
    """Measure the motions of folders and files.

    A clip of a file that walks in place is given the travel that its feet imply, so that it can be
    compared with one that travels; motions of a run are measured as they are.

    Args:
        sources: Folders that `akd animate` wrote, files (all their clips), or `FILE:CLIP`.
        weights: Folder of the recognisers, instead of the bundled ones.

    Returns:
        The metrics of every motion. `table` shows them, `save` writes a page with videos.

    Raises:
        AssetError: A file is missing or cannot be read.
        ValueError: A source is given twice, or holds no clip and no result of a run.
    """
    given = [sources] if isinstance(sources, str | Path) else sources
    entries = tuple(_with_travel(entry) for entry in load_entries([str(one) for one in given]))
    recognisers = reporting_recognisers(None if weights is None else Path(weights))
    metrics = {
        entry.name: measure_with_recognisers(
            entry.character, entry.motion, recognisers, action_label(entry.prompt)
        )
        for entry in entries
    }
    return Evaluation(entries, metrics)


def film_entry(entry: Entry, path: Path, settings: SceneSettings | None = None) -> Path:
    """Film a motion to an MP4 file."""
    return film_motion(entry.character, entry.motion, settings=settings).write_mp4(path)


def videophy_rows(names: Sequence[str], scores: Mapping[str, VideoPhyScore]) -> list[list[str]]:
    """VideoPhy's two scores of each entry, as rows of a table; a dash where there is none."""

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    found = [scores.get(name) for name in names]
    return [
        ["VideoPhy SA", *(shown(s and s.adherence) for s in found)],
        ["VideoPhy PC", *(shown(s and s.commonsense) for s in found)],
    ]


def _with_travel(entry: Entry) -> Entry:
    if entry.video is not None or len(entry.motion) < 2:
        return entry
    return replace(entry, motion=with_implied_travel(entry.character, entry.motion))


_COLUMNS = [
    "score",
    "travel",
    "swing",
    "contact",
    "skate",
    "l/r",
    "depth",
    "tilt",
    "rough",
    "B",
    "C",
]


_SPARED = ("rough", "depth", "swing", "l/r", "tilt", "travel", "skate", "contact")
"""Columns that a narrow terminal does without, the first ones first."""


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table with cells of equal width."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _cells(m: MotionMetrics) -> list[str]:
    """Metrics in the order of the columns."""
    return [
        f"{m.score:.2f}", f"{m.travel:.2f}", f"{m.foot_travel:.2f}",
        f"{min(m.contact):.0%}" if m.contact else "-",
        f"{max(m.skate):.0%}" if m.skate else "-",
        f"{max(m.alternation):.2f}" if m.alternation else "-",
        f"{m.penetration:.1%}", f"{m.tilt:.0f}", f"{m.roughness:.2f}",
        _seen(m.action), _seen(m.action_c),
    ]  # fmt: skip


def _seen(score: ActionScore | None) -> str:
    """How likely a recogniser finds what was asked for; what it sees where nothing was asked."""
    if score is None:
        return ""
    return score.said if score.probability is None else f"{score.asked} {score.probability:.2f}"
