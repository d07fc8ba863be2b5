"""Starting values from words and leg length: speed, period, symmetry and turn."""

import math

import pytest

from akd.motion.gait import (
    is_symmetrical,
    limb_phase,
    starting_period,
    starting_speed,
    starting_turn,
)


def test_faster_words_and_longer_legs_start_faster():
    assert starting_speed("a fox standing", 0.5) == 0.0
    walk, run = starting_speed("a fox walking", 0.5), starting_speed("a fox running", 0.5)
    assert 0.5 < walk < 1.5 < run < 4.0
    assert starting_speed("a horse walking slowly", 1.5) == pytest.approx(
        0.6 * starting_speed("a horse walking", 1.5)
    )
    # v^2 / (g L) is the same for every size of body.
    assert starting_speed("walk", 2.0) == pytest.approx(2.0 * starting_speed("walk", 0.5))


@pytest.mark.parametrize("prompt", ["a fox walking", "a horse trots", "a dog galloping quickly"])
@pytest.mark.parametrize("leg", [0.2, 1.0])
def test_a_stride_is_as_long_as_alexander_found(prompt, leg):
    """Stride length over leg length is 2.3 Fr^0.3, whatever the gait and the size."""
    speed = starting_speed(prompt, leg)
    period = starting_period(prompt, leg)
    assert period is not None
    froude = speed**2 / (9.81 * leg)
    assert speed * period / leg == pytest.approx(2.3 * froude**0.3)


def test_periods_grow_with_the_root_of_the_legs_and_fall_with_the_speed():
    walk, trot = starting_period("walk", 0.5), starting_period("trot", 0.5)
    assert walk is not None
    assert trot is not None
    assert trot < walk
    assert starting_period("walk", 2.0) == pytest.approx(2.0 * walk)
    # 1.7 s of a man's legs at 1.2 m/s would be a slow walk, half a second a run.
    assert 0.8 < starting_period("a man walking", 0.9) < 1.7


@pytest.mark.parametrize(
    "prompt", ["a fox standing", "a cat jumps", "a hare hopping", "a fox dancing"]
)
def test_what_is_no_gait_has_no_cycle(prompt):
    assert starting_period(prompt, 0.5) is None


def test_no_legs_have_no_cycle():
    assert starting_period("a snake walking", 0.0) is None


def test_words_say_which_way_to_turn():
    left, right = starting_turn("a fox turning left"), starting_turn("T-rex turns to the right")
    assert 0.2 < left < math.pi / 2
    assert right == -left
    assert starting_turn("a fox walking") == 0.0
    assert starting_turn("the left fox walks") == 0.0


@pytest.mark.parametrize(
    ("prompt", "speed", "period", "four", "two"),
    [
        ("a fox walking", 0.885889383614004, 0.7491250815197459, True, True),
        ("a horse walking slowly", 0.5315336301684024, 0.9189541382187159, True, True),
        ("a fox walking briskly", 1.1516561986982052, 0.6744923014112076, True, True),
        ("a fox trotting", 1.8529705880018712, 0.5576461735280345, True, True),
        ("a man jogging", 1.9809088823063015, 0.5429506246364076, True, True),
        ("a dog galloping", 3.5017852589786256, 0.4323050738485084, False, False),
        ("a man running", 2.712471198003769, 0.47880654981007437, False, True),
        ("a man sprinting", 3.8360135557633264, 0.416825311647034, False, True),
        ("a fox walking and turning right", 0.885889383614004, 0.7491250815197459, False, False),
        ("a cat leaps", 1.9809088823063015, None, False, False),
        ("a fox juggling", 0.7672027111526654, None, False, False),
    ],
)
def test_values_for_a_leg_of_half_a_metre(prompt, speed, period, four, two):
    assert starting_speed(prompt, 0.5) == speed
    assert starting_period(prompt, 0.5) == period
    assert (is_symmetrical(prompt, 4), is_symmetrical(prompt, 2)) == (four, two)


@pytest.mark.parametrize(
    ("prompt", "legs", "phase"),
    [
        ("a horse walking", 4, 0.25),
        ("a fox sneaking slowly", 4, 0.25),
        ("a horse ambling", 4, 0.25),
        ("a dog trots", 4, None),
        ("a man walking", 2, None),
        ("a spider walking", 8, None),
        ("a horse galloping", 4, None),
        ("a fox turning left", 4, None),
        ("a fox eating", 4, None),
    ],
)
def test_the_limb_phase_is_that_of_walks_on_four_legs(prompt, legs, phase):
    assert limb_phase(prompt, legs) == phase
