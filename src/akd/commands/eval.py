"""`akd eval`: motions measured and shown side by side, judged by people and by VideoPhy."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from akd.commands.errors import SEEDS, UsageError, check_ranges, input_file, usage_errors
from akd.commands.options import Out

if TYPE_CHECKING:
    from akd.metrics.videophy import VideoPhyScore
    from akd.report.blind import Pair
    from akd.report.entries import Entry


@dataclass(frozen=True)
class Eval:
    """Measure motions and show them side by side: a table, and a page with their videos.

    With --blind, asks people which of two videos is better, as the paper does. With --videophy,
    writes the list that VideoPhy's scripts take; --videophy-scores reads their results.

    Example: akd eval out/fox out/wolf -o out/eval
    """

    sources: tyro.conf.Positional[tuple[str, ...]]
    """Folders that `akd animate` wrote, files with clips, or single clips as FILE:CLIP."""
    out: Out = Path("out/eval")
    """Folder to write to."""
    blind: bool = False
    """Serve the A/B page to people and save their votes to votes.jsonl, until Ctrl-C."""
    grounded: bool = False
    """For people and VideoPhy, use the grounded motions instead of the distilled ones."""
    host: str = "127.0.0.1"
    """Address that serves the A/B page; 0.0.0.0 lets other machines connect."""
    port: int = 8765
    """Port of the A/B page."""
    serve: bool = True
    """With --no-serve, only write the A/B page, and count the votes that are there."""
    videophy: Path | None = None
    """CSV file to write for VideoPhy; its videos, filmed without the ground, go beside it."""
    videophy_scores: tuple[Path, ...] = ()
    """Files that VideoPhy's entailment_inference.py wrote."""
    weights: Path | None = None
    """Folder of the recognisers; by default the bundled ones."""
    seed: int = 0
    """Seed for the order and the sides of the pairs."""

    def run(self) -> None:
        """Measure, write, ask."""
        if not self.sources:
            raise UsageError("give at least one folder or file")
        check_ranges(self, port=(0, 65_535), seed=SEEDS)
        for path in self.videophy_scores:
            input_file(path)
        from akd.api.evaluating import evaluate

        with usage_errors():
            made = evaluate(self.sources, weights=self.weights)
        scores = self._scores(made.entries)
        columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        print(made.table(scores, columns=columns))
        videos = made.save(self.out, scores=scores)
        print(f"{self.out / 'index.html'}: videos side by side")
        if self.videophy is not None:
            self._list_for_videophy(made.entries)
        if self.blind:
            self._ask(made.entries, videos)

    def _chosen(self, entries: Sequence[Entry]) -> list[Entry]:
        """For people and VideoPhy: grounded motions or not, but not both of one run."""
        chosen = [e for e in entries if e.is_grounded == self.grounded or e.video is None]
        return [e for e in chosen if e.character.mesh is not None]

    def _list_for_videophy(self, entries: Sequence[Entry]) -> None:
        from akd.api.evaluating import film_entry
        from akd.base.files import write_text
        from akd.metrics.videophy import list_text
        from akd.scene.settings import SceneSettings

        assert self.videophy is not None
        folder = self.videophy.parent / f"{self.videophy.stem}_videos"
        folder.mkdir(parents=True, exist_ok=True)
        plain = SceneSettings(ground=None, shadow=None, hide_below_ground=False)
        listed = {
            film_entry(entry, folder / f"{entry.file_name}.mp4", plain): entry.prompt
            for entry in self._chosen(entries)
        }
        write_text(self.videophy, list_text(listed))
        print(f"{self.videophy}: {len(listed)} videos for VideoPhy's utils/prepare_data.py")

    def _scores(self, entries: Sequence[Entry]) -> dict[str, VideoPhyScore]:
        """VideoPhy's scores by entry: its videos are named after them."""
        from akd.metrics.videophy import read_scores

        if not self.videophy_scores:
            return {}
        with usage_errors():
            found = read_scores(self.videophy_scores)
        by_file = {Path(video).stem: score for video, score in found.items()}
        scores = {e.name: by_file[e.file_name] for e in entries if e.file_name in by_file}
        if not scores:
            raise UsageError(
                f"{self.videophy_scores[0]}: holds no score for any of the given motions"
            )
        return scores

    def _ask(self, entries: Sequence[Entry], videos: dict[str, Path]) -> None:
        """Serve the A/B page until Ctrl-C, then count."""
        from akd.base.files import write_json, write_text
        from akd.commands.blind_server import BlindServer
        from akd.report.blind import blind_page, make_pairs

        chosen = self._chosen(entries)
        pairs = make_pairs({e.name: e.prompt for e in chosen}, seed=self.seed)
        if not pairs:
            raise UsageError("--blind needs two motions with the same prompt")
        text = blind_page(pairs, videos)
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
