"""How trunk, neck, head, tail, ears and arms move with a stride.

Everything here is a local rotation of a joint over time; legs are in `legs`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from akd.base.constants import GRAVITY
from akd.zoo.gait.puppet import Puppet, bend, chain
from akd.zoo.gait.rhythm import Rhythm, Wave
from akd.zoo.mesh.shapes import Array

Turns = dict[str, Array]
"""Local rotations [T, 3, 3] by joint name; joints that are not named keep their rest."""
_FLEXED_AT = 0.92
"""Phase of a gallop at which the spine is arched most."""


@dataclass(frozen=True)
class Carriage:
    """Amounts that differ between actions and styles. Angles in degrees."""

    pelvis_roll: float = 2.5
    pelvis_yaw: float = 3.0
    chest_roll: float = 1.5
    chest_yaw: float = 2.5
    most_pitch: float = 1.2
    """Greatest pitch of the trunk about its mean."""
    flexion: float = 0.0
    """Arching of the spine in a gallop, peak to mean."""
    lean: float = 0.0
    """Constant pitch of the trunk, nose down."""
    neck: float = 0.0
    """Lowering of the neck."""
    tail: float = 0.0
    """Raising of the tail's root."""
    sway: float = 0.0
    """Sideways travel of the hips towards the loaded foot, metres."""
    arm_swing: float = 0.0
    elbow: float = 0.0
    nod: float = 0.0
    """Nodding of the head, twice a stride, degrees."""
    curve: float = 0.0
    """Bend of the whole body into a turn, to the left."""
    bank: float = 0.0
    """Constant roll, left side up."""
    limp: float = 0.0
    """Nodding of head and trunk away from a lame leg, once a stride, degrees."""
    tail_swing: float = 1.0


def carry(puppet: Puppet, rhythm: Rhythm, c: Carriage, phase: Array, *, period: float) -> Turns:
    """Local rotations of everything but the legs at phases of the stride."""
    deg = np.radians
    pitch = rhythm.pitch.at_most(deg(c.most_pitch))(phase) + deg(c.lean)
    flex = deg(c.flexion) * np.cos(2 * np.pi * (phase - _FLEXED_AT))
    # The loaded side is pushed up; the side whose foot is ahead is turned forward.
    pelvis_roll = deg(c.pelvis_roll) * _unit(rhythm.hind_load)(phase) + deg(c.bank)
    pitch = pitch + 0.3 * deg(c.limp) * np.sin(2 * np.pi * (phase - rhythm.lame_at + 0.25))
    pelvis_yaw = -deg(c.pelvis_yaw) * _unit(rhythm.hind_lead)(phase)
    quadruped = "left_fore_upper" in puppet.index
    if quadruped:
        chest_roll = deg(c.chest_roll) * _unit(rhythm.fore_load)(phase) + deg(c.bank)
        chest_yaw = -deg(c.chest_yaw) * _unit(rhythm.fore_lead)(phase)
    else:
        # Shoulders turn against the hips.
        chest_roll = -0.6 * pelvis_roll
        chest_yaw = -deg(c.chest_yaw) / deg(max(c.pelvis_yaw, 1e-6)) * pelvis_yaw
    pelvis_pitch, chest_pitch = pitch - 0.5 * flex, pitch + 0.5 * flex
    turns: Turns = {"pelvis": bend(pelvis_pitch, pelvis_yaw, pelvis_roll)}

    spine = chain(puppet.names, "spine")
    share = 1.0 / max(len(spine), 1)
    along = deg(c.curve) * share
    for name in spine:
        turns[name] = bend(
            share * (chest_pitch - pelvis_pitch),
            share * (chest_yaw - pelvis_yaw) + along,
            share * (chest_roll - pelvis_roll),
        )
    _neck_and_head(
        puppet, turns, rhythm, c, phase, chest_pitch - deg(c.lean), chest_yaw, chest_roll
    )
    _tail(puppet, turns, rhythm, c, phase, pelvis_pitch, pelvis_yaw, period)
    _ears(puppet, turns, rhythm, phase)
    _arms(puppet, turns, rhythm, c, phase)
    return turns


def _unit(wave: Wave) -> Wave:
    """Scaled to a peak of about one."""
    peak = float(np.abs(wave.coefficients).sum())
    return wave.times(1.0 / peak) if peak > 1e-9 else wave


def _neck_and_head(
    puppet: Puppet,
    turns: Turns,
    rhythm: Rhythm,
    c: Carriage,
    phase: Array,
    pitch: Array,
    yaw: Array,
    roll: Array,
) -> None:
    """The neck gives way so that the head stays level and looks ahead."""
    deg = np.radians
    neck = chain(puppet.names, "neck")
    if not neck:
        return
    length = puppet.length(neck[0], "head")
    # The neck moves a little against the rise and fall of the body.
    lower = 0.45 * np.clip(rhythm.bob(phase) / max(length, 1e-3), -0.2, 0.2)
    nod = deg(c.nod) * np.cos(2 * np.pi * (2 * phase - 0.1))
    # The head goes up while the lame leg, the right one, bears weight.
    nod = nod + deg(c.limp) * np.sin(2 * np.pi * (phase - rhythm.lame_at + 0.25))
    total_pitch = -0.85 * pitch
    look = deg(c.curve) * 0.7
    for i, name in enumerate(neck):
        first = 1.0 if i == 0 else 0.0
        share = 1.0 / (len(neck) + 1)
        turns[name] = bend(
            share * total_pitch + first * (lower + 0.7 * nod) + deg(c.neck) / len(neck),
            -share * yaw + look * share,
            -share * roll - deg(c.bank) * share,
        )
    share = 1.0 / (len(neck) + 1)
    turns["head"] = bend(
        share * total_pitch - lower - 0.3 * nod - 0.85 * deg(c.neck) - 0.6 * deg(c.lean),
        -share * yaw + look * share,
        -share * roll,
    )


def _tail(
    puppet: Puppet,
    turns: Turns,
    rhythm: Rhythm,
    c: Carriage,
    phase: Array,
    pitch: Array,
    yaw: Array,
    period: float,
) -> None:
    """The tail trails: each bone repeats, later, what the one before it does."""
    bones = chain(puppet.names, "tail")
    if not bones:
        return
    length = puppet.length(bones[0], bones[-1]) * len(bones) / max(len(bones) - 1, 1)
    natural = period / (2 * np.pi) * np.sqrt(GRAVITY / max(length, 0.05)) * 1.6
    bounce = rhythm.bob.times(-2.2 / max(length, 0.05)).followed(natural)
    sideways = _unit(rhythm.hind_lead).times(np.radians(3.0)).followed(max(natural, 0.8))
    heavy = len(bones) > 5
    for i, name in enumerate(bones):
        lag = 0.07 * i
        give = 0.25 * np.tanh(bounce(phase, lag=lag) / 0.25) * (0.6 if heavy else 1.0)
        up = give / len(bones) * 2.2
        side = c.tail_swing * sideways(phase, lag=lag) * (1.0 + 0.25 * i)
        lift = np.radians(c.tail) * (0.7, 0.3, 0.0, 0.0, 0.0, 0.0)[i]
        # The root keeps the tail's direction while the pelvis pitches and turns under it.
        first = 1.0 if i == 0 else 0.0
        turns[name] = bend(
            up + lift - 0.6 * first * pitch,
            np.clip(side, -0.3, 0.3) - 0.7 * first * yaw - np.radians(c.curve) / len(bones),
        )


def _ears(puppet: Puppet, turns: Turns, rhythm: Rhythm, phase: Array) -> None:
    if "left_ear" in puppet.index:
        flap = 0.10 * np.tanh(_unit(rhythm.bob).followed(2.4, 0.25)(phase, lag=0.06))
        turns["left_ear"] = bend(-0.6 * flap, 0.0, 0.5 * flap)
        turns["right_ear"] = bend(-0.6 * flap, 0.0, -0.5 * flap)
    trunk = chain(puppet.names, "trunk")
    for i, name in enumerate(trunk):
        swing = np.radians(2.4) * np.sin(2 * np.pi * (2 * phase - 0.08 * i))
        side = np.radians(2.0) * np.sin(2 * np.pi * (phase - 0.08 * i))
        turns[name] = bend(swing, 0.0, side)


def _arms(puppet: Puppet, turns: Turns, rhythm: Rhythm, c: Carriage, phase: Array) -> None:
    if "left_arm_upper" not in puppet.index:
        return
    person = "left_arm_shoulder" in puppet.index
    lead = _unit(rhythm.hind_lead)(phase)
    for side in ("left", "right"):
        sign = 1.0 if side == "left" else -1.0
        forward = -sign * lead
        if not person:
            swing = np.radians(4.0) * forward
            turns[f"{side}_arm_upper"] = bend(-swing)
            turns[f"{side}_arm_lower"] = bend(-0.5 * swing - 0.05)
            continue
        swing = np.radians(c.arm_swing) * (forward + 0.12)
        close = puppet.place(f"{side}_arm_lower") - puppet.place(f"{side}_arm_upper")
        spread = np.arctan2(sign * close[0], -close[1]) - np.radians(8.0)
        turns[f"{side}_arm_shoulder"] = bend(0.0, 0.10 * sign * swing)
        turns[f"{side}_arm_upper"] = bend(-swing, 0.0, -sign * spread)
        flex = np.radians(c.elbow) + 0.35 * np.radians(c.arm_swing) * (1.0 + forward)
        turns[f"{side}_arm_lower"] = bend(-flex)
