"""`akd rig`, from the command line to the file."""

import json

import numpy as np
import pytest
import trimesh
from khronos import ERROR, codes, validate

from akd.cli import main
from akd.zoo.creature import build_creature


def run(capfd, *arguments) -> tuple[int, str, list[str]]:
    code = main([str(a) for a in arguments])
    out, err = capfd.readouterr()
    return code, out, [line for line in err.splitlines() if "Warp" not in line]


@pytest.fixture
def wolf(tmp_path):
    creature = build_creature("wolf", seed=1, vertices=1500)
    path = tmp_path / "wolf.obj"
    trimesh.Trimesh(creature.mesh.vertices.numpy(), creature.mesh.faces.numpy()).export(path)
    return path


def test_a_bare_mesh_becomes_a_rigged_file(wolf, tmp_path, capfd):
    out = tmp_path / "wolf.glb"
    code, said, errors = run(capfd, "rig", wolf, "-o", out)
    assert code == 0
    assert "quadruped, 31 joints, faces +z" in said
    assert errors == []
    assert codes(validate([out])[0], ERROR) == {}


def test_a_joint_is_moved_by_hand(wolf, tmp_path, capfd):
    joints = tmp_path / "joints.json"
    joints.write_text(json.dumps({"head": [0.0, 0.7, 0.6]}))
    out = tmp_path / "wolf.glb"
    assert run(capfd, "rig", wolf, "-o", out, "--joints", joints)[0] == 0
    from akd.asset.read import read_asset
    from akd.rig.automatic_skin import world_positions
    from akd.rig.character import load_character

    character = load_character(read_asset(out))
    head = world_positions(character)[character.skeleton.names.index("head")]
    np.testing.assert_allclose(head, [0.0, 0.7, 0.6], atol=1e-5)


def test_low_confidence_is_a_warning_that_says_what_to_check(tmp_path, capfd):
    path = tmp_path / "ball.obj"
    trimesh.creation.icosphere(subdivisions=3).export(path)
    code, said, errors = run(capfd, "rig", path, "-o", tmp_path / "ball.glb")
    assert code == 0
    assert "confidence 0." in said
    assert any("check" in line for line in errors)
    assert all(line.startswith("akd: warning: ") for line in errors)


def test_many_parts_are_rigged_with_a_warning(tmp_path, capfd):
    rng = np.random.default_rng(0)
    parts = []
    for place in rng.uniform(-1, 1, (300, 3)):
        ball = trimesh.creation.icosphere(subdivisions=1, radius=0.05)
        ball.apply_translation(place)
        parts.append(ball)
    path = tmp_path / "dust.obj"
    trimesh.util.concatenate(parts).export(path)
    code, _, errors = run(capfd, "rig", path, "-o", tmp_path / "dust.glb")
    assert code == 0
    assert errors


def test_what_cannot_be_rigged_is_one_line(wolf, tmp_path, capfd):
    points = tmp_path / "points.obj"
    points.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n")
    flat = tmp_path / "flat.obj"
    flat.write_text("v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n")
    out = tmp_path / "out.glb"
    for arguments in (
        (points, "-o", out),
        (flat, "-o", out),
        (tmp_path / "none.obj", "-o", out),
        (wolf, "-o", out, "--template", "octopus"),
        (wolf, "-o", out, "--template", "biped", "--joints", tmp_path / "none.toml"),
        (wolf, "-o", out, "--influences", "0"),
    ):
        code, _, errors = run(capfd, "rig", *arguments)
        assert code == 2, arguments
        assert len(errors) == 1, errors
        assert not out.exists()
