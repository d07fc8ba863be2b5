"""Legs reach where they are told, bent the right way; forces make the body bob."""

import numpy as np
import pytest

from akd.base.constants import GRAVITY
from akd.zoo.gait.footfalls import QUADRUPED_GAITS, hip_height, symmetrical
from akd.zoo.gait.legs import FootPath, LegShape, pose_leg
from akd.zoo.gait.puppet import Posed, Puppet, bend
from akd.zoo.gait.rhythm import GRID, Rhythm, Wave, foot_load
from tests.zoo.menagerie import creature


@pytest.mark.parametrize("species", ["fox", "elephant", "man", "trex", "ostrich"])
def test_toes_come_to_their_target(species):
    puppet = Puppet.of(creature(species))
    rng = np.random.default_rng(1)
    frames = 50
    for foot in puppet.feet:
        posed = Posed.empty(puppet, frames)
        above = puppet.parents[puppet.index[foot.leg.upper]]
        posed.position[:, above] = puppet.bind[above]
        posed.rotation[:, above] = bend(*(0.08 * rng.standard_normal((3, frames))))
        shape = LegShape.of(puppet, foot.leg)
        length = shape.lengths.sum()
        target = puppet.bind[foot.joint] + 0.06 * length * rng.uniform(-1, 1, (frames, 3))
        target[:, 1] += 0.20 * length
        plantigrade = foot.leg.kind == "plantigrade"
        fold = rng.uniform(0.0, 0.4, frames) * (1.0 if plantigrade else -1.0)
        pitch = rng.uniform(0.0, 0.5, frames)
        path = FootPath(target, rng.uniform(-0.2, 0.2, frames), pitch, fold, np.ones(frames, bool))
        pose_leg(posed, puppet, shape, path)
        reached = posed.position[:, foot.joint]
        np.testing.assert_allclose(reached, target, atol=2e-3 * length)
        for a, b in zip(foot.leg.bones[-4:], foot.leg.bones[-3:], strict=False):
            steps = posed.position[:, puppet.index[b]] - posed.position[:, puppet.index[a]]
            np.testing.assert_allclose(np.linalg.norm(steps, axis=1), puppet.length(a, b))


def test_the_standing_pose_is_its_own_solution():
    puppet = Puppet.of(creature("fox"))
    for foot in puppet.feet:
        posed = Posed.empty(puppet, 1)
        posed.position[:] = puppet.bind
        zero = np.zeros(1)
        target = puppet.bind[foot.joint][None]
        path = FootPath(target, zero, zero, zero, np.ones(1, bool))
        pose_leg(posed, puppet, LegShape.of(puppet, foot.leg), path)
        for name in foot.leg.bones[-4:]:
            joint = puppet.index[name]
            np.testing.assert_allclose(posed.rotation[0, joint], np.eye(3), atol=1e-6)
            np.testing.assert_allclose(posed.position[0, joint], puppet.bind[joint], atol=1e-6)


def test_forces_carry_the_weight():
    for gait in QUADRUPED_GAITS.values():
        for leg in gait.touchdown:
            load = foot_load(gait, leg)
            assert load.mean() == pytest.approx(1.0)
            assert (load >= -0.2).all()
            assert load[(GRID - gait.touchdown[leg]) % 1.0 >= gait.duty].max() == 0.0


def test_the_body_falls_freely_when_no_foot_is_down():
    """y'' = -g in the moments of suspension of a trot; the whole bob has mean zero."""
    gait = symmetrical("trot", limb_phase=0.5, duty=0.4, hump=0.0)
    period = 0.5
    rhythm = Rhythm.of(gait, period, weight_fore=0.6, trunk=1.0)
    phase = np.linspace(0.42, 0.48, 61)
    height = rhythm.bob(phase)
    step = (phase[1] - phase[0]) * period
    acceleration = np.diff(height, n=2) / step**2
    np.testing.assert_allclose(acceleration, -GRAVITY, rtol=0.05)
    assert rhythm.bob(GRID).mean() == pytest.approx(0.0, abs=1e-12)


def test_a_walker_is_highest_over_its_leg_and_a_runner_lowest():
    walk = Rhythm.of(QUADRUPED_GAITS["walk"], 1.0, weight_fore=0.5, trunk=1.0)
    assert np.abs(walk.bob(GRID)).max() < 0.03
    trot = symmetrical("trot", limb_phase=0.5, duty=0.4, hump=0.0)
    bob = Rhythm.of(trot, 0.5, weight_fore=0.5, trunk=1.0).bob(GRID)
    assert GRID[np.argmin(bob[:512])] == pytest.approx(0.2, abs=0.01)


def test_waves_differentiate_lag_and_follow():
    wave = Wave.of(np.cos(2 * np.pi * GRID) + 0.5)
    np.testing.assert_allclose(wave(GRID), np.cos(2 * np.pi * GRID) + 0.5, atol=1e-9)
    np.testing.assert_allclose(wave(GRID, lag=0.25), np.sin(2 * np.pi * GRID) + 0.5, atol=1e-9)
    twice = wave.integrated_twice(2 * np.pi)
    np.testing.assert_allclose(twice(GRID), -np.cos(2 * np.pi * GRID), atol=1e-9)
    # A pendulum much quicker than its drive follows it exactly.
    np.testing.assert_allclose(wave.followed(1e4)(GRID), wave(GRID), atol=1e-3)


def test_hip_height_is_that_of_the_hips():
    animal = creature("horse")
    assert hip_height(animal) == pytest.approx(0.76 * 1.60, rel=1e-5)
