"""Bind poses of files with control bones, and skins with parts that have no weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from akd.asset.asset import Asset, Node
from akd.rig.character import load_character

CENTIMETRES = 100.0


def rigify_like(asset: Asset) -> Asset:
    """The mesh stored in centimetres, and three times as many control bones as bones. They move no
    skin, rest at the origin, and have an identity for inverse bind, as those of Rigify."""
    scale = np.diag([1 / CENTIMETRES] * 3 + [1.0])
    meshes = tuple(
        replace(m, parts=tuple(replace(p, positions=CENTIMETRES * p.positions) for p in m.parts))
        for m in asset.meshes
    )
    skin = asset.skins[0]
    count = 3 * len(skin.joints)
    first = len(asset.nodes)
    turn = np.array([1.0, 0.0, 0.0, 0.0])
    controls = tuple(Node(f"MCH-{i}", -1, np.zeros(3), turn, np.ones(3)) for i in range(count))
    controlled = replace(
        skin,
        joints=np.concatenate((skin.joints, np.arange(first, first + count))),
        inverse_bind=np.concatenate((skin.inverse_bind @ scale, np.tile(np.eye(4), (count, 1, 1)))),
    )
    nodes = (*asset.nodes, *controls)
    roots = (*asset.scene_roots, *range(first, first + count)) if asset.scene_roots else ()
    return replace(asset, nodes=nodes, meshes=meshes, skins=(controlled,), scene_roots=roots)


@pytest.mark.slow
def test_control_bones_have_no_say_in_where_the_mesh_is(zoo_character):
    fox = zoo_character("fox")
    rigged = load_character(rigify_like(fox.asset))
    count = len(fox.skeleton)
    np.testing.assert_allclose(rigged.height, fox.height, rtol=1e-4)
    assert rigged.mesh is not None
    assert fox.mesh is not None
    np.testing.assert_allclose(rigged.mesh.vertices, fox.mesh.vertices, atol=1e-4)
    bound = [c.skeleton.forward(c.bind)[:count, :3, 3] for c in (rigged, fox)]
    torch.testing.assert_close(*bound, atol=1e-4, rtol=0)
    assert rigged.anatomy.roles[:count] == fox.anatomy.roles
    assert {str(r) for r in rigged.anatomy.roles[count:]} == {"helper"}


def test_a_part_without_weights_takes_those_of_the_nearest_vertices(zoo_character):
    fox = zoo_character("fox")
    mesh = fox.asset.meshes[0]
    whole = mesh.parts[0]
    assert whole.weights is not None
    bare = replace(whole, weights=np.zeros_like(whole.weights))
    both = replace(mesh, parts=(*mesh.parts, bare))
    found = load_character(replace(fox.asset, meshes=(both, *fox.asset.meshes[1:])))
    assert found.mesh is not None
    skin, count = found.mesh.skin, len(whole.positions)
    filled = slice(len(found.mesh.vertices) - count, None)
    # Vertices on a seam share their place, so blended positions are compared, not rows.
    world = found.skeleton.forward(found.bind).clone()
    world[:, :3, 3] *= 1.5
    posed = found.mesh.pose(world)
    torch.testing.assert_close(posed[:count], posed[filled], atol=1e-3, rtol=0)
    assert (skin.weights[filled].sum(1) > 0.99).all()
    assert found.anatomy.feet == fox.anatomy.feet


def at_ease(asset: Asset) -> Asset:
    """The mesh in another unit than the nodes, which rest in a pose in which no joint is as it was
    bound, with a hand of forty joints that agree with each other."""
    skin, generator = asset.skins[0], np.random.default_rng(0)
    nodes = list(asset.nodes)
    bind = np.linalg.inv(skin.inverse_bind)
    turned = {}
    for joint in skin.joints:
        bent = {"left_arm_upper": 60.0, "right_arm_upper": -60.0, "left_arm_hand": 60.0}
        raised = bent.get(nodes[joint].name, 0.0)
        angles = generator.uniform(-8.0, 8.0, 3) + raised
        turned[joint] = Rotation.from_euler("xyz", angles, degrees=True)
    for joint, turn in turned.items():
        node = nodes[joint]
        rotation = Rotation.from_quat(node.rotation, scalar_first=True) * turn
        nodes[joint] = replace(node, rotation=rotation.as_quat(scalar_first=True))
    hands = [k for k, j in enumerate(skin.joints) if nodes[j].name == "left_arm_hand"]
    added, inverse = [], []
    for k in hands:
        for finger in range(40):
            offset = np.array([0.0, 0.0, 2e-3 * (finger + 1)])
            added.append(len(nodes))
            nodes.append(Node(f"f{len(nodes)}", int(skin.joints[k]), offset, *_still()))
            place = np.eye(4)
            place[:3, 3] = offset
            inverse.append(np.linalg.inv(bind[k] @ place))
    scale = np.diag([CENTIMETRES] * 3 + [1.0])
    meshes = tuple(
        replace(m, parts=tuple(replace(p, positions=p.positions / CENTIMETRES) for p in m.parts))
        for m in asset.meshes
    )
    whole = replace(
        skin,
        joints=np.concatenate((skin.joints, added)),
        inverse_bind=np.concatenate((skin.inverse_bind, inverse)) @ scale,
    )
    return replace(asset, nodes=tuple(nodes), meshes=meshes, skins=(whole,))


def _still() -> tuple[np.ndarray, np.ndarray]:
    return np.array([1.0, 0.0, 0.0, 0.0]), np.ones(3)


def test_a_body_that_rests_in_a_pose_stands_as_it_was_bound(zoo_character):
    man = zoo_character("man")
    asset = at_ease(man.asset)
    posed = load_character(asset)
    assert posed.mesh is not None
    assert man.mesh is not None
    np.testing.assert_allclose(posed.height, man.height, rtol=1e-3)
    gaps = posed.mesh.vertices - man.mesh.vertices
    assert float((gaps - gaps.mean(dim=0)).norm(dim=1).max()) < 1e-3 * man.height
    assert [x.kind for x in posed.anatomy.limbs] == [x.kind for x in man.anatomy.limbs]
    assert posed.anatomy.feet == man.anatomy.feet
