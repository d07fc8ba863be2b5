"""Templates: which joints a body plan has, and where they go once a plan is embedded in a body.

Joints between the nodes of the plan are put back along legs, spine and ways through the inside, by
shares; `expectation` then corrects them by what was measured on known bodies, and `refine` by the
body itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from akd.rig.autorig.fitted import Fitted
from akd.rig.autorig.landmarks import Landmarks, along_line
from akd.rig.autorig.legs import Leg

Point = Float[np.ndarray, "3"]


@dataclass(frozen=True)
class Placed:
    """A joint in the axes of the frame, facing +z."""

    name: str
    parent: str
    """Empty for the root."""
    position: Float[np.ndarray, "3"]


@dataclass(frozen=True)
class Template:
    """A body plan."""

    name: str
    place: Callable[[Fitted], list[Placed]]
    """Joints of the left half and of the middle."""


class _Builder:
    """Collects joints of the left half and of the middle."""

    def __init__(self) -> None:
        self.joints: list[Placed] = []

    def add(self, name: str, parent: str, position: Point) -> Point:
        middle = np.array([1.0 if name.startswith("left_") else 0.0, 1.0, 1.0])
        self.joints.append(Placed(name, parent, position * middle))
        return position

    def chain(self, above: str, names: Sequence[str], places: Iterable[Point]) -> str:
        """Joints each of which hangs on the one before; the name of the last."""
        for name, place in zip(names, places, strict=True):
            self.add(name, above, place)
            above = name
        return above


def _numbered(stem: str, count: int) -> list[str]:
    return [f"{stem}_{i + 1}" for i in range(count)]


def _named(stem: str, *parts: str) -> list[str]:
    return [f"{stem}_{part}" for part in parts]


def mirrored(joints: list[Placed]) -> list[Placed]:
    """Joints of the left half and of the middle, each left one with its mirror image after it."""
    result: list[Placed] = []
    for joint in joints:
        result.append(joint)
        if joint.name.startswith("left_"):
            parent = joint.parent.replace("left_", "right_")
            flipped = joint.position * np.array([-1.0, 1.0, 1.0])
            result.append(Placed(joint.name.replace("left_", "right_"), parent, flipped))
    return result


def _in_column(marks: Landmarks, z: float, share: float, around: float | None = None) -> Point:
    """A place in the middle of the body: at z, a share of the way from its belly to its back."""
    low, high = marks.column(z, around=around)
    if np.isnan(low):
        low = high = around if around is not None else 0.6 * marks.height
    return np.array([0.0, low + share * (high - low), z])


def _tail(build: _Builder, marks: Landmarks, root: Point, behind: float, count: int) -> None:
    end = marks.tail_end(behind)
    if end is None:
        return
    back = np.array([0.0, root[1], root[2] - 0.06 * marks.height])
    line = marks.line(back, end)
    places = (along_line(line, i / count) for i in range(count))
    build.chain("pelvis", _numbered("tail", count), places)


def _neck(
    build: _Builder, marks: Landmarks, base: Point, above: str, count: int, longest: float
) -> None:
    """Neck joints from a base on, and the head, along the way to the tip of the head. A head is no
    longer than `longest`, metres, however long the neck is."""
    end = marks.head_end(float(base[2]))
    line = marks.line(base, end)
    length = float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
    share = 1.0 - min(0.45, longest / max(length, 1e-9))
    places = (along_line(line, share * i / count) for i in range(count))
    build.add("head", build.chain(above, _numbered("neck", count), places), along_line(line, share))


def place_quadruped(fitted: Fitted) -> list[Placed]:
    """Four legs under a level spine."""
    marks, fore, hind = fitted.marks, fitted.leg("fore_foot"), fitted.leg("hind_foot")
    height = marks.height
    build = _Builder()
    build.add("root", "", np.zeros(3))
    hips = _in_column(marks, float(hind.sole[2]), 0.7, around=0.65 * height)
    pelvis = build.add("pelvis", "root", hips)
    withers = _in_column(marks, float(fore.sole[2]), 0.6, around=0.6 * height)
    base = withers + np.array([0.0, 0.0, 0.08 * height])
    guesses = [(1 - share) * pelvis + share * base for share in (0.2, 0.45, 0.7)]
    spine = [_in_column(marks, float(z), 0.7, around=float(y)) for _, y, z in guesses]
    above = build.chain("pelvis", _numbered("spine", 3), spine)
    _neck(build, marks, base, above, 2, 0.45 * float(fore.sole[2] - hind.sole[2]))
    _tail(build, marks, pelvis, float(hind.sole[2]), 5)
    low, high = marks.column(float(fore.sole[2]), around=0.6 * height)
    blade = np.array([0.6 * fore.line[-1, 0], low + 0.8 * (high - low), fore.sole[2]])
    shoulder = np.array([fore.line[-1, 0], low + 0.3 * (high - low), fore.sole[2]])
    lower = [fore.at(share * float(shoulder[1])) for share in (0.7, 0.27, 0.1)]
    names = _named("left_fore", "shoulder", "upper", "lower", "foot", "toes")
    build.chain("spine_3", names, (blade, shoulder, *lower))
    low, high = marks.column(float(hind.sole[2]), around=0.65 * height)
    hip = np.array([hind.line[-1, 0], low + 0.5 * (high - low), hind.sole[2]])
    lower = [hind.at(share * float(hip[1])) for share in (0.66, 0.37, 0.1)]
    names = _named("left_hind", "upper", "lower", "foot", "toes")
    build.chain("pelvis", names, (hip, *lower))
    return build.joints


def place_biped(fitted: Fitted) -> list[Placed]:
    """An upright body on one pair of legs, with arms."""
    marks, leg = fitted.marks, fitted.leg("foot")
    height = marks.height
    build = _Builder()
    build.add("root", "", np.zeros(3))
    crotch, neck = marks.crotch(), marks.neck()
    trunk = neck - crotch
    across = _hip_width(leg, crotch)
    depth = float(np.mean([leg.at(y)[2] for y in (0.3 * crotch, 0.6 * crotch, 0.9 * crotch)]))
    build.add("pelvis", "root", np.array([0.0, crotch + 0.2 * trunk, depth]))
    heights = [crotch + share * trunk for share in (0.37, 0.55, 0.75)]
    heights += [neck - 0.015 * height, neck + 0.2 * (height - neck)]
    middle = (np.array([0.0, y, depth]) for y in heights)
    build.chain("pelvis", [*_numbered("spine", 3), "neck_1", "head"], middle)
    hip = build.add("left_leg_upper", "pelvis", np.array([across, crotch + 0.15 * trunk, depth]))
    ankle = 0.05 * height
    knee = 0.5 * (float(hip[1]) + ankle)
    foot = leg.at(ankle) * [1, 1, 0] + [0, 0, depth]
    toes = np.array([leg.sole[0], 0.015 * height, 0.35 * leg.span[0] + 0.65 * leg.span[1]])
    names = _named("left_leg", "lower", "foot", "toes")
    build.chain("left_leg_upper", names, (leg.at(knee), foot, toes))
    _arm(build, fitted, neck, trunk, depth)
    return build.joints


def _hip_width(leg: Leg, crotch: float) -> float:
    """How far from the middle a leg's line arrives at the hips: straight on, as legs that stand
    apart come together at the top."""
    heights = np.linspace(0.3 * crotch, min(leg.top, 0.95 * crotch), 8)
    places = np.array([leg.at(y)[0] for y in heights])
    middle = float(places.mean())
    if np.ptp(heights) < 1e-9:
        return middle  # it has no crotch
    slope, start = np.polyfit(heights, places, 1)
    return float(np.clip(start + slope * 1.1 * crotch, 0.5 * middle, 1.1 * middle))


def _arm(build: _Builder, fitted: Fitted, neck: float, trunk: float, depth: float) -> None:
    """From the collar bone to the wrist, along the way to the fingertips."""
    marks, end = fitted.marks, fitted.end("hand")
    if end is None:
        return
    height = marks.height
    wide = min(max(marks.chest_width(neck), 0.05 * height), 0.6 * trunk)
    shoulder = np.array([1.08 * wide, neck - 0.035 * height, depth])
    line = marks.line(shoulder, end)
    places = (shoulder * [0.2, 1.0, 1.0], shoulder, along_line(line, 0.4), along_line(line, 0.78))
    build.chain("spine_3", _named("left_arm", "shoulder", "upper", "lower", "hand"), places)


def place_theropod(fitted: Fitted) -> list[Placed]:
    """One pair of legs under a level body between head and tail, and arms where there are any."""
    marks, leg = fitted.marks, fitted.leg("foot")
    height = marks.height
    build = _Builder()
    build.add("root", "", np.zeros(3))
    z = float(leg.line[-1, 2])
    pelvis = build.add("pelvis", "root", _in_column(marks, z, 0.6))
    end = marks.head_end(z + 0.1 * height)
    chest_z = z + 0.45 * (float(end[2]) - z)
    chest = _in_column(marks, chest_z, 0.5)
    spine = ((1 - share) * pelvis + share * chest for share in (0.33, 0.66))
    build.chain("pelvis", _numbered("spine", 2), spine)
    _neck(build, marks, chest, "spine_2", 3, 0.6 * float(chest[2] - pelvis[2]))
    _tail(build, marks, pelvis, z, 5)
    hip = np.array([leg.line[-1, 0], 0.9 * float(pelvis[1]), z])
    lower = [leg.at(share * float(hip[1])) for share in (0.75, 0.4, 0.07)]
    build.chain("pelvis", _named("left_leg", "upper", "lower", "foot", "toes"), (hip, *lower))
    if fitted.end("hand") is not None:
        line = fitted.way("hand")
        places = (along_line(line, share) for share in (0.35, 0.65, 0.9))
        build.chain("spine_2", _named("left_arm", "upper", "lower", "hand"), places)
    return build.joints


def place_generic(fitted: Fitted) -> list[Placed]:
    """A joint at the deepest place, and a chain from there to every end of the body."""
    graph = fitted.marks.graph
    build = _Builder()
    root = graph.deepest
    build.add("pelvis", "", graph.centres[root] * [0.0, 1.0, 1.0])
    size = float(np.linalg.norm(np.ptp(graph.centres, axis=0)))
    ends = [e for e in graph.extremities(root, 0.2 * size) if graph.lengths[root, e] > 0.25 * size]
    for number, end in enumerate(sorted(ends, key=lambda e: -graph.lengths[root, e])[:12]):
        line = graph.centres[graph.way(root, end)]
        is_middle = abs(line[-1, 0]) < 0.05 * size
        if not is_middle and line[-1, 0] < 0:
            continue
        stem = f"limb_{number + 1}" if is_middle else f"left_limb_{number + 1}"
        places = (along_line(line, share) for share in (0.3, 0.55, 0.8, 1.0))
        build.chain("pelvis", _numbered(stem, 4), places)
    return build.joints


TEMPLATES: dict[str, Template] = {
    "quadruped": Template("quadruped", place_quadruped),
    "biped": Template("biped", place_biped),
    "theropod": Template("theropod", place_theropod),
    "generic": Template("generic", place_generic),
}
