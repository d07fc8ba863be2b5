"""Weights by heat, against a closed form, on meshes made for the hard cases, and on creatures."""

from itertools import pairwise

import numpy as np
import pytest

from akd.rig.skinning.heat import HeatSettings, closest_on_segments, solve_heat_weights
from akd.rig.skinning.segments import BoneSegments
from akd.rig.skinning.surface_repair import weld
from akd.zoo.species.catalogue import SPECIES
from akd.zoo.species.parameters import Humanoid, Quadruped

WALKERS = [name for name, body in SPECIES.items() if isinstance(body, Quadruped | Humanoid)]


def tube(radius: float, half: float, around: int, rings: int) -> tuple[np.ndarray, np.ndarray]:
    """An open tube along z from -half to half."""
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    circle = radius * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    heights = np.linspace(-half, half, rings)
    points = np.concatenate(
        [np.column_stack((circle, np.full(around, z))) for z in heights]
    )  # fmt: skip
    faces = []
    for ring in range(rings - 1):
        for i in range(around):
            a, b = ring * around + i, ring * around + (i + 1) % around
            faces += [[a, b, a + around], [b, b + around, a + around]]
    return points, np.array(faces)


def ball(centre, radius: float, *, subdivisions: int = 3) -> tuple[np.ndarray, np.ndarray]:
    import trimesh

    sphere = trimesh.creation.icosphere(subdivisions=subdivisions, radius=radius)
    return np.asarray(sphere.vertices) + centre, np.asarray(sphere.faces, dtype=np.int64)


def joined(*meshes: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *(len(v) for v, _ in meshes)])
    return (
        np.concatenate([v for v, _ in meshes]),
        np.concatenate([f + s for (_, f), s in zip(meshes, starts, strict=False)]),
    )


def segments(*ends) -> BoneSegments:
    """One bone a pair of points."""
    pairs = np.array(ends, dtype=float)
    count = np.arange(len(pairs))
    return BoneSegments(count, pairs[:, 0], pairs[:, 1], count)


def dense(solved, count: int) -> np.ndarray:
    weights = np.zeros((len(solved.bones), count))
    for k in range(solved.bones.shape[1]):
        np.add.at(weights, (np.arange(len(weights)), solved.bones[:, k]), solved.weights[:, k])
    return weights


@pytest.mark.parametrize("heat", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("unit", [1.0, 250.0])
def test_two_bones_in_a_tube_follow_the_screened_poisson_equation(heat, unit):
    # A tube of radius r along z, a bone in each half of its axis. Every vertex is r away from its
    # bone, so that the weight of the upper one depends on z alone:
    #     -w'' + (c / r^2) w = (c / r^2) [z > 0],   w'(-l) = w'(l) = 0.
    # With k = sqrt(c) / r the pieces that keep the ends are A cosh(k (z + l)) below and
    # 1 - A cosh(k (l - z)) above; value and slope agree at z = 0 where A = 1 / (2 cosh(k l)).
    radius, half = 1.0 * unit, 5.0 * unit
    points, faces = tube(radius, half, 40, 161)
    bones = segments(([0, 0, -half], [0, 0, 0]), ([0, 0, 0], [0, 0, half]))
    solved = solve_heat_weights(points, faces, bones, settings=HeatSettings(heat=heat))
    k, z = np.sqrt(heat) / radius, points[:, 2]
    amplitude = 0.5 / np.cosh(k * half)
    below, above = np.cosh(k * (z + half)), np.cosh(k * (half - z))
    expected = np.where(z < 0, amplitude * below, 1.0 - amplitude * above)
    np.testing.assert_allclose(dense(solved, 2)[:, 1], expected, atol=2e-3)
    assert solved.warnings == ()


def test_a_bone_outside_is_not_seen_through_a_gap():
    # Two legs side by side, each with its bone; the inner side of each is as near to the other's
    # bone as to its own. Without a look at the inside the weights would mix.
    left = tube(1.0, 4.0, 32, 41)
    right = (left[0] + [2.2, 0, 0], left[1])
    points, faces = joined(left, right)
    bones = segments(([0.8, 0, -4], [0.8, 0, 4]), ([2.2, 0, -4], [2.2, 0, 4]))
    weights = dense(solve_heat_weights(points, faces, bones), 2)
    is_left = np.arange(len(points)) < len(left[0])
    np.testing.assert_allclose(weights[is_left, 0], 1.0, atol=1e-9)
    np.testing.assert_allclose(weights[~is_left, 1], 1.0, atol=1e-9)


def test_a_part_that_sees_no_bone_takes_its_nearest():
    body = ball([0, 0, 0], 1.0)
    button = ball([1.6, 0, 0], 0.2, subdivisions=2)
    points, faces = joined(body, button)
    bones = segments(([-0.5, 0, 0], [0, 0, 0]), ([0, 0, 0], [0.5, 0, 0]))
    solved = solve_heat_weights(points, faces, bones)
    np.testing.assert_allclose(dense(solved, 2)[len(body[0]) :, 1], 1.0, atol=1e-9)
    assert solved.warnings == (
        "1 of 2 parts of the mesh see no bone and go with their nearest one",
    )


def test_a_skeleton_outside_the_mesh_gives_weights_and_says_so():
    points, faces = ball([0, 0, 0], 1.0)
    bones = segments(([5, 0, 0], [6, 0, 0]), ([6, 0, 0], [7, 0, 0]))
    solved = solve_heat_weights(points, faces, bones)
    np.testing.assert_allclose(dense(solved, 2)[:, 0], 1.0)
    assert "the skeleton seems to lie outside the mesh" in solved.warnings[0]


def test_overlapping_parts_are_one_inside():
    # Clothes over a body: the way from the outer ball to the bone crosses the inner one.
    outer, inner = ball([0, 0, 0], 1.0), ball([0, 0, 0], 0.7)
    points, faces = joined(outer, inner)
    bones = segments(([-0.6, 0, 0], [0, 0, 0]), ([0, 0, 0], [0.6, 0, 0]))
    solved = solve_heat_weights(points, faces, bones)
    assert solved.warnings == ()
    weights = dense(solved, 2)
    ends = np.abs(points[:, 0]) > 0.6
    assert (weights[ends & (points[:, 0] > 0), 1] > 0.85).all()
    assert (weights[ends & (points[:, 0] < 0), 0] > 0.85).all()


def test_seams_of_the_file_do_not_stop_heat():
    points, faces = tube(1.0, 5.0, 24, 41)
    split = points[faces.ravel()]
    loose = np.arange(len(split)).reshape(-1, 3)
    bones = segments(([0, 0, -5], [0, 0, 0]), ([0, 0, 0], [0, 0, 5]))
    whole = dense(solve_heat_weights(points, faces, bones), 2)
    torn = dense(solve_heat_weights(split, loose, bones), 2)
    np.testing.assert_allclose(torn, whole[faces.ravel()], atol=1e-6)


def test_faces_that_look_inwards_are_turned():
    points, faces = tube(1.0, 5.0, 24, 41)
    bones = segments(([0, 0, -5], [0, 0, 0]), ([0, 0, 0], [0, 0, 5]))
    right = dense(solve_heat_weights(points, faces, bones), 2)
    turned = solve_heat_weights(points, faces[:, ::-1], bones)
    np.testing.assert_allclose(dense(turned, 2), right, atol=1e-6)


def test_at_most_k_influences_that_sum_to_one():
    points, faces = tube(1.0, 5.0, 24, 81)
    knots = np.linspace(-5, 5, 12)
    bones = segments(*(([0, 0, a], [0, 0, b]) for a, b in pairwise(knots)))
    for count in (1, 3, 4):
        solved = solve_heat_weights(
            points, faces, bones, settings=HeatSettings(influences=count, heat=0.2)
        )
        assert solved.bones.shape[1] == count
        assert (solved.weights >= 0).all()
        np.testing.assert_allclose(solved.weights.sum(axis=1), 1.0, atol=1e-12)
        assert (np.diff(solved.weights, axis=1) <= 0).all()
    full = solve_heat_weights(points, faces, bones, settings=HeatSettings(influences=11, heat=0.2))
    assert (solved.bones[:, 0] == full.bones[:, 0]).all()


@pytest.mark.slow
def test_three_hundred_parts_and_five_hundred_bones():
    rng = np.random.default_rng(0)
    places = rng.uniform(-5, 5, (300, 3))
    points, faces = joined(*(ball(p, 0.3, subdivisions=1) for p in places))
    starts = rng.uniform(-5, 5, (500, 3))
    bones = segments(*((s, s + 0.2) for s in starts))
    solved = solve_heat_weights(points, faces, bones)
    np.testing.assert_allclose(solved.weights.sum(axis=1), 1.0, atol=1e-9)
    assert "parts of the mesh see no bone" in solved.warnings[0]
    # Parts that overlap see through each other, so not every bone is the nearest; none is far.
    strongest = solved.bones[:, 0].reshape(300, -1)
    distance, _ = closest_on_segments(places, bones.starts, bones.ends)
    used = np.take_along_axis(distance, strongest, axis=1)
    assert np.median(used.max(axis=1) - distance.min(axis=1)) < 0.1


def test_one_bone_moves_everything():
    points, faces = ball([0, 0, 0], 1.0)
    solved = solve_heat_weights(points, faces, segments(([0, 0, 0], [0.5, 0, 0])))
    assert solved.bones.shape == (len(points), 1)
    np.testing.assert_array_equal(solved.weights, 1.0)


def test_a_vertex_on_no_face_goes_with_its_nearest_bone():
    points, faces = tube(1.0, 5.0, 24, 41)
    points = np.concatenate((points, [[0, 0, 20.0]]))
    bones = segments(([0, 0, -5], [0, 0, 0]), ([0, 0, 0], [0, 0, 5]))
    assert dense(solve_heat_weights(points, faces, bones), 2)[-1].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("points", "faces", "message"),
    [
        (np.zeros((3, 3)), np.zeros((0, 3), dtype=int), "a mesh needs vertices and faces"),
        (np.zeros((3, 3)), np.array([[0, 1, 2]]), "all vertices are in one place"),
        (np.eye(3)[[0, 1, 1]], np.array([[0, 1, 2]]), "no face of the mesh has an area"),
        (np.full((3, 3), np.nan), np.array([[0, 1, 2]]), "vertices must be finite"),
    ],
)
def test_what_cannot_be_solved_is_refused(points, faces, message):
    with pytest.raises(ValueError, match=message):
        solve_heat_weights(points, faces, segments(([0, 0, 0], [1, 0, 0])))


def test_bones_must_be_somewhere():
    with pytest.raises(ValueError, match="places of bones must be finite"):
        segments(([0, 0, 0], [np.nan, 0, 0]))


def test_degenerate_and_doubled_faces_change_nothing():
    points, faces = tube(1.0, 5.0, 24, 41)
    bones = segments(([0, 0, -5], [0, 0, 0]), ([0, 0, 0], [0, 0, 5]))
    dirty = np.concatenate((faces, faces[:50], faces[:50][:, [1, 2, 0]], [[3, 3, 4], [7, 7, 7]]))
    clean = dense(solve_heat_weights(points, faces, bones), 2)
    np.testing.assert_allclose(dense(solve_heat_weights(points, dirty, bones), 2), clean, atol=1e-9)


def test_a_fin_of_three_faces_on_one_edge_is_solved():
    points, faces = tube(1.0, 5.0, 24, 41)
    tip = np.array([[3.0, 0.0, 0.1]])
    fin = np.array([[20 * 24, 21 * 24, len(points)]])
    solved = solve_heat_weights(
        np.concatenate((points, tip)), np.concatenate((faces, fin)),
        segments(([0, 0, -5], [0, 0, 0]), ([0, 0, 0], [0, 0, 5])),
    )  # fmt: skip
    assert np.isfinite(solved.weights).all()
    assert 0.2 < dense(solved, 2)[-1, 1] < 0.8


def test_welding_keeps_the_order_of_the_file():
    points = np.array([[2.0, 0, 0], [0, 0, 0], [0, 1, 0], [2.0, 0, 0], [0, 1, 0], [2, 2, 0]])
    mesh = weld(points, np.array([[0, 1, 2], [3, 5, 4]]))
    assert mesh.source.tolist() == [0, 1, 2, 0, 2, 3]
    np.testing.assert_array_equal(mesh.vertices[mesh.source], points)


@pytest.mark.slow
@pytest.mark.parametrize("species", WALKERS)
def test_a_foot_does_not_move_with_another_leg(species):
    from akd.rig.skinning.segments import bone_segments
    from akd.zoo.creature import build_creature

    creature = build_creature(species, vertices=2000)
    skeleton = creature.skeleton
    positions = skeleton.forward(skeleton.rest)[:, :3, 3].double().numpy()
    points = creature.mesh.vertices.double().numpy()
    faces = creature.mesh.faces.numpy()
    tree = {j: p for j, p in enumerate(skeleton.parents) if j > 0}
    bones = bone_segments(skeleton, positions, tree, points, faces)
    weights = np.zeros((len(points), len(skeleton)))
    solved = solve_heat_weights(points, faces, bones)
    weights[:, bones.joints] = dense(solved, len(bones.joints))
    assert solved.warnings == ()
    tops = {}
    for foot in creature.feet:
        joint = foot.joint
        while foot.name in skeleton.names[skeleton.parents[joint]]:
            joint = skeleton.parents[joint]
        tops[foot.name] = list(skeleton.subtree(joint))
    for foot in creature.feet:
        others = [j for name, joints in tops.items() if name != foot.name for j in joints]
        assert weights[foot.vertices.numpy()][:, others].sum(axis=1).max() < 1e-3
        own = weights[foot.vertices.numpy()][:, tops[foot.name]].sum(axis=1)
        assert own.min() > 0.99


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"heat": 0.0}, "heat must be above zero"),
        ({"heat": float("nan")}, "heat must be above zero"),
        ({"influences": 0}, "influences must be from 1 to 64"),
        ({"outside": 1.5}, "outside must be from 0 to 1"),
    ],
)
def test_wrong_settings_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        HeatSettings(**settings)
