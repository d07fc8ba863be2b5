"""Poses an `Act` on a body: trunk by its rows, feet by inverse kinematics, nothing below ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd.motion.actions import ACTIONS
from akd.zoo.acts.act import AXES, Act, Reach
from akd.zoo.acts.catalogue import acts_of
from akd.zoo.creature import Creature
from akd.zoo.gait.body import BodyPath, missing_reach, pose_body
from akd.zoo.gait.carriage import Turns
from akd.zoo.gait.footfalls import hip_height
from akd.zoo.gait.legs import FootPath
from akd.zoo.gait.puppet import Posed, Puppet, bend, chain, turn_x, turn_z
from akd.zoo.gait.standing import standing_period, standing_turns
from akd.zoo.gait.style import Style
from akd.zoo.gait.wings import in_flight
from akd.zoo.mesh.shapes import Array

_CHAINS = ("spine", "neck", "tail", "trunk")
_ROUNDS = 6
_MOST_POINTS = 1500


def fit_act(creature: Creature, action: str) -> tuple[Act, float, float]:
    """An act for one body, with its natural period (seconds) and speed (metres per second)."""
    act = acts_of(creature.parameters)[action]
    if ACTIONS[action].froude == 0.0:
        return act, act_period(creature, act), 0.0
    return in_flight(creature, act)


def act_period(creature: Creature, act: Act) -> float:
    """Duration of an act in its place, seconds; large animals are slower."""
    size = hip_height(creature)
    if not creature.feet:
        size = 0.25 * float(creature.mesh.vertices[:, 2].max() - creature.mesh.vertices[:, 2].min())
    return act.seconds * (size / 0.7) ** 0.35


def styled(act: Act, style: Style) -> Act:
    """The act in a manner: larger or smaller, and for some the mirror image."""
    act = act.scaled(style.vigour)
    return act.mirrored() if style.mirrored and act.sided else act


def pose_act(
    creature: Creature, puppet: Puppet, act: Act, phase: Array, style: Style
) -> tuple[Posed, list[FootPath]]:
    """Pose the creature at phases of the act, 0..1 for one performance."""
    act = styled(act, style)
    skin = GroundSkin.of(creature, puppet)
    if act.reach is not None:
        act = act.scaled(_reach(creature, puppet, skin, act, act.reach, style))
    return _pose(creature, puppet, skin, act, _warped(act, phase, style), style)


def _warped(act: Act, phase: Array, style: Style) -> Array:
    """Phases hurried at one end and slowed at the other."""
    turn = np.floor(phase) if act.loop or not act.holds else 0.0
    within = phase - turn if act.loop or not act.holds else np.clip(phase, 0.0, 1.0)
    if not act.loop and not act.holds:
        # The last frame of a repetition is its end, not the beginning of the next.
        within = np.where((within == 0.0) & (phase > 0.0), 1.0, within)
    within = within + 0.05 * style.emphasis * np.sin(2 * np.pi * within)
    return 1.0 - within if act.backwards else within


def _pose(
    creature: Creature, puppet: Puppet, skin: GroundSkin, act: Act, phase: Array, style: Style
) -> tuple[Posed, list[FootPath]]:
    hip = hip_height(creature)
    turns = _turns(creature, puppet, act, phase, style)
    hind, fore = (act.shift(end, phase) + act.shift("drop", phase) for end in ("hind", "fore"))
    length = max(puppet.place(_front(puppet))[2] - puppet.place("pelvis")[2], 1e-3)
    tilt = np.arcsin(np.clip(hip * (fore - hind) / length, -0.95, 0.95))
    roll = turn_z(np.radians(act.shift("roll", phase)))
    turns["pelvis"] = roll @ turn_x(tilt) @ turns["pelvis"]
    still = 0.012 + style.crouch
    body = BodyPath(
        x=np.zeros_like(phase), z=np.zeros_like(phase),
        heading=np.radians(act.shift("turn", phase)), turns=turns,
        sway=hip * act.shift("sway", phase), surge=hip * act.shift("surge", phase),
        rise=-hip * (0.5 * (hind + fore) + still),
    )  # fmt: skip
    lift = raised = sunk = np.zeros_like(phase)
    tuck = act.shift("tuck", phase)
    feet = _feet(puppet, act, phase, body, lift, tuck, roll, hip)
    posed = pose_body(puppet, body, feet, drop=(0.0, 0.0), correction=lift)
    for _ in range(_ROUNDS):
        need = np.maximum(np.max(missing_reach(puppet, posed, feet), axis=0, initial=0.0), 0.0)
        depth = -skin.lowest(posed)
        # The ground raises the body as far as it must; long legs lower it where they need to.
        raised = np.maximum(raised + depth, 0.0)
        lift = raised - (sunk := sunk + need)
        feet = _feet(puppet, act, phase, body, lift, tuck, roll, hip)
        posed = pose_body(puppet, body, feet, drop=(0.0, 0.0), correction=lift)
    # What is left of the depth goes where no foot stands.
    free = ~np.any([path.contact for path in feet], axis=0)
    posed.position[:, 1:, 1] += np.where(free, np.maximum(-skin.lowest(posed), 0.0), 0.0)[:, None]
    return posed, feet


def _front(puppet: Puppet) -> str:
    return "neck_1" if "neck_1" in puppet.index else "head"


def _turns(creature: Creature, puppet: Puppet, act: Act, phase: Array, style: Style) -> Turns:
    """Breathing and the act's own rotations."""
    breaths = max(1, round(act.seconds / standing_period(creature)))
    turns = standing_turns(creature, puppet, style, 2 * np.pi * breaths * phase, calm=0.3)
    angles: dict[str, dict[str, Array]] = {}
    for row in act.names():
        part, _, axis = row.partition(".")
        for joint, name, share, sign in _joints(puppet, part):
            value = share * np.radians(act.angle(row, phase, joint))
            flip = sign if axis in AXES[1:] else 1.0
            into = angles.setdefault(name, dict.fromkeys(AXES, np.zeros_like(phase)))
            into[axis] = into[axis] + flip * value
    for name, turn in angles.items():
        rest = turns.get(name, np.eye(3))
        turns[name] = bend(turn["pitch"], turn["yaw"], turn["roll"]) @ rest
    return turns


def _joints(puppet: Puppet, part: str) -> list[tuple[int, str, float, float]]:
    """Joints that a part stands for: number in the chain, name, share of the angle, side."""
    if part in _CHAINS:
        names = chain(puppet.names, part)
        return [(i, name, 1.0 / len(names), 1.0) for i, name in enumerate(names)]
    if part in puppet.index:
        return [(0, part, 1.0, -1.0 if part.startswith("right_") else 1.0)]
    pair = (("left", 1.0), ("right", -1.0))
    return [(0, f"{s}_{part}", 1.0, sign) for s, sign in pair if f"{s}_{part}" in puppet.index]


def _feet(
    puppet: Puppet, act: Act, phase: Array, body: BodyPath, lift: Array, tuck: Array, roll: Array,
    hip: float,
) -> list[FootPath]:  # fmt: skip
    """Feet on their marks, off the ground where the act lifts them, or carried by the trunk."""
    middle = 0.5 * (puppet.place("pelvis") + puppet.place(_front(puppet)))
    middle = middle * (0.0, 1.0, 1.0)
    up = body.rise + lift
    centre = middle + np.stack((body.sway, up, body.surge), axis=-1)
    paths = []
    for foot in puppet.feet:
        name = foot.name
        raised, ahead, side = (hip * act.foot(name, k, phase) for k in ("up", "ahead", "side"))
        pitch, fold = (np.radians(act.foot(name, k, phase)) for k in ("pitch", "fold"))
        raised = np.maximum(raised, 0.0)
        contact = (raised < 1e-6) & (tuck < 1e-6)
        toes = pitch
        if foot.leg.kind == "plantigrade":
            # On the ground only the heel rises; in the air the toes go with the foot.
            fold, toes = pitch, pitch * np.clip(raised / (0.05 * hip), 0.0, 1.0)
        roll_on, height = foot.sole.joint(toes)
        stand = puppet.place(foot.leg.toes)
        planted = np.stack(
            (
                stand[0] + foot.leg.side * side,
                height + raised,
                stand[2] + ahead + np.where(contact, roll_on, 0.0),
            ),
            axis=-1,
        )
        drawn = puppet.place(foot.leg.upper) + 0.72 * (stand - puppet.place(foot.leg.upper))
        drawn = drawn + np.stack((np.zeros_like(ahead), raised, ahead), axis=-1)
        carried = centre + (roll @ (drawn - middle)[..., None])[..., 0]
        target = planted + tuck[:, None] * (carried - planted)
        frame = roll if (tuck > 0.0).any() else None
        paths.append(FootPath(target, np.zeros_like(phase), toes, fold, contact, frame))
    return paths


@dataclass(frozen=True)
class GroundSkin:
    """Some of the vertices, to find what would sink into the ground."""

    offset: Array
    """From the joints to the vertices in the bind pose, [P, K, 3]."""
    joints: NDArray[np.integer]
    """[P, K]."""
    weights: Array

    @classmethod
    def of(cls, creature: Creature, puppet: Puppet) -> GroundSkin:
        """Choose the vertices."""
        skin = creature.mesh.skin
        points = creature.mesh.vertices.double().numpy()
        rows = slice(None, None, max(1, len(points) // _MOST_POINTS))
        joints, weights = skin.bones.numpy()[rows], skin.weights.double().numpy()[rows]
        return cls(points[rows][:, None] - puppet.bind[joints], joints, weights)

    def heights(self, posed: Posed, only: int | None = None) -> Array:
        """Heights of the vertices [T, P], of one joint's own ones where asked."""
        rows = slice(None)
        if only is not None:
            rows = np.flatnonzero(np.where(self.joints == only, self.weights, 0.0).sum(1) > 0.5)
        joints, weights = self.joints[rows], self.weights[rows]
        up = np.einsum("tpki,pki->tpk", posed.rotation[:, joints, 1], self.offset[rows])
        return ((up + posed.position[:, joints, 1]) * weights).sum(axis=-1)

    def lowest(self, posed: Posed) -> Array:
        """Height of the lowest vertex, [T]."""
        return self.heights(posed).min(axis=1)


def _reach(
    creature: Creature, puppet: Puppet, skin: GroundSkin, act: Act, reach: Reach, style: Style
) -> float:
    """The factor at which the joint's flesh comes down to the height asked for."""
    if reach.joint not in puppet.index:
        return 1.0
    joint = puppet.index[reach.joint]
    goal = reach.height * hip_height(creature)
    phase = np.linspace(0.0, 1.0, 17)
    low, high = 0.1, reach.most
    for _ in range(9):
        factor = 0.5 * (low + high)
        posed, _ = _pose(creature, puppet, skin, act.scaled(factor), phase, style)
        below = float(skin.heights(posed, joint).min()) < goal
        low, high = (low, factor) if below else (factor, high)
    return 0.5 * (low + high)
