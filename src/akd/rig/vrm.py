"""Roles that a VRM avatar states for its joints: the humanoid map of VRM 0.x and 1.0."""

from __future__ import annotations

from typing import Any

from akd.asset.asset import Asset
from akd.asset.gltf.fields import as_integer
from akd.rig.role_file import parse_role
from akd.rig.roles.role import Role

_TRUNK = {
    "hips": "pelvis",
    "spine": "spine 1",
    "chest": "spine 2",
    "upperChest": "spine 3",
    "neck": "neck 1",
    "head": "head",
}
_LIMBS = {
    "Shoulder": "arm girdle",
    "UpperArm": "arm upper",
    "LowerArm": "arm lower",
    "Hand": "arm hand",
    "UpperLeg": "leg upper",
    "LowerLeg": "leg lower",
    "Foot": "leg foot",
    "Toes": "leg toes",
}
BONES = _TRUNK | {
    f"{side}{bone}": f"{side} {role}" for side in ("left", "right") for bone, role in _LIMBS.items()
}
"""The words of a role for each of VRM's bones, without fingers, eyes and jaw."""


def vrm_roles(asset: Asset) -> dict[str, Role]:
    """Roles by joint name; empty for a file that is no VRM.

    A bone that is mapped to no node of its own, or to one whose name another node has, is left out.
    """
    if asset.document is None:
        return {}
    extensions = _object(asset.document.json.get("extensions"))
    bones = _object(_object(extensions.get("VRMC_vrm")).get("humanoid")).get("humanBones")
    stated = {name: _object(entry).get("node") for name, entry in _object(bones).items()}
    older = _object(_object(extensions.get("VRM")).get("humanoid")).get("humanBones")
    for entry in older if isinstance(older, list) else ():
        stated.setdefault(str(_object(entry).get("bone")), _object(entry).get("node"))
    names = [node.name for node in asset.nodes]
    roles: dict[str, Role] = {}
    for bone, given in stated.items():
        node = as_integer(given)
        if bone in BONES and node is not None and 0 <= node < len(names):
            name = names[node]
            if names.count(name) == 1 and name not in roles:
                roles[name] = parse_role(BONES[bone])
    return roles


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
