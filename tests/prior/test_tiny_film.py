from dataclasses import replace
from pathlib import Path

import pytest
import torch

from akd.base.splits import zoo_seed_trains
from akd.prior.tiny.actor import (
    CLIP_FRAMES,
    Actor,
    continue_loop,
    hold_ends,
    load_actor,
    save_actor,
    start_of,
)
from akd.prior.tiny.casting import Casting, build_actors
from akd.prior.tiny.creatures import build_actor, cast_list
from akd.prior.tiny.film import cameras_of, film_actor, freeze, lift_off, squash
from akd.prior.tiny.pool import Pool, caption
from akd.prior.tiny.settings import CameraSettings, PoolSettings, TinySettings
from akd.prior.tiny.vocabulary import NONE, TOKENS, Words
from akd.rig.skin import skin_points
from akd.scene.follow import View, bounding_boxes, follow

SMALL = PoolSettings(vertices=600, splats=300, styles=1)
TINY = TinySettings(frames=4, width=36, height=36)


@pytest.fixture(scope="module")
def actor() -> Actor:
    return build_actor("dog", 1000, SMALL)


def points(actor: Actor, bones: torch.Tensor) -> torch.Tensor:
    cloud = actor.cloud
    return skin_points(bones, cloud.means, cloud.bones, cloud.weights)


@pytest.mark.slow
def test_an_actor_does_everything_its_species_does_and_comes_back_from_its_file(
    actor: Actor, tmp_path: Path
):
    gaits = ("stand", "walk", "trot", "gallop", "jump", "turn_left", "turn_right")
    assert actor.actions[: len(gaits)] == gaits
    assert {"back_up", "sit_down", "attack"} <= set(actor.actions)
    save_actor(actor, tmp_path / "dog.safetensors")
    again = load_actor(tmp_path / "dog.safetensors")
    assert again.actions == actor.actions
    assert again.manners == actor.manners
    torch.testing.assert_close(again.clips, actor.clips)
    torch.testing.assert_close(again.cloud.means, actor.cloud.means)
    # Limbs have hues of their own, left and right apart.
    assert len({tuple(c) for c in actor.bone_colours.tolist()}) > 8


@pytest.mark.slow
def test_a_loop_goes_on_as_it_began(actor: Actor):
    walk = actor.clips[actor.actions.index("walk")]
    # A made-up loop of 10 frames: its last frame is its first moved 0.5 m on.
    onward = torch.eye(4)
    onward[2, 3] = 0.5
    clip = torch.cat((walk[:10], onward @ walk[:1]))
    longer = continue_loop(clip, actor.root, first=-3, frames=30)
    torch.testing.assert_close(longer[3:13], clip[:10])
    torch.testing.assert_close(longer[13:23], onward @ clip[:10], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(onward @ longer[:3], clip[7:10], rtol=1e-4, atol=1e-5)


def test_what_has_an_end_is_held_there_and_shown_about_its_middle(actor: Actor):
    clip = torch.eye(4).repeat(5, 2, 1, 1)
    clip[:, :, 0, 3] = torch.arange(5.0)[:, None]
    held = hold_ends(clip, frames=9)[:, 0, 0, 3]
    assert held.tolist() == [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 4.0]
    assert hold_ends(clip, frames=3)[:, 0, 0, 3].tolist() == [1.0, 2.0, 3.0]
    jump = actor.clips[actor.actions.index("jump")]
    highest = int(points(actor, jump)[..., 1].mean(1).argmax())
    for u in (0.0, 0.5, 1.0):
        first = start_of("jump", 24, u)
        assert first <= highest <= first + 46
    assert start_of("walk", 24, 0.0) == 0
    assert start_of("walk", 24, 1.0) + 46 == CLIP_FRAMES - 1


def test_a_statue_keeps_its_pose_and_travels(actor: Actor):
    walk = actor.clips[actor.actions.index("walk")]
    statue = points(actor, freeze(walk, actor.root))
    spread = statue - statue.mean(1, keepdim=True)
    torch.testing.assert_close(spread.norm(dim=-1), spread[:1].norm(dim=-1).expand(len(walk), -1))
    assert statue[-1].mean(0)[2] > statue[0].mean(0)[2] + 0.3


def test_paddling_never_touches_the_ground_and_may_stay_in_place(actor: Actor):
    walk = actor.clips[actor.actions.index("walk")]
    lifted = points(actor, lift_off(walk, actor.root, height=0.2, travels=False))
    assert float(lifted[..., 1].min()) > 0.15
    assert float(points(actor, walk)[..., 1].min()) < 0.03
    travel = lifted.mean(1)
    assert float((travel[-1] - travel[0])[[0, 2]].norm()) < 0.1


def test_squashing_keeps_planted_feet_planted(actor: Actor):
    low = squash(actor, 0.8)
    assert low.height == pytest.approx(0.8 * actor.height)
    before, after = points(actor, actor.clips[1]), points(low, low.clips[1])
    torch.testing.assert_close(after[..., [0, 2]], before[..., [0, 2]])
    torch.testing.assert_close(after[..., 1], 0.8 * before[..., 1])


def test_many_cameras_at_once_are_those_of_follow(actor: Actor):
    clips = actor.clips[[1, 4], :16:2]
    low, high = bounding_boxes(actor.cloud, clips.flatten(0, 1))
    neutral = bounding_boxes(actor.cloud, actor.neutral[None])
    low, high = low.unflatten(0, (2, 8)), high.unflatten(0, (2, 8))
    views = [View(1.2, 0.2, 0.9), View(-0.9, 0.1, 1.05)]
    forward = torch.tensor([0.0, 0.0, 1.0])
    moving, still = cameras_of(
        low, high, (neutral[0][0], neutral[1][0]), views, forward=forward, size=(32, 32)
    )
    for k, view in enumerate(views):
        radius = float((0.5 * (high[k] - low[k])).norm(dim=-1).amax())
        radius = max(radius, float((0.5 * (neutral[1] - neutral[0])).norm()))
        one = follow(low[k], high[k], view, forward=forward, width=32, height=32, radius=radius)
        mine = moving[slice(8 * k, 8 * k + 8)]
        torch.testing.assert_close(mine.camera_from_world, one.camera_from_world)
        torch.testing.assert_close(mine.focal, one.focal)
        pose = follow(
            neutral[0], neutral[1], view, forward=forward, width=32, height=32, radius=radius
        )
        torch.testing.assert_close(still[slice(k, k + 1)].camera_from_world, pose.camera_from_world)


def film(actor: Actor, count: int, **options: object):
    return film_actor(
        actor, count, generator=torch.Generator().manual_seed(5), tiny=TINY,
        cameras=CameraSettings(), **options,
    )  # fmt: skip


def test_footage_shows_the_creature_and_moves(actor: Actor):
    walk, stand = actor.actions.index("walk"), actor.actions.index("stand")
    footage = film(actor, 2, clips=[walk, stand], vary=False)
    assert footage.videos.shape == (2, 4, 36, 36, 3)
    assert footage.labels == ("walk", "stand")
    assert footage.words[0] == Words("dog", "walk", actor.manners[walk])
    change = (
        (footage.videos[:, 1:].float() - footage.videos[:, :-1].float()).abs().mean((1, 2, 3, 4))
    )
    assert change[0] > 4.0 * change[1]
    # Coloured limbs are to be seen, in the reference as well.
    for pictures in (footage.videos.flatten(0, 1), footage.reference_images):
        saturation = pictures.amax(-1).int() - pictures.amin(-1).int()
        assert ((saturation > 80).float().mean((1, 2)) > 0.02).all()


def test_the_same_generator_gives_the_same_footage(actor: Actor):
    assert torch.equal(film(actor, 2).videos, film(actor, 2).videos)


def test_tricks_are_labelled(actor: Actor):
    labels = film(actor, 10, tricks=True).labels
    assert labels.count("gliding statue") == 1
    assert labels.count("paddling in the air") == 1


def test_the_pool_is_a_ring(actor: Actor):
    pool = Pool(5, TINY, CameraSettings(), device=torch.device("cpu"), seed=0, videos_a_call=3)
    with pytest.raises(ValueError, match="film an actor first"):
        pool.batch(1)
    pool.add(actor)
    assert (pool.count, pool.made) == (3, 3)
    pool.film_next()
    assert (pool.count, pool.made) == (5, 6)
    batch = pool.batch(7)
    assert batch.videos.shape == (7, 4, 36, 36, 3)
    assert float(batch.videos.min()) >= -1.0
    assert float(batch.videos.max()) <= 1.0
    assert float(batch.videos.std()) > 0.1


def test_captions_name_species_plan_or_nothing():
    truth = torch.tensor([[*Words("fox", "gallop", "slowly").numbers(), TOKENS.index("quadruped")]])
    draws = torch.tensor([[0.1, 0.9, 0.1], [0.6, 0.1, 0.1], [0.9, 0.9, 0.95]])
    said = caption(truth.expand(3, -1), draws)
    names = [[TOKENS[k] for k in row] for row in said.tolist()]
    assert names == [
        ["fox", "gallop", "slowly"],
        ["quadruped", "run", "slowly"],
        [NONE, "gallop", NONE],
    ]


def test_the_cast_takes_all_species_and_keeps_to_its_side():
    from akd.zoo.species.catalogue import SPECIES

    cast = cast_list(60, first_seed=1000)
    assert {species for species, _ in cast} == set(SPECIES)
    assert len({seed for _, seed in cast}) == 60
    assert all(zoo_seed_trains(seed) for _, seed in cast)


@pytest.mark.slow
def test_actors_are_cached(tmp_path: Path):
    settings = replace(SMALL, splats=100)
    cast = [Casting("pig", 1002)]
    (first,) = build_actors(cast, settings, tmp_path, workers=0)
    assert first is not None
    (path,) = tmp_path.glob("*.safetensors")
    stamp = path.stat().st_mtime_ns
    (again,) = build_actors(cast, settings, tmp_path, workers=0)
    assert again is not None
    assert path.stat().st_mtime_ns == stamp
    torch.testing.assert_close(first.clips, again.clips)
