import math
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from akd.base.files import DamagedFile
from akd.fit.first_guess import regress, set_first_guess
from akd.fit.photometric import chroma
from akd.fit.regressor.errors import BodyErrors, mean_angles, measure_errors, summary
from akd.fit.regressor.network import RegressorNetwork, orthonormal
from akd.fit.regressor.regressor import (
    MotionRegressor,
    Reading,
    begin_with,
    certainty,
    find_regressor,
    load_regressor,
    save_regressor,
)
from akd.fit.regressor.settings import RegressorSettings, RegressorTraining
from akd.fit.regressor.train import RegressorTrainer
from akd.fit.regressor.truth import TruthPool, nearest_rotation, true_motion
from akd.fit.settings import WarmStartSettings
from akd.fit.warm_start import fit_finalists, fit_to_videos
from akd.math import quaternion
from akd.motion.feet import leg_length
from akd.motion.parametrization import MotionStart
from akd.motion.retargeting.body_parts import BODY_PARTS, from_part_rotations
from akd.motion.settings import Cycle
from akd.prior.tiny.actor import Actor
from akd.prior.tiny.creatures import build_actor
from akd.prior.tiny.film import film_actor
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.settings import BodySettings, CameraSettings, PoolSettings, TinySettings
from akd.rig.character import bound_character
from akd.rig.control import ControlPose
from akd.rig.roles.names import Side
from akd.rig.roles.role import LimbKind, Part
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip

SMALL = PoolSettings(vertices=600, splats=300, styles=1)
TINY = TinySettings(frames=8, width=48, height=48)
NETWORK = RegressorSettings(frames=8, size=48, channels=(8, 16, 16, 16), width=64, layers=1)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def actor() -> Actor:
    return build_actor("man", 1000, SMALL)


@pytest.fixture(scope="module")
def stage() -> Stage:
    creature = build_creature("man", seed=1000, vertices=600)
    character = bound_character("man", creature.skeleton, creature.mesh)
    return Stage.of(character, style=SceneStyle.ROLES, size=(48, 48), splats=300)


def film(actor: Actor, action: str, *, vary: bool = False, count: int = 1):
    clips = [actor.actions.index(action)] * count
    return film_actor(
        actor, count, generator=torch.Generator().manual_seed(3), tiny=TINY,
        cameras=CameraSettings(), vary=vary, clips=clips,
    )  # fmt: skip


def test_columns_become_rotations():
    found = orthonormal(torch.randn(5, 2, 3, generator=torch.Generator().manual_seed(0)))
    torch.testing.assert_close(found @ found.mT, torch.eye(3).expand(5, 3, 3))
    torch.testing.assert_close(torch.linalg.det(found), torch.ones(5))


def test_the_nearest_rotation_of_a_stretched_one_is_that_of_its_polar_decomposition():
    turn = quaternion.to_matrix(quaternion.from_rotation_vector(torch.tensor((0.4, -0.9, 0.3))))
    stretch = torch.diag(torch.tensor((1.0, 1.19, 1.0)))
    given = stretch @ turn @ torch.linalg.inv(stretch)
    u, _, v = torch.linalg.svd(given)
    torch.testing.assert_close(nearest_rotation(given), u @ v, atol=1e-5, rtol=0)


@pytest.mark.slow
def test_true_rotations_are_those_of_the_clip(actor: Actor, stage: Stage):
    footage = film(actor, "run")
    truth = true_motion(footage)
    root, angles = from_part_rotations(
        stage.rig, quaternion.from_matrix(truth.rotations[0].float())
    )
    # Posed by these angles, the character's bones are turned as the actor's are.
    pose = stage.rig.zero(TINY.frames)
    pose = replace(pose, root_rotation=root, angles=angles)
    turned = stage.transforms(pose)[..., :3, :3] @ stage.neutral[..., :3, :3].mT
    own = actor.part_bones[actor.part_bones >= 0]
    seen = (footage.bones[0] @ torch.linalg.inv(actor.neutral))[..., :3, :3]
    away = quaternion.geodesic(
        quaternion.from_matrix(turned[:, own]), quaternion.from_matrix(seen[:, own])
    )
    assert float(away.max()) < 0.02


def test_the_root_of_a_standing_body_stays_where_it_is(actor: Actor):
    truth = true_motion(film(actor, "stand"))
    assert float(truth.shift.abs().max()) < 0.05
    jump = true_motion(film(actor, "jump"))
    # Its first frames: the body crouches before it leaves the ground.
    assert float(jump.shift[..., 1].min()) < -0.08
    assert float(jump.shift[:, 0, [0, 2]].abs().max()) == 0.0


def test_a_stretched_body_is_turned_as_it_looks(actor: Actor):
    truth = true_motion(film(actor, "run", vary=True))
    rotations = truth.rotations
    torch.testing.assert_close(rotations @ rotations.mT, torch.eye(3).expand_as(rotations))


@pytest.mark.slow
def test_training_brings_it_nearer_than_the_neutral_pose(actor: Actor):
    actor = actor.only([actor.actions.index(action) for action in ("run", "wave")])
    training = RegressorTraining(
        batch=12, estimated=0.0, warm_up=5, noise=0.0, learning_rate=3e-3,
        bodies=BodySettings(lengths=0.0, neutral=0.0),  # two calls show too few bodies to learn
    )  # fmt: skip
    pool = TruthPool(
        48, TINY, CameraSettings(), device=CPU, seed=0, videos_a_call=24, training=training
    )
    pool.add(actor)
    pool.film_next()
    trainer = RegressorTrainer(NETWORK, training, device=CPU, seed=0)
    for step in range(150):
        trainer.step(*pool.batch_with_truth(12), part=step / 150)
    errors = measure_errors(trainer.average, [actor], TINY, CameraSettings(), device=CPU, each=12)
    found = summary(errors)
    assert found["all"] < 0.75 * found["neutral pose"]
    assert "arm upper" in found


def test_half_of_the_videos_are_seen_through_the_prior(actor: Actor):
    torch.manual_seed(0)
    small = TinySettings(
        frames=8, width=48, height=48, channels=24, layers=1, heads=2, text_channels=8,
        refine_channels=8,
    )  # fmt: skip
    pool = TruthPool(8, TINY, CameraSettings(), device=CPU, seed=0, videos_a_call=8)
    pool.add(actor)
    trainer = RegressorTrainer(
        NETWORK, RegressorTraining(batch=4), device=CPU, seed=0, prior=TinyNetwork(small)
    )
    batch, _ = pool.batch_with_truth(4)
    seen = trainer.degraded(batch)
    torch.testing.assert_close(seen[2:], batch.videos[2:])
    assert float((seen[:2] - batch.videos[:2]).abs().mean()) > 0.05


def test_it_comes_back_from_its_file(tmp_path: Path, stage: Stage):
    torch.manual_seed(0)
    network = RegressorNetwork(NETWORK)
    path = save_regressor(network, tmp_path)
    again = load_regressor(path)
    found = find_regressor(tmp_path)
    assert found is not None
    assert again.settings == found.settings == NETWORK
    videos = torch.rand(2, 8, 48, 48, 3, generator=torch.Generator().manual_seed(1))
    poses = again(stage, videos)
    assert [p.angles.shape for p in poses] == [(8, len(stage.rig), 3)] * 2
    same = MotionRegressor(network.half().float())(stage, videos)
    torch.testing.assert_close(poses[1].angles, same[1].angles)


def test_other_videos_and_broken_files_are_refused(tmp_path: Path, stage: Stage):
    regressor = MotionRegressor(RegressorNetwork(NETWORK))
    with pytest.raises(ValueError, match="must have 8 square frames, got \\[7, 48, 48\\]"):
        regressor(stage, torch.zeros(1, 7, 48, 48, 3))
    path = save_regressor(regressor.network, tmp_path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DamagedFile):
        load_regressor(path)


@pytest.mark.parametrize("action", ["wave", pytest.param("walk", marks=pytest.mark.slow)])
def test_curves_begin_with_what_is_seen(stage: Stage, action: str):
    creature = build_creature("man", seed=1000, vertices=600)
    rig = stage.rig
    pose = rig.from_pose(make_clip(creature, action, fps=12.0, frames=16).pose)
    leg = leg_length(stage.character, rig)
    start = MotionStart(rig, 16, 12.0, leg)
    period = 15 / 12.0 if action == "walk" else None
    curves = Cycle(symmetric=False).begin(replace(start, period=period), stage)
    begin_with(curves, pose)
    with torch.no_grad():
        found = curves.controls()
    large = pose.angles.abs().amax(0) > math.radians(20.0)
    assert bool(large.any())
    away = (found.angles - pose.angles).abs().mean(0)
    assert float(away[large].mean()) < 0.35 * float(pose.angles.abs().mean(0)[large].mean())


@dataclass(frozen=True)
class Sees(MotionRegressor):
    """Sees a given pose in every video."""

    pose: ControlPose
    certainty: float = 1.0

    def read(self, stage: Stage, videos: torch.Tensor) -> list[Reading]:
        certain = torch.full(self.pose.angles.shape[:-1], self.certainty)
        return [Reading(self.pose, certain)] * len(videos)


@pytest.mark.slow
def test_a_fit_begins_with_the_start_that_looks_more_like_the_video(stage: Stage):
    creature = build_creature("man", seed=1000, vertices=600)
    rig, count = stage.rig, 8
    pose = rig.from_pose(make_clip(creature, "wave", fps=12.0, frames=count).pose)
    path = pose.translation - pose.translation.new_tensor((0.0, stage.lift, 0.0))
    pose = ControlPose(path, pose.root_rotation, pose.angles)
    with torch.no_grad():
        video = stage.show(stage.transforms(pose))[None]
    start = MotionStart(rig, count, 12.0, leg_length(stage.character, rig))
    wrong = ControlPose(path, pose.root_rotation + 0.6, -pose.angles)
    network = RegressorNetwork(NETWORK)

    def began(regressor: MotionRegressor | None) -> torch.Tensor:
        curves = Cycle().begin(start, stage)
        regressed = regress(stage, [curves], video, regressor)
        set_first_guess(
            stage, [curves], video, WarmStartSettings(), look=chroma, regressed=regressed
        )
        with torch.no_grad():
            return curves.controls().angles

    searched = began(None)
    seen = began(Sees(network, pose))
    assert float((seen - pose.angles).abs().mean()) < 0.5 * float(
        (searched - pose.angles).abs().mean()
    )
    torch.testing.assert_close(began(Sees(network, wrong)), searched)


@pytest.mark.slow
def test_a_fit_is_held_to_what_the_regressor_sees_unless_it_is_a_gait(stage: Stage):
    rig, count = stage.rig, 8
    neutral = rig.zero(count)
    seen = ControlPose(neutral.translation, neutral.root_rotation, neutral.angles + 0.2)
    with torch.no_grad():
        video = stage.show(stage.transforms(neutral))[None]
    start = MotionStart(rig, count, 12.0, leg_length(stage.character, rig))
    regressor = Sees(RegressorNetwork(NETWORK), seen)

    def away(period: float | None, anchor: float, certain: float = 1.0) -> float:
        curves = Cycle(symmetric=False).begin(replace(start, period=period), stage)
        settings = WarmStartSettings(phase_search=False, anchor=anchor, speed_from_feet=False)
        first = Cycle(symmetric=False).begin(replace(start, period=period), stage)
        begin_with(first, seen)
        fit_to_videos(
            stage, [curves], video, [], settings, iterations=6,
            regressor=replace(regressor, certainty=certain),
        )  # fmt: skip
        with torch.no_grad():
            return float((curves.controls().angles - first.controls().angles).abs().mean())

    assert away(None, 1e4) < 0.5 * away(None, 0.0)
    assert away(0.5, 1e4) == away(0.5, 0.0)
    # What it is not certain of holds nothing.
    assert away(None, 1e4, certain=0.0) == away(None, 0.0)


@pytest.mark.slow
def test_both_starts_are_fitted_and_the_better_fit_goes_on_unless_it_is_a_gait(stage: Stage):
    rig, count = stage.rig, 8
    neutral = rig.zero(count)
    seen = ControlPose(neutral.translation, neutral.root_rotation, neutral.angles + 0.2)
    with torch.no_grad():
        videos = stage.show(stage.transforms(neutral)).expand(2, -1, -1, -1, -1)
    start = MotionStart(rig, count, 12.0, leg_length(stage.character, rig))
    regressor = Sees(RegressorNetwork(NETWORK), seen)
    # So slow that what is found is where it began.
    settings = WarmStartSettings(
        trial=1, iterations=1, finalists=1, learning_rate=1e-9, speed_from_feet=False
    )

    def found(
        best: int, *, of: int = 1, period: float | None = None
    ) -> tuple[torch.Tensor, list[int]]:
        judged: list[int] = []

        def score(shown: torch.Tensor) -> torch.Tensor:
            judged.append(len(shown))
            return 1000.0 * (torch.arange(len(shown)) == best)

        begun = replace(start, period=period)
        (curves,) = fit_finalists(
            stage, videos[:of], lambda video: Cycle(symmetric=False).begin(begun, stage), [],
            settings, score=score, regressor=regressor,
        )  # fmt: skip
        with torch.no_grad():
            return curves.controls().angles, judged

    searched, both = found(0)
    regressed, _ = found(1)
    assert both == [2, 2, 2, 2]  # seen from four sides
    assert float((regressed - seen.angles).abs().mean()) < 0.02
    assert float((searched - seen.angles).abs().mean()) > 0.1
    # Of two videos: searched, searched, regressed, regressed.
    for best, like in enumerate((searched, searched, regressed, regressed)):
        angles, tries = found(best, of=2)
        assert tries == [4, 4, 4, 4]
        torch.testing.assert_close(angles, like, atol=1e-5, rtol=0.0)
    assert found(0, of=2, period=0.5)[1] == [2]


def test_artists_and_rare_actions_are_drawn_as_often_as_asked(actor: Actor):
    training = RegressorTraining(artist_share=0.25, evenness=1.0)
    pool = TruthPool(
        64, TINY, CameraSettings(), device=CPU, seed=0, videos_a_call=4, training=training
    )
    few = actor.only([actor.actions.index(action) for action in ("walk", "wave")])
    pool.add(few)
    pool.add(replace(few.only([0]), recorded=(True,)))
    for _ in range(6):
        pool.film_next()
    # A quarter of the calls show the artist's character, as near as whole calls come to it.
    assert pool._filmed == [6, 2]
    odds = pool.odds()
    theirs = torch.zeros(pool.count, dtype=torch.bool)
    theirs[4:8] = True
    again = next(k for k in range(2, 8) if pool._shown[4 * k] == pool._shown[4])
    theirs[4 * again : 4 * again + 4] = True
    assert float(odds[theirs].sum()) == pytest.approx(0.25)
    assert float(odds[~theirs].sum()) == pytest.approx(0.75)
    # All actions alike often, however many videos there are of each.
    own = pool._shown[: pool.count][~theirs]
    sums = [float(odds[~theirs][own == kind].sum()) for kind in own.unique()]
    assert sums == pytest.approx([0.375, 0.375])
    batch, truth = pool.batch_with_truth(5)
    assert len(batch.videos) == len(truth.rotations) == 5


def test_training_goes_on_from_given_weights(tmp_path: Path):
    torch.manual_seed(5)
    path = save_regressor(RegressorNetwork(NETWORK), tmp_path)
    trainer = RegressorTrainer(NETWORK, RegressorTraining(), device=CPU, seed=0)
    trainer.start_from(path)
    given = load_regressor(path).network.state_dict()
    for network in (trainer.network, trainer.average):
        for name, value in network.state_dict().items():
            torch.testing.assert_close(value, given[name])
    other = RegressorTrainer(replace(NETWORK, width=32), RegressorTraining(), device=CPU, seed=0)
    with pytest.raises(ValueError, match="its weights are of a network with"):
        other.start_from(path)


def test_errors_are_means_over_bodies_and_parts():
    parts = len(BODY_PARTS)

    def body(plan: str, seen: float, frames: int) -> BodyErrors:
        count = torch.zeros(parts, dtype=torch.float64)
        count[1] = frames  # the head
        return BodyErrors("x", plan, seen * count, 20.0 * count, 2.0 * count, count, 0.1)

    bodies = [body("humanoid", 4.0, 10), body("quadruped", 10.0, 30)]
    found = summary(bodies)
    assert found["all"] == found["head"] == pytest.approx(8.5)
    assert found["neutral pose"] == pytest.approx(20.0)
    assert found["root place"] == pytest.approx(0.1)
    assert "leg upper" not in found
    assert mean_angles(bodies, lambda part: part.limb is not None) is None
    stated = mean_angles(bodies[:1])
    assert stated is not None
    assert (stated.seen, stated.stated) == pytest.approx((4.0, 2.0))


def test_certainty_falls_with_the_expected_error_of_a_joint_and_of_what_it_hangs_on(stage: Stage):
    rig = stage.rig
    none = certainty(rig, torch.zeros(3, len(BODY_PARTS)))
    torch.testing.assert_close(none, torch.ones(3, len(rig)))
    kinds = [(p.limb, p.side, p.part) for p in BODY_PARTS]
    joints = [(r.limb, r.side, r.part) for r in rig.roles]
    shin, foot, other = (
        (LimbKind.LEG, side, part)
        for side, part in ((Side.LEFT, Part.LOWER), (Side.LEFT, Part.FOOT), (Side.RIGHT, Part.FOOT))
    )
    expected = torch.zeros(1, len(BODY_PARTS))
    expected[0, kinds.index(shin)] = 0.5
    found = certainty(rig, expected)[0]
    assert float(found[joints.index(shin)]) == pytest.approx(0.5)
    assert float(found[joints.index(foot)]) == pytest.approx(0.5)
    assert float(found[joints.index(other)]) == 1.0
    expected[0, kinds.index(foot)] = 0.5
    assert float(certainty(rig, expected)[0, joints.index(foot)]) == pytest.approx(1.0 / 3.0)
