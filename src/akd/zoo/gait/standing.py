"""Standing still, as living things do: breathing, shifting weight, looking about."""

from __future__ import annotations

import numpy as np

from akd.zoo.creature import Creature
from akd.zoo.gait.body import BodyPath, settle_body
from akd.zoo.gait.carriage import Turns
from akd.zoo.gait.footfalls import hip_height
from akd.zoo.gait.legs import FootPath
from akd.zoo.gait.puppet import Posed, Puppet, bend, chain
from akd.zoo.gait.style import Style
from akd.zoo.mesh.shapes import Array


def standing_period(creature: Creature) -> float:
    """Duration of one round of breathing and looking, seconds; large animals are slower."""
    return 3.6 * (hip_height(creature) / 0.6) ** 0.25


def planted(puppet: Puppet, frames: int) -> list[FootPath]:
    """All feet where they are in the bind pose."""
    zero = np.zeros(frames)
    return [
        FootPath(
            np.tile(puppet.bind[foot.joint], (frames, 1)), zero, zero, zero, np.ones(frames, bool)
        )
        for foot in puppet.feet
    ]


def pose_standing(
    creature: Creature, puppet: Puppet, phase: Array, style: Style
) -> tuple[Posed, list[FootPath]]:
    """Pose the creature at phases of `standing_period`."""
    hip = hip_height(creature)
    turn = 2 * np.pi * phase
    shift = style.sway * (np.sin(turn) + 0.25 * np.sin(2 * turn + 1.0))
    breath = np.sin(2 * turn)
    body = BodyPath(
        x=np.zeros_like(phase),
        z=np.zeros_like(phase),
        heading=np.zeros_like(phase),
        turns=standing_turns(creature, puppet, style, turn),
        sway=0.014 * hip * shift,
        surge=0.006 * hip * np.sin(turn + 2.0),
        rise=0.0025 * hip * breath - 0.004 * hip * np.abs(shift) ** 2,
    )
    feet = planted(puppet, len(phase))
    least = (0.012 + style.crouch) * hip
    posed, _ = settle_body(puppet, body, feet, least_drop=least)
    return posed, feet


def standing_turns(
    creature: Creature, puppet: Puppet, style: Style, turn: Array, *, calm: float = 1.0
) -> Turns:
    """Local rotations of a standing body at angles of its period; `calm` below 1 leaves less than
    the usual looking and swaying."""
    shift = calm * style.sway * (np.sin(turn) + 0.25 * np.sin(2 * turn + 1.0))
    breath = np.sin(2 * turn)
    look = calm * style.sway * (np.sin(turn + 0.6) + 0.5 * np.sin(2 * turn))
    deg = np.radians
    turns: Turns = {"pelvis": bend(0.0, 0.0, deg(0.8) * shift)}
    spine = chain(puppet.names, "spine")
    upright = creature.plan == "humanoid"
    for name in spine:
        swell = -0.6 if upright else 0.35
        turns[name] = bend(deg(swell) * breath, 0.0, -deg(0.8) * shift / len(spine))
    neck = chain(puppet.names, "neck")
    for i, name in enumerate(neck):
        turns[name] = bend(
            deg(1.2) * np.sin(turn + 0.4 * i) + deg(style.neck) / len(neck),
            deg(4.0) * look / len(neck),
        )
    turns["head"] = bend(
        -deg(1.5) * np.sin(turn) - deg(0.85 * style.neck), deg(6.0) * look, deg(1.0) * shift
    )
    for i, name in enumerate(chain(puppet.names, "tail")):
        lift = deg(style.tail) * (0.7, 0.3, 0.0, 0.0, 0.0, 0.0)[i]
        wag = calm * deg(2.2) * (1.0 + 0.4 * i) * np.sin(2 * turn - 0.7 * i)
        turns[name] = bend(lift + deg(0.8) * np.sin(turn - 0.5 * i), style.sway * wag)
    for i, name in enumerate(chain(puppet.names, "trunk")):
        turns[name] = bend(
            deg(2.5) * np.sin(turn - 0.5 * i), 0.0, deg(2.5) * np.sin(2 * turn - 0.5 * i)
        )
    for side, sign in (("left", 1.0), ("right", -1.0)):
        if f"{side}_ear" in puppet.index:
            flick = np.exp(-(((np.cos(turn + 1.3 * sign) - 1.0) / 0.03) ** 2))
            turns[f"{side}_ear"] = bend(deg(9.0) * flick, 0.0, sign * deg(7.0) * flick)
        if f"{side}_arm_shoulder" in puppet.index:
            down = puppet.place(f"{side}_arm_lower") - puppet.place(f"{side}_arm_upper")
            spread = np.arctan2(sign * down[0], -down[1]) - deg(9.0)
            turns[f"{side}_arm_upper"] = bend(
                deg(1.5) * np.sin(turn + sign), 0.0, -sign * (spread - deg(0.6) * breath)
            )
            turns[f"{side}_arm_lower"] = bend(-deg(6.0) + deg(1.5) * np.sin(turn + sign))
    if "jaw" in puppet.index:
        turns["jaw"] = bend(deg(1.5) * (1.0 + breath))
    return turns
