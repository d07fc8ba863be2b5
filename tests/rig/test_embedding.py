"""The discrete embedding of a plan, and the refinement of joints after it."""

import numpy as np
import pytest
import trimesh

from akd.rig.autorig.choose import choose
from akd.rig.autorig.embedding import embed
from akd.rig.autorig.expectation import expect, expectations, measure
from akd.rig.autorig.fitted import Fitted
from akd.rig.autorig.frame import find_frame
from akd.rig.autorig.landmarks import Landmarks, find_landmarks
from akd.rig.autorig.plans import PLANS
from akd.rig.autorig.refine import refine
from akd.rig.autorig.solid import fill
from akd.rig.autorig.templates import TEMPLATES, Placed, mirrored
from akd.zoo.creature import build_creature

pytestmark = pytest.mark.slow


def landmarks(species: str, seed: int = 5) -> tuple[Landmarks, dict[str, np.ndarray]]:
    """Measurements of a creature that faces +z, and its true joints."""
    creature = build_creature(species, seed=seed, vertices=2000)
    vertices, faces = creature.mesh.vertices.double().numpy(), creature.mesh.faces.numpy()
    marks, vote = find_landmarks(fill(find_frame(vertices, faces).into(vertices), faces))
    assert vote > 0
    places = creature.skeleton.forward(creature.skeleton.rest)[:, :3, 3].double().numpy()
    return marks, dict(zip(creature.skeleton.names, places, strict=True))


@pytest.fixture(scope="module")
def dog() -> tuple[Landmarks, dict[str, np.ndarray]]:
    return landmarks("dog")


@pytest.mark.parametrize(
    ("species", "plan"), [("dog", "quadruped"), ("child", "biped"), ("allosaur", "theropod")]
)
def test_nodes_are_found_and_the_right_plan_is_cheapest(species, plan):
    marks, truth = landmarks(species)
    made = {name: embed(PLANS[name], marks) for name in PLANS}
    scores = {name: e.score for name, e in made.items() if e is not None}
    assert min(scores, key=lambda n: scores[n]) == plan
    fitted = Fitted(marks, made[plan])
    limbs = {"fore_foot": "left_fore_toes", "hind_foot": "left_hind_toes", "hand": "left_arm_hand"}
    limbs["foot"] = "left_leg_toes"
    for node, joint in limbs.items():
        place = fitted.end(node)
        if joint in truth and place is not None:
            assert np.linalg.norm(place - truth[joint]) < 0.15 * marks.height, node
    assert np.linalg.norm(fitted.end("pelvis") - truth["pelvis"]) < 0.2 * marks.height


def test_a_leg_without_a_node_and_a_node_without_a_leg_are_expensive(dog):
    marks, _ = dog
    scores = {name: embed(PLANS[name], marks).score for name in PLANS}
    assert scores["quadruped"] < 1.5
    assert scores["theropod"] > scores["quadruped"] + 1.0


def test_a_body_is_turned_round_where_its_vote_is_weak():
    marks, _ = landmarks("allosaur")
    frame = find_frame(np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 1, 0]]), np.array([[0, 1, 2]]))
    backwards = choose(frame, marks.turned(), 0.1, template="theropod")
    assert backwards.is_turned
    assert backwards.fitted.marks.legs[0].sole[2] == pytest.approx(marks.legs[0].sole[2])
    assert not choose(frame, marks, 0.1, template="theropod").is_turned


def test_expected_joints_are_nearer_than_those_of_the_rules(dog):
    marks, truth = dog
    fitted = Fitted(marks, embed(PLANS["quadruped"], marks))
    placed = TEMPLATES["quadruped"].place(fitted)
    assert measure(fitted).shape == expectations()["quadruped"].mean.shape
    expected, spread = expect(placed, fitted)

    def miss(joints: list[Placed]) -> float:
        return float(
            np.mean(
                [np.linalg.norm(j.position - truth[j.name]) for j in joints if j.name != "root"]
            )
        )

    assert miss(expected) < 0.7 * miss(placed)
    refined = refine(expected, fitted, spread)
    assert miss(refined) < 0.06 * marks.height
    assert all(j.position[0] == 0.0 for j in refined if not j.name.startswith("left_"))


def test_refinement_draws_bones_to_the_middle_of_a_limb(dog):
    marks, _ = dog
    fitted = Fitted(marks, embed(PLANS["quadruped"], marks))
    placed, _ = expect(TEMPLATES["quadruped"].place(fitted), fitted)
    moved = [
        Placed(j.name, j.parent, j.position + np.array([0.06 * marks.height, 0, 0]))
        if j.name in ("left_fore_lower", "left_fore_foot")
        else j
        for j in placed
    ]
    leg = fitted.leg("fore_foot")

    def off(joints: list[Placed]) -> float:
        place = next(j.position for j in joints if j.name == "left_fore_foot")
        return abs(float(place[0] - leg.at(float(place[1]))[0]))

    refined = refine(moved, fitted, {j.name: np.full(3, 0.03) for j in moved})
    assert off(refined) < 0.5 * off(moved)


def test_mirrored_joints_have_mirrored_parents():
    joints = [
        Placed("spine", "", np.array([0.0, 1, 0])),
        Placed("left_arm", "spine", np.array([1.0, 1, 0])),
        Placed("left_hand", "left_arm", np.array([2.0, 1, 0.5])),
    ]
    made = {j.name: j for j in mirrored(joints)}
    assert made["right_hand"].parent == "right_arm"
    assert made["right_arm"].parent == "spine"
    np.testing.assert_array_equal(made["right_hand"].position, [-2, 1, 0.5])


def test_a_ball_fits_no_plan():
    ball = trimesh.creation.icosphere(subdivisions=3)
    vertices, faces = np.asarray(ball.vertices, float), np.asarray(ball.faces, np.int64)
    frame = find_frame(vertices, faces)
    marks, vote = find_landmarks(fill(frame.into(vertices), faces))
    assert choose(frame, marks, vote, template="auto").name == "generic"
