"""Bind poses of files with control bones, and skins with parts that have no weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch

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
