"""Motion to BVH, which has rotations and offsets and nothing else.

BVH knows no rest rotations and no scale. Joints are written with axes that are the world's in the
rest pose, so that the file's own zero pose is the character's rest pose, and offsets are taken in
the world, so that scale is in them already. A joint whose distance from its parent changes gets
position channels, which replace its offset.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float

from akd.base.files import write_atomically
from akd.export.angles import euler_angles, make_continuous
from akd.math import transform
from akd.motion.motion import Motion
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton

_ORDER = "ZXY"
"""Of the rotation channels, the outermost axis first."""
_TOGETHER = 4096
"""Frames whose transforms are found at a time."""
_STILL = 2e-6
"""A joint that stays this close, in heights, to one place relative to its parent does not move."""


@dataclass(frozen=True)
class _Joint:
    """A joint as it is written."""

    index: int
    """In the skeleton."""
    parent: int
    """The nearest joint above it that is written, as an index into the skeleton; -1 for none."""
    children: list[_Joint]
    name: str
    offset: Float[np.ndarray, "3"]
    positions: Float[np.ndarray, "T 3"] | None
    angles: Float[np.ndarray, "T 3"]
    """Degrees, in the order of the rotation channels."""


def write_bvh(
    motion: Motion,
    path: Path,
    *,
    joints: Sequence[int] | None = None,
    fps: float | None = None,
    scale: float = 1.0,
) -> None:
    """Write a motion as BVH.

    `joints` are the joints to write (None: all); whatever lies between two of them is folded into
    the lower one. `fps` is the frame rate, by default that of the motion's keys; BVH has no other
    times. `scale` is the file's units a metre: 100 for centimetres. Raises `ValueError` where one
    of these makes no sense.
    """
    chosen = _choose(motion.skeleton, joints)
    motion, frame_time = _at_even_times(motion, fps)
    roots = _build(motion, chosen, scale)
    heights = [joint.offset for root in roots for joint in _walk(root)]
    decimals = _decimals(float(np.abs(np.stack(heights)).max(initial=0.0)))
    lines = ["HIERARCHY"]
    for root in roots:
        _describe(root, lines, decimals)
    lines += ["MOTION", f"Frames: {len(motion)}", f"Frame Time: {frame_time:.9f}"]
    with write_atomically(path) as file:
        for some in (lines, *_rows(roots, len(motion), decimals)):
            file.write("".join(f"{line}\n" for line in some).encode("utf-8", "replace"))


def _choose(skeleton: Skeleton, joints: Sequence[int] | None) -> list[int]:
    chosen = list(range(len(skeleton))) if joints is None else sorted(set(joints))
    if not chosen:
        raise ValueError("joints must name at least one joint, got none")
    if chosen[0] < 0 or chosen[-1] >= len(skeleton):
        wrong = chosen[0] if chosen[0] < 0 else chosen[-1]
        raise ValueError(f"joints must be below {len(skeleton)}, got {wrong}")
    return chosen


def _at_even_times(motion: Motion, fps: float | None) -> tuple[Motion, float]:
    """The motion at a fixed frame rate, and seconds a frame."""
    steps = np.diff(motion.times.double().numpy(force=True))
    if fps is None:
        step = float(np.median(steps)) if len(steps) else 1.0 / 30.0
        # Keys may lie close together where a curve jumps: no frame rate follows from that.
        step = min(max(step, 1.0 / 240.0), 1.0)
    elif fps > 0 and math.isfinite(fps):
        step = 1.0 / fps
    else:
        raise ValueError(f"fps must be above zero, got {fps}")
    if len(steps) == 0 or np.abs(steps - step).max() < 1e-3 * step:
        return motion, step
    return motion.resample(1.0 / step), step


def _rigid(motion: Motion, pose: Pose, scale: float) -> Float[np.ndarray, "*frames J 4 4"]:
    """world_from_joint, scale and mirroring taken out of the axes."""
    matrices = motion.skeleton.forward(pose.to(dtype=torch.float64))
    translation, rotation, _ = transform.decompose(matrices)
    rigid = transform.compose(translation, rotation, torch.ones_like(translation))
    world = rigid.numpy(force=True)
    world[..., :3, 3] *= scale
    return world


def _in_parents(
    motion: Motion,
    rest: Float[np.ndarray, "J 4 4"],
    sequence: list[int],
    parents: list[int],
    scale: float,
) -> tuple[Float[np.ndarray, "T N 3"], Float[np.ndarray, "T N 3"]]:
    """Positions in the file's units and angles in degrees, relative to the parents."""
    positions = np.empty((len(motion), len(sequence), 3))
    angles = np.empty_like(positions)
    for first in range(0, len(motion), _TOGETHER):  # all transforms would take much memory
        some = slice(first, first + _TOGETHER)
        world = _rigid(motion, motion.pose[some], scale)
        # How each joint has turned since the rest pose, in the world.
        turned = world[:, :, :3, :3] @ rest[:, :3, :3].transpose(0, 2, 1)
        local = np.empty((len(world), len(sequence), 3, 3))
        for place, (j, p) in enumerate(zip(sequence, parents, strict=True)):
            at = world[:, j, :3, 3]
            local[:, place] = turned[:, j]
            if p >= 0:
                back = turned[:, p].transpose(0, 2, 1)
                local[:, place] = back @ turned[:, j]
                at = (back @ (at - world[:, p, :3, 3])[..., None])[..., 0]
            positions[some, place] = at
        angles[some] = euler_angles(local, _ORDER)
    make_continuous(angles)
    return positions, angles


def _build(motion: Motion, chosen: list[int], scale: float) -> list[_Joint]:
    """The chosen joints as trees; returns their roots."""
    skeleton, members = motion.skeleton, set(chosen)
    rest = _rigid(motion, skeleton.rest, scale)
    size = float(np.ptp(rest[chosen, :3, 3], axis=0).max())
    sequence = _parents_first(skeleton, chosen)
    parents = [next((a for a in skeleton.ancestors(j) if a in members), -1) for j in sequence]
    all_positions, angles = _in_parents(motion, rest, sequence, parents, scale)
    names: set[str] = set()
    built: dict[int, _Joint] = {}
    roots: list[_Joint] = []
    for place, (index, parent) in enumerate(zip(sequence, parents, strict=True)):
        positions, offset = all_positions[:, place], rest[index, :3, 3]
        if parent >= 0:
            offset = np.median(positions, axis=0)
        is_still = parent >= 0 and np.abs(positions - offset).max() <= _STILL * size
        joint = _Joint(
            index=index,
            parent=parent,
            children=[],
            name=_clean_name(skeleton.names[index], names),
            offset=offset,
            positions=None if is_still else positions,
            angles=angles[:, place],
        )
        built[index] = joint
        (roots if parent < 0 else built[parent].children).append(joint)
    for joint in [j for j in built.values() if not j.children]:
        joint.children.extend(_end_site(skeleton, joint, built, rest, size))
    return roots


def _parents_first(skeleton: Skeleton, chosen: list[int]) -> list[int]:
    members = set(chosen)
    return [j for root in skeleton.roots for j in skeleton.subtree(root) if j in members]


def _clean_name(name: str, taken: set[str]) -> str:
    """A name of one word that no other joint has."""
    base = re.sub(r"[\s{}]+", "_", name.strip()) or "joint"
    candidate, number = base, 1
    while candidate in taken:
        number += 1
        candidate = f"{base}_{number}"
    taken.add(candidate)
    return candidate


def _end_site(
    skeleton: Skeleton,
    joint: _Joint,
    built: dict[int, _Joint],
    rest: Float[np.ndarray, "J 4 4"],
    size: float,
) -> list[_Joint]:
    """Where the bone of a last joint ends: at what hangs on it, else half the bone above it."""
    if _is_end(joint, built):
        return []
    hanging = [rest[c, :3, 3] - rest[joint.index, :3, 3] for c in skeleton.children[joint.index]]
    candidates = [*hanging, *([joint.offset * 0.5] if joint.parent >= 0 else [])]
    long_enough = (c for c in candidates if np.abs(c).max() > 1e-3 * size)
    offset = next(long_enough, np.array((0.0, 0.1 * size or 0.1, 0.0)))
    return [_Joint(-1, joint.index, [], "", offset, None, joint.angles)]


def _is_end(joint: _Joint, built: dict[int, _Joint]) -> bool:
    """Whether the joint is nothing but the end of its parent, as akd names it on reading BVH."""
    if joint.index < 0:
        return True
    if joint.parent < 0 or joint.positions is not None:
        return False
    parent = built[joint.parent]
    return joint.name == f"{parent.name}_end" and len(parent.children) == 1


def _walk(joint: _Joint) -> list[_Joint]:
    """The joint and all below it, in the order of the file."""
    found, stack = [], [joint]
    while stack:
        found.append(stack.pop())
        stack.extend(reversed(found[-1].children))
    return found


def _describe(root: _Joint, lines: list[str], decimals: int) -> None:
    """Add the lines of a tree of the hierarchy. Deep trees are common enough not to recurse."""
    built = {joint.index: joint for joint in _walk(root)}
    stack: list[tuple[_Joint | None, int]] = [(root, 0)]
    while stack:
        joint, depth = stack.pop()
        indent = "\t" * depth
        if joint is None:
            lines.append(f"{indent}}}")
            continue
        is_end = _is_end(joint, built)
        title = "ROOT " if joint.parent < 0 else "JOINT "
        lines.append(f"{indent}{'End Site' if is_end else title + joint.name}")
        lines.append(f"{indent}{{")
        lines.append(f"{indent}\tOFFSET {_numbers(joint.offset, decimals)}")
        if not is_end:
            channels = [f"{axis}rotation" for axis in _ORDER]
            if joint.positions is not None:
                channels = [*(f"{axis}position" for axis in "XYZ"), *channels]
            lines.append(f"{indent}\tCHANNELS {len(channels)} {' '.join(channels)}")
        stack.append((None, depth))
        stack.extend((child, depth + 1) for child in reversed(joint.children))


def _rows(roots: list[_Joint], frames: int, decimals: int) -> Iterator[list[str]]:
    """The lines of the motion, one per frame, some at a time."""
    columns: list[np.ndarray] = []
    formats: list[str] = []
    for root in roots:
        tree = _walk(root)
        built = {joint.index: joint for joint in tree}
        for joint in tree:
            if _is_end(joint, built):
                continue
            if joint.positions is not None:
                columns.append(joint.positions)
                formats += [f"%.{decimals}f"] * 3
            columns.append(joint.angles)
            formats += ["%.6f"] * 3
    row = " ".join(formats)
    for first in range(0, frames, _TOGETHER):
        some = slice(first, first + _TOGETHER)
        table = np.concatenate([column[some] for column in columns], axis=1)
        yield [row % tuple(values) for values in table.tolist()]


def _numbers(values: Float[np.ndarray, "3"], decimals: int) -> str:
    return " ".join(f"{value:.{decimals}f}" for value in values)


def _decimals(size: float) -> int:
    """Decimals that keep a millionth of the size, and at least six."""
    return int(min(max(6 - math.floor(math.log10(max(size, 1e-9))), 6), 15))
