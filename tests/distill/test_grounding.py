"""Physics of the finalists: side by side, and each as it would be alone."""

from dataclasses import replace

import pytest
import torch

from akd.api.request import make_request
from akd.api.search import ground_each, ground_motion
from akd.base.observer import Observer
from akd.motion.loop import loop_gap, repeat
from akd.motion.motion import Motion
from akd.physics.settings import TrackingSettings
from akd.report.view_data import ContactForces
from akd.rig.character import Character, bound_character
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from benchmarks.seam import measure_seam
from tests.distill.fox import standing
from tests.distill.test_feet import swinging

pytestmark = pytest.mark.slow


class StopAt(Observer):
    """Raises after some iterations."""

    def step(self, iteration, iterations, values):
        if iteration > 2:
            raise ZeroDivisionError


def test_finalists_are_tracked_as_if_alone_and_can_be_cancelled(fox: Character) -> None:
    request = make_request(fox, "a fox walking", physics=TrackingSettings(iterations=2))
    curves = standing(fox, period=0.7, speed=0.8)
    with torch.no_grad():
        curves.angles.normal_(std=0.2, generator=torch.Generator().manual_seed(1))
    motion = curves.motion("walk", lift=0.0, fps=12.0)
    motions = [motion, motion.sample(motion.times[:6])]
    together = ground_each(request, motions, Observer(), fps=12.0)
    for found, one in zip(together, motions, strict=True):
        (alone,) = ground_each(request, [one], Observer(), fps=12.0)
        assert found is not None
        assert alone is not None
        assert torch.equal(found.controls.angles, alone.controls.angles)
    with pytest.raises(ZeroDivisionError):
        ground_each(request, motions, StopAt(), fps=12.0)


def test_one_cycle_is_tracked_and_repeated_on_the_frames_of_the_clip(fox: Character) -> None:
    request = make_request(fox, "a fox walking", physics=TrackingSettings(iterations=2))
    rig, curves = fox.control_rig, standing(fox, period=0.3, speed=0.8)
    with torch.no_grad():
        curves.angles.normal_(std=0.2, generator=torch.Generator().manual_seed(1))
    motion = curves.motion("walk", lift=0.0, fps=24.0)
    cycle = curves.one_cycle("walk", lift=0.0, fps=24.0)
    (found,) = ground_each(request, [motion], Observer(), fps=24.0, cycles=[cycle])
    assert found is not None
    assert cycle is not None
    assert found.repeats == round(motion.duration / cycle.duration) > 1
    assert found.clip.cyclic
    assert len(found.clip.position) == len(cycle)
    assert torch.equal(found.motion.times, motion.times)
    assert loop_gap(rig, found.motion, height=fox.height) < 1e-3
    # A cycle later it is in the same pose, as far on as the clip goes in a cycle.
    world = found.motion.sample(torch.tensor([0.05, 0.05 + cycle.duration])).world()
    joints = world[:, [rig.root, *rig.joints], :3, 3]
    moved = joints[1] - joints[0]
    assert float((moved - moved.mean(0)).norm(dim=-1).max()) < 0.02 * fox.height
    gone = (motion.world()[-1] - motion.world()[0])[rig.root, :3, 3] / found.repeats
    assert float((moved[0] - gone).norm()) < 0.02 * fox.height
    # Forces of the ground are those of the same foot in each repetition.
    forces = ContactForces.of(found)
    frames = len(cycle) - 1
    assert len(forces.points) == found.repeats * frames
    apart = forces.points[frames : 2 * frames] - forces.points[:frames]
    assert float(abs(apart - apart.mean((0, 1))).max()) < 1e-4
    assert (forces.forces[frames : 2 * frames] == forces.forces[:frames]).all()


def test_feet_that_slide_in_their_place_give_the_body_no_travel(fox: Character) -> None:
    request = make_request(fox, "a fox eating", physics=TrackingSettings(iterations=1))
    motion = swinging(fox).motion("eat", lift=0.0, fps=12.0)
    (found,) = ground_each(request, [motion], Observer(), fps=12.0)
    assert found is not None
    assert found.travel is None
    gone = (found.controls.translation[-1] - found.controls.translation[0])[[0, 2]]
    assert float(gone.norm()) < 0.2 * fox.height


def test_the_seam_is_slow_on_the_frames_of_the_clip_too() -> None:
    """A crab takes few frames a step: between those of its cycle, a leg is faster over the seam."""
    crab = build_creature("crab", seed=1002, vertices=800)
    character = bound_character("crab", crab.skeleton, crab.mesh)
    rig, once = character.control_rig, make_clip(crab, "walk", cycles=1, fps=120.0)
    clip, rounds, frames = 44, 5, 9

    def at(motion: Motion, count: int, fps: float) -> Motion:
        spread = motion.sample(torch.linspace(0.0, motion.duration, count + 1))
        return replace(spread, times=torch.arange(count + 1) / fps)

    cycle = at(once, frames, 30.0 * frames * rounds / clip)
    motion = at(repeat(rig, cycle, rounds), clip, 30.0)
    settings = TrackingSettings(iterations=4)
    found = ground_motion(character, motion, cycle, settings, fps=30.0)
    assert found.repeats == rounds
    seam = measure_seam(rig, found.motion, height=character.height)
    assert seam.jump < 1e-3
    assert seam.step < 1.16
