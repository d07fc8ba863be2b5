"""Other proportions and neutral poses of actors: what stays as it was, and what does not."""

import pytest
import torch

from akd.fit.regressor.truth import true_motion
from akd.motion.retargeting.body_parts import BODY_PARTS
from akd.prior.tiny.actor import SAMPLES_A_FRAME, Actor
from akd.prior.tiny.artists import artist_actor
from akd.prior.tiny.creatures import build_actor
from akd.prior.tiny.film import film_actor
from akd.prior.tiny.proportions import resized, turned, vary_body
from akd.prior.tiny.settings import BodySettings, CameraSettings, PoolSettings, TinySettings
from akd.rig.roles.names import Side
from akd.rig.roles.role import LimbKind, Part
from akd.rig.skin import skin_points
from akd.scene.follow import bounding_boxes

SMALL = PoolSettings(vertices=600, splats=300, styles=1)


@pytest.fixture(scope="module")
def actor() -> Actor:
    return build_actor("woman", 1000, SMALL)


def bone(actor: Actor, limb: LimbKind | None, part: Part, side: Side = Side.LEFT) -> int:
    return next(
        found
        for place, found in zip(BODY_PARTS, actor.part_bones.tolist(), strict=True)
        if (place.limb, place.part, place.side) == (limb, part, side) and found >= 0
    )


def places(actor: Actor, bones: torch.Tensor) -> torch.Tensor:
    return (bones @ torch.nn.functional.pad(actor.tree.pivots, (0, 1), value=1.0)[..., None])[
        ..., :3, 0
    ]


def videos(actor: Actor) -> torch.Tensor:
    return actor.clips[:3, ::SAMPLES_A_FRAME][:, :24]


def test_a_body_of_the_same_size_moves_as_before(actor: Actor):
    same = torch.ones(len(actor.tree.parents))
    found = resized(actor, actor.clips[0], same, actor.tree.paths(), travel=1.0)
    torch.testing.assert_close(found, actor.clips[0], atol=1e-5, rtol=0)


def test_a_longer_shin_is_longer_by_its_factor_and_takes_the_foot_along(actor: Actor):
    shin = bone(actor, LimbKind.LEG, Part.LOWER)
    foot, thigh = bone(actor, LimbKind.LEG, Part.FOOT), bone(actor, LimbKind.LEG, Part.UPPER)
    factors = torch.ones(len(actor.tree.parents))
    factors[shin] = 1.5
    found = resized(actor, actor.clips[0], factors, actor.tree.paths(), travel=1.0)
    before, after = places(actor, actor.clips[0]), places(actor, found)
    torch.testing.assert_close(
        (after[:, foot] - after[:, shin]), 1.5 * (before[:, foot] - before[:, shin]),
        atol=1e-5, rtol=0,
    )  # fmt: skip
    for one in (thigh, shin, bone(actor, LimbKind.LEG, Part.FOOT, Side.RIGHT)):
        torch.testing.assert_close(after[:, one], before[:, one], atol=1e-5, rtol=0)


def test_a_larger_body_is_larger_everywhere(actor: Actor):
    factors = torch.full((len(actor.tree.parents),), 1.3)
    found = resized(actor, actor.clips[0], factors, actor.tree.paths(), travel=1.3)
    cloud = actor.cloud
    before, after = (
        skin_points(bones, cloud.means, cloud.bones, cloud.weights)
        for bones in (actor.clips[0], found)
    )
    torch.testing.assert_close(after, 1.3 * before, atol=1e-4, rtol=0)


def test_a_turned_arm_takes_the_hand_along_and_nothing_else(actor: Actor):
    upper, hand = bone(actor, LimbKind.ARM, Part.UPPER), bone(actor, LimbKind.ARM, Part.HAND)
    turns = torch.zeros(len(actor.tree.parents), 3)
    turns[upper, 2] = torch.pi  # half round, about forward
    found = turned(actor, actor.neutral, turns)
    before, after = places(actor, actor.neutral), places(actor, found)
    shoulder = before[upper]
    torch.testing.assert_close(
        (after[hand] - shoulder)[:2], -(before[hand] - shoulder)[:2], atol=1e-5, rtol=0
    )
    other = bone(actor, LimbKind.ARM, Part.HAND, Side.RIGHT)
    torch.testing.assert_close(found[other], actor.neutral[other], atol=1e-6, rtol=0)


def check_variation(actor: Actor) -> None:
    bones = videos(actor)
    generator = torch.Generator().manual_seed(4)
    settings = BodySettings(lengths=0.5, neutral=1.0)
    found, posed = vary_body(actor, bones, settings, generator=generator)
    low = bounding_boxes(actor.cloud, bones.flatten(0, 1))[0][:, 1]
    now = bounding_boxes(actor.cloud, posed.flatten(0, 1))[0][:, 1]
    assert float((found.neutral - actor.neutral).abs().max()) > 0.1
    # As high above the ground as before, up to the scale of the legs.
    grounded = low < 0.005 * actor.height
    assert bool(grounded.any())
    assert float(now[grounded].abs().max()) < 0.02 * actor.height
    still = bounding_boxes(actor.cloud, found.neutral[None])[0][0, 1]
    assert abs(float(still)) < 1e-3 * actor.height


def test_feet_stay_on_the_ground(actor: Actor):
    check_variation(actor)


@pytest.mark.slow
def test_a_file_varies_as_a_creature_does(shared_assets):
    deer = artist_actor(shared_assets / "quaternius/animals_pack/Deer.glb", SMALL)
    assert deer is not None
    check_variation(deer)


def test_the_true_motion_is_that_from_the_other_neutral_pose(actor: Actor):
    tiny = TinySettings(frames=4, width=36, height=36)
    clip = [actor.actions.index("wave")]

    def film(bodies: BodySettings | None):
        return film_actor(
            actor, 1, generator=torch.Generator().manual_seed(3), tiny=tiny, vary=False,
            cameras=CameraSettings(), clips=clip, bodies=bodies,
        )  # fmt: skip

    plain = true_motion(film(None))
    longer = true_motion(film(BodySettings(lengths=0.5, neutral=0.0)))
    torch.testing.assert_close(longer.rotations, plain.rotations, atol=2e-3, rtol=0)
    footage = film(BodySettings(lengths=0.0, neutral=1.0))
    other = true_motion(footage)
    assert float((other.rotations - plain.rotations).abs().max()) > 0.1
    # From the neutral pose that its reference image shows to the pose that its video shows.
    arm = bone(actor, LimbKind.ARM, Part.UPPER)
    part = actor.part_bones.tolist().index(arm)
    reached = other.rotations[0, :, part] @ footage.actor.neutral[arm, :3, :3]
    torch.testing.assert_close(reached, footage.bones[0, :, arm, :3, :3], atol=2e-3, rtol=0)


def test_a_body_varies_by_its_generator_alone(actor: Actor):
    bones = videos(actor)
    first, again = (
        vary_body(actor, bones, BodySettings(), generator=torch.Generator().manual_seed(1))[1]
        for _ in range(2)
    )
    torch.testing.assert_close(first, again, atol=0, rtol=0)
    still, _ = vary_body(
        actor, bones, BodySettings(lengths=0.0, neutral=0.0),
        generator=torch.Generator().manual_seed(1),
    )  # fmt: skip
    torch.testing.assert_close(still.neutral, actor.neutral, atol=1e-4, rtol=0)
