"""`akd fit` from the command line: errors before long work, results in a folder."""

import json

import pytest
import torch

from akd.cli import main
from akd.scene.video import Video
from tests.distill.fox import load_fox


@pytest.fixture(scope="module")
def asset(tmp_path_factory):
    path = tmp_path_factory.mktemp("asset") / "fox.glb"
    load_fox(path)
    return path


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.mp4", None, "there is no such file"),
        ("broken.mp4", b"nothing" * 40, "cannot be read as a video"),
    ],
)
def test_a_bad_video_is_one_line(asset, tmp_path, capsys, name, content, said):
    video = tmp_path / name
    if content is not None:
        video.write_bytes(content)
    assert main(["fit", str(asset), str(video), "-o", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_sound_without_a_video_is_one_line(asset, tmp_path, capsys):
    import wave

    with wave.open(str(tmp_path / "sound.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(1600))
    code = main(["fit", str(asset), str(tmp_path / "sound.wav"), "-o", str(tmp_path / "out")])
    assert code == 2
    assert "has no video in it, got audio" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_too_long_a_video_is_one_line(asset, tmp_path, capsys):
    frames = torch.full((400, 16, 16, 3), 0.5)
    video = Video(frames, 10.0).write_mp4(tmp_path / "long.mp4")
    assert main(["fit", str(asset), str(video), "-o", str(tmp_path / "out")]) == 2
    assert "choose a part with --start and --end" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_masks_that_cannot_be_found_are_asked_for(asset, tmp_path, capsys):
    noise = torch.rand(8, 32, 32, 3, generator=torch.Generator().manual_seed(0))
    video = Video(noise, 12.0).write_mp4(tmp_path / "noise.mp4")
    assert main(["fit", str(asset), str(video), "-o", str(tmp_path / "out")]) == 2
    assert "masks are needed" in capsys.readouterr().err


def test_options_are_checked(asset, tmp_path, capsys):
    video = Video(torch.rand(2, 16, 16, 3), 12.0).write_mp4(tmp_path / "a.mp4")
    base = ["fit", str(asset), str(video), "-o", str(tmp_path / "out")]
    for extra, said in (
        (["--views", "above"], "views must be out of"),
        (["--camera", str(tmp_path / "none.json")], "there is no such file"),
        (["--start", "2", "--end", "1"], "end must be after start"),
        (["--fps", "100"], "--fps must be from"),
    ):
        assert main([*base, *extra]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.slow
def test_views_are_written_with_their_prompt(asset, tmp_path, capsys):
    out = tmp_path / "views"
    code = main(["fit", str(asset), "--make-views", "--views", "side,front", "-o", str(out)])
    assert code == 0
    assert {p.name for p in out.iterdir()} == {
        "view_side.png", "view_front.png", "views.png", "prompt.txt",
    }  # fmt: skip
    assert "2 panels" in (out / "prompt.txt").read_text()
    assert "--views side,front" in capsys.readouterr().out


@pytest.mark.slow
def test_a_fit_leaves_clips_numbers_and_a_page(asset, tmp_path):
    import akd
    from akd.api.loading import load
    from akd.fit.settings import FitSettings
    from akd.scene.settings import SceneStyle
    from akd.scene.stage import Stage

    fox = load(asset)
    stage = Stage.of(fox, style=SceneStyle.TEXTURED, size=(48, 48), splats=800, ground=False)
    frames = stage.show(stage.neutral.expand(3, -1, -1, -1)).detach()
    masks = ((frames - 0.5).abs().amax(-1) > 0.05).float()
    made = akd.fit(
        fox, frames, masks=masks, fps=12.0, physics=False, device="cpu",
        settings=FitSettings(size=48, splats=400, starts=1, iterations=3),
    )  # fmt: skip
    written = made.save(tmp_path)
    names = {path.name for path in written}
    assert {"motion.glb", "comparison.mp4", "fit.json", "camera.json", "report.html"} <= names
    numbers = json.loads((tmp_path / "fit.json").read_text())
    assert numbers["quality"]["overlap"] > 0.5
    assert any("masks: given" in note for note in made.notes)
    assert any("camera: solved" in note for note in made.notes)
