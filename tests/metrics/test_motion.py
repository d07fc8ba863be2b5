"""Metrics on a true walk, and on motions that are wrong on purpose."""

from dataclasses import replace

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.metrics.motion import measure
from akd.metrics.motion_metrics import MotionMetrics, demo_conditions, sound_parts, true_parts
from akd.metrics.reference import reference_of
from akd.metrics.shape import mesh_edges, shape_change
from akd.motion.clip import motion_from_clip
from akd.motion.motion import Motion
from akd.physics.ground import ground
from akd.physics.settings import TrackingSettings
from akd.report.metric_rows import metric_rows
from akd.rig.character import load_character
from akd.rig.control_build import build_control_rig
from akd.rig.pose import Pose
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from benchmarks.deformation_field import neighbour_edges
from tests.commands.animating import chain


@pytest.fixture(scope="module")
def fox(tmp_path_factory):
    creature = build_creature("fox", vertices=1200)
    path = tmp_path_factory.mktemp("fox") / "fox.glb"
    write_creature(creature, [make_clip(creature, a) for a in ("walk", "gallop", "jump")], path)
    character = load_character(read_asset(path))
    return character, build_control_rig(character)


@pytest.fixture(scope="module")
def walk(fox):
    character, _ = fox
    return motion_from_clip(character, character.asset.clips[0])


def change(fox, motion: Motion, **new) -> MotionMetrics:
    """Measure the motion with some of its control coordinates replaced."""
    character, rig = fox
    controls = replace(rig.from_pose(motion.pose), **new)
    return measure(character, rig, replace(motion, pose=rig.to_pose(controls)))


def test_a_true_walk_is_sound_and_may_be_shown(fox, walk):
    found = measure(*fox, walk)
    assert demo_conditions(found) == []
    assert found.score > 0.85
    assert found.verdict.startswith("moves: it goes 2.6 leg lengths")
    assert len(found.contact) == len(found.skate) == 4
    assert len(found.alternation) == 2
    assert max(found.alternation) < -0.6
    assert found.penetration < 0.001
    assert found.loop_gap < 0.005
    assert found.limb_stretch < 1e-4
    assert 0.2 < found.roughness < 1.0
    assert 0.0 < found.shape_change < 0.05


@pytest.mark.parametrize("action", ["gallop", "jump"])
def test_gallops_and_jumps_need_not_alternate_where_they_were_asked_for(fox, action):
    character, _ = fox
    clip = next(clip for clip in character.asset.clips if clip.name == action)
    motion = motion_from_clip(character, clip)
    for asked in (None, "walk"):
        (failed,) = measure(*fox, motion, asked=asked).fails
        assert failed.startswith("left and right legs do not alternate: their correlation is ")
        assert failed.endswith("must be at most -0.5")
    right = measure(*fox, motion, asked=action)
    assert right.to_json()["fails"] == []
    assert right.to_json()["asked"] == action
    assert right.score > 0.6
    # On four legs a run is a gallop.
    assert measure(*fox, motion, asked="run").fails == []


def test_an_unknown_action_is_refused(fox, walk):
    with pytest.raises(ValueError, match=r"asked must be one of stand, walk, .*; got 'knit'"):
        measure(*fox, walk, asked="knit")


def test_what_cannot_be_driven_is_not_measured(tmp_path):
    one = load_character(read_asset(chain(tmp_path / "one.glb", 1)))
    still = Motion(one.skeleton, torch.zeros(1), one.skeleton.rest.expand(1))
    with pytest.raises(ValueError, match=r"one\.glb: must have a body with joints"):
        measure(one, one.control_rig, still)


def test_reports_mark_alternation_only_where_it_is_asked_for(fox):
    character, _ = fox
    gallop = motion_from_clip(character, character.asset.clips[1])
    found = {asked: measure(*fox, gallop, asked=asked) for asked in ("walk", "gallop")}
    (row,) = (r for r in metric_rows(found)["feet"] if r.name.startswith("left/right"))
    assert list(row.marks) == ["bad", ""]


def test_reports_mark_travel_and_feet_only_where_it_should_go_anywhere(fox, walk):
    def marked(asked: str) -> set[str]:
        parts = metric_rows({"motion": replace(measure(*fox, walk), asked=asked)})
        rows = [row for part in parts.values() for row in part]
        # A limit is shown where it is one.
        assert all(any(r.marks) for r in rows if r.wanted and not r.wanted.startswith("true clips"))
        return {row.name.split(",")[0] for row in rows if any(row.marks)}

    travels = {"travel", "feet swing", "contact of each foot", "skate of each foot"}
    assert travels <= marked("walk")
    assert marked("punch") == {"lean of the root", "deepest penetration"}
    assert marked("sit_down") == {"deepest penetration"}


def test_reports_say_what_true_clips_measure(fox, walk):
    rows = {r.name: r for r in metric_rows({"walk": measure(*fox, walk, asked="walk")})["body"]}
    usual = reference_of("walk", 4)
    shown = {"roughness, g": "roughness", "seam, of usual steps": "seam"}
    for name, measured in shown.items():
        assert rows[name].wanted == f"true clips: {usual[measured][0]:.2f}"


def test_reports_say_that_a_statue_has_no_seam(fox, walk):
    found = replace(measure(*fox, walk, asked="walk"), seam=float("nan"))
    rows = {r.name: r for r in metric_rows({"start": found})["body"]}
    assert list(rows["seam, of usual steps"].cells) == ["none"]


def test_a_statue_is_motionless_and_scores_nothing(fox, walk):
    _, rig = fox
    found = change(fox, walk, **vars(rig.zero(len(walk))))
    assert found.verdict == "motionless: neither the body nor the feet go anywhere"
    assert found.score == 0.0
    assert "it travels 0.00 leg lengths, must be at least 1" in demo_conditions(found)


def test_a_statue_that_travels_is_gliding_and_scores_nothing(fox, walk):
    _, rig = fox
    still = rig.zero(len(walk))
    found = change(fox, walk, angles=still.angles, root_rotation=still.root_rotation)
    assert found.verdict == "gliding: it goes 2.6 leg lengths, and its feet do not step"
    assert found.score < 0.05
    failed = demo_conditions(found)
    assert any("moves at" in line and "of the body's speed" in line for line in failed)
    assert any(line.startswith("feet travel 0.0") for line in failed)


def test_a_walk_above_the_ground_is_paddling_and_scores_nothing(fox, walk):
    character, rig = fox
    up = torch.tensor((0.0, 0.3 * character.height, 0.0))
    found = change(fox, walk, translation=rig.from_pose(walk.pose).translation + up)
    assert found.verdict == "paddling in the air: its feet swing, and none touches the ground"
    assert found.score == 0.0
    assert found.float_ == pytest.approx(0.3, abs=0.01)
    assert "a foot touches the ground for 0% of the time, must be at least 30%" in demo_conditions(
        found
    )


def test_a_walk_on_the_spot_says_so(fox, walk):
    _, rig = fox
    still = rig.from_pose(walk.pose).translation * torch.tensor((0.0, 1.0, 0.0))
    found = change(fox, walk, translation=still)
    assert found.verdict.startswith("on the spot: its feet step")
    assert found.score < 0.3


def test_a_walk_that_goes_too_far_slides(fox, walk):
    character, rig = fox
    gone = torch.linspace(0, 4 * character.height, len(walk))[:, None] * character.forward
    found = change(fox, walk, translation=rig.from_pose(walk.pose).translation + gone)
    assert found.verdict.startswith("sliding: feet on the ground move at")
    assert found.score < 0.6


def test_depth_and_tilt_are_said_in_their_own_units(fox, walk):
    character, rig = fox
    before = rig.from_pose(walk.pose)
    down = torch.tensor((0.0, -0.1 * character.height, 0.0))
    sunk = change(fox, walk, translation=before.translation + down)
    assert sunk.penetration == pytest.approx(0.1, abs=0.002)
    assert sunk.verdict == "sinking: 10% of the body's height is under the ground"
    lean = before.root_rotation * 0 + torch.tensor((0.0, 0.0, 0.5))
    leaning = change(fox, walk, root_rotation=lean)
    assert leaning.tilt == pytest.approx(28.6, abs=0.1)
    assert any("the root leans by 29 degrees" in line for line in demo_conditions(leaning))


def test_who_sits_down_may_lean(fox, walk):
    found = replace(measure(*fox, walk), tilt=40.0, penetration=0.0)
    (failed,) = demo_conditions(replace(found, asked="stand"))
    assert failed == "the root leans by 40 degrees, must be below 20"
    assert demo_conditions(replace(found, asked="sit_down")) == []


def test_who_kicks_may_lean_as_far_as_true_kicks_do(fox, walk):
    found = replace(measure(*fox, walk), penetration=0.0, contact=(0.9, 0.9), asked="kick")
    limit = found.lean_limit
    assert demo_conditions(replace(found, tilt=limit - 1.0)) == []
    (failed,) = demo_conditions(replace(found, tilt=limit + 1.0))
    assert failed == f"the root leans by {limit + 1.0:.0f} degrees, must be below {limit:.0f}"
    leaning = replace(found, tilt=limit - 1.0)
    assert any("leans" in line for line in demo_conditions(replace(leaning, asked="walk")))
    rows = {row.name: row for row in metric_rows({"motion": leaning})["body"]}
    lean = rows["lean of the root, degrees"]
    assert lean.wanted == f"below {limit:.0f}"
    assert lean.marks == ["good"]


def test_metrics_are_the_same_for_a_body_of_another_size(fox, walk):
    """Lengths three times as long and times sqrt(3) as long: a walk at the same Froude number."""
    character, _ = fox
    small = measure(*fox, walk)
    tall = load_character(character.asset, height=3 * character.height)
    stretched = Pose(3 * walk.pose.translation, walk.pose.rotation, walk.pose.scale)
    motion = replace(walk, skeleton=tall.skeleton, times=3**0.5 * walk.times, pose=stretched)
    large = measure(tall, build_control_rig(tall), motion)
    for name in ("travel", "foot_travel", "tilt", "loop_gap", "shape_change"):
        assert getattr(large, name) == pytest.approx(getattr(small, name), rel=0.02, abs=0.002)
    assert large.roughness == pytest.approx(small.roughness, rel=0.1)


def test_a_character_without_feet_is_not_judged_by_them(fox, walk):
    character, rig = fox
    handless = replace(character, anatomy=replace(character.anatomy, limbs=()))
    found = measure(handless, rig, walk)
    assert found.contact == found.skate == found.alternation == ()
    assert found.verdict.startswith("no feet were found: it goes")
    assert sound_parts(found) == {"feet": 0.0}
    assert demo_conditions(found)[0] == "no feet were found"


def test_a_single_frame_is_measured(fox, walk):
    found = measure(*fox, walk.sample(torch.zeros(1)))
    assert found.verdict.startswith("motionless")
    assert found.duration == 0.0


def test_shape_change_is_the_stretch_of_edges():
    points = torch.rand(40, 3, generator=torch.Generator().manual_seed(0))
    edges = neighbour_edges(points)
    assert len(edges) >= 120
    twisted = (
        points @ torch.linalg.qr(torch.rand(3, 3, generator=torch.Generator().manual_seed(1)))[0]
    )
    moving = torch.stack((twisted, 1.2 * points))
    assert shape_change(moving[:1], points, edges) < 1e-5
    assert shape_change(moving, points, edges) == pytest.approx(0.1, abs=1e-4)


def test_every_edge_of_a_mesh_is_taken_once():
    faces = torch.tensor([[0, 1, 2], [2, 1, 3]])
    assert mesh_edges(faces).tolist() == [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]


def test_a_clip_of_an_unknown_action_need_not_loop(fox, walk):
    open_ended = replace(measure(*fox, walk), seam=8.0)
    assert true_parts(replace(open_ended, asked="walk"))["seam"] < 0.5
    assert "seam" not in true_parts(replace(open_ended, asked=None))


@pytest.mark.slow
def test_captured_feet_touch_the_ground_after_physics_as_before(shared_assets):
    character = load_character(read_asset(shared_assets / "cmu_bvh" / "02_01.bvh"))
    rig = build_control_rig(character)
    clip = motion_from_clip(character, character.asset.clips[0])
    made = ground(rig, None, clip, settings=TrackingSettings(iterations=3))
    contact = measure(character, rig, made.motion).contact
    # The joints of a foot are inside it, further from the ground than what counts as touching.
    assert min(contact) > 0.25
    given = rig.to_pose(made.character.control_pose(made.clip, made.controls))
    before = measure(character, rig, replace(made.motion, pose=given)).contact
    assert min(contact) > 0.8 * min(before)
