"""The tiny prior on characters as users bring them: reference images, and its evaluation."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from akd.asset.read import read_asset
from akd.cli import main
from akd.export.creature import write_creature
from akd.metrics.recognise.network import build_network
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.recognise.settings import RECOGNISERS
from akd.prior.tiny.card import asset_lines, write_card
from akd.prior.tiny.evaluate_assets import ASKED, choose_subjects, evaluate_assets
from akd.prior.tiny.film import SCENE
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.reference_image import reference_image_of
from akd.prior.tiny.settings import TinySettings
from akd.rig.character import Character, load_character
from akd.scene.follow import View
from akd.scene.settings import SceneStyle
from akd.zoo.creature import build_creature

WIDE = TinySettings(width=48, height=64, patch=8)
SMALL = TinySettings(channels=24, layers=1, heads=2, text_channels=8, refine_channels=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six files of two makers, and what is no character."""
    made = tmp_path_factory.mktemp("assets")
    for path, species in (
        ("one/animals/fox.glb", "fox"), ("one/people/man.glb", "man"), ("two/cow.glb", "cow"),
    ):  # fmt: skip
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        write_creature(build_creature(species, vertices=600), [], made / path)
    (made / "one/again").mkdir()
    shutil.copy(made / "one/animals/fox.glb", made / "one/again/fox.glb")
    trained = made / "quaternius/animals_pack/Deer.glb"
    trained.parent.mkdir(parents=True)
    shutil.copy(made / "two/cow.glb", trained)
    (made / "two/broken.glb").write_bytes(b"glTF, but not for long")
    return made


@pytest.fixture(scope="module")
def fox(folder: Path) -> Character:
    return load_character(read_asset(folder / "one/animals/fox.glb"))


def coloured(picture: torch.Tensor) -> torch.Tensor:
    """Where limbs are: floor, sky and trunk are grey or nearly so."""
    return (picture.amax(-1) - picture.amin(-1)) > 0.25


@pytest.mark.slow
def test_the_reference_shows_the_whole_character_in_the_colours_of_its_roles(fox: Character):
    assert SCENE.style is SceneStyle.ROLES
    picture = reference_image_of(fox, WIDE)
    assert picture.shape == (64, 48, 3)
    assert 0.0 <= float(picture.min()) < float(picture.max()) <= 1.0
    there = coloured(picture)
    assert 0.02 < float(there.float().mean()) < 0.5
    # Nothing is cut off: the image's edge shows floor and sky.
    assert not there[[0, -1]].any()
    assert not there[:, [0, -1]].any()
    # Limbs are told apart: some are mostly red, others mostly blue.
    assert {0, 2} <= set(picture[there].argmax(-1).tolist())


def test_the_view_decides_which_side_is_seen(fox: Character):
    left = reference_image_of(fox, WIDE, view=View(azimuth=1.57, elevation=0.2))
    right = reference_image_of(fox, WIDE, view=View(azimuth=-1.57, elevation=0.2))
    # A side view turned about is its own mirror image but for the limbs' hues.
    columns_left = coloured(left).float().sum(0)
    columns_right = coloured(right).float().sum(0)
    far = (columns_left - columns_right).abs().sum()
    assert float((columns_left - columns_right.flip(0)).abs().sum()) < 0.5 * float(far)
    assert float((left - right.flip(1)).abs().amax()) > 0.3


def test_without_a_surface_there_is_nothing_to_be_seen(fox: Character):
    from dataclasses import replace

    with pytest.raises(ValueError, match="without a mesh"):
        reference_image_of(replace(fox, mesh=None), WIDE)


def test_subjects_are_of_the_measuring_side_each_once_of_both_plans(folder: Path):
    chosen = choose_subjects(folder, 3)
    paths = [subject.path.as_posix() for subject in chosen]
    # The copy in another folder of the same maker sorts first, and stands for both.
    assert paths == ["one/again/fox.glb", "two/cow.glb", "one/people/man.glb"]
    assert [subject.legs for subject in chosen] == [4, 4, 2]
    assert [s.legs for s in choose_subjects(folder, 2)] == [4, 2]
    assert "Deer" not in " ".join(paths)


@pytest.mark.slow
def test_the_evaluation_from_pictures_to_card(folder: Path, tmp_path: Path):
    torch.manual_seed(0)
    prior = PriorTiny(TinyNetwork(SMALL))
    judge = Recogniser(build_network(RECOGNISERS["b"]).eval())
    result = evaluate_assets(prior, {"b": judge}, folder, count=3, steps=1, true_views=1)
    assert result.samples.asked == (*ASKED[4][:4], *ASKED[2][:2])
    assert result.samples.videos.shape == (6, 24, 96, 96, 3)
    assert torch.equal(result.samples.reference_images[0], result.samples.reference_images[1])
    assert not torch.equal(result.samples.reference_images[0], result.samples.reference_images[2])
    result.write(tmp_path)
    assert (tmp_path / "evaluation-assets.png").stat().st_size > 1000
    about = json.loads((tmp_path / "evaluation-assets.json").read_text())
    said = [sample["said"]["b"] for sample in about["samples"]]
    right = sum(a == b for a, b in zip(result.samples.asked, said, strict=True)) / 6
    assert about["b"]["all"] == pytest.approx(right)
    assert about["true_clips"]["b"] == {"videos": 0, "all": None, "mistakes": {}}
    about |= {"scale": 3.0, "steps": 1}
    (tmp_path / "evaluation-assets.json").write_text(json.dumps(about))
    card = write_card(tmp_path).read_text()
    assert "3 characters of artists on the measuring side, two prompts each (6 in all)" in card
    assert all(line in card for line in asset_lines(about))
    assert "Characters of artists: not measured." in asset_lines({})


def test_a_folder_without_characters_is_one_line(tmp_path: Path, capsys):
    assert main(["prior", "evaluate", "--assets", str(tmp_path), "-o", str(tmp_path / "o")]) == 2
    said = capsys.readouterr().err
    assert f"--assets {tmp_path}: holds no rigged character with two or four legs" in said
    missing = str(tmp_path / "missing")
    assert main(["prior", "evaluate", "--assets", missing, "-o", str(tmp_path / "o")]) == 2
    assert f"--assets {missing}: is not a folder" in capsys.readouterr().err


def test_training_on_a_folder_without_training_files_is_refused(tmp_path, capsys):
    (tmp_path / "dog.glb").write_bytes(b"")
    assert main(["prior", "train", "--assets", str(tmp_path), "-o", str(tmp_path / "o")]) == 2
    said = f"holds no character to train on; put your own into {tmp_path / 'training'}"
    assert said in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
