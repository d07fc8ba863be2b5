"""VideoPhy's list and scores, in the form that its scripts read and write."""

import csv
import io
from pathlib import Path

import pytest

from akd.metrics.videophy import VideoPhyScore, list_text, read_scores

TALK = "The following is a conversation.\nHuman: <|video|>\nHuman: "


def written_by_videophy(path: Path, rows: list[tuple[str, str, object]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def test_the_list_has_its_two_columns_and_absolute_paths(tmp_path):
    videos = {tmp_path / "a.mp4": 'a "red" fox,\nwalking', tmp_path / "b.mp4": "a fox running"}
    rows = list(csv.DictReader(io.StringIO(list_text(videos))))
    assert rows == [
        {"videopath": str(tmp_path / "a.mp4"), "caption": 'a "red" fox, walking'},
        {"videopath": str(tmp_path / "b.mp4"), "caption": "a fox running"},
    ]


def test_scores_of_both_questions_come_together(tmp_path):
    entail = f'{TALK}Does this video entail the description: "a fox walking"?\nAI: '
    laws = f"{TALK}Does this video follow the physical laws?\nAI: "
    sa = written_by_videophy(tmp_path / "sa.csv", [("a.mp4", entail, 0.75), ("b.mp4", entail, 1)])
    pc = written_by_videophy(tmp_path / "pc.csv", [("a.mp4", laws, 5.4e-06)])
    assert read_scores([pc, sa]) == {
        "a.mp4": VideoPhyScore(0.75, 5.4e-06),
        "b.mp4": VideoPhyScore(1.0, None),
    }


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a.mp4", "entail", "high"), "line 1: the score must be a number, got 'high'"),
        (("a.mp4", "entail", "1.5"), "line 1: the score must be from 0 to 1, got 1.5"),
        (("a.mp4", "is it nice?", "0.5"), "neither of VideoPhy's two questions: 'is it nice?'"),
        (("a.mp4", "0.5"), "must be a video, a question and a score, got 2 values"),
    ],
)
def test_what_is_no_score_is_said(tmp_path, row, message):
    path = written_by_videophy(tmp_path / "x.csv", [row])
    with pytest.raises(ValueError, match=r"x\.csv, line 1") as error:
        read_scores([path])
    assert message in str(error.value)
