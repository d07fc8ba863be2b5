"""Which vertices are a weapon, a hat or a cape: they follow the body, and are not part of it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

from akd.rig.mesh import SkinnedMesh
from akd.rig.roles import names
from akd.rig.skeleton import Skeleton

_SLOTS = {"slot", "handslot", "socket", "attach"}
_MOST = 0.6
"""What would leave less than the rest of the vertices for the body is the body."""


def find_props(
    skeleton: Skeleton,
    mesh: SkinnedMesh,
    is_joint: Bool[np.ndarray, "J"],
    carriers: Int[np.ndarray, "J"],
) -> Bool[np.ndarray, "V"]:
    """Vertices of props.

    A joint is a prop's where its name says so. A rigid piece that hangs on a joint of a skin is one
    where its name says so, where it hangs in a slot, or where that joint has skin of its own.

    Args:
        skeleton: All nodes of the file.
        mesh: Everything that they move.
        is_joint: Nodes that a skin names.
        carriers: The joint that moves each node.
    """
    owners = mesh.skin.owners.numpy()
    has_skin = np.zeros(len(skeleton), dtype=bool)
    has_skin[np.unique(owners)] = True

    def is_prop(node: int) -> bool:
        joint = int(carriers[node])
        if is_joint[node] or joint == node:
            return "prop" in names.parts_of(skeleton.names[node])
        between = [node]
        while between[-1] != joint:
            between.append(skeleton.parents[between[-1]])
        said = [skeleton.names[n] for n in between]
        in_slot = any(_SLOTS & set(names.words(n)) for n in said)
        return in_slot or bool(has_skin[joint]) or any("prop" in names.parts_of(n) for n in said)

    found = np.array([n for n in np.flatnonzero(has_skin).tolist() if is_prop(n)], dtype=np.int64)
    props = np.isin(owners, found)
    return props if props.mean() < _MOST else np.zeros_like(props)
