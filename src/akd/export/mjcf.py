"""MJCF of a simulated body, for MuJoCo and for Newton.

MuJoCo is Z up: a vector (x, y, z) here becomes (x, -z, y) there. Joints are three hinges in the
order of the control angles, with position servos, so that `ctrl` is the body's own targets and
`qpos`, after the free joint, its angles, part by part in the order of `file_order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.files import write_text
from akd.math import quaternion
from akd.physics.body import Body, Coordinates, State
from akd.physics.parameters import Parameters

HALF = 0.5**0.5
ZUP_FROM_YUP = (HALF, HALF, 0.0, 0.0)
"""The quarter turn about x that takes our axes to MuJoCo's, wxyz."""
AXIS_NAMES = ("flexion", "abduction", "twist")
ASSIST = "root_assist"
"""Custom numeric field of the file: stiffness (N m/rad), damping (N m s/rad) and limit (N m) of the
root assist torque, which MuJoCo does not know."""
NEAR_GROUND = 0.04
"""Parts this near to the lowest one, as a share of body height, may carry weight in `stand`."""


def zup_from_yup(vectors: Float[Tensor, "*b 3"]) -> Float[Tensor, "*b 3"]:
    """Turn vectors or points from Y up to Z up."""
    x, y, z = vectors.unbind(-1)
    return torch.stack((x, -z, y), dim=-1)


def write_mjcf(
    body: Body,
    parameters: Parameters,
    path: str | Path,
    *,
    name: str = "body",
    clip: tuple[State, Float[Tensor, "D 3"]] | None = None,
) -> None:
    """Write a body standing on the floor, with position servos and keyframes.

    Args:
        body: The simulated body.
        parameters: Gains, friction and time step.
        path: The file.
        name: Of the model.
        clip: State and joint targets at the start of a tracked clip, for a keyframe `clip` beside
            `stand`.
    """
    write_text(Path(path), mjcf_text(body, parameters, name=name, clip=clip))


def mjcf_text(
    body: Body,
    parameters: Parameters,
    *,
    name: str = "body",
    clip: tuple[State, Float[Tensor, "D 3"]] | None = None,
) -> str:
    """The text of the MJCF file; arguments as for `write_mjcf`."""
    mujoco = ET.Element("mujoco", model=name)
    _add_options(mujoco, parameters)
    # The neutral pose of a skeleton may be anywhere: the file's stands on the floor.
    lift = zup_from_yup(torch.tensor((0.0, -float(body.corners[..., 1].min()), 0.0)).double())
    pivots = zup_from_yup(body.pivots)
    actuators = _add_parts(_add_world(mujoco, parameters), body, parameters, pivots, lift)
    if len(actuators):
        mujoco.append(actuators)
    keyframe = ET.SubElement(mujoco, "keyframe")
    stand = torch.cat((pivots[0] + lift, pivots.new_tensor((1.0, 0.0, 0.0, 0.0))))
    angles, none = torch.zeros(3 * len(body) - 3), torch.zeros(3 * len(body) + 3)
    targets = mujoco_controls(body, _standing_targets(body, parameters))
    _add_key(keyframe, "stand", torch.cat((stand, angles)), none, targets)
    if clip is not None:
        state, targets = clip
        qpos, qvel = mujoco_position(body, state), mujoco_velocity(body, state)
        _add_key(keyframe, "clip", qpos, qvel, mujoco_controls(body, targets))
    ET.indent(mujoco)
    return ET.tostring(mujoco, encoding="unicode") + "\n"


def _standing_targets(body: Body, p: Parameters) -> Float[Tensor, "D 3"]:
    """Joint targets (rad) that hold neck, tail and arms in the neutral pose against gravity: of
    joints that no part near the ground hangs on. What legs carry depends on how they stand, and
    their targets are zero."""
    ground = body.corners[..., 1]
    rests = ((ground.amin(-1) - ground.min()) < NEAR_GROUND * body.height).tolist()
    masses, moments = body.masses.clone(), body.masses[:, None] * body.centres
    for part in reversed(range(1, len(body))):
        parent = body.parents[part]
        rests[parent] |= rests[part]
        masses[parent] += masses[part]
        moments[parent] += moments[part]
    # The torque of the weight of all that hangs on a joint, about its axes.
    arms = moments - masses[:, None] * body.pivots
    torques = torch.linalg.cross(arms, arms.new_tensor(p.gravity).expand_as(arms))
    targets = -(body.axes @ torques[..., None])[..., 0] / p.stiffness
    return targets.masked_fill(torch.tensor(rests)[:, None], 0.0)[1:]


def _add_options(mujoco: ET.Element, p: Parameters) -> None:
    # Every body states its inertia; joints may turn without limit.
    ET.SubElement(mujoco, "compiler", angle="radian", autolimits="true")
    # An elliptic cone with stiff friction: feet that stand must not creep.
    ET.SubElement(
        mujoco, "option", timestep=_number(p.step), integrator="implicitfast", cone="elliptic",
        impratio="10",
        gravity=_numbers(zup_from_yup(torch.tensor(p.gravity, dtype=torch.float64))),
    )  # fmt: skip
    assist = (p.assist_stiffness, p.assist_damping, p.assist_limit)
    custom = ET.SubElement(mujoco, "custom")
    ET.SubElement(custom, "numeric", name=ASSIST, data=" ".join(map(_number, assist)))


def _add_world(mujoco: ET.Element, p: Parameters) -> ET.Element:
    """Defaults of the parts' boxes, and the world with its floor and light."""
    friction = f"{_number(p.friction)} 0.005 0.0001"
    # The parts touch the ground, and not each other.
    ET.SubElement(
        ET.SubElement(mujoco, "default"), "geom", contype="1", conaffinity="0", condim="3",
        friction=friction, solref=f"{_number(max(0.005, 2.5 * p.step))} 1",
    )  # fmt: skip
    world = ET.SubElement(mujoco, "worldbody")
    ET.SubElement(
        world, "geom", name="ground", type="plane", size="0 0 1", contype="0", conaffinity="1",
        friction=friction,
    )  # fmt: skip
    ET.SubElement(world, "light", pos="0 0 5", dir="0 0 -1", directional="true")
    return world


def _add_parts(
    world: ET.Element, body: Body, p: Parameters, pivots: Tensor, lift: Tensor
) -> ET.Element:
    """Add the parts, each below its parent, and return the servos of their joints."""
    labels, actuators = unique_names(body.names), ET.Element("actuator")
    elements: list[ET.Element] = []
    for i, parent in enumerate(body.parents):
        above = world if parent < 0 else elements[parent]
        place = pivots[i] + lift if parent < 0 else pivots[i] - pivots[parent]
        element = ET.SubElement(above, "body", name=labels[i], pos=_numbers(place))
        elements.append(element)
        if parent < 0:
            ET.SubElement(element, "freejoint", name="root")
        else:
            for axis, what in zip(zup_from_yup(body.axes[i]), AXIS_NAMES, strict=True):
                joint = f"{labels[i]}_{what}"
                ET.SubElement(
                    element, "joint", name=joint, type="hinge", axis=_numbers(axis),
                    armature=_number(p.armature),
                )  # fmt: skip
                ET.SubElement(
                    actuators, "position", name=joint, joint=joint, kp=_number(p.stiffness),
                    kv=_number(p.damping),
                )  # fmt: skip
        centre = _numbers(zup_from_yup(body.centres[i] - body.pivots[i]))
        ET.SubElement(
            element, "inertial", pos=centre, mass=_number(float(body.masses[i])),
            fullinertia=_numbers(_upper(_turned(body.inertias[i]))),
        )  # fmt: skip
        orientation = quaternion.multiply(
            body.orientations.new_tensor(ZUP_FROM_YUP), body.orientations[i]
        )
        ET.SubElement(
            element, "geom", name=labels[i], type="box", pos=centre, quat=_numbers(orientation),
            size=_numbers(body.half_extents[i]),
        )  # fmt: skip
    return actuators


def _add_key(parent: ET.Element, name: str, qpos: Tensor, qvel: Tensor, ctrl: Tensor) -> None:
    ET.SubElement(
        parent, "key", name=name, qpos=_numbers(qpos), qvel=_numbers(qvel), ctrl=_numbers(ctrl)
    )


def file_order(body: Body) -> list[int]:
    """The parts in the order of the file, which is depth first."""
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(body.parents):
        children.setdefault(parent, []).append(i)
    order, stack = [], [0]
    while stack:
        order.append(part := stack.pop())
        stack.extend(reversed(children.get(part, [])))
    return order


def mujoco_controls(body: Body, targets: Float[Tensor, "*b D 3"]) -> Float[Tensor, "*b U"]:
    """`ctrl` of joint targets (rad): the file's order, three numbers per joint."""
    return targets[..., [part - 1 for part in file_order(body)[1:]], :].flatten(-2)


def mujoco_position(body: Body, state: Coordinates) -> Float[Tensor, "*b Q"]:
    """`qpos` of coordinates: root position, root quaternion (wxyz), joint angles."""
    turn = state.rotation.new_tensor(ZUP_FROM_YUP)
    rotation = quaternion.multiply(
        quaternion.multiply(turn, state.rotation), quaternion.conjugate(turn)
    )
    angles = mujoco_controls(body, state.angles)
    return torch.cat((zup_from_yup(state.position), rotation, angles), dim=-1)


def mujoco_velocity(body: Body, state: State) -> Float[Tensor, "*b U"]:
    """`qvel` of a state: linear velocity of the root in the world, its angular velocity in
    its own frame, joint velocities."""
    angular_velocity = quaternion.rotate(
        quaternion.conjugate(state.rotation), state.angular_velocity
    )
    joint_velocity = mujoco_controls(body, state.joint_velocity)
    return torch.cat(
        (zup_from_yup(state.velocity), zup_from_yup(angular_velocity), joint_velocity), dim=-1
    )


def _turned(inertia: Float[Tensor, "3 3"]) -> Float[Tensor, "3 3"]:
    turn = quaternion.to_matrix(inertia.new_tensor(ZUP_FROM_YUP))
    return turn @ inertia @ turn.T


def _upper(m: Float[Tensor, "3 3"]) -> Float[Tensor, "6"]:
    """xx, yy, zz, xy, xz, yz: MuJoCo's order."""
    return torch.stack((m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]))


def unique_names(names: Sequence[str]) -> list[str]:
    """Names of parts, numbered where one comes again, as in the file."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return result


def _number(value: float) -> str:
    return f"{value:.17g}"


def _numbers(values: Tensor) -> str:
    return " ".join(_number(float(v)) for v in values)
