"""The same fox as different exporters write it is the same character, in the same motion."""

import pytest
import torch

from akd.api.exporting import export
from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.export.reskin import write_reskinned
from akd.motion.clip import motion_from_clip
from akd.rig.character import Character, load_character
from akd.rig.roles.role import Part
from akd.zoo import build_creature, make_clip
from tests.asset import unusual

NEAR = 0.006
"""Body heights: the cubic curves of `cubic` leave the straight lines by 0.005."""


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    path = tmp_path_factory.mktemp("unusual") / "fox.glb"
    fox = build_creature("fox", vertices=600)
    write_creature(fox, [make_clip(fox, "walk", cycles=1)], path)
    return path


def changed(plain, tmp_path, change) -> Character:
    file = unusual.open_glb(plain)
    change(file)
    return load_character(read_asset(file.write(tmp_path / "fox.glb")))


def reach(character: Character) -> torch.Tensor:
    """[T, 2, 3] corners of the box around the body in its clip, metres."""
    motion = motion_from_clip(character, character.asset.clips[0]).resample(12.0)
    assert character.body_mesh is not None
    points = character.body_mesh.pose(motion.world())
    return torch.stack((points.amin(dim=1), points.amax(dim=1)), dim=1)


@pytest.mark.slow
@pytest.mark.parametrize("change", unusual.SAME, ids=lambda change: change.__name__)
def test_it_is_the_same_character(plain, tmp_path, change):
    wanted, found = load_character(read_asset(plain)), changed(plain, tmp_path, change)
    assert found.height == pytest.approx(wanted.height, rel=1e-3)
    assert found.anatomy.roles[: len(wanted.skeleton)] == wanted.anatomy.roles
    assert len(found.control_rig) == len(wanted.control_rig)
    torch.testing.assert_close(found.forward, wanted.forward, atol=1e-3, rtol=0.0)
    apart = (reach(found) - reach(wanted)).abs().max() / wanted.height
    assert float(apart) < NEAR


def test_scenery_is_said_and_left_alone(plain, tmp_path):
    fox = changed(plain, tmp_path, unusual.ground_plane)
    (node,) = fox.scenery
    assert fox.asset.nodes[node].name == "Plane"
    assert [p.where for p in fox.problems] == [f"node {node}"]
    assert fox.mesh is not None
    assert len(fox.mesh.vertices) == 600
    assert int(fox.control_rig.driver_index[node]) == 0  # static
    write_reskinned(fox, fox.mesh.skin, tmp_path / "reskinned.glb")
    again = load_character(read_asset(tmp_path / "reskinned.glb"))
    torch.testing.assert_close(reach(again), reach(fox), atol=1e-4, rtol=0.0)


def test_a_plane_that_follows_or_is_small_is_no_scenery(plain, tmp_path):
    def on_a_joint(file):
        unusual.ground_plane(file)
        plane = unusual.tops(file).pop()
        file.json["nodes"][unusual.skin(file)["joints"][0]]["children"].append(plane)

    def small(file):
        unusual.ground_plane(file)
        file.json["nodes"][-1]["scale"] = [0.001, 0.001, 0.001]

    for change in (on_a_joint, small):
        assert changed(plain, tmp_path, change).scenery == ()


def test_of_several_bodies_the_largest_is_read(plain, tmp_path):
    wanted, found = load_character(read_asset(plain)), changed(plain, tmp_path, unusual.two_foxes)
    assert "2 bodies stand side by side" in [p.what for p in found.problems]
    assert found.mesh is not None
    assert len(found.mesh.vertices) == 600
    assert found.height == pytest.approx(wanted.height, rel=1e-3)
    assert found.anatomy.roles[: len(wanted.skeleton)] == wanted.anatomy.roles
    # The second one stays in the file, and where it is.
    assert [found.asset.nodes[node].skin for node in found.scenery] == [1]
    drivers = found.control_rig.driver_index
    assert {int(drivers[joint]) for joint in found.asset.skins[1].joints.tolist()} == {0}
    alone = changed(plain, tmp_path, unusual.two_skins)
    assert "bodies" not in " ".join(p.what for p in alone.problems)
    assert alone.scenery == ()


def test_what_is_scaled_to_nothing_is_taken_as_bound(plain, tmp_path):
    found = changed(plain, tmp_path, unusual.scaled_to_nothing)
    wanted = load_character(read_asset(plain))
    assert found.height == pytest.approx(wanted.height, rel=1e-3)
    assert "what hangs on it is scaled to nothing" in [p.what for p in found.problems]
    assert torch.isfinite(reach(found)).all()


def test_a_driven_joint_of_scale_zero_leaves_the_others_as_they_are(plain, tmp_path):
    """Engines hide parts so."""
    wanted = load_character(read_asset(plain))
    rig = wanted.control_rig
    hidden = next(
        j for j, role in zip(rig.joints, rig.roles, strict=True) if role.part is Part.TAIL
    )

    def change(file):
        file.json["nodes"][hidden]["scale"] = [0.0, 0.0, 0.0]

    found = changed(plain, tmp_path, change)
    motion = motion_from_clip(found, found.asset.clips[0])
    angles = found.control_rig.from_pose(motion.pose).angles
    assert torch.isfinite(angles).all()
    truth = rig.from_pose(motion_from_clip(wanted, wanted.asset.clips[0]).pose).angles
    for k, joint in enumerate(found.control_rig.joints):
        if found.anatomy.roles[joint].part is not Part.TAIL:
            torch.testing.assert_close(
                angles[:, k], truth[:, rig.joints.index(joint)], atol=1e-4, rtol=0.0
            )


@pytest.mark.slow
@pytest.mark.parametrize("up", ["x", "y", "z"])
def test_two_actors_in_one_bvh_are_a_body_of_some_kind(tmp_path, up):
    man = build_creature("man", vertices=600)
    write_creature(man, [make_clip(man, "walk", cycles=1)], tmp_path / "man.glb")
    (path,) = export(tmp_path / "man.glb", ["bvh"], tmp_path)
    hierarchy, _, motion = path.read_text().partition("MOTION\n")
    frames, seconds, *rows = motion.splitlines()
    both = hierarchy + hierarchy.replace("HIERARCHY\n", "")
    doubled = [f"{row} {row}" for row in rows]
    path.write_text("\n".join([f"{both}MOTION", frames, seconds, *doubled, ""]))
    character = load_character(read_asset(path), up=up)
    assert all(limb.joints for limb in character.anatomy.limbs)
    assert len(character.control_rig) > 0


def test_a_file_of_nothing_has_a_rig_that_drives_nothing(tmp_path):
    (tmp_path / "nothing.gltf").write_text('{"asset": {"version": "2.0"}}')
    character = load_character(read_asset(tmp_path / "nothing.gltf"))
    assert len(character.control_rig) == 0
