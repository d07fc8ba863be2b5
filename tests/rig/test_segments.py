"""Bones as segments: where they end, and who moves with them."""

import numpy as np
import pytest
import torch
import trimesh

from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.skinning.segments import BoneSegments, bone_segments

BOX = trimesh.creation.box(bounds=((-0.2, -0.5, -0.2), (0.2, 3.0, 0.2)))
VERTICES, FACES = np.asarray(BOX.vertices, float), np.asarray(BOX.faces, np.int64)
NOTHING = np.zeros((0, 3)), np.zeros((0, 3), np.int64)


def upright(count: int) -> tuple[Skeleton, np.ndarray]:
    """A chain of joints, a metre apart."""
    rest = Pose.identity(count)
    offset = rest.translation.clone()
    offset[1:, 1] = 1.0
    names = tuple(f"joint {i}" for i in range(count))
    skeleton = Skeleton(names, (-1, *range(count - 1)), Pose(offset, rest.rotation, rest.scale))
    return skeleton, skeleton.forward(skeleton.rest)[:, :3, 3].double().numpy()


def test_a_last_bone_runs_into_the_tip_of_the_body():
    skeleton, positions = upright(3)
    found = bone_segments(skeleton, positions, {0: -1, 1: 0, 2: 1}, VERTICES, FACES)
    assert found.owner.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.ends[:, 1], (1.0, 2.0, 2.8), atol=1e-9)


def test_a_last_bone_ends_at_the_end_node_of_the_file():
    skeleton, positions = upright(4)
    found = bone_segments(skeleton, positions, {0: -1, 1: 0, 2: 1}, VERTICES, FACES)
    assert found.ends[-1, 1] == pytest.approx(3.0)


def test_a_last_bone_outside_of_the_surface_is_half_as_long_as_its_parent():
    skeleton, positions = upright(3)
    found = bone_segments(skeleton, positions, {0: -1, 1: 0, 2: 1}, *NOTHING)
    assert found.ends[-1, 1] == pytest.approx(2.5)
    beside = positions + np.array((5.0, 0.0, 0.0))
    found = bone_segments(skeleton, beside, {0: -1, 1: 0, 2: 1}, VERTICES, FACES)
    assert found.ends[-1, 1] == pytest.approx(2.5)


def test_a_joint_moves_a_segment_to_each_child():
    names = ("hips", "left", "right")
    offset = torch.tensor(((0.0, 1.0, 0.0), (0.5, 0.0, 0.0), (-0.5, 0.0, 0.0)))
    rest = Pose.identity(3)
    skeleton = Skeleton(names, (-1, 0, 0), Pose(offset, rest.rotation, rest.scale))
    positions = skeleton.forward(skeleton.rest)[:, :3, 3].double().numpy()
    found = bone_segments(skeleton, positions, {0: -1, 1: 0, 2: 0}, *NOTHING)
    assert found.owner.tolist() == [0, 0, 1, 2]
    np.testing.assert_allclose(found.ends[:2, 0], (0.5, -0.5))
    np.testing.assert_allclose(found.ends[2:, 0], (0.75, -0.75))


def test_a_single_joint_has_a_segment_without_length():
    skeleton, positions = upright(1)
    found = bone_segments(skeleton, positions, {0: -1}, VERTICES, FACES)
    np.testing.assert_array_equal(found.starts, found.ends)


def test_wrong_segments_are_refused():
    two = np.zeros((2, 3))
    with pytest.raises(ValueError, match="every one of the joints needs a segment: 3 joints"):
        BoneSegments(np.arange(3), two, two, np.array((0, 1)))
    with pytest.raises(ValueError, match="must be finite"):
        BoneSegments(np.arange(2), two, two * np.nan, np.array((0, 1)))
