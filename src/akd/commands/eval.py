"""`akd eval`: motions measured and shown side by side, judged by people and by VideoPhy."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from akd.commands.errors import SEEDS, UsageError, check_ranges, input_file, usage_errors
from akd.commands.options import Out

if TYPE_CHECKING:
    from akd.metrics.action import ActionScore
    from akd.metrics.motion import MotionMetrics
    from akd.metrics.recognise.recogniser import Recogniser
    from akd.metrics.recognise.settings import Name
    from akd.metrics.videophy import VideoPhyScore
    from akd.report.blind import Pair
    from akd.report.entries import Entry
    from akd.scene.settings import SceneSettings


@dataclass(frozen=True)
class Eval:
    """Measure motions and show them side by side: a table, and a page with their videos.

    With --blind, asks people which of two videos is better, as the paper does. With --videophy,
    writes the list that VideoPhy's scripts take; --videophy-scores reads back what they found.

    Example: akd eval out/fox out/wolf -o out/eval
    """

    given: tyro.conf.Positional[tuple[str, ...]]
    """Folders that `akd animate` wrote, files with clips, or single clips as FILE:CLIP."""
    out: Out = Path("out/eval")
    """Folder to write to."""
    blind: bool = False
    """Serve the A/B page to people and save their votes to votes.jsonl, until Ctrl-C."""
    grounded: bool = False
    """For people and VideoPhy, take the grounded motions in place of the distilled ones."""
    host: str = "127.0.0.1"
    """Where the A/B page is served; 0.0.0.0 lets other machines in."""
    port: int = 8765
    serve: bool = True
    """With --no-serve, only write the A/B page, and count the votes that are there."""
    videophy: Path | None = None
    """CSV file to write for VideoPhy; its videos, filmed without the ground, go beside it."""
    videophy_scores: tuple[Path, ...] = ()
    """Files that VideoPhy's entailment_inference.py wrote."""
    weights: Path | None = None
    """Folder of the recognisers; by default the bundled ones."""
    seed: int = 0
    """Of the order and the sides of the pairs."""

    def run(self) -> None:
        """Measure, write, ask."""
        if not self.given:
            raise UsageError("give at least one folder or file")
        check_ranges(self, port=(0, 65_535), seed=SEEDS)
        from akd.metrics.recognise.recogniser import reporting_recognisers
        from akd.report.entries import load_entries

        with usage_errors():
            entries = [_with_travel(entry) for entry in load_entries(list(self.given))]
        scores = self._scores(entries)
        recognisers = reporting_recognisers(self.weights)
        metrics = {entry.name: _measure(entry, recognisers) for entry in entries}
        print(_table(metrics, scores))
        self.out.mkdir(parents=True, exist_ok=True)
        videos = {entry.name: self._video(entry) for entry in entries}
        self._write(entries, metrics, scores, videos)
        if self.videophy is not None:
            self._list_for_videophy(entries)
        if self.blind:
            self._ask(entries, videos)

    def _video(self, entry: Entry) -> Path | None:
        """The entry's own video, else one filmed now."""
        if entry.video is not None or entry.character.mesh is None:
            return entry.video
        return _film(entry, self.out / f"{entry.file_name}.mp4", None)

    def _write(
        self,
        entries: list[Entry],
        metrics: dict[str, MotionMetrics],
        scores: dict[str, VideoPhyScore],
        videos: dict[str, Path | None],
    ) -> None:
        """`index.html` and `metrics.json`."""
        from akd.base.files import write_json, write_text
        from akd.report.eval_page import eval_page
        from akd.report.page import Film, Row, verdict
        from akd.scene.video import Video

        values = {
            entry.name: {
                "prompt": entry.prompt,
                **metrics[entry.name].to_json(),
                **({"videophy": asdict(scores[entry.name])} if entry.name in scores else {}),
            }
            for entry in entries
        }
        write_json(self.out / "metrics.json", values)
        shown, images = [], {}
        for entry in entries:
            path = videos[entry.name]
            if path is not None:
                badge, rest = verdict(metrics[entry.name].verdict)
                shown.append(Film(path, entry.name, f"“{entry.prompt}”: {rest}", badge))
                strip = self.out / f"{entry.file_name}.png"
                images[entry.name] = Video.read(path).write_strip(strip)
        more = {"VideoPhy": [Row(n, c) for n, *c in _videophy_rows(list(metrics), scores)]}
        text = eval_page(shown, metrics, images=images, more=more if scores else {})
        write_text(self.out / "index.html", text)
        print(f"{self.out / 'index.html'}: videos side by side")

    def _chosen(self, entries: list[Entry]) -> list[Entry]:
        """For people and VideoPhy: grounded motions or not, but not both of one run."""
        chosen = [e for e in entries if e.is_grounded == self.grounded or e.video is None]
        return [e for e in chosen if e.character.mesh is not None]

    def _list_for_videophy(self, entries: list[Entry]) -> None:
        from akd.base.files import write_text
        from akd.metrics.videophy import list_text
        from akd.scene.settings import SceneSettings

        assert self.videophy is not None
        folder = self.videophy.parent / f"{self.videophy.stem}_videos"
        folder.mkdir(parents=True, exist_ok=True)
        plain = SceneSettings(ground=None, shadow=None, hide_below_ground=False)
        listed = {
            _film(entry, folder / f"{entry.file_name}.mp4", plain): entry.prompt
            for entry in self._chosen(entries)
        }
        write_text(self.videophy, list_text(listed))
        print(f"{self.videophy}: {len(listed)} videos for VideoPhy's utils/prepare_data.py")

    def _scores(self, entries: list[Entry]) -> dict[str, VideoPhyScore]:
        """VideoPhy's scores by entry: its videos are named after them."""
        from akd.metrics.videophy import read_scores

        if not self.videophy_scores:
            return {}
        with usage_errors():
            found = read_scores([input_file(path) for path in self.videophy_scores])
        by_file = {Path(video).stem: score for video, score in found.items()}
        scores = {e.name: by_file[e.file_name] for e in entries if e.file_name in by_file}
        if not scores:
            raise UsageError(
                f"{self.videophy_scores[0]}: holds no score of any of the motions given"
            )
        return scores

    def _ask(self, entries: list[Entry], videos: dict[str, Path | None]) -> None:
        """Serve the A/B page until Ctrl-C, then count."""
        from akd.base.files import write_json, write_text
        from akd.commands.blind_server import BlindServer
        from akd.report.blind import blind_page, make_pairs

        chosen = self._chosen(entries)
        pairs = make_pairs({e.name: e.prompt for e in chosen}, seed=self.seed)
        if not pairs:
            raise UsageError("--blind needs two motions with the same prompt")
        text = blind_page(pairs, {n: p for n, p in videos.items() if p is not None})
        write_text(self.out / "blind.html", text)
        key = {"seed": self.seed, "pairs": [asdict(pair) for pair in pairs]}
        self._check_key(key)
        write_json(self.out / "blind_key.json", key)
        votes = self.out / "votes.jsonl"
        if self.serve:
            with BlindServer(text, pairs, votes, host=self.host, port=self.port) as server:
                print(f"{len(pairs)} pairs at {server.address}; Ctrl-C ends and counts", flush=True)
                try:
                    server.serve_forever()
                except KeyboardInterrupt:
                    print()
        print(_tally(votes, pairs, {e.name: e.method for e in chosen}))

    def _check_key(self, key: dict[str, object]) -> None:
        """Votes that are there must be of the same pairs on the same sides."""
        path, votes = self.out / "blind_key.json", self.out / "votes.jsonl"
        if not votes.exists() or not path.exists():
            return
        if json.loads(path.read_text("utf-8")) != json.loads(json.dumps(key)):
            raise UsageError(
                f"{votes}: holds votes on other pairs; choose another folder with --out"
            )


def _with_travel(entry: Entry) -> Entry:
    """An in-place clip with the travel that its feet imply; a run's motions as they are."""
    if entry.video is not None or len(entry.motion) < 2:
        return entry
    from akd.metrics.travel import with_implied_travel

    return replace(entry, motion=with_implied_travel(entry.character, entry.motion))


def _measure(entry: Entry, recognisers: dict[Name, Recogniser]) -> MotionMetrics:
    """Metrics, and what the recognisers see."""
    from akd.metrics.motion import judged
    from akd.motion.actions import action_label

    return judged(entry.character, entry.motion, recognisers, action_label(entry.prompt))


def _film(entry: Entry, path: Path, settings: SceneSettings | None) -> Path:
    from akd.scene.film import film_motion

    return film_motion(entry.character, entry.motion, settings=settings).write_mp4(path)


def _table(metrics: dict[str, MotionMetrics], scores: dict[str, VideoPhyScore]) -> str:
    """One motion a line, for terminals."""
    head = ["", "score", "travel", "swing", "contact", "skate", "l/r", "depth", "tilt", "rough",
            "B", "C", *(["SA", "PC"] if scores else []), "verdict"]  # fmt: skip
    rows = [head]
    for name, m in metrics.items():
        row = [
            name, f"{m.score:.2f}", f"{m.travel:.2f}", f"{m.foot_travel:.2f}",
            f"{min(m.contact):.0%}" if m.contact else "-",
            f"{max(m.skate):.0%}" if m.skate else "-",
            f"{max(m.alternation):.2f}" if m.alternation else "-",
            f"{m.penetration:.1%}", f"{m.tilt:.0f}", f"{m.roughness:.2f}",
            _seen(m.action), _seen(m.action_c),
        ]  # fmt: skip
        if scores:
            row += [line[1] for line in _videophy_rows([name], scores)]
        rows.append([*row, m.verdict.split(":")[0]])
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _seen(score: ActionScore | None) -> str:
    """How likely a recogniser finds what was asked for; what it sees where that is not known."""
    if score is None:
        return ""
    return score.said if score.probability is None else f"{score.asked} {score.probability:.2f}"


def _videophy_rows(names: list[str], scores: dict[str, VideoPhyScore]) -> list[list[str]]:
    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    found = [scores.get(name) for name in names]
    return [
        ["VideoPhy SA", *(shown(s and s.adherence) for s in found)],
        ["VideoPhy PC", *(shown(s and s.commonsense) for s in found)],
    ]


def _tally(votes: Path, pairs: list[Pair], methods: dict[str, str]) -> str:
    from akd.report.blind import read_votes, tally

    if not votes.exists():
        return "no votes yet"
    with usage_errors():
        found = read_votes(votes)
    people = len({vote.person for vote in found})
    lines = [f"{votes}: {people} {'person' if people == 1 else 'people'}"]
    for question, counts in tally(found, pairs, methods).items():
        shares = ", ".join(
            f"{m} {won}/{all_} ({won / all_:.0%})" for m, (won, all_) in counts.items()
        )
        lines.append(f"{question.replace('_', ' '):<15} {shares}")
    return "\n".join(lines)
