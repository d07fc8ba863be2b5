"""`Puppet`: a creature's skeleton as plain arrays, for posing many frames at once in float64.

At rest every joint's axes are the world's, so a joint's world rotation is all that skinning needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from akd.zoo.creature import Creature, Foot
from akd.zoo.mesh.shapes import Array

EYE = np.eye(3)
LOOSE = {"tail": -1.0, "trunk": 1.0}
"""Chains that hang free, and whether they are lifted backwards or forwards."""


def turn_x(angle: Array | float) -> Array:
    """Rotation about X [..., 3, 3]: positive lowers the nose and raises the tail."""
    return _turn(angle, 1, 2)


def turn_y(angle: Array | float) -> Array:
    """Rotation about Y [..., 3, 3]: positive turns to the left."""
    return _turn(angle, 2, 0)


def turn_z(angle: Array | float) -> Array:
    """Rotation about Z [..., 3, 3]: positive raises the left side."""
    return _turn(angle, 0, 1)


def _turn(angle: Array | float, a: int, b: int) -> Array:
    angle = np.asarray(angle, float)
    sine, cosine = np.sin(angle), np.cos(angle)
    out = np.zeros((*angle.shape, 3, 3))
    out[..., range(3), range(3)] = 1.0
    out[..., a, a] = out[..., b, b] = cosine
    out[..., b, a], out[..., a, b] = sine, -sine
    return out


def bend(pitch: Array | float = 0.0, yaw: Array | float = 0.0, roll: Array | float = 0.0) -> Array:
    """Local rotation from pitch (nose down), yaw (to the left) and roll (left side up)."""
    pitch, yaw, roll = np.broadcast_arrays(pitch, yaw, roll)
    return turn_y(yaw) @ turn_x(pitch) @ turn_z(roll)


def chain(names: Iterable[str], stem: str) -> list[str]:
    """Those of the joints' names that are numbered joints of a chain: `tail_1`, `tail_2`, ..."""
    return [name for name in names if name.startswith(f"{stem}_") and name[-1].isdigit()]


@dataclass(frozen=True)
class Puppet:
    """A skeleton ready to be posed."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    """Parents come before their children."""
    bind: Array
    """Joint positions in the bind pose, [J, 3]."""
    mass: Array
    """See `Creature.mass`."""
    feet: tuple[Foot, ...]
    thickness: Array
    """How far the flesh of each joint reaches from the line to its next joint, [J], metres."""
    tips: dict[str, Array]
    """For the last joint of each loose chain (tail, elephant's trunk), where its flesh ends, from
    the joint in the bind pose."""
    index: dict[str, int] = field(repr=False)

    @classmethod
    def of(cls, creature: Creature) -> Puppet:
        """Read a creature's skeleton."""
        skeleton = creature.skeleton
        offsets = skeleton.rest.translation.double().numpy()
        bind = np.zeros_like(offsets)
        for joint, parent in enumerate(skeleton.parents):
            bind[joint] = offsets[joint] + (bind[parent] if parent >= 0 else 0.0)
        index = {name: i for i, name in enumerate(skeleton.names)}
        mass = creature.mass.double().numpy()
        thickness, tips = _loose_ends(creature, bind, index)
        return cls(
            skeleton.names, skeleton.parents, bind, mass, creature.feet, thickness, tips, index
        )

    def place(self, name: str) -> Array:
        """Bind position of a joint."""
        return self.bind[self.index[name]]

    def offset(self, joint: int) -> Array:
        """Position of a joint from its parent's, in the parent's frame."""
        return self.bind[joint] - self.bind[self.parents[joint]]

    def length(self, upper: str, lower: str) -> float:
        """Distance between two joints in the bind pose, metres."""
        return float(np.linalg.norm(self.place(upper) - self.place(lower)))

    @property
    def rest_height(self) -> float:
        """Height of the centre of mass in the bind pose, metres."""
        return float(self.mass[:, 1].sum() / self.mass[:, 3].sum())

    def centre_of_mass(self, rotation: Array, position: Array) -> Array:
        """Centre of mass [T, 3] from world rotations [T, J, 3, 3] and positions [T, J, 3]."""
        amount = self.mass[:, 3]
        local = self.mass[:, :3] - amount[:, None] * self.bind
        moved = np.einsum("tjab,jb->ta", rotation, local)
        return (moved + np.einsum("tja,j->ta", position, amount)) / amount.sum()


def _loose_ends(
    creature: Creature, bind: Array, index: dict[str, int]
) -> tuple[Array, dict[str, Array]]:
    """Thickness of the flesh on the joints of loose chains, and where those chains end."""
    thickness, tips = np.zeros(len(bind)), {}
    skin = creature.mesh.skin
    vertices = creature.mesh.vertices.double().numpy()
    owner = skin.bones[:, 0].numpy()
    for stem in LOOSE:
        joints = [index[name] for name in chain(index, stem)]
        for i, joint in enumerate(joints):
            flesh = vertices[owner == joint] - bind[joint]
            last = i == len(joints) - 1
            along = bind[joint] - bind[joints[i - 1]] if last else bind[joints[i + 1]] - bind[joint]
            if len(flesh) == 0 or np.linalg.norm(along) < 1e-9:
                continue
            way = along / np.linalg.norm(along)
            if last:
                tips[creature.skeleton.names[joint]] = way * float((flesh @ way).max())
            across = flesh - (flesh @ way)[:, None] * way
            thickness[joint] = float(np.linalg.norm(across, axis=1).max())
    return thickness, tips


@dataclass
class Posed:
    """World rotations and positions of all joints over time."""

    rotation: Array
    """[T, J, 3, 3]."""
    position: Array
    """[T, J, 3], metres."""

    @classmethod
    def empty(cls, puppet: Puppet, frames: int) -> Posed:
        """Every joint unturned at the origin."""
        joints = len(puppet.names)
        rotation = np.broadcast_to(EYE, (frames, joints, 3, 3)).copy()
        return cls(rotation, np.zeros((frames, joints, 3)))

    def follow(self, puppet: Puppet, joint: int, local: Array | None = None) -> None:
        """Hang a joint on its parent, turned by `local` [T, 3, 3] relative to it."""
        parent = puppet.parents[joint]
        above = self.rotation[:, parent]
        self.position[:, joint] = self.position[:, parent] + above @ puppet.offset(joint)
        self.rotation[:, joint] = above if local is None else above @ local

    def keep_off_ground(self, puppet: Puppet) -> None:
        """Lift loose chains (tail, elephant's trunk) about their root where they would touch."""
        for stem, way in LOOSE.items():
            joints = [puppet.index[name] for name in chain(puppet.names, stem)]
            end = puppet.tips.get(puppet.names[joints[-1]]) if joints else None
            if end is not None:
                self._lift(puppet, joints, end, way)

    def _lift(self, puppet: Puppet, joints: list[int], end: Array, way: float) -> None:
        root = self.position[:, joints[0]]
        heading = self.rotation[:, puppet.index["root"]]
        thick = puppet.thickness[[*joints[1:], joints[-1]]]
        for _ in range(2):
            tip = self.position[:, joints[-1]] + self.rotation[:, joints[-1]] @ end
            points = np.concatenate((self.position[:, joints[1:]], tip[:, None]), axis=1)
            points = (points - root[:, None]) @ heading
            clear = root[:, 1:2] + points[..., 1] - thick - 0.02 * puppet.bind[:, 1].max()
            below, out = -points[..., 1], np.maximum(way * points[..., 2], 0.0)
            size = np.hypot(below, out).clip(1e-9)
            # Lifting begins a little before it must, so that it never jerks.
            margin = 0.15 * size.max()
            near = np.clip(margin - clear, 0.0, 2.0 * margin)
            raised = np.where(clear < -margin, -clear, near**2 / (4.0 * margin))
            lowered = np.clip((below - raised) / size, -1.0, 1.0)
            angle = (np.arctan2(below, out) - np.arcsin(lowered)).max(axis=1)
            angle = np.where(angle > 1e-9, angle, 0.0)
            if not (angle > 0.0).any():
                return
            turn = heading @ turn_x(-way * angle) @ np.swapaxes(heading, -1, -2)
            self.rotation[:, joints] = turn[:, None] @ self.rotation[:, joints]
            moved = self.position[:, joints] - root[:, None]
            self.position[:, joints] = root[:, None] + moved @ np.swapaxes(turn, -1, -2)

    def hang(self, puppet: Puppet, joint: int, world: Array) -> None:
        """Hang a joint on its parent with a given world rotation."""
        parent = puppet.parents[joint]
        above = self.rotation[:, parent]
        self.position[:, joint] = self.position[:, parent] + above @ puppet.offset(joint)
        self.rotation[:, joint] = world
