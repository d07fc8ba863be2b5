"""`akd rig`, from the command line to the file."""

import json

import numpy as np
import pytest
import trimesh
from PIL import Image
from scipy.spatial import KDTree

import akd
from akd.cli import main
from akd.zoo.creature import build_creature
from tests.export.khronos import ERROR, codes, validate

pytestmark = pytest.mark.slow


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


def test_a_texture_stays_on_the_part_it_was_on(tmp_path, capfd):
    creature = build_creature("wolf", seed=1, vertices=1500)
    vertices, faces = creature.mesh.vertices.numpy(), creature.mesh.faces.numpy()
    image = Image.new("RGB", (2, 1))
    image.putdata([(255, 0, 0), (0, 0, 255)])
    front = (vertices[:, 2] > 0).astype(float)
    uv = np.stack((0.25 + 0.5 * front, np.full(len(front), 0.5)), axis=1)
    material = trimesh.visual.material.PBRMaterial(
        baseColorTexture=image, baseColorFactor=[255, 255, 255, 255]
    )
    box = trimesh.creation.box((0.01, 0.01, 0.01))
    box.apply_translation((0.0, 0.4, 0.0))
    box.visual = trimesh.visual.TextureVisuals(
        material=trimesh.visual.material.PBRMaterial(baseColorFactor=[0, 255, 0, 255])
    )
    wolf = trimesh.Trimesh(vertices, faces, process=False)
    wolf.visual = trimesh.visual.TextureVisuals(uv=uv, material=material)
    trimesh.Scene([wolf, box]).export(tmp_path / "wolf.glb")
    out = tmp_path / "rigged.glb"
    assert run(capfd, "rig", tmp_path / "wolf.glb", "-o", out)[0] == 0
    assert codes(validate([out])[0], ERROR) == {}
    mesh = akd.load(out).mesh
    assert mesh is not None
    at = mesh.vertices.numpy()
    nearest = KDTree(vertices).query(at)[1]
    of_box = np.abs(at - (0.0, 0.4, 0.0)).max(axis=1) < 0.006
    red, blue = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    expected = np.where(front[nearest, None] > 0, blue, red)
    expected[of_box] = (0.0, 1.0, 0.0)
    assert of_box.sum() >= 8
    np.testing.assert_allclose(mesh.colours.numpy(), expected, atol=1e-6)


def test_a_joint_is_moved_by_hand(wolf, tmp_path, capfd):
    joints = tmp_path / "joints.json"
    joints.write_text(json.dumps({"head": [0.0, 0.7, 0.6]}))
    out = tmp_path / "wolf.glb"
    assert run(capfd, "rig", wolf, "-o", out, "--joints", joints)[0] == 0
    from akd.asset.read import read_asset
    from akd.rig.character import load_character
    from akd.rig.skinning.automatic import world_positions

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


def test_a_gaussian_cloud_is_rigged_and_bound(tmp_path, capfd):
    import torch

    from akd.splat.bind import read_bound_cloud
    from akd.splat.ply import write_splat_ply
    from akd.splat.surface import surface_splats

    creature = build_creature("wolf", seed=1, vertices=1500)
    cloud = surface_splats(creature.mesh, 6000)
    write_splat_ply(cloud, tmp_path / "wolf.ply")
    out = tmp_path / "wolf.glb"
    code, said, _ = run(capfd, "rig", tmp_path / "wolf.ply", "-o", out)
    assert code == 0
    assert "quadruped" in said
    assert "6,000 Gaussians" in said
    bound, joints = read_bound_cloud(tmp_path / "wolf.splats.npz")
    torch.testing.assert_close(bound.means, cloud.means, atol=1e-5, rtol=0)
    torch.testing.assert_close(bound.weights.sum(1), torch.ones(6000))
    # What was on a leg of the creature is on the same leg of the new skeleton, and no other.
    theirs = [creature.skeleton.names[int(j)] for j in creature.mesh.skin.bone_joints]
    dense = torch.zeros(6000, len(joints)).scatter_add(1, bound.bones, bound.weights)
    truth = torch.zeros(6000, len(theirs)).scatter_add(1, cloud.bones, cloud.weights)
    for limb in ("left_fore", "right_fore", "left_hind", "right_hind"):
        feet = [i for i, n in enumerate(theirs) if n in (f"{limb}_foot", f"{limb}_toes")]
        rows = truth[:, feet].sum(1) > 0.9
        assert int(rows.sum()) > 20
        mine = [i for i, n in enumerate(joints) if n.startswith(limb)]
        assert float(dense[rows][:, mine].sum(1).min()) > 0.95
