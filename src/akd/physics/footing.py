"""Foot-plant clean-up: pins the stance feet of a motion before tracking.

A clip whose travel does not fit its steps asks for feet that slide, and a body told to follow it
shuffles. So it is found first when each foot stands (it is low, and does not swing ahead of the
body), and then the nearest motion in which standing feet keep their place on the ground, swinging
feet clear it, and nothing is below it.

Everything here is in body units: height, mass and gravity are one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.math.lbfgs import minimise
from akd.motion.contact import STANCE, nearness
from akd.motion.footing.stance import (
    frames_from_stand,
    long_enough,
    number_stands,
    slide_error,
    smooth,
)
from akd.physics.body import Body, Placement, place
from akd.physics.kinematics import Kinematics
from akd.physics.target import TargetMotion

AHEAD = 0.15
"""A foot that moves ahead of the root faster than this swings, however low it is; so does one that
is faster than the root itself, where that is slower."""
SLOW = 0.05
"""A root slower than this does not travel."""
RUNS = 0.5
"""A body on two feet that is faster than this runs, unless it is known to walk: for one whose legs
are half its height, a Froude number of 0.5."""
LAGS = 0.5
"""Share of the body's speed at which a foot must go back under it to stand in a run. A leg swings
back for half of the time, and a runner's foot stands for a third of it."""
CARRIES = 0.06
"""A body that does not fall is carried by the foot nearest to its floor, if it is as near as this
and does not swing."""
FALLS = 0.5
"""A body whose centre falls faster than this share of gravity is not carried."""
SHORTEST = 3
"""Frames that a foot must stand to count."""
REACH = 1.5
"""How far the root may go while one foot stands: no leg reaches further, so that body glides."""
FARTHEST = 0.1
"""Mean distance of the parts beyond which planting has not found the same motion."""


def find_stance(
    body: Body, feet: Bool[Tensor, "B"], motion: TargetMotion, *, walks: bool = False
) -> Bool[Tensor, "F B"]:
    """When each foot stands, whatever the motion's height above the ground.

    Each foot has a floor of its own, the height under which it is for a tenth of the time that it
    does not swing: clips whose feet are sunk or lifted have steps as well. What is known to walk
    does not run, however fast it is.
    """
    stance = torch.zeros(len(motion.position), len(body), dtype=torch.bool)
    if not bool(feet.any()):
        return stance
    placement = place(body, motion)
    corners = placement.corners(body)[:, feet]
    low = corners[..., 1].amin(-1)
    level = corners.new_tensor((1.0, 0.0, 1.0))
    moves = torch.gradient(corners.mean(-2), spacing=1 / motion.fps, dim=0)[0] * level
    root = torch.gradient(motion.position, spacing=1 / motion.fps, dim=0)[0] * level
    # The way the body goes, over half a body time: a root that sways is no change of course.
    course = smooth(root, max(1, round(0.5 * motion.fps)))
    speed = course.norm(dim=-1, keepdim=True)
    along = course / speed.clamp_min(1e-9)
    ahead = ((moves - root[:, None]) * along[:, None]).sum(-1)
    # A body that hardly travels overtakes nothing: there a foot that is quick is no standing one.
    overtakes = torch.where(speed > SLOW, ahead > speed.clamp_max(AHEAD), False)
    swings = torch.where(speed > SLOW, overtakes, moves.norm(dim=-1) > AHEAD)
    if _legs(body, feet) == 2 and not walks:
        swings = swings | ((speed > RUNS) & (ahead > -LAGS * speed))
    floor = torch.where(swings, torch.nan, low).nanquantile(0.1, dim=0)
    # Where a foot swings all the time there is no floor, and nothing is near it.
    above = torch.where(swings, torch.inf, (low - floor).nan_to_num(torch.inf))
    standing = above < STANCE
    nearest = (above == above.amin(1, keepdim=True)) & (above < CARRIES)
    alone = ~standing.any(1) & ~_falls(body, placement, motion.fps)
    standing = long_enough(standing | (nearest & alone[:, None]), SHORTEST)
    stance[:, feet] = _within_reach(standing, motion.position)
    return stance


def _legs(body: Body, feet: Bool[Tensor, "B"]) -> int:
    """How many legs feet are on: toes are of the same one as the foot that they hang on."""
    return sum(not bool(feet[body.parents[i]]) for i in feet.nonzero().flatten().tolist())


def _falls(body: Body, placement: Placement, fps: float) -> Bool[Tensor, "F"]:
    """Whether the body's centre of mass falls, as it must where nothing carries it."""
    height = (placement.centres(body)[..., 1] * body.masses).sum(1) / body.masses.sum()
    # Over a fifth of a body time on either side: a single frame of a clip says little.
    reach = max(1, round(0.2 * fps))
    middle = torch.arange(len(height)).clamp(reach, max(reach, len(height) - 1 - reach))
    if len(height) <= 2 * reach:
        return torch.zeros(len(height), dtype=torch.bool)
    bend = height[middle + reach] - 2 * height[middle] + height[middle - reach]
    return bend * (fps / reach) ** 2 < -FALLS


def _within_reach(standing: Bool[Tensor, "F N"], root: Float[Tensor, "F 3"]) -> Bool[Tensor, "F N"]:
    """Without the stands during which the body goes further than a leg reaches."""
    numbers = number_stands(standing)
    kept = standing.clone()
    for number in range(1, int(numbers.max()) + 1):
        frames = (numbers == number).any(1).nonzero().flatten()
        if float((root[frames[-1]] - root[frames[0]])[[0, 2]].norm()) > REACH:
            kept &= numbers != number
    return kept


def sole_weights(
    body: Body, feet: Bool[Tensor, "B"], placement: Placement, stance: Bool[Tensor, "F B"]
) -> Float[Tensor, "F N 8"]:
    """How much each corner of the N feet belongs to the sole of a foot that stands: its `nearness`
    to a floor at the lowest one."""
    height = placement.corners(body)[:, feet][..., 1]
    above = height - height.amin(-1, keepdim=True)
    return nearness(above, body_height=1.0) * stance[:, feet, None]


@dataclass(frozen=True)
class _Contact:
    """What is asked of the feet."""

    sole: Float[Tensor, "F N 8"]
    standing: Bool[Tensor, "F N"]
    stands: Int[Tensor, "F N"]
    """Number of the stand; 0 for none."""
    clearance: Float[Tensor, "F N"]
    """Least height of a foot's lowest corner; zero where it stands."""


def plant_feet(
    body: Body,
    feet: Bool[Tensor, "B"],
    motion: TargetMotion,
    stance: Bool[Tensor, "F B"],
    *,
    clearance: float = 0.03,
    beside: float = 0.0,
    iterations: int = 150,
) -> TargetMotion:
    """The nearest motion whose standing feet keep their place; the motion itself where nothing
    stands, or where that would be another motion altogether.

    The root's place and the joints between it and the feet give way; all else keeps its angles.
    Swing feet are at least `clearance` high, and next to a stand a third of that or `beside`.
    """
    if not bool(stance.any()):
        return motion
    kinematics = Kinematics(body)
    given = kinematics.place(motion)
    contact = _contact(body, feet, given, stance, clearance, beside)
    legs = _on_the_way(body, feet)
    shift = torch.zeros_like(motion.position, requires_grad=True)
    turns = torch.zeros_like(motion.angles[:, legs], requires_grad=True)

    def moved() -> TargetMotion:
        angles = motion.angles.clone()
        angles[:, legs] = angles[:, legs] + turns
        return replace(motion, position=motion.position + shift, angles=angles)

    def loss() -> Tensor:
        return _misfit(body, feet, contact, given, kinematics.place(moved()), shift, turns)

    minimise(loss, (shift, turns), iterations=iterations, history=20, tolerances=(1e-9, 1e-12))
    with torch.no_grad():
        planted = moved()
    apart = (kinematics.place(planted).centres(body) - given.centres(body)).norm(dim=-1).mean()
    # NaN compares false, so a diverged search also returns the motion as given.
    return planted if float(apart) < FARTHEST else motion


def _contact(
    body: Body, feet: Tensor, given: Placement, stance: Tensor, clearance: float, beside: float
) -> _Contact:
    sole = sole_weights(body, feet, given, stance)
    standing = stance[:, feet]
    # Lifted over three frames after a stand and lowered over three before the next. Nothing is
    # asked of a part that never stands.
    away = frames_from_stand(standing).double()
    least = (clearance * (away / 3).clamp(0, 1)).clamp_min(beside)
    swings = ~standing & standing.any(0)
    return _Contact(sole, standing, number_stands(standing), least * swings)


def _on_the_way(body: Body, feet: Tensor) -> list[int]:
    """Joints (parts less one) between the root and the feet."""
    found: set[int] = set()
    for foot in feet.nonzero().flatten().tolist():
        part = foot
        while part > 0:
            found.add(part - 1)
            part = body.parents[part]
    return sorted(found)


def _misfit(
    body: Body,
    feet: Tensor,
    contact: _Contact,
    given: Placement,
    made: Placement,
    shift: Tensor,
    turns: Tensor,
) -> Tensor:
    """How far a motion is from the one given, and from feet that stand: sums of squares, in body
    heights. A sole may be off by a tenth of what any other part would then have to move by."""
    apart = made.centres(body) - given.centres(body)
    bound = 1.0 - 0.9 * feet.to(apart)
    stays = (bound[:, None] * apart.square()).sum() + 0.01 * turns.square().sum()
    tilts = (made.rotations - given.rotations)[:, feet].square().sum()
    corners = made.corners(body)
    sinks = (-corners[..., 1]).clamp_min(0).square().sum()
    soles = corners[:, feet]
    slides = slide_error(
        soles[..., [0, 2]].flatten(0, 1), contact.sole.flatten(0, 1), contact.stands.flatten()
    )
    low = soles[..., 1].amin(-1)
    hovers = (low.square() * contact.standing).sum()
    drags = (contact.clearance - low).clamp_min(0).square().sum()
    jerks = [(v[2:] - 2 * v[1:-1] + v[:-2]).square().sum() for v in (shift, 0.3 * turns)]
    feet_stand = slides + hovers + sinks + 0.3 * drags
    return stays + 0.05 * tilts + 100.0 * feet_stand + 3.0 * (jerks[0] + jerks[1])
