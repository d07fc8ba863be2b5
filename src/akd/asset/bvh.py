"""Motion capture in BVH: the hierarchy becomes nodes and a skin, the motion one clip.

Offsets and positions are in whatever unit the file uses (BVH does not say); angles are degrees in
the file and unit quaternions, wxyz, here.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from jaxtyping import Float

from akd.asset.asset import Asset, AssetError, ClipRecord, Node, SkinRecord, Track
from akd.asset.gltf.fields import clean_text
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.transform import continuous
from akd.asset.surface import naming_file, read_bytes

_CHANNEL = re.compile(r"([xyz])(position|rotation)", re.IGNORECASE)
_DEFAULT_FRAME_TIME = 1.0 / 30.0


@dataclass
class _Joint:
    """A joint while the hierarchy is read."""

    name: str
    parent: int
    is_end: bool = False
    offset: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    channels: list[str] = field(default_factory=list)
    """Such as `xposition` or `zrotation`, in the file's order; empty text where not understood."""


def read(path: Path) -> Asset:
    """Read a BVH file. Raises `AssetError` where there is no usable hierarchy."""
    with naming_file(path):
        return _read(path, read_bytes(path, growth=14))


def _read(path: Path, data: bytes) -> Asset:
    problems = ProblemLog()
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # The motion may be hundreds of megabytes: it stays bytes.
    motion = re.search(rb"^[ \t]*+MOTION\b", data, re.IGNORECASE | re.MULTILINE)
    text = data[: motion.start()] if motion else data
    joints = _read_hierarchy(text.decode("utf-8-sig", errors="replace"), problems)
    clip = None
    if motion:
        clip = _read_motion(path.stem, joints, data[motion.end() :], problems)
    else:
        problems.warn("MOTION", "is missing", "reads the hierarchy alone")
    return Asset(
        path=path,
        format="bvh",
        nodes=tuple(_node(joint) for joint in joints),
        skins=(_skin(path.stem, joints),),
        clips=() if clip is None else (clip,),
        problems=problems.all(),
        scene_roots=tuple(i for i, joint in enumerate(joints) if joint.parent < 0),
    )


def _read_hierarchy(text: str, problems: ProblemLog) -> list[_Joint]:
    """Joints, parents first."""
    joints: list[_Joint] = []
    names: dict[str, int] = {}
    opened: list[int] = []
    awaits_brace = False
    # A brace may share its line with a name; names may hold spaces, so lines matter.
    for line in text.replace("{", "\n{\n").replace("}", "\n}\n").splitlines():
        if not line.strip():
            continue
        keyword, *others = line.split(None, 1)
        rest = others[0].strip() if others else ""
        match keyword.lower():
            case "hierarchy":
                pass
            case "root" | "joint" | "end" as kind:
                parent = opened[-1] if opened else -1
                if parent < 0 and kind != "root":
                    raise AssetError(f"{line.strip()!r} must lie inside a ROOT")
                wanted = f"{joints[parent].name}_end" if kind == "end" else clean_text(rest)
                wanted = wanted or "joint"
                name = _unique(wanted, names)
                if name != wanted and kind != "end":
                    what = f"the name {wanted!r} is used more than once"
                    problems.warn("HIERARCHY", what, f"calls it {name!r}")
                joints.append(_Joint(name, -1 if kind == "root" else parent, kind == "end"))
                awaits_brace = True
            case "{":
                if not awaits_brace:
                    raise AssetError("'{' must follow ROOT, JOINT or End Site")
                opened.append(len(joints) - 1)
                awaits_brace = False
            case "}":
                if not opened:
                    raise AssetError("'}' must close a '{', got one too many")
                opened.pop()
            case "offset" if opened:
                joint = joints[opened[-1]]
                joint.offset = _offset(joint.name, rest)
            case "channels" if opened:
                joint = joints[opened[-1]]
                joint.channels = _channels(joint.name, rest, problems)
            case _:
                raise AssetError(
                    f"a line of HIERARCHY must start with ROOT, JOINT, End Site, "
                    f"OFFSET, CHANNELS or a brace, got {line.strip()[:40]!r}"
                )
    if not joints:
        raise AssetError("HIERARCHY must hold a ROOT, got none")
    if opened:
        what = f"{len(opened)} braces are not closed"
        problems.warn("HIERARCHY", what, "closes them at its end")
    return joints


def _unique(name: str, taken: dict[str, int]) -> str:
    """The name, with a number where it is taken already; it is taken afterwards."""
    candidate = name
    while candidate in taken:
        # The next number to try is remembered: a file may use one name for every joint.
        taken[name] += 1
        candidate = f"{name}_{taken[name]}"
    taken[candidate] = 1
    return candidate


def _offset(name: str, text: str) -> list[float]:
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if len(values) != 3 or not np.isfinite(values).all() or np.abs(values).max() > 1e30:
        raise AssetError(f"OFFSET of {name!r} must be 3 numbers, got {text[:40]!r}")
    return values


def _channels(name: str, text: str, problems: ProblemLog) -> list[str]:
    count, *words = text.split() or [""]
    if not count.isascii() or not count.isdigit() or int(count[:9]) != len(words):
        raise AssetError(
            f"CHANNELS of {name!r} must be a count and as many names, got {text[:60]!r}"
        )
    for word in words:
        if not _CHANNEL.fullmatch(word):
            what = f"channel {word[:40]!r} is neither a position nor a rotation"
            problems.warn(f"CHANNELS of {name!r}", what, "ignores it")
    return [word.lower() if _CHANNEL.fullmatch(word) else "" for word in words]


def _node(joint: _Joint) -> Node:
    return Node(
        name=joint.name,
        parent=joint.parent,
        translation=np.array(joint.offset),
        rotation=np.array((1.0, 0.0, 0.0, 0.0)),
        scale=np.ones(3),
    )


def _skin(name: str, joints: list[_Joint]) -> SkinRecord:
    """Every ROOT and JOINT, bound where the offsets put it: rest rotations are the identity."""
    world = np.zeros((len(joints), 3))
    for i, joint in enumerate(joints):
        world[i] = joint.offset
        if joint.parent >= 0:
            world[i] += world[joint.parent]
    members = np.array([i for i, joint in enumerate(joints) if not joint.is_end])
    inverse_bind = np.tile(np.eye(4, dtype=np.float32), (len(members), 1, 1))
    inverse_bind[:, :3, 3] = -world[members]
    return SkinRecord(name, members, inverse_bind)


def _read_motion(
    name: str, joints: list[_Joint], data: bytes, problems: ProblemLog
) -> ClipRecord | None:
    """The motion block as tracks, or None where it holds no frame."""
    head = re.match(
        rb"\s*+Frames\s*+:[ \t]*+(\S*+)\s*+Frame[ \t]*+Time\s*+:[ \t]*+(\S*+)", data, re.IGNORECASE
    )
    if head is None:
        raise AssetError("MOTION must start with 'Frames:' and 'Frame Time:'")
    width = sum(len(joint.channels) for joint in joints)
    declared, frame_time = (word[:20].decode("ascii", "replace") for word in head.groups())
    rows = _read_rows(data[head.end() :], width, problems)
    if declared != str(len(rows)):
        what = f"declares {declared or 'no'} frames and holds {len(rows)}"
        problems.warn("Frames", what, f"reads {len(rows)} frames")
    if len(rows) == 0:
        problems.warn("MOTION", "holds no frame", "reads the hierarchy alone")
        return None
    step = _frame_time(frame_time, problems)
    times = (np.arange(len(rows)) * step).astype(np.float32)
    return ClipRecord(name, _tracks(joints, times, _fill_holes(rows, problems), problems))


def _read_rows(data: bytes, width: int, problems: ProblemLog) -> Float[np.ndarray, "T C"]:
    """Rows of `width` numbers, up to the first that is not whole."""
    if width == 0:
        problems.warn("CHANNELS", "there are none", "reads no motion")
        return np.zeros((0, 0))
    lengths = _words_per_line(data)
    values, is_clean = _parse_numbers(data)
    whole = lengths == width
    if is_clean and len(values) % width == 0 and (whole.all() or not whole.any()):
        # Where no line is a whole row, rows are wrapped over several lines.
        return values.reshape(-1, width)
    count = int(whole.argmin()) if not whole.all() else len(whole)
    count = min(count, len(values) // width)
    what = f"row {count} is not {width} numbers"
    problems.warn("MOTION", what, f"reads the {count} rows before it")
    return values[: count * width].reshape(-1, width)


def _words_per_line(data: bytes) -> np.ndarray:
    """Number of words on every line that has any, without a loop over them."""
    characters = np.frombuffer(data, dtype=np.uint8)
    if len(characters) == 0:
        return np.zeros(0, dtype=np.int64)
    begins = characters > 32
    begins[1:] &= characters[:-1] <= 32
    lines = np.concatenate(([0], np.flatnonzero(characters[:-1] == 10) + 1))
    counts = np.add.reduceat(begins, lines, dtype=np.int64)
    return counts[counts > 0]


def _parse_numbers(data: bytes) -> tuple[Float[np.ndarray, "N"], bool]:
    """The numbers up to the first word that is none, and whether that was all of them."""
    try:
        # numpy warns where it stops before the end, and some day will raise.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return np.fromstring(data, sep=" ", dtype=np.float64), not caught
    except ValueError:
        pass
    values: list[float] = []
    for word in data.split():
        try:
            values.append(float(word))
        except ValueError:
            break
    return np.array(values, dtype=np.float64), False


def _fill_holes(rows: Float[np.ndarray, "T C"], problems: ProblemLog) -> Float[np.ndarray, "T C"]:
    """Give what is not a finite number the value of the frame before (zero in the first)."""
    good = np.isfinite(rows) & (np.abs(rows) < 1e30)
    if good.all():
        return rows
    what = f"{int((~good).sum())} values are not finite numbers"
    problems.warn("MOTION", what, "holds the value of the frame before")
    source = np.where(good, np.arange(len(rows))[:, None], -1)
    source = np.maximum.accumulate(source, axis=0)
    held = np.take_along_axis(rows, np.maximum(source, 0), axis=0)
    return np.where(source >= 0, held, 0.0)


def _frame_time(text: str, problems: ProblemLog) -> float:
    """Seconds a frame; what cannot be one is repaired."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if 1e-4 <= value <= 10.0:
        return value
    if 10.0 < value <= 1000.0:
        action, repaired = "takes it as frames per second", 1.0 / value
    else:
        action, repaired = "takes 30 frames per second", _DEFAULT_FRAME_TIME
    problems.warn("Frame Time", f"{text[:20]!r} is no frame time", action)
    return repaired


def _tracks(
    joints: list[_Joint],
    times: Float[np.ndarray, "T"],
    rows: Float[np.ndarray, "T C"],
    problems: ProblemLog,
) -> tuple[Track, ...]:
    """Split the rows into the tracks of the joints."""
    splits = np.cumsum([len(joint.channels) for joint in joints])[:-1]
    columns = np.split(rows, splits, axis=1)
    added = _are_positions_added(joints, columns)
    if added:
        what = "positions below the root are near zero, not near the joints' OFFSET"
        problems.note("MOTION", what, "adds them to the OFFSET")
    tracks = []
    for index, (joint, values) in enumerate(zip(joints, columns, strict=True)):
        if any(channel.endswith("position") for channel in joint.channels):
            positions = _positions(joint, values)
            if added and joint.parent >= 0:
                positions = positions + np.array(joint.offset)
            positions = positions.astype(np.float32)
            tracks.append(Track(index, "translation", "LINEAR", times, positions))
        if any(channel.endswith("rotation") for channel in joint.channels):
            rotations = _rotations(joint, values).astype(np.float32)
            tracks.append(Track(index, "rotation", "LINEAR", times, rotations))
    return tuple(tracks)


def _positions(joint: _Joint, values: Float[np.ndarray, "T C"]) -> Float[np.ndarray, "T 3"]:
    """Position channels; an axis without one stays at the joint's offset."""
    positions = np.tile(np.array(joint.offset), (len(values), 1))
    for channel, column in zip(joint.channels, values.T, strict=True):
        if channel.endswith("position"):
            positions[:, "xyz".index(channel[0])] = column
    return positions


def _are_positions_added(joints: list[_Joint], columns: list[np.ndarray]) -> bool:
    """Whether positions of joints below the root come on top of OFFSET instead of replacing it.

    Both kinds of file exist and nothing in them says which: what leaves the bones their length is
    taken to be right. A root's position always replaces its OFFSET.
    """
    from_zero = from_offset = 0.0
    for joint, values in zip(joints, columns, strict=True):
        axes = [c for c in joint.channels if c.endswith("position")]
        if joint.parent >= 0 and len(axes) == 3:
            positions = _positions(joint, values)
            from_zero += float(np.abs(positions).sum())
            from_offset += float(np.abs(positions - joint.offset).sum())
    return from_zero < 0.1 * from_offset


def _rotations(joint: _Joint, values: Float[np.ndarray, "T C"]) -> Float[np.ndarray, "T 4"]:
    """Rotation channels, the first outermost, as continuous unit quaternions."""
    w, v = np.ones(len(values)), np.zeros((len(values), 3))
    for channel, column in zip(joint.channels, values.T, strict=True):
        if channel.endswith("rotation"):
            axis = "xyz".index(channel[0])
            # Whole turns say nothing, and a giant angle would lose all precision in halves.
            half = np.radians(np.remainder(column, 720.0)) / 2.0
            cosine, sine = np.cos(half), np.sin(half)
            turned = v * cosine[:, None]
            turned[:, axis] += w * sine
            following, last = (axis + 1) % 3, (axis + 2) % 3
            turned[:, following] += v[:, last] * sine
            turned[:, last] -= v[:, following] * sine
            w, v = w * cosine - v[:, axis] * sine, turned
    quaternions = continuous(np.concatenate((w[:, None], v), axis=1))
    return quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
