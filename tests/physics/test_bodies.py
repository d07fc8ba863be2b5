"""Mass of simulated bodies."""

from pathlib import Path

import pytest
import torch

from akd.asset.read import read_asset
from akd.physics.bodies import CharacterBody, build_body
from akd.rig.character import Character, load_character


def load(path: Path) -> tuple[Character, CharacterBody]:
    character = load_character(read_asset(path))
    return character, build_body(character.control_rig, character.body_mesh)


@pytest.mark.slow
def test_captured_people_weigh_what_adults_weigh(shared_assets: Path, tmp_path: Path) -> None:
    files = sorted((shared_assets.parent / "mocap").glob("*.bvh"))
    if not files:
        pytest.skip("needs the motion capture in ../shared/mocap")
    masses = {}
    for path in {path.stem.partition("_")[0]: path for path in files}.values():
        # One frame will do.
        skeleton, _, rest = path.read_text().partition("MOTION")
        first = rest.strip().splitlines()[2]
        short = tmp_path / path.name
        short.write_text(f"{skeleton}MOTION\nFrames: 1\nFrame Time: 0.01\n{first}\n")
        masses[path.stem] = load(short)[1].body.mass
    # Subjects are 1.49 to 1.84 m tall by the bones of their legs.
    assert len(masses) > 80
    assert not {name: mass for name, mass in masses.items() if not 45.0 < mass < 90.0}


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [
        "quaternius/modular_men/King.glb",
        "quaternius/ultimate_space_kit/Astronaut.glb",
        "quaternius/piratekit/characters_captain_barbarossa.glb",
        "kenney/mini-characters/character_female_a.glb",
    ],
)
def test_people_weigh_60_to_90_kg_at_a_height_of_175_cm(shared_assets: Path, file: str) -> None:
    character, made = load(shared_assets / file)
    assert 60.0 < made.body.mass * (1.75 / character.height) ** 3 < 90.0


def test_a_tyrannosaur_weighs_tonnes(shared_assets: Path) -> None:
    character, made = load(shared_assets / "quaternius/dinosaurs_pack/Trex.glb")
    assert character.height == pytest.approx(4.0)
    assert 5000.0 < made.body.mass < 15000.0


def test_an_eagle_weighs_kilograms_and_its_wings_a_fifth(shared_assets: Path) -> None:
    _, made = load(shared_assets / "mesh2motion/models-variation/bird-eagle.glb")
    assert 2.0 < made.body.mass < 8.0
    is_wing = ["wing" in name for name in made.body.names]
    assert float(made.body.masses[is_wing].sum()) == pytest.approx(0.2 * made.body.mass)


@pytest.mark.slow
def test_a_given_density_decides(shared_assets: Path) -> None:
    character, _ = load(shared_assets / "quaternius/modular_men/King.glb")
    body = build_body(character.control_rig, character.body_mesh, density=500.0).body
    torch.testing.assert_close(body.masses, 4000.0 * body.half_extents.prod(-1))
