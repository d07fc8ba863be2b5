"""The list that VideoPhy's scripts take, and the scores that they leave. No torch here.

Its `utils/prepare_data.py` reads a CSV with the columns `videopath` and `caption` and writes one
list for each of its two questions; `entailment_inference.py` adds a line `videopath, question,
score` for every video to a file without a head.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

HEAD = ("videopath", "caption")


@dataclass(frozen=True)
class VideoPhyScore:
    """What VideoPhy says of one video, each from 0 to 1; None where it was not asked."""

    adherence: float | None = None
    """SA: whether the video shows what the words say."""
    commonsense: float | None = None
    """PC: whether it obeys the laws of physics."""


def list_text(videos: Mapping[Path, str]) -> str:
    """The CSV for videos and their captions; paths are made absolute."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for path, caption in videos.items():
        writer.writerow((str(path.resolve()), " ".join(caption.split())))
    return text.getvalue()


def read_scores(paths: Iterable[Path]) -> dict[str, VideoPhyScore]:
    """Scores by the video's path, from files that VideoPhy's script wrote, in any order.

    Which question a line answers is told by the question itself. Raises `ValueError` for
    a file that is none of its.
    """
    found: dict[str, dict[str, float]] = {}
    for path in paths:
        try:
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path}: cannot be read as CSV ({error})") from None
        for number, row in enumerate(rows, start=1):
            if row[:2] == list(HEAD) or not row:
                continue
            video, which, value = _read_row(path, number, row)
            found.setdefault(video, {})[which] = value
    return {
        video: VideoPhyScore(scores.get("adherence"), scores.get("commonsense"))
        for video, scores in found.items()
    }


def _read_row(path: Path, number: int, row: list[str]) -> tuple[str, str, float]:
    where = f"{path}, line {number}"
    if len(row) != 3:
        raise ValueError(f"{where}: must be a video, a question and a score, got {len(row)} values")
    video, question, text = row
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{where}: the score must be a number, got {text[:40]!r}") from None
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{where}: the score must be from 0 to 1, got {value:g}")
    if "physical laws" in question:
        return video, "commonsense", value
    if "entail" in question:
        return video, "adherence", value
    raise ValueError(f"{where}: is neither of VideoPhy's two questions: {question[-60:]!r}")
