"""New weights for a character: its skeleton, its mesh, heat in place of what the artist painted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int

from akd.rig.character import Character
from akd.rig.roles.role import Part
from akd.rig.skin import Skin
from akd.rig.skinning.heat import HeatSettings, solve_heat_weights
from akd.rig.skinning.segments import BoneSegments, bone_segments

_IDLE = 1e-6
"""A joint that moves less than this fraction of the surface moves nothing."""


@dataclass(frozen=True)
class AutomaticSkin:
    """Weights of every vertex of a character's mesh."""

    skin: Skin
    """Over the same bones as the character's own skin."""
    segments: BoneSegments
    warnings: tuple[str, ...]


def deforming_joints(character: Character, *, is_all: bool = False) -> list[int]:
    """The joints that are to move skin: those that do in the file, where any does; else all joints
    of the file's skins but helpers (targets, sockets, ends, nodes that only hold others)."""
    mesh = character.mesh
    if mesh is None:
        return []
    named = np.unique(mesh.skin.bone_joints.numpy()[: skin_starts(character)[-1]])
    if is_all:
        return named.tolist()
    mass = np.zeros(len(character.skeleton))
    skin = mesh.skin
    np.add.at(mass, skin.bone_joints[skin.bones].numpy(), skin.weights.numpy())
    moving = np.intersect1d(np.flatnonzero(mass > _IDLE * len(mesh.vertices)), named)
    if len(moving) > 1:
        return moving.tolist()
    roles = character.anatomy.roles
    useful = [j for j in named.tolist() if roles[j].part is not Part.HELPER]
    return useful or named.tolist()


def skin_character(
    character: Character, *, settings: HeatSettings | None = None, is_all: bool = False
) -> AutomaticSkin:
    """Solve for the weights of a character's mesh in its bind pose.

    With `is_all` every joint that a skin names takes part. Raises `ValueError` where there is no
    mesh, no joint, or no face with an area.
    """
    mesh = character.mesh
    if mesh is None:
        raise ValueError("there is no mesh to bind")
    joints = deforming_joints(character, is_all=is_all)
    if not joints:
        raise ValueError("there is no joint to bind to")
    vertices = mesh.vertices.double().numpy()
    faces = mesh.faces.numpy()
    segments = character_segments(character, joints)
    solved = solve_heat_weights(vertices, faces, segments, settings=settings)
    bones, weights = _on_own_bones(character, segments.joints[solved.bones], solved.weights)
    warnings = list(solved.warnings)
    lost = int((weights.sum(axis=1) <= 0).sum())
    if lost:
        warnings.append(
            f"{lost} vertices keep their old weights: they are rigid, or their skin does not name "
            f"the joints that move them"
        )
    skin = mesh.skin
    width = max(bones.shape[1], skin.bones.shape[1]) if lost else bones.shape[1]
    kept = (weights.sum(axis=1) <= 0)[:, None]
    bones = np.where(kept, _padded(skin.bones.numpy(), width), _padded(bones, width))
    weights = np.where(kept, _padded(skin.weights.double().numpy(), width), _padded(weights, width))
    new = Skin(
        skin.bone_joints,
        skin.inverse_bind,
        torch.from_numpy(bones),
        torch.from_numpy(weights).to(skin.weights),
    )
    return AutomaticSkin(new, segments, tuple(warnings))


def character_segments(character: Character, joints: list[int]) -> BoneSegments:
    """The bones of some joints of a character, as segments in its bind pose, metres."""
    mesh = character.mesh
    vertices = np.zeros((0, 3)) if mesh is None else mesh.vertices.double().numpy()
    faces = np.zeros((0, 3), dtype=np.int64) if mesh is None else mesh.faces.numpy()
    tree = _tree(character, joints)
    return bone_segments(character.skeleton, world_positions(character), tree, vertices, faces)


def _padded(values: np.ndarray, width: int) -> np.ndarray:
    return np.pad(values, ((0, 0), (0, max(width - values.shape[1], 0))))[:, :width]


def skin_starts(character: Character) -> Int[np.ndarray, "S"]:
    """The first bone of each of the file's skins, and after them the first rigid one."""
    return np.cumsum([0, *(len(s.joints) for s in character.asset.skins)])


def _on_own_bones(
    character: Character, joints: Int[np.ndarray, "V K"], weights: Float[np.ndarray, "V K"]
) -> tuple[Int[np.ndarray, "V K"], Float[np.ndarray, "V K"]]:
    """Joints as bones of the skin that each vertex is shown with.

    What that skin does not name is left out, and the rest sums to one again. A row of zeros is a
    vertex of a rigid mesh, or one that nothing is left of.
    """
    assert character.mesh is not None
    skin = character.mesh.skin
    starts = skin_starts(character)
    group = np.searchsorted(starts, skin.bones[:, 0].numpy(), side="right") - 1
    bones, kept = np.zeros_like(joints), np.zeros_like(weights)
    for index in range(len(starts) - 1):
        table = np.full(len(character.skeleton), -1)
        own = np.arange(starts[index], starts[index + 1])
        table[skin.bone_joints.numpy()[own[::-1]]] = own[::-1]
        rows = group == index
        found = table[joints[rows]]
        bones[rows] = np.maximum(found, starts[index])
        kept[rows] = np.where(found >= 0, weights[rows], 0.0)
    total = kept.sum(axis=1, keepdims=True)
    return bones, kept / np.where(total > 0, total, 1.0)


def _tree(character: Character, joints: list[int]) -> dict[int, int]:
    """Each joint's nearest ancestor among the joints: in the body, where detached parts hang on the
    bone that they belong to, else in the file."""
    wanted = set(joints)
    body = character.anatomy.body.parents
    tree: dict[int, int] = {}
    for joint in joints:
        above = joint
        while above == joint or not (above < 0 or above in wanted):
            above = body[above] if above in body else character.skeleton.parents[above]
        tree[joint] = above
    return tree


def world_positions(character: Character) -> Float[np.ndarray, "J 3"]:
    """Where the joints are in the bind pose, metres."""
    return character.skeleton.forward(character.bind)[:, :3, 3].double().numpy()
