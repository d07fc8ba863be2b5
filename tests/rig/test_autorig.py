"""Skeletons for bare meshes: creatures whose true joints are known, and bodies made for a case."""

import numpy as np
import pytest
import trimesh

from akd.asset.asset import AssetError
from akd.rig.autorig.frame import find_frame
from akd.rig.autorig.joint_file import read_joint_file
from akd.rig.autorig.landmarks import along_line, find_landmarks
from akd.rig.autorig.legs import find_legs
from akd.rig.autorig.rig import LOW_CONFIDENCE, find_skeleton, rig_mesh
from akd.rig.autorig.solid import fill, pack_spheres
from akd.zoo.creature import build_creature

pytestmark = pytest.mark.slow


def arrays(creature) -> tuple[np.ndarray, np.ndarray]:
    return creature.mesh.vertices.double().numpy(), creature.mesh.faces.numpy()


def turned(points: np.ndarray, degrees: float, shift=(0.0, 0.0, 0.0)) -> np.ndarray:
    angle = np.radians(degrees)
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T + shift


def table() -> tuple[np.ndarray, np.ndarray]:
    """A top on four legs."""
    top = trimesh.creation.box((1.0, 0.3, 2.0))
    top.apply_translation((0, 1.0, 0))
    legs = []
    for x in (-0.35, 0.35):
        for z in (-0.8, 0.8):
            leg = trimesh.creation.box((0.2, 0.9, 0.2))
            leg.apply_translation((x, 0.45, z))
            legs.append(leg)
    mesh = trimesh.util.concatenate([top, *legs]).subdivide()
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)


@pytest.mark.parametrize(
    ("species", "plan", "limit"),
    [("wolf", "quadruped", 6.0), ("woman", "biped", 6.0), ("raptor", "theropod", 6.0)],
)
@pytest.mark.parametrize("degrees", [0.0, 90.0, 180.0])
def test_joints_of_creatures_are_found_whichever_way_they_face(species, plan, limit, degrees):
    creature = build_creature(species, seed=3, vertices=2000)
    vertices, faces = arrays(creature)
    vertices = turned(vertices, degrees, (0.7, 0.2, -0.4))
    found = find_skeleton(vertices, faces)
    assert found.template == plan
    assert found.confidence > LOW_CONFIDENCE
    truth = creature.skeleton.forward(creature.skeleton.rest)[:, :3, 3].double().numpy()
    truth = turned(truth, degrees, (0.7, 0.2, -0.4))
    names = creature.skeleton.names
    shared = [n for n in found.names if n in names and n != "root"]
    assert len(shared) >= 18
    gaps = [
        np.linalg.norm(found.positions[found.names.index(n)] - truth[names.index(n)])
        for n in shared
    ]
    assert 100.0 * np.mean(gaps) / creature.height < limit
    forward = turned(np.array([[0.0, 0.0, 1.0]]), degrees)[0]
    np.testing.assert_allclose(found.forward, forward, atol=1e-6)


def test_the_skeleton_is_symmetric_and_lies_inside():
    creature = build_creature("horse", seed=1, vertices=2000)
    vertices, faces = arrays(creature)
    found = find_skeleton(vertices, faces)
    places = dict(zip(found.names, found.positions, strict=True))
    for name, place in places.items():
        if name.startswith("left_"):
            mirror = places[name.replace("left_", "right_")]
            np.testing.assert_allclose(mirror, place * [-1, 1, 1], atol=0.02)
            assert place[0] > 0
    inside = trimesh.Trimesh(vertices, faces).contains(found.positions)
    assert inside.mean() > 0.85


def test_a_rigged_mesh_is_bound_and_its_roles_are_found(tmp_path):
    from akd.asset.read import read_asset
    from akd.export.gltf.build import build_document
    from akd.export.gltf.write import write_glb
    from akd.rig.character import load_character

    vertices, faces = arrays(build_creature("dog", seed=2, vertices=2000))
    rigged = rig_mesh(vertices, faces, np.ones_like(vertices))
    weights = rigged.mesh.skin.weights
    assert float(weights.min()) >= 0.0
    np.testing.assert_allclose(weights.sum(dim=1).numpy(), 1.0, atol=1e-5)
    write_glb(build_document(rigged.mesh, rigged.skeleton), tmp_path / "dog.glb")
    dog = load_character(read_asset(tmp_path / "dog.glb"))
    feet = {dog.skeleton.names[j] for j in dog.anatomy.feet}
    assert {f"{s}_{e}" for s in ("left", "right") for e in ("fore", "hind")} == {
        "_".join(name.split("_")[:2]) for name in feet
    }
    np.testing.assert_allclose(dog.anatomy.forward, [0, 0, 1], atol=1e-6)


def test_joints_can_be_placed_by_hand():
    vertices, faces = arrays(build_creature("fox", seed=1, vertices=2000))
    given = {"left_fore_toes": np.array([0.1, 0.02, 0.2]), "hat": np.array([0.0, 0.55, 0.3])}
    found = find_skeleton(vertices, faces, joints=given)
    place = found.positions[found.names.index("left_fore_toes")]
    np.testing.assert_array_equal(place, given["left_fore_toes"])
    assert found.names[-1] == "hat"
    assert found.names[found.parents[-1]] in ("head", "neck_2", "neck_1")
    untouched = find_skeleton(vertices, faces)
    same = [n for n in untouched.names if n not in given]
    for name in same:
        np.testing.assert_array_equal(
            found.positions[found.names.index(name)],
            untouched.positions[untouched.names.index(name)],
        )


def test_a_table_has_four_legs_and_no_face():
    vertices, faces = table()
    found = find_skeleton(vertices, faces, template="quadruped")
    assert any("front and back look alike" in r for r in found.reasons)
    assert found.confidence < LOW_CONFIDENCE
    legs = find_legs(fill(find_frame(vertices, faces).into(vertices), faces))
    assert len(legs) == 2
    for leg, z in zip(legs, (-0.8, 0.8), strict=True):
        np.testing.assert_allclose(leg.sole[[0, 2]], [0.35, z], atol=0.05)
        assert 0.75 < leg.top < 1.0


def test_a_ball_gets_a_skeleton_nobody_should_trust():
    ball = trimesh.creation.icosphere(subdivisions=3)
    found = find_skeleton(np.asarray(ball.vertices, float), np.asarray(ball.faces, np.int64))
    assert found.confidence < LOW_CONFIDENCE
    assert found.reasons


@pytest.mark.parametrize("size", [(1, 0.01, 1), (0.01, 1, 1), (1, 1, 0.01), (5, 0.1, 0.1)])
def test_plates_and_sticks_get_a_skeleton_nobody_should_trust(size):
    box = trimesh.creation.box(size).subdivide()
    found = find_skeleton(np.asarray(box.vertices, float), np.asarray(box.faces, np.int64))
    assert np.isfinite(found.positions).all()
    assert found.confidence < LOW_CONFIDENCE


def test_a_template_that_does_not_fit_is_not_trusted():
    vertices, faces = arrays(build_creature("man", seed=1, vertices=1500))
    found = find_skeleton(vertices, faces, template="quadruped")
    assert found.template == "quadruped"
    assert found.confidence < 0.1
    assert any("a quadruped does not fit well" in r for r in found.reasons)
    with pytest.raises(ValueError, match="template must be auto, quadruped"):
        find_skeleton(vertices, faces, template="octopus")


def test_spheres_fill_a_capsule_along_its_axis():
    capsule = trimesh.creation.capsule(height=4.0, radius=0.5)
    capsule.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, (0, 1, 0)))
    capsule.apply_translation((0, 1, 0))
    vertices = np.asarray(capsule.vertices, float)
    vertices = vertices - [0.5 * (vertices[:, 0].min() + vertices[:, 0].max()), 0, 0]
    graph = pack_spheres(fill(vertices, np.asarray(capsule.faces, np.int64)))
    large = graph.radii > 0.4
    assert large.sum() > 4
    np.testing.assert_allclose(graph.centres[large][:, 1:], [[1.0, 0.0]] * large.sum(), atol=0.15)
    ends = graph.centres[[graph.centres[:, 0].argmin(), graph.centres[:, 0].argmax()]]
    first, last = graph.nearest(ends[0]), graph.nearest(ends[1])
    assert 4.0 < graph.lengths[first, last] < 5.6
    assert graph.way(first, last)[0] == first
    assert graph.way(first, last)[-1] == last


def test_the_plane_of_symmetry_of_a_turned_body():
    creature = build_creature("cow", seed=1, vertices=1500)
    vertices, faces = arrays(creature)
    frame = find_frame(turned(vertices, 30.0, (2.0, 0.0, 1.0)), faces)
    expected = turned(np.array([[1.0, 0.0, 0.0]]), 30.0)[0]
    assert abs(float(frame.lateral @ expected)) > 0.999
    assert frame.offset == pytest.approx(float(frame.lateral @ [2.0, 0.0, 1.0]), abs=0.02)
    points = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(frame.out(frame.into(points)), points, atol=1e-12)


def test_forward_is_seen_from_either_side():
    vertices, faces = arrays(build_creature("goat", seed=1, vertices=1500))
    solid = fill(find_frame(vertices, faces).into(vertices), faces)
    ahead, vote = find_landmarks(solid)
    assert vote > 0.4
    back = find_frame(-vertices * [1, -1, 1], faces[:, ::-1])
    behind, other = find_landmarks(fill(back.into(-vertices * [1, -1, 1]), faces))
    assert other < -0.4
    # Once turned, both have their fore legs in front.
    for marks in (ahead, behind):
        assert marks.legs[0].sole[2] > marks.legs[-1].sole[2]
        assert marks.head_end(0.0)[2] > marks.legs[0].sole[2]


def test_places_along_a_line():
    line = np.array([[0.0, 0, 0], [1, 0, 0], [1, 3, 0]])
    np.testing.assert_allclose(along_line(line, 0.25), [1, 0, 0])
    np.testing.assert_allclose(along_line(line, 0.625), [1, 1.5, 0])


def test_a_joint_file_and_its_faults(tmp_path):
    path = tmp_path / "joints.toml"
    path.write_text("head = [0, 1.5, 0.1]\n")
    np.testing.assert_array_equal(read_joint_file(path)["head"], [0, 1.5, 0.1])
    as_json = tmp_path / "joints.json"
    as_json.write_text('{"head": [0, 1.5, 0.1]}')
    np.testing.assert_array_equal(read_joint_file(as_json)["head"], [0, 1.5, 0.1])
    for text, message in (
        ("head = 3\n", "'head' must be three numbers"),
        ("head = [1, 2]\n", "'head' must be three numbers"),
        ("head = [1, 2, nan]\n", "'head' must be three numbers"),
        ("head = [\n", "must be TOML or JSON"),
    ):
        path.write_text(text)
        with pytest.raises(AssetError, match=message):
            read_joint_file(path)
