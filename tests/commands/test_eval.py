"""`akd eval`: a table, a page, VideoPhy's list, and votes through a real server."""

import csv
import json
import urllib.error
import urllib.parse
import urllib.request
from threading import Thread

import pytest
import torch

from akd.api.evaluating import evaluate
from akd.cli import main
from akd.commands.blind_server import BlindServer
from akd.export.creature import write_creature
from akd.metrics.recognise import recogniser
from akd.report.blind import QUESTIONS, make_pairs, read_votes
from akd.scene.video import Video
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fox(tmp_path_factory):
    creature = build_creature("fox", vertices=600)
    path = tmp_path_factory.mktemp("fox") / "fox.glb"
    clips = [make_clip(creature, action, frames=8) for action in ("walk", "stand")]
    write_creature(creature, clips, path)
    return path


def run(fox_folder, fox, motion: str):
    """A folder as `akd animate` leaves it, as far as `akd eval` reads it."""
    fox_folder.mkdir(parents=True)
    (fox_folder / "motion.glb").write_bytes(fox.read_bytes())
    about = {"prompt": motion, "motion": {}, "grounded": {}}
    (fox_folder / "metrics.json").write_text(json.dumps(about))
    for name in ("video", "grounded"):
        Video(torch.rand(8, 16, 16, 3), 24.0).write_mp4(fox_folder / f"{name}.mp4")
    return fox_folder


def refused(capsys, *arguments: str) -> str:
    assert main(["eval", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said.strip().removeprefix("akd: ")


def test_clips_of_any_file_are_measured_and_shown(capsys, fox, tmp_path):
    assert main(["eval", str(fox), "-o", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["score", "travel", "swing"]
    assert lines[1].startswith("fox.glb:walk ")
    assert lines[2].startswith("fox.glb:stand ")
    assert lines[2].endswith("motionless")
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["fox.glb:stand"]["verdict"].startswith("motionless")
    page = (tmp_path / "index.html").read_text()
    assert page.count("data:video/mp4;base64,") == page.count("data:image/png;base64,") == 2
    assert "contact of each foot, of the time" in page


def test_the_table_fits_the_terminal(fox):
    made = evaluate(fox)
    whole = made.table().splitlines()
    assert max(map(len, whole)) > 80
    narrow = made.table(columns=80).splitlines()
    assert max(map(len, narrow)) <= 80
    for line in narrow[1:3]:
        assert line.split()[0] in ("fox.glb:walk", "fox.glb:stand")
    head, left_out = narrow[0].split(), narrow[3].removeprefix("also in metrics.json: ").split(", ")
    assert {"score", "verdict", "B", "C"} <= set(head)
    assert sorted([*head, *left_out]) == sorted(whole[0].split())


def test_the_list_for_videophy_shows_no_ground(capsys, fox, tmp_path):
    table = tmp_path / "list.csv"
    arguments = ["eval", f"{fox}:walk", "-o", str(tmp_path), "--videophy", str(table)]
    assert main(arguments) == 0
    (row,) = csv.DictReader(table.read_text().splitlines())
    assert row["caption"] == "walk"
    plain = Video.read(row["videopath"]).frames
    # One grey everywhere but where the character is.
    corner = plain[:, -20:, :20].reshape(-1, 3)
    assert float((corner - 0.5).abs().max()) < 0.02
    scores = tmp_path / "sa.csv"
    with scores.open("w", newline="") as file:
        csv.writer(file).writerow((row["videopath"], 'entail the description: "walk"?', 0.625))
    capsys.readouterr()
    assert main([*arguments[:4], "--videophy-scores", str(scores)]) == 0
    head, line = capsys.readouterr().out.splitlines()[:2]
    assert head.split()[-3:] == ["SA", "PC", "verdict"]
    assert "0.62  -" in line
    values = json.loads((tmp_path / "metrics.json").read_text())["fox.glb:walk"]["videophy"]
    assert values == {"adherence": 0.625, "commonsense": None}


def test_runs_are_compared_blind_by_method_and_votes_are_counted(
    capsys, monkeypatch, fox, tmp_path
):
    monkeypatch.setattr(recogniser, "find_recogniser", lambda name, weights, device: None)
    folders = [
        run(tmp_path / method / animal, fox, f"a {animal} walking")
        for method in ("ours", "theirs")
        for animal in ("fox", "cat")
    ]
    given = ["eval", *map(str, folders), "-o", str(tmp_path / "eval"), "--blind", "--no-serve"]
    assert main(given) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no votes yet"
    key = json.loads((tmp_path / "eval/blind_key.json").read_text())
    assert len(key["pairs"]) == 2
    page = (tmp_path / "eval/blind.html").read_text()
    assert "theirs" not in page
    votes = [
        {"person": "ada", "pair": number, "question": question,
         "chosen": "a" if "ours" in pair["left"] else "b"}
        for number, pair in enumerate(key["pairs"]) for question in QUESTIONS
    ]  # fmt: skip
    (tmp_path / "eval/votes.jsonl").write_text("".join(json.dumps(v) + "\n" for v in votes))
    assert main(given) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-4].endswith("votes.jsonl: 1 person")
    assert said[-3] == "motion amount   ours 2/2 (100%), theirs 0/2 (0%)"
    message = refused(capsys, *given[1:], "--seed", "5", "--grounded")
    assert message.endswith("holds votes on other pairs; choose another folder with --out")


@pytest.fixture
def server(tmp_path):
    pairs = make_pairs({"a": "walk", "b": "walk"}, seed=0)
    with BlindServer("<!doctype html>the page", pairs, tmp_path / "votes.jsonl") as found:
        thread = Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def test_the_server_shows_the_page_and_saves_what_is_sent(server):
    with urllib.request.urlopen(server.address) as answer:
        assert answer.read() == b"<!doctype html>the page"
    fields = {"person": "ada", **{f"0.{q}": "b" for q in QUESTIONS}}
    form = urllib.parse.urlencode(fields).encode()
    with urllib.request.urlopen(f"{server.address}votes", data=form) as answer:
        assert b"Your choices are saved" in answer.read()
    votes = read_votes(server.votes)
    assert [v.chosen for v in votes] == ["b", "b", "b"]
    assert {v.question for v in votes} == set(QUESTIONS)


@pytest.mark.parametrize(
    ("path", "form", "code"), [("votes", b"person=ada", 400), ("else", None, 404)]
)
def test_the_server_refuses_the_rest(server, path, form, code):
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(f"{server.address}{path}", data=form)
    assert error.value.code == code
    error.value.close()
    assert not server.votes.exists()


def test_what_cannot_be_judged_is_said(capsys, fox, tmp_path):
    assert refused(capsys) == "give at least one folder or file"
    assert refused(capsys, str(tmp_path)) == (
        f"{tmp_path}: holds no result of `akd animate` (metrics.json)"
    )
    assert refused(capsys, f"{fox}:fly").endswith("there is no clip 'fly': it has 'walk', 'stand'")
    out = ("-o", str(tmp_path / "out"))
    assert refused(capsys, str(fox), str(fox), *out) == "fox.glb:walk: is given twice"
    message = refused(capsys, f"{fox}:walk", "--blind", *out)
    assert message == "--blind needs two motions with the same prompt"
