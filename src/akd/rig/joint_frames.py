"""The axes that a joint turns about, from its bone and the body, not from the artist's local axes.

Three axes a joint, as unit vectors in the world of the neutral pose: flexion (across the body),
abduction, and twist (along the bone). The rotation is flexion after abduction after twist. For a
joint on the right, abduction and twist are turned round, so that equal angles on both sides are
mirror images of each other.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from akd.rig.roles.names import Side
from akd.rig.roles.role import LimbKind, Part, Role

UP = np.array([0.0, 1.0, 0.0])


def joint_axes(
    bone: Float[np.ndarray, "3"], role: Role, left: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "3 3"]:
    """Rows: flexion, abduction, twist, for a bone along the unit vector `bone`.

    A hanging arm is the one limb that is raised sideways past the horizontal, which is where
    perpendicular axes lock; its twist axis is tilted inwards by 45 degrees, which moves the lock to
    135 degrees of abduction.
    """
    across = left
    if abs(float(left @ bone)) >= 0.9:
        # As an axis of rotation, left is its own mirror image and up is the opposite of its own.
        across = -UP if role.side is Side.RIGHT else UP
    flexion = across - float(across @ bone) * bone
    flexion /= np.linalg.norm(flexion)
    abduction = np.cross(bone, flexion)
    twist = bone.copy()
    if role.limb is LimbKind.ARM and role.part in (Part.UPPER, Part.GIRDLE):
        outwards = 1.0 if role.side is Side.LEFT else -1.0
        tilt = math.sin(math.pi / 4)
        if abs(float(left @ bone)) < 0.9:
            twist = tilt * (bone - outwards * flexion)
    if role.side is Side.RIGHT:
        abduction, twist = -abduction, -twist
    return np.stack((flexion, abduction, twist))


def root_axes(forward: Float[np.ndarray, "3"], left: Float[np.ndarray, "3"]) -> np.ndarray:
    """Rows: yaw about up, pitch about left, roll about forward."""
    return np.stack((UP, left, forward))
