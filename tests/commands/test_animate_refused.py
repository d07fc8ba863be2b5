"""What `akd animate` refuses: one line, exit code 2, before any long work."""

import pytest

from akd.api.request import make_request
from tests.commands.animating import chain, refused, words


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--preset", "huge"), "preset must be one of tiny, paper, fast; got 'huge'"),
        (("--prior", "sora"), "sora"),
        (("--iterations", "-1"), "--iterations must be from 0 to 1000000, got -1"),
        (("--fps", "0"), "--fps must be from 1 to 240, got 0"),
        (("--seed", "-1"), "--seed must be from 0 to 2^63 - 1, got -1"),
        (("--seed", str(10**20)), "--seed must be from 0 to 2^63 - 1, got 1000"),
        (("--up", "w"), "--up must be auto, x, y or z, got 'w'"),
        (("--up=-y",), "--up must be auto, x, y or z, got '-y'"),
        (("--device", "tpu"), "--device must be auto, cpu or cuda, got 'tpu'"),
        (("--device", "meta"), "--device must be auto, cpu or cuda, got 'meta'"),
        (("--set", "splats=-5"), "splats must be from 1 to 5000000, got -5"),
        (("--set", "speed"), "--set takes name=value, such as score.guidance=50; got 'speed'"),
        (("--set", "score.volume=3"), "--set score.volume: there is no such setting"),
        (("--set", "score.guidance=high"), "--set score.guidance: must be float, got 'high'"),
        (("--physics-iterations", "0"), "--physics-iterations must be from 1 to 100000, got 0"),
    ],
)
def test_options_that_make_no_sense(capsys, fox, weights, tmp_path, more, message):
    assert message in refused(capsys, words(fox, weights, tmp_path / "out", *more))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("  ", "the prompt is empty: say what the character does"),
        ("a fox walking \udcff", "the prompt must be valid UTF-8"),
        ("walk " * 2000, "the prompt must be at most 1000 characters, got 9999"),
        ("a fox knitting", "prompt 'a fox knitting': the tiny prior knows no such action"),
    ],
)
def test_prompts_that_cannot_be_followed(capsys, fox, weights, tmp_path, prompt, message):
    said = refused(capsys, words(fox, weights, tmp_path / "out", prompt=prompt))
    assert said.startswith(message)


def test_weights_that_are_not_there(capsys, fox, tmp_path):
    message = refused(capsys, words(fox, tmp_path, tmp_path / "out"))
    assert message.startswith(f"{tmp_path}: holds no weights of the tiny prior")


def test_one_joint_is_not_enough(capsys, weights, tmp_path):
    post = chain(tmp_path / "post.glb", 1)
    assert refused(capsys, words(post, weights, tmp_path / "out")) == (
        "post.glb: must have at least 2 connected joints that move its mesh; `akd rig` makes a "
        "skeleton"
    )


def test_what_the_prior_never_saw_a_body_do_is_noted(weights, tmp_path):
    snake = chain(tmp_path / "snake.glb", 12)
    request = make_request(snake, "a snake walking", weights=weights)
    assert (
        "the tiny prior never saw a legless body do 'walk': its motion is a guess; such bodies do "
        "stand, slither, look around, attack"
    ) in request.notes


def test_a_body_on_its_side_is_told_how_to_stand_up(capsys, fox, weights, tmp_path):
    message = refused(capsys, words(fox, weights, tmp_path / "out", "--up", "z"))
    assert message == (
        "fox.glb: lies on its side: with z up no foot is on the ground, with y up it stands on 4 "
        "legs; give --up y"
    )


def test_a_file_without_a_mesh_is_refused(capsys, weights, tmp_path):
    bvh = tmp_path / "bones.bvh"
    bvh.write_text(
        "HIERARCHY\nROOT hip\n{\nOFFSET 0 1 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
        "End Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n"
    )
    message = refused(capsys, words(bvh, weights, tmp_path / "out"))
    assert message == "bones.bvh: has no mesh to show to a video model"
