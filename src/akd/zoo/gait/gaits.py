"""Walking, trotting, running, galloping and turning: a gait made into poses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from akd.base.constants import GRAVITY
from akd.zoo.creature import Creature
from akd.zoo.gait.body import BodyPath, missing_reach, settle_body
from akd.zoo.gait.carriage import Carriage, carry
from akd.zoo.gait.footfalls import Gait, gait_of, hip_height, speed_and_period, stride_place
from akd.zoo.gait.legs import FootPath, LegShape
from akd.zoo.gait.puppet import Posed, Puppet
from akd.zoo.gait.rhythm import Rhythm
from akd.zoo.gait.strides import Route, StepStyle, walk_path
from akd.zoo.gait.style import Style
from akd.zoo.gait.variants import variant_of
from akd.zoo.mesh.shapes import Array
from akd.zoo.species.parameters import (
    Arthropod,
    Fish,
    Humanoid,
    Parameters,
    Quadruped,
    Serpent,
    Theropod,
)


@dataclass(frozen=True)
class GaitPlan:
    """A gait for one creature: timing, route, steps and carriage, before frames are made."""

    gait: Gait
    period: float
    """Duration of a stride, seconds."""
    route: Route
    steps: dict[str, StepStyle]
    """By `fore` or `hind` for quadrupeds, `leg` for bipeds."""
    carriage: Carriage
    rhythm: Rhythm
    crouch: float
    """Least lowering of the body, over hip height."""

    def feet(self, puppet: Puppet, phase: Array) -> list[FootPath]:
        """Paths of all feet at phases of the stride."""
        return [
            walk_path(
                puppet, foot, self.gait, self.steps[foot.name.split("_")[1]], self.route,
                phase=phase, period=self.period,
            )
            for foot in puppet.feet
        ]  # fmt: skip

    def body(self, puppet: Puppet, phase: Array) -> BodyPath:
        """Path of the trunk at phases of the stride."""
        x, z, heading = self.route.at(phase * self.period)
        turns = carry(puppet, self.rhythm, self.carriage, phase, period=self.period)
        load = self.rhythm.hind_load
        peak = max(float(np.abs(load.coefficients).sum()), 1e-9)
        sway = self.carriage.sway * load(phase) / peak
        return BodyPath(x, z, heading, turns, sway, np.zeros_like(x), self.rhythm.bob(phase))


def plan_gait(creature: Creature, puppet: Puppet, action: str, style: Style) -> GaitPlan:
    """Choose speed, stride and manner, and shorten the stride until the legs can take it."""
    velocity, period = speed_and_period(creature, action, speed=style.speed)
    sinking = _most_drop(puppet) * hip_height(creature)
    plan, drop = _try_plan(creature, puppet, action, style, velocity, period)
    for _ in range(7):
        if drop <= sinking:
            break
        period *= 0.92
        plan, drop = _try_plan(creature, puppet, action, style, velocity, period)
    return plan


def _try_plan(
    creature: Creature, puppet: Puppet, action: str, style: Style, velocity: float, period: float
) -> tuple[GaitPlan, float]:
    """A plan with its feet placed well, and how far the body must sink for it, metres."""
    gait = gait_of(creature, action)
    plan = _plan(creature, puppet, gait, action, style, velocity, period)
    phase = np.arange(40) / 40.0
    drop = 0.0
    for _ in range(4):
        body = plan.body(puppet, phase)
        feet = plan.feet(puppet, phase)
        posed, (hind, fore) = settle_body(puppet, body, feet, rounds=2)
        drop = max(hind, fore)
        plan = _balance(plan, puppet, posed, feet, phase)
    return plan, drop


def _most_drop(puppet: Puppet) -> float:
    """How far the body may sink for the sake of long strides, over hip height: creatures that stand
    on bent legs may sink further than those that stand on pillars."""
    slack = []
    for foot in puppet.feet:
        shape = LegShape.of(puppet, foot.leg)
        end = foot.leg.foot if foot.leg.kind == "plantigrade" else foot.leg.toes
        standing = puppet.length(foot.leg.upper, end)
        slack.append(1.0 - standing / float(shape.reach(np.zeros(1))[0]))
    return float(np.clip(0.055 + 0.55 * np.mean(slack), 0.055, 0.11))


def _balance(
    plan: GaitPlan, puppet: Puppet, posed: Posed, feet: list[FootPath], phase: Array
) -> GaitPlan:
    """Shift where feet are planted, so that a leg is stretched as much when its foot comes down as
    when it leaves the ground."""
    early: dict[str, float] = {}
    late: dict[str, float] = {}
    needs = missing_reach(puppet, posed, feet)
    for foot, need in zip(puppet.feet, needs, strict=True):
        _, since = stride_place(plan.gait, foot.name, phase)
        first = since < 0.5 * plan.gait.duty_of(foot.name)
        end = foot.name.split("_")[1]
        early[end] = max(early.get(end, -np.inf), float(need[first].max()))
        late[end] = max(late.get(end, -np.inf), float(need[~first].max()))
    travel = abs(plan.route.speed) * plan.period * plan.gait.duty
    steps = {}
    for end, step in plan.steps.items():
        way = float(np.sign(plan.route.speed))
        shift = step.ahead - 1.1 * way * step.balance * (early[end] - late[end])
        steps[end] = replace(step, ahead=float(np.clip(shift, -0.30 * travel, 0.12 * travel)))
    return replace(plan, steps=steps)


def with_period(plan: GaitPlan, creature: Creature, puppet: Puppet, period: float) -> GaitPlan:
    """The same gait with a slightly different stride duration (to fit whole frames)."""
    return replace(plan, period=period, rhythm=_rhythm(creature, puppet, plan.gait, period))


def pose_gait(
    plan: GaitPlan, creature: Creature, puppet: Puppet, phase: Array
) -> tuple[Posed, list[FootPath]]:
    """Pose the creature at phases of the stride, which must cover whole strides."""
    feet = plan.feet(puppet, phase)
    body = plan.body(puppet, phase)
    posed, _ = settle_body(puppet, body, feet, least_drop=plan.crouch * hip_height(creature))
    return posed, feet


def _rhythm(creature: Creature, puppet: Puppet, gait: Gait, period: float) -> Rhythm:
    trunk, fore = 1.0, 0.5
    if isinstance(creature.parameters, Quadruped):
        trunk = puppet.place("left_fore_upper")[2] - puppet.place("left_hind_upper")[2]
        fore = creature.parameters.manner.weight_fore
    rhythm = Rhythm.of(gait, period, weight_fore=fore, trunk=float(trunk))
    if not gait.runs:
        # A slow stride would let the forces raise the body further than walkers let them.
        rhythm = replace(rhythm, bob=rhythm.bob.at_most(0.022 * hip_height(creature)))
    return rhythm


def _plan(
    creature: Creature,
    puppet: Puppet,
    gait: Gait,
    action: str,
    style: Style,
    velocity: float,
    period: float,
) -> GaitPlan:
    parameters = creature.parameters
    hip = hip_height(creature)
    match parameters:
        case Quadruped():
            steps, carriage = _quadruped(parameters, gait.name, hip)
        case Humanoid():
            steps, carriage = _humanoid(parameters, gait.name, hip)
        case Theropod():
            steps, carriage = _theropod(parameters, gait.name, hip)
        case Arthropod():
            steps, carriage = _arthropod(parameters, hip)
        case Serpent() | Fish():
            raise ValueError(f"action {action}: a {creature.name} has no legs")
    drift = 0.0
    if gait.name == "scuttle" and _sideways(parameters):
        drift = (-0.5 if style.mirrored else 0.5) * np.pi
    steps = {name: replace(s, lift=s.lift * style.lift) for name, s in steps.items()}
    turning = 0.0
    if action.startswith("turn_"):
        sign = 1.0 if action == "turn_left" else -1.0
        radius = _turning_circle(creature) / style.tightness
        turning = sign * velocity / radius
        body = creature.mesh.vertices[:, 2]
        bow = float(body.max() - body.min()) / radius
        carriage = replace(
            carriage,
            curve=sign * float(np.degrees(np.clip(0.35 * bow, 0.0, 0.45))),
            bank=-sign * float(np.degrees(np.arctan(velocity**2 / (radius * GRAVITY)))) * 0.6,
        )
    crouch = style.crouch
    variant = variant_of(creature.plan, action)
    if variant is not None:
        steps = {name: variant.step(s) for name, s in steps.items()}
        carriage, crouch = variant.carriage(carriage), crouch + variant.crouch
    carriage = style.applied(carriage)
    rhythm = _rhythm(creature, puppet, gait, period)
    return GaitPlan(gait, period, Route(velocity, turning, drift), steps, carriage, rhythm, crouch)


def _turning_circle(creature: Creature) -> float:
    """Radius of a comfortable turn, metres."""
    radii = {"quadruped": 4.2, "humanoid": 2.6, "theropod": 3.0, "arthropod": 9.0}
    return radii[creature.plan] * hip_height(creature)


def _quadruped(p: Quadruped, gait: str, hip: float) -> tuple[dict[str, StepStyle], Carriage]:
    m = p.manner
    lift = m.lift * hip
    soft = m.supple
    match gait:
        case "walk" | "amble":
            fore = StepStyle(lift, peel=38, droop=60, fold=58, narrow=0.82)
            hind = StepStyle(0.85 * lift, peel=34, droop=50, fold=20, narrow=0.85)
            carriage = Carriage(
                pelvis_roll=2.0 + 2.0 * soft, pelvis_yaw=2.0 + 4.0 * soft,
                chest_roll=1.0 + 1.5 * soft, chest_yaw=1.0 + 3.0 * soft, most_pitch=1.0,
                nod=np.degrees(m.nod), sway=0.012 * hip,
            )  # fmt: skip
        case "trot":
            fore = StepStyle(1.45 * lift, peel=40, droop=68, fold=80, narrow=0.62)
            hind = StepStyle(1.3 * lift, peel=38, droop=58, fold=26, narrow=0.66)
            carriage = Carriage(
                pelvis_roll=1.5, pelvis_yaw=2.0 + 2.5 * soft, chest_roll=1.0,
                chest_yaw=1.5 + 2 * soft, most_pitch=1.0, neck=-4.0, tail=8.0,
            )  # fmt: skip
        case _:
            fore = StepStyle(1.9 * lift, peel=40, droop=72, fold=92, narrow=0.55)
            hind = StepStyle(1.7 * lift, peel=40, droop=64, fold=28, narrow=0.70)
            carriage = Carriage(
                pelvis_roll=1.5, pelvis_yaw=1.5, chest_roll=1.0, chest_yaw=1.0, most_pitch=6.0,
                flexion=5.0 + 17.0 * soft, neck=14.0, tail=22.0,
            )  # fmt: skip
    if p.fore_foot.kind == "pad":
        # Round feet on pillars hardly roll or fold.
        fore, hind = (
            replace(s, peel=0.45 * s.peel, droop=0.40 * s.droop, fold=0.45 * s.fold)
            for s in (fore, hind)
        )
    return {"fore": fore, "hind": hind}, carriage


def _humanoid(p: Humanoid, gait: str, hip: float) -> tuple[dict[str, StepStyle], Carriage]:
    lift = p.manner.lift * hip
    if gait == "walk":
        step = StepStyle(
            lift, peel=24, droop=0, fold=0, narrow=0.72, early=0.8, heel=-18, heel_off=58,
            ahead=-0.10 * hip,
        )  # fmt: skip
        return {"leg": step}, Carriage(
            pelvis_roll=3.5, pelvis_yaw=5.0, chest_yaw=5.0, lean=2.0, sway=0.020 * hip,
            arm_swing=22, elbow=10,
        )  # fmt: skip
    step = StepStyle(
        5.5 * lift, peel=30, droop=0, fold=0, narrow=0.45, early=0.76, heel=-6, heel_off=66,
        ahead=-0.22 * hip,
    )  # fmt: skip
    return {"leg": step}, Carriage(
        pelvis_roll=3.5, pelvis_yaw=7.0, chest_yaw=8.0, lean=8.0, sway=0.008 * hip, arm_swing=34,
        elbow=68,
    )  # fmt: skip


def _sideways(p: Parameters) -> bool:
    """Whether it runs sideways: crabs do."""
    return isinstance(p, Arthropod) and p.claw > 0.0


def _arthropod(p: Arthropod, hip: float) -> tuple[dict[str, StepStyle], Carriage]:
    # Feet are points: they neither peel nor roll. A foot is placed as far ahead as behind.
    step = StepStyle(p.manner.lift * hip, peel=0, droop=0, fold=0, balance=0.0)
    steps = {f"leg{i + 1}": step for i in range(len(p.azimuths))}
    return steps, Carriage(pelvis_roll=0.0, pelvis_yaw=0.0, most_pitch=0.5, tail_swing=0.3)


def _theropod(p: Theropod, gait: str, hip: float) -> tuple[dict[str, StepStyle], Carriage]:
    lift = p.manner.lift * hip
    if gait == "walk":
        step = StepStyle(lift, peel=38, droop=62, fold=26, narrow=0.66)
        return {"leg": step}, Carriage(
            pelvis_roll=2.5, pelvis_yaw=4.0, chest_yaw=2.0, sway=0.022 * hip, nod=1.2,
            tail_swing=1.4,
        )  # fmt: skip
    step = StepStyle(1.7 * lift, peel=42, droop=72, fold=32, narrow=0.45)
    return {"leg": step}, Carriage(
        pelvis_roll=2.5, pelvis_yaw=5.0, chest_yaw=2.5, lean=4.0, sway=0.010 * hip, neck=6.0,
        tail_swing=1.6,
    )  # fmt: skip
