"""`akd prior sample`: the tiny prior with a character, large ones by folder, what is refused."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from akd.cli import main
from tests.prior.large.tiny_pipelines import build

pytestmark = pytest.mark.slow


def pipeline(name: str, folder: Path) -> Path:
    """The real classes of a large prior, very small, with random weights."""
    pytest.importorskip("diffusers")
    build(name, folder).save_pretrained(folder / "pipeline")
    return folder / "pipeline"


def frames(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"), dtype=np.float64)


def refused(capsys, *arguments: str) -> str:
    assert main(["prior", "sample", *arguments]) == 2
    # Above it may stand how far the loading of weights had come.
    return capsys.readouterr().err.strip().splitlines()[-1].removeprefix("akd: ")


def test_a_reference_changes_the_video_and_the_seed_repeats_it(capsys, weights, fox, tmp_path):
    given = ["prior", "sample", "a fox walking", "--weights", str(weights), "--steps", "2"]
    outs = [tmp_path / f"{k}.png" for k in range(3)]
    assert main([*given, "-o", str(outs[0])]) == 0
    assert capsys.readouterr().out == f"{outs[0]}: a fox, walk, 4 frames of 16 x 16\n"
    for out in outs[1:]:
        assert main([*given, "-o", str(out), "--reference", str(fox)]) == 0
    alone, shown, again = (frames(out) for out in outs)
    assert np.abs(alone - shown).max() > 2.0
    np.testing.assert_array_equal(shown, again)


def test_a_large_prior_by_its_folder(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("AKD_CACHE", str(tmp_path / "cache"))
    folder, out = pipeline("cogvideox-5b", tmp_path), tmp_path / "out.mp4"
    given = ["prior", "sample", "a fox baking", "--prior", str(folder), "--steps", "2"]
    given += ["--device", "cpu", "-o", str(out)]
    assert main(given) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("pipeline: 9 x 32 x 32 at 8 fps; needs ")
    assert said[1].startswith("asked: A fox baking, seen from the side")
    assert said[2] == f"{out}: a fox baking, 9 frames of 32 x 32"
    assert out.stat().st_size > 500
    assert main([*given, "--exactly", "--frames", "17"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1:] == ["asked: a fox baking", f"{out}: a fox baking, 17 frames of 32 x 32"]
    # It makes videos of words alone, and says so.
    picture = tmp_path / "fox.png"
    Image.new("RGB", (40, 30), "red").save(picture)
    message = refused(capsys, *given[2:], "--reference", str(picture))
    assert message == "--reference: pipeline takes no image, only text"


def test_a_large_prior_that_animates_a_picture(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("AKD_CACHE", str(tmp_path / "cache"))
    folder = pipeline("cogvideox-5b-i2v", tmp_path)
    given = ["a fox baking", "--prior", str(folder), "--steps", "1", "--device", "cpu"]
    given += ["-o", str(tmp_path / "out.png")]
    assert "a reference image must be given" in refused(capsys, *given)
    made = []
    for colour in ("red", "blue"):
        Image.new("RGB", (40, 30), colour).save(tmp_path / "picture.png")
        picture = str(tmp_path / "picture.png")
        assert main(["prior", "sample", *given, "--reference", picture]) == 0
        made.append(frames(tmp_path / "out.png"))
    assert np.abs(made[0] - made[1]).max() > 2.0


def test_what_does_not_fit_is_said_before_weights_are_read(
    capsys, weights, fox, tmp_path, monkeypatch
):
    def nothing_is_read(*_: object, **__: object) -> None:
        raise AssertionError("weights were read")

    monkeypatch.setattr("akd.prior.choose.load_tiny", nothing_is_read)
    tiny = ("a fox walking", "--weights", str(weights))
    picture = tmp_path / "fox.png"
    assert refused(capsys, *tiny, "--reference", str(picture)) == (
        f"--reference must be a rigged character (.glb, .gltf) for the prior tiny, got {picture}"
    )
    assert "there is no such file" in refused(capsys, *tiny, "--reference", "missing.glb")
    assert "the tiny prior's videos have one size" in refused(capsys, *tiny, "--frames", "8")
    assert "the tiny prior knows no such action" in refused(capsys, "a fox baking")
    assert "prior 'sora' is not known" in refused(capsys, "a fox baking", "--prior", "sora")
    large = ("a fox baking", "--prior", "cogvideox-5b")
    assert "must be an image (.png" in refused(capsys, *large, "--reference", str(fox))
    picture.write_text("no image")
    message = refused(capsys, *large, "--reference", str(picture))
    assert message.startswith(f"{picture}: ")
    assert message.endswith("cannot be read as an image: of no known kind")
    assert "must end in .mp4" in refused(capsys, "a fox walking", "-o", "fox.avi")
    assert "--steps must be from 1 to 10000, got 0" in refused(
        capsys, "a fox walking", "--steps", "0"
    )
