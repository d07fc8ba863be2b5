"""New weights for a character: over its own bones, and old ones where no bone may move a vertex."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from akd.asset.read import read_asset
from akd.rig.character import load_character
from akd.rig.skinning.automatic import deforming_joints, skin_character
from tests.asset.gltf_builder import pack_glb
from tests.commands.animating import chain

JOINTS = 3


@pytest.fixture
def boxes(tmp_path):
    """Three boxes, each on a joint of its own."""
    return load_character(read_asset(chain(tmp_path / "chain.glb", JOINTS)))


def joints_of(skin) -> np.ndarray:
    """The joint that moves each vertex most."""
    strongest = skin.weights.argmax(dim=1, keepdim=True)
    return skin.bone_joints[skin.bones.gather(1, strongest)[:, 0]].numpy()


@pytest.mark.slow
def test_vertices_follow_the_bones_beside_them(boxes):
    made = skin_character(boxes)
    assert made.warnings == ()
    np.testing.assert_allclose(made.skin.weights.sum(dim=1), 1.0, atol=1e-6)
    np.testing.assert_array_equal(made.skin.bone_joints, boxes.mesh.skin.bone_joints)
    np.testing.assert_array_equal(made.segments.joints, range(JOINTS))
    own = torch.arange(len(boxes.mesh.vertices)) // 8  # a box has eight vertices
    is_own = made.skin.bone_joints[made.skin.bones] == own[:, None]
    shares = (made.skin.weights * is_own).sum(dim=1)
    assert float(shares.min()) > 0.45  # where two bones meet, both are as near
    free = boxes.mesh.vertices[:, 1] > 0.99 * boxes.mesh.vertices[:, 1].max()
    assert float(shares[free].min()) > 0.9


def test_joints_that_move_nothing_take_part_where_asked_for(boxes):
    skin = boxes.mesh.skin
    without = replace(skin, bones=skin.bones.clamp_max(1))
    character = replace(boxes, mesh=replace(boxes.mesh, skin=without))
    assert deforming_joints(character) == [0, 1]
    assert deforming_joints(character, is_all=True) == [0, 1, 2]
    on_one = replace(skin, bones=torch.zeros_like(skin.bones))
    character = replace(boxes, mesh=replace(boxes.mesh, skin=on_one))
    assert deforming_joints(character) == [0, 1, 2]


def test_rigid_parts_keep_their_weights(boxes, tmp_path):
    data = (tmp_path / "chain.glb").read_bytes()
    length = int.from_bytes(data[12:16], "little")
    document = json.loads(data[20 : 20 + length])
    document["nodes"].append({"name": "hat", "mesh": 0, "translation": [0.0, 1.0, 0.0]})
    document["scenes"][0]["nodes"].append(len(document["nodes"]) - 1)
    path = tmp_path / "hat.glb"
    path.write_bytes(pack_glb(json.dumps(document).encode(), data[28 + length :]))
    character = load_character(read_asset(path))
    made = skin_character(character)
    count = len(boxes.mesh.vertices)
    assert made.warnings[-1].startswith(f"{count} vertices keep their old weights")
    hat = len(character.skeleton) - 1
    assert joints_of(made.skin).tolist().count(hat) == count


def test_what_cannot_be_bound_is_refused(boxes):
    with pytest.raises(ValueError, match="there is no mesh to bind"):
        skin_character(replace(boxes, mesh=None))
    assert deforming_joints(replace(boxes, mesh=None)) == []
    bare = replace(boxes, asset=replace(boxes.asset, skins=()))
    with pytest.raises(ValueError, match="there is no joint to bind to"):
        skin_character(bare)
