"""`Puppet`: a creature's skeleton as plain arrays, for posing many frames at once in float64.

At rest every joint's axes are the world's, so a joint's world rotation is all that skinning needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from akd.zoo.creature import Creature, Foot
from akd.zoo.shapes import Array

EYE = np.eye(3)


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


def apply(rotation: Array, vector: Array) -> Array:
    """Rotate vectors [..., 3] by matrices [..., 3, 3]."""
    return (rotation @ vector[..., None])[..., 0]


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
        return cls(skeleton.names, skeleton.parents, bind, mass, creature.feet, index)

    def place(self, name: str) -> Array:
        """Bind position of a joint."""
        return self.bind[self.index[name]]

    def offset(self, joint: int) -> Array:
        """Position of a joint from its parent's, in the parent's frame."""
        return self.bind[joint] - self.bind[self.parents[joint]]

    def length(self, upper: str, lower: str) -> float:
        """Distance between two joints in the bind pose, metres."""
        return float(np.linalg.norm(self.place(upper) - self.place(lower)))

    def centre_of_mass(self, rotation: Array, position: Array) -> Array:
        """Centre of mass [T, 3] from world rotations [T, J, 3, 3] and positions [T, J, 3]."""
        amount = self.mass[:, 3]
        local = self.mass[:, :3] - amount[:, None] * self.bind
        moved = np.einsum("tjab,jb->ta", rotation, local)
        return (moved + np.einsum("tja,j->ta", position, amount)) / amount.sum()


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

    def hang(self, puppet: Puppet, joint: int, world: Array) -> None:
        """Hang a joint on its parent with a given world rotation."""
        parent = puppet.parents[joint]
        above = self.rotation[:, parent]
        self.position[:, joint] = self.position[:, parent] + above @ puppet.offset(joint)
        self.rotation[:, joint] = world
