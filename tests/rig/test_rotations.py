"""A rigged file that is turned by a right angle, or mirrored, has the same anatomy."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from akd.asset.asset import Asset, Node
from akd.rig.character import Character, load_character
from benchmarks.roles_variants import without_names

ROTATIONS = [Rotation.from_matrix(m.round()) for m in Rotation.create_group("O").as_matrix()]
IDS = [
    " ".join(f"{'-' if v < 0 else '+'}{'xyz'[i]}" for i, v in enumerate(r.as_matrix().sum(axis=0)))
    for r in ROTATIONS
]
SPECIES = ("fox", "man", "ostrich")


def turned_node(node: Node, rotation: Rotation) -> Node:
    own = Rotation.from_quat(np.roll(node.rotation, -1))
    return replace(
        node,
        translation=rotation.apply(node.translation),
        rotation=np.roll((rotation * own).as_quat(), 1),
    )


def turned_scene(asset: Asset, rotation: Rotation) -> Asset:
    """Every root of the scene turned, and with it all that hangs below."""
    nodes = [turned_node(n, rotation) if n.parent < 0 else n for n in asset.nodes]
    return replace(asset, nodes=tuple(nodes))


def under_a_node(asset: Asset, rotation: Rotation) -> Asset:
    """The whole scene below one more node."""
    top = len(asset.nodes)
    nodes = [replace(n, parent=top) if n.parent < 0 else n for n in asset.nodes]
    node = Node("top", -1, np.zeros(3), np.roll(rotation.as_quat(), 1), np.ones(3))
    return replace(asset, nodes=(*nodes, node), scene_roots=(top,))


def turned_mesh(asset: Asset, rotation: Rotation) -> Asset:
    """The vertices stored in other axes; inverse bind matrices take them back."""
    back = np.eye(4)
    back[:3, :3] = rotation.as_matrix().T
    meshes = [
        replace(mesh, parts=tuple(
            replace(p, positions=rotation.apply(p.positions).astype(p.positions.dtype))
            for p in mesh.parts
        ))
        for mesh in asset.meshes
    ]  # fmt: skip
    skins = [replace(s, inverse_bind=(s.inverse_bind @ back)) for s in asset.skins]
    return replace(asset, meshes=tuple(meshes), skins=tuple(skins))


def load_turned(asset: Asset, rotation: Rotation) -> tuple[Character, np.ndarray]:
    """The turned file as a character, and how that character is turned about its up axis.

    A file's up axis is +x, +y or +z. Where the rotation takes it to a negative one, the scene
    hangs below a node that turns it over.
    """
    scene = turned_scene(asset, rotation)
    up = rotation.apply([0.0, 1.0, 0.0]).round()
    axis = int(np.abs(up).argmax())
    if up[axis] < 0:
        over = Rotation.from_rotvec(np.pi * np.eye(3)[axis - 1])
        scene, rotation = under_a_node(scene, over), over * rotation
    body = load_character(scene, up="xyz"[axis])
    yup_from_file = body.units.points_in(torch.eye(3, dtype=torch.float64)).numpy().T
    return body, yup_from_file @ rotation.as_matrix()


def assert_same_anatomy(body: Character, true: Character, turn: np.ndarray) -> None:
    """The same joints are the same parts; directions are turned along."""
    anatomy, wanted = body.anatomy, true.anatomy
    assert anatomy.roles[: len(wanted.roles)] == wanted.roles
    for field in ("limbs", "partners", "trunk", "tail"):
        assert getattr(anatomy, field) == getattr(wanted, field)
    np.testing.assert_allclose(anatomy.forward, turn @ wanted.forward, atol=1e-6)
    np.testing.assert_allclose(anatomy.left, turn @ wanted.left, atol=1e-6)
    assert body.height == pytest.approx(true.height, rel=1e-5)
    assert body.mesh is not None
    assert true.mesh is not None
    vertices = true.mesh.vertices.double().numpy() @ turn.T
    np.testing.assert_allclose(body.mesh.vertices.numpy(), vertices, atol=1e-5)
    rig, rig_wanted = body.control_rig, true.control_rig
    assert (rig.joints, rig.parents, rig.root) == (
        rig_wanted.joints, rig_wanted.parents, rig_wanted.root
    )  # fmt: skip
    assert (rig.travel_joint, rig.neutral_from) == (
        rig_wanted.travel_joint, rig_wanted.neutral_from
    )  # fmt: skip
    axes = rig_wanted.axes.double().numpy() @ turn.T
    np.testing.assert_allclose(rig.axes.numpy(), axes, atol=1e-5)


def test_there_are_24_rotations_and_every_forward_axis_is_among_them():
    assert len({r.as_matrix().round().tobytes() for r in ROTATIONS}) == 24
    assert len({tuple(r.apply([0.0, 0.0, 1.0]).round() + 0.0) for r in ROTATIONS}) == 6


@pytest.fixture(scope="module")
def nameless(zoo_character):
    """The character of a species whose joints have no names."""
    return cache(lambda species: load_character(without_names(zoo_character(species).asset)))


@pytest.mark.slow
@pytest.mark.parametrize("rotation", ROTATIONS, ids=IDS)
@pytest.mark.parametrize("species", SPECIES)
@pytest.mark.parametrize("named", [True, False], ids=["named", "nameless"])
def test_a_turned_file_has_the_same_anatomy(zoo_character, nameless, species, named, rotation):
    true = zoo_character(species) if named else nameless(species)
    body, turn = load_turned(true.asset, rotation)
    np.testing.assert_allclose(turn @ [0, 1, 0], [0, 1, 0], atol=1e-12)
    assert_same_anatomy(body, true, turn)


@pytest.mark.slow
@pytest.mark.parametrize("rotation", ROTATIONS, ids=IDS)
@pytest.mark.parametrize("species", SPECIES)
def test_a_mesh_stored_in_other_axes_has_the_same_anatomy(zoo_character, species, rotation):
    true = zoo_character(species)
    body = load_character(turned_mesh(true.asset, rotation))
    assert_same_anatomy(body, true, np.eye(3))


def mirrored(asset: Asset) -> Asset:
    """The file's mirror image in the plane x = 0."""
    flip = np.diag([-1.0, 1.0, 1.0, 1.0])
    nodes = [
        replace(
            n, translation=n.translation * [-1.0, 1.0, 1.0],
            rotation=n.rotation * [1.0, 1.0, -1.0, -1.0],
        )
        for n in asset.nodes
    ]  # fmt: skip
    meshes = [
        replace(mesh, parts=tuple(
            replace(p, positions=(p.positions * [-1.0, 1.0, 1.0]).astype(p.positions.dtype))
            for p in mesh.parts
        ))
        for mesh in asset.meshes
    ]  # fmt: skip
    skins = [replace(s, inverse_bind=flip @ s.inverse_bind @ flip) for s in asset.skins]
    return replace(asset, nodes=tuple(nodes), meshes=tuple(meshes), skins=tuple(skins))


@pytest.mark.parametrize("species", SPECIES)
def test_a_mirrored_body_has_its_sides_swapped_and_nothing_else(nameless, species):
    true = nameless(species).anatomy
    found = load_character(mirrored(nameless(species).asset)).anatomy
    assert found.roles == tuple(replace(r, side=r.side.other) for r in true.roles)
    assert (found.trunk, found.tail, found.partners) == (true.trunk, true.tail, true.partners)
    np.testing.assert_allclose(found.forward, true.forward, atol=1e-6)
