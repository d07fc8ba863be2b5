"""How high bodies fly."""

from __future__ import annotations

from akd.rig.character import Character
from akd.rig.control import ControlRig
from akd.rig.roles.role import LimbKind

_ABOVE = 0.55
"""Altitude over wing span, as of the zoo's birds: wings beat clear of the ground."""


def flight_altitude(character: Character, rig: ControlRig) -> float:
    """Metres above the neutral pose's height at which a body flies, by its wings spread out.

    They may be folded in the neutral pose, so their joints are measured along the wings. A body
    without wings flies at its own height.
    """
    reach = 0.0
    for limb in character.anatomy.limbs:
        if limb.kind is LimbKind.WING:
            points = rig.neutral_world[list(limb.joints), :3, 3]
            reach = max(reach, float((points[1:] - points[:-1]).norm(dim=-1).sum()))
    mesh, left = character.body_mesh, rig.root_axes[1]
    width = 0.0
    if mesh is not None and reach:
        across = mesh.pose(rig.neutral_world) @ left.to(mesh.vertices)
        width = float(across.max() - across.min())
    return _ABOVE * max(width, 2.0 * reach) or character.height
