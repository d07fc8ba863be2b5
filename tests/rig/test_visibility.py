"""The inside of a mesh: depth by rays, ways that stay inside."""

import numpy as np
import trimesh

from akd.rig.skinning.visibility import Inside, angle_normals


def u_tube() -> trimesh.Trimesh:
    """Two blocks joined by a third: a U that opens upwards."""
    legs = [trimesh.creation.box((1, 4, 1)), trimesh.creation.box((1, 4, 1))]
    legs[0].apply_translation((-1.5, 0, 0))
    legs[1].apply_translation((1.5, 0, 0))
    base = trimesh.creation.box((4, 1, 1))
    base.apply_translation((0, -2, 0))
    return trimesh.util.concatenate([*legs, base])


def arrays(mesh: trimesh.Trimesh) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.int64)


def test_depth_counts_overlapping_parts():
    inside = Inside(*arrays(u_tube()))
    points = np.array([[-1.5, 1, 0], [0.0, 1, 0], [-1.5, -1.8, 0], [0, -2.2, 0], [9, 9, 9.0]])
    assert inside.depth(points).tolist() == [1, 0, 2, 1, 0]


def test_a_way_across_a_gap_is_seen_to_leave():
    vertices, faces = arrays(u_tube().subdivide().subdivide())
    inside = Inside(vertices, faces)
    depth = inside.depth_below()
    assert set(depth.tolist()) <= {1, 2}
    left = np.flatnonzero((np.abs(vertices[:, 0] + 1.0) < 1e-9) & (vertices[:, 1] > 0.5))
    own = np.tile([-1.5, 1.0, 0.0], (len(left), 1))
    other = np.tile([1.5, 1.0, 0.0], (len(left), 1))
    assert inside.is_visible(left, own, depth, tolerance=0.01).all()
    assert not inside.is_visible(left, other, depth, tolerance=0.01).any()
    # Two metres of air lie between: a tolerance as wide as that lets the way pass.
    assert inside.is_visible(left, other, depth, tolerance=3.5).all()


def test_a_bone_that_sticks_out_a_little_is_seen_within_the_tolerance():
    vertices, faces = arrays(trimesh.creation.icosphere(subdivisions=3))
    inside = Inside(vertices, faces)
    depth = inside.depth_below()
    behind = np.flatnonzero(vertices[:, 0] < -0.9)
    target = np.tile([1.05, 0.0, 0.0], (len(behind), 1))
    assert inside.is_visible(behind, target, depth, tolerance=0.08).all()
    assert not inside.is_visible(behind, target, depth, tolerance=0.01).any()


def test_normals_of_a_sphere_point_outwards():
    vertices, faces = arrays(trimesh.creation.icosphere(subdivisions=2))
    np.testing.assert_allclose(angle_normals(vertices, faces), vertices, atol=0.02)
