"""Features of naturalness on true gaits, and their ranges."""

import math

import pytest
import torch

from akd.rig.character import bound_character
from akd.zoo import build_creature, make_clip
from benchmarks.distill_controls import sine_gait
from benchmarks.natural_range import NaturalRange, body_plan, find_cycle, naturalness_features


@pytest.fixture(scope="module")
def fox():
    creature = build_creature("fox", vertices=800)
    return creature, bound_character("fox", creature.skeleton, creature.mesh)


def test_a_cycle_is_the_time_after_which_signals_repeat():
    t = torch.arange(120.0)
    signals = torch.stack((torch.sin(2 * math.pi * t / 24), torch.cos(2 * math.pi * t / 24)))
    assert find_cycle(signals, shortest=5.0, longest=60.0) == pytest.approx(24.0, abs=1.0)
    assert find_cycle(torch.zeros(2, 120), shortest=5.0, longest=60.0) is None


def test_a_trot_is_told_from_a_walk_by_its_features(fox):
    creature, character = fox
    walk, trot = (
        naturalness_features(character, make_clip(creature, action, cycles=3))
        for action in ("walk", "trot")
    )
    assert walk["duty"] > trot["duty"]
    assert walk["stride"] < trot["stride"]
    for found in (walk, trot):
        assert found["left_right"] == pytest.approx(0.5, abs=0.06)
        assert found["lean"] < 15.0
        assert 0.0 < found["bounce"] < 0.2


def test_the_sine_gait_swings_its_legs_and_stands_on_the_ground(fox):
    _, character = fox
    gait = sine_gait(character, "a fox walking")
    found = naturalness_features(character, gait)
    assert found["left_right"] == pytest.approx(0.5, abs=0.06)
    assert found["bounce"] < 1e-4
    lowest = character.mesh.pose(gait.world())[..., 1].amin()
    assert float(lowest) == pytest.approx(0.0, abs=1e-4)


def test_deviations_count_in_standard_deviations_of_enough_clips(tmp_path, fox):
    clips = [("walk", "4 legs", {"duty": 0.6 + 0.1 * k}) for k in (-1, 0, 0, 0, 1)]
    ranges = NaturalRange.of([*clips, ("run", "4 legs", {"duty": 0.3})])
    away = ranges.deviations("walk", body_plan(fox[1]), {"duty": 0.8, "lean": 3.0})
    assert away == {"duty": pytest.approx(0.2 / math.sqrt(0.005))}
    assert ranges.deviations("run", "4 legs", {"duty": 0.8}) == {}
    ranges.write(tmp_path / "ranges.json")
    assert NaturalRange.read(tmp_path / "ranges.json") == ranges
