"""Builds the `ControlRig` of a character: the driven joints, and the driver of every joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.rig.control import ROOT, STATIC, TRAVEL, ControlRig
from akd.rig.joint_frames import joint_axes, root_axes
from akd.rig.neutral import find_neutral
from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.body import Body
from akd.rig.roles.role import Part
from akd.rig.skeleton import Skeleton

if TYPE_CHECKING:
    from akd.rig.character import Character

MOST_DRIVEN = 40
_FIRST_DROPPED = (Part.OTHER, Part.TOES, Part.TAIL, Part.GIRDLE, Part.NECK, Part.CANNON, Part.SPINE)
"""What is let go first where there are too many joints."""
_NEVER_DRIVEN = (Part.EAR, Part.HELPER, Part.PELVIS)


def build_control_rig(character: Character) -> ControlRig:
    """The control rig of a character."""
    skeleton, anatomy = character.skeleton, character.anatomy
    neutral, neutral_from = find_neutral(
        character.asset, skeleton, character.bind, anatomy, character.units
    )
    world = skeleton.forward(neutral)
    positions = world[:, :3, 3].double().numpy()
    driven = _choose(anatomy, positions, character.height)
    index = {joint: i for i, joint in enumerate(driven)}
    parents = tuple(_control_above(anatomy.body, joint, index) for joint in driven)
    ends = _single_joint_ends(character, world)
    axes = [
        joint_axes(_bone(anatomy, joint, positions, ends), anatomy.roles[joint], anatomy.left)
        for joint in driven
    ]
    root = anatomy.body.root
    travel = _travel_joint(character)
    return ControlRig(
        skeleton=skeleton,
        neutral=neutral,
        neutral_from=neutral_from,
        root=max(root, 0),
        joints=tuple(driven),
        roles=tuple(anatomy.roles[j] for j in driven),
        parents=parents,
        pivots=world[driven, :3, 3].reshape(len(driven), 3),
        axes=torch.from_numpy(np.array(axes).reshape(len(driven), 3, 3)).float(),
        root_pivot=world[max(root, 0), :3, 3] if len(skeleton) else world.new_zeros(3),
        root_axes=torch.from_numpy(root_axes(anatomy.forward, anatomy.left)).float(),
        driver_index=torch.tensor(_movers(skeleton, anatomy.body, index, travel), dtype=torch.long),
        travel_joint=travel,
    )


def _choose(anatomy: Anatomy, positions: Float[np.ndarray, "J 3"], height: float) -> list[int]:
    """The joints to drive, parents first."""
    body = anatomy.body
    if body.root < 0:
        return []
    candidates = []
    for joint in body.subtree(body.root)[1:]:
        role = anatomy.roles[joint]
        wanted = role.part not in (*_NEVER_DRIVEN, Part.OTHER) or not anatomy.limbs
        if not wanted or (role.part is Part.TOES and role.number > 1):
            continue
        above = _control_above(body, joint, {j: j for j in candidates})
        gap = positions[joint] - positions[above if above >= 0 else body.root]
        if np.linalg.norm(gap) > 1e-4 * max(height, 1e-9):
            candidates.append(joint)  # one that sits on its parent would turn the same part twice
    for part in _FIRST_DROPPED:
        droppable = [j for j in candidates if anatomy.roles[j].part is part]
        while len(candidates) > MOST_DRIVEN and droppable:
            # With its mirror image: a body whose left has other joints than its right limps.
            last = droppable[-1]
            pair = {last, anatomy.partners.get(last, last)} & set(droppable)
            candidates = [j for j in candidates if j not in pair]
            droppable = [j for j in droppable if j not in pair]
    return candidates[:MOST_DRIVEN]


def _control_above(body: Body, joint: int, index: dict[int, int]) -> int:
    """Index of the nearest driven joint above one, or -1."""
    while (joint := body.parents[joint]) >= 0:
        if joint in index:
            return index[joint]
    return -1


def _single_joint_ends(
    character: Character, world: Float[Tensor, "J 4 4"]
) -> dict[int, Float[np.ndarray, "3"]]:
    """For limbs of one joint, as block figures have them: the middle of the skin that it moves.
    No other joint tells where such a limb points."""
    mesh, limbs = character.body_mesh, character.anatomy.limbs
    single = [limb.joints[0] for limb in limbs if len(limb.joints) == 1]
    if mesh is None or not single:
        return {}
    points, owners = mesh.pose(world).double().numpy(), mesh.skin.owners.numpy()
    skins = {j: points[np.isin(owners, list(character.skeleton.subtree(j)))] for j in single}
    return {j: 0.5 * (s.min(axis=0) + s.max(axis=0)) for j, s in skins.items() if len(s)}


def _bone(
    anatomy: Anatomy,
    joint: int,
    positions: Float[np.ndarray, "J 3"],
    ends: dict[int, Float[np.ndarray, "3"]],
) -> Float[np.ndarray, "3"]:
    """Direction from a joint along its bone: to the end of its limb where that is known, else
    towards the next joint of its chain, else onwards from the one before."""
    chains = [list(limb.joints) for limb in anatomy.limbs] + [
        list(anatomy.trunk),
        list(anatomy.tail),
    ]
    chain = next((c for c in chains if joint in c), [joint])
    later = chain[chain.index(joint) + 1 :] or anatomy.body.children[joint]
    earlier = anatomy.body.parents[joint]
    for direction in (
        *(ends[j] - positions[joint] for j in (joint,) if j in ends),
        *(positions[j] - positions[joint] for j in later),
        positions[joint] - positions[max(earlier, 0)],
    ):
        length = np.linalg.norm(direction)
        if length > 1e-6:
            return direction / length
    return np.array([0.0, 1.0, 0.0])


def _travel_joint(character: Character) -> int:
    """The file's joint that carries the travel.

    The topmost joint above the body if there is one, as game engines want it; else, where parts of
    the body hang elsewhere in the file, the node that holds them all; else the root of the body.
    """
    skeleton, body = character.skeleton, character.anatomy.body
    if body.root < 0:
        return 0
    joints = {int(j) for skin in character.asset.skins for j in skin.joints}
    above = list(skeleton.ancestors(body.root))
    holds_all = [a for a in above if all(a in set(skeleton.ancestors(j)) for j in body.detached)]
    topmost = [a for a in holds_all if a in joints]
    if topmost:
        return topmost[-1]
    return holds_all[0] if holds_all and body.detached else body.root


def _movers(skeleton: Skeleton, body: Body, index: dict[int, int], travel: int) -> list[int]:
    """What moves each of the file's joints."""
    driver_index = [STATIC] * len(skeleton)
    for top in skeleton.roots:
        for joint in skeleton.subtree(top):
            parent = skeleton.parents[joint]
            if joint in index:
                driver_index[joint] = 3 + index[joint]
            elif joint == body.root:
                driver_index[joint] = ROOT
            elif joint in body.detached:
                control = _control_above(body, joint, index)
                driver_index[joint] = 3 + control if control >= 0 else ROOT
            elif joint == travel:
                driver_index[joint] = TRAVEL
            elif parent >= 0:
                driver_index[joint] = driver_index[parent]
    return driver_index
