"""Weapons, hats and capes follow the body and do not measure it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from akd.asset.asset import Asset
from akd.motion.feet import find_soles
from akd.physics.bodies import build_body
from akd.rig.character import load_character
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.props import find_props
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin
from tests.assets import character, gltf_files

ROGUE = "kaykit/Rogue_Hooded.glb"
PROPS = {"Knife_Offhand", "1H_Crossbow", "2H_Crossbow", "Knife", "Throwable", "Rogue_Cape"}


def without_props(asset: Asset) -> Asset:
    nodes = [replace(n, mesh=None) if n.name in PROPS else n for n in asset.nodes]
    return replace(asset, nodes=tuple(nodes))


@pytest.mark.slow
def test_height_ground_soles_and_mass_are_the_same_without_props(shared_assets):
    armed = character(ROGUE)
    bare = load_character(without_props(armed.asset))
    assert armed.mesh is not None
    assert armed.body_mesh is not None
    assert bare.mesh is not None
    assert len(armed.body_mesh.vertices) == len(bare.mesh.vertices) < len(armed.mesh.vertices)
    assert armed.height == pytest.approx(bare.height, rel=1e-6)
    assert [str(r) for r in armed.anatomy.roles] == [str(r) for r in bare.anatomy.roles]
    for one, other in zip(
        find_soles(armed, armed.control_rig), find_soles(bare, bare.control_rig), strict=True
    ):
        np.testing.assert_allclose(one.points, other.points, atol=1e-6)
    bodies = [build_body(c.control_rig, c.body_mesh) for c in (armed, bare)]
    assert bodies[0].body.mass == pytest.approx(bodies[1].body.mass, rel=1e-5)
    assert bodies[0].ground == pytest.approx(bodies[1].ground, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in gltf_files() if p.startswith("kaykit/")])
def test_kaykit_bodies_are_measured_without_props(path, shared_assets):
    armed = character(path)
    bare = load_character(without_props(armed.asset))
    assert bare.height == pytest.approx(armed.height, rel=1e-6)
    assert bare.anatomy.limbs == armed.anatomy.limbs
    if armed.body_mesh is None:  # clips only
        return
    assert (armed.body_mesh is not armed.mesh) == (path == ROGUE)
    grounds = [float(x.body_mesh.vertices[:, 1].min()) for x in (armed, bare)]
    assert grounds[0] == pytest.approx(grounds[1], abs=1e-6)
    soles = [find_soles(x, x.control_rig) for x in (armed, bare)]
    assert len(soles[0]) == 2
    for one, other in zip(*soles, strict=True):
        np.testing.assert_allclose(one.points, other.points, atol=1e-6)


def blocks(names: tuple[str, ...], parents: tuple[int, ...], bones: tuple[int, ...]) -> tuple:
    """A skeleton, and a mesh of one triangle for each bone."""
    skeleton = Skeleton(names, parents, Pose.identity(len(names), dtype=torch.float64))
    count = len(bones)
    skin = Skin(
        torch.tensor(bones),
        torch.eye(4).repeat(count, 1, 1),
        torch.arange(count).repeat_interleave(3)[:, None],
        torch.ones(3 * count, 1),
    )
    faces = torch.arange(3 * count).view(count, 3)
    return skeleton, SkinnedMesh(torch.rand(3 * count, 3), faces, skin, torch.ones(3 * count, 3))


@pytest.mark.parametrize(
    ("names", "props"),
    [
        # A piece on a joint with skin of its own; the same by its name; in a slot.
        (("hips", "hand", "neck", "piece"), {"piece"}),
        (("hips", "arm", "hair", "body"), {"hair", "body"}),
        (("hips", "arm", "neck", "Wood_Shield"), {"Wood_Shield"}),
        # A joint of the skin that is no part of the body, and the piece on it.
        (("hips", "skateboard", "neck", "trucks"), {"skateboard", "trucks"}),
    ],
)
def test_what_is_a_prop(names, props):
    # The last node is a rigid mesh on the second joint.
    skeleton, mesh = blocks(names, (-1, 0, 0, 1), (0, 1, 2, 3, 0, 0, 0))
    is_joint = np.array([True, True, True, False])
    found = find_props(skeleton, mesh, is_joint, np.array([0, 1, 2, 1]))
    owners = mesh.skin.bone_joints[mesh.skin.bones[:, 0]].numpy()
    assert {names[j] for j in np.unique(owners[found])} == props


def test_a_rigid_head_is_no_prop():
    skeleton, mesh = blocks(("hips", "neck", "leg", "skull"), (-1, 0, 0, 1), (0, 2, 3, 0))
    is_joint = np.array([True, True, True, False])
    assert not find_props(skeleton, mesh, is_joint, np.array([0, 1, 2, 1])).any()


def test_a_body_of_props_alone_is_a_body():
    skeleton, mesh = blocks(("wheel", "wheel_1", "wheel_2", "x"), (-1, 0, 0, 0), (0, 1, 2, 3))
    assert not find_props(skeleton, mesh, np.ones(4, dtype=bool), np.arange(4)).any()
