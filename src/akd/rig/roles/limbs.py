"""Find the limbs of a body: paired branches that leave its middle, and where each one ends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from akd.rig.roles import names
from akd.rig.roles.body import Body, Evidence
from akd.rig.roles.limb_kind import LimbVerdict, classify
from akd.rig.roles.role import LimbKind
from akd.rig.roles.symmetry import Sagittal

FEATURES = (
    "across", "down", "thin", "wide", "mass", "reach", "top", "bend", "along", "length", "breadth",
    "standing", "lower",
)  # fmt: skip
"""Measures of a pair: the direction it points, thickness by width and width by length of its skin,
log share of the surface, reach and height of its first joint in body heights, bend in radians,
extent along the body; log length and breadth of the body in heights; other pairs that stand; and
whether another pair reaches lower."""

_ON_GROUND = 0.08
"""A limb whose lowest point is within this fraction of the body's height stands on the ground."""
_IN_STRIDE = 0.2
"""So far above the ground the other of a pair may be, whose legs are bound in mid-stride."""
_LIFTED = 0.5
"""And so far, as a fraction of its own drop, what is called a leg. The arms of a dinosaur, which
artists call its front legs, are higher."""
_FOOT_HEIGHT = 0.18
"""A leg's foot is its first joint lower than this fraction of the leg's height."""
_ANKLE_HEIGHT = 0.3
"""A joint whose own skin touches the ground may be this high and still be the foot."""
_FEET, _TOES = ("foot", "hand"), ("toe", "finger")
"""What feet and toes are called; those of fore legs may be hands and fingers."""
_LEG_WORDS, _ARM_WORDS = frozenset({"leg", "foot"}), frozenset({"arm", "hand"})
_NO_ARM = frozenset({"head", "prop", "helper", "wing", "tail"})
"""What no lone arm is called, nor anything on it."""
_SHOULDER, _AS_LOW = 0.5, 0.2
"""Limbs that begin higher than this fraction of the body's height are arms where the trunk reaches
down to this fraction of where they begin."""
SAME_PLACE = 1e-4
"""Joints nearer to each other than this fraction of the body's size lie in one place, as the motors
of a robot do; the first of them turns all."""
_FOOT_LENGTH = 1.0
"""From heel to toes it is less than this times the height of the leg."""
_SOLE = 0.02
"""Skin within this fraction of the body's height touches the ground."""
_LONG_BODY = 2.3
"""A body longer than this many times its height does not stand on one pair of limbs that are
splayed: fins reach as low as the belly."""
_SPLAYED = 0.33
"""Sine of the angle between the vertical and a limb that points across the body."""
_SHORT = 0.1
"""A branch that reaches less far than this fraction of the body's height is no limb."""


@dataclass(frozen=True)
class Branch:
    """One of a pair of branches of the body."""

    joints: tuple[int, ...]
    """From the body outwards along the main path."""
    tip: int
    attached_to: int
    verdict: LimbVerdict
    is_named: bool
    """Names along it mention a part of a limb."""
    lies: bool
    """It neither reaches the ground nor hangs down."""

    @property
    def is_leg(self) -> bool:
        """Whether it stands on the ground."""
        return self.verdict.kind is LimbKind.LEG


@dataclass(frozen=True)
class Pair:
    """The first joints of two limbs that mirror each other, and of the branches that carry them."""

    starts: tuple[int, int]
    tops: tuple[int, int]


@dataclass(frozen=True)
class LimbFinder:
    """Everything that the search for limbs looks at."""

    evidence: Evidence
    body: Body
    plane: Sagittal

    @cached_property
    def lowest(self) -> dict[int, float]:
        """Lowest vertex that each joint owns, above the ground; its own height without a mesh."""
        evidence = self.evidence
        heights = dict.fromkeys(self.body.parents, np.inf)
        if len(evidence.owners):
            order = np.argsort(evidence.vertices[:, 1], kind="stable")[::-1]
            for vertex in order:
                joint = int(evidence.owners[vertex])
                if joint in heights:
                    heights[joint] = float(evidence.vertices[vertex, 1])
        else:
            for joint in heights:
                ends = (joint, *evidence.skeleton.children[joint])
                heights[joint] = float(evidence.positions[list(ends), 1].min())
        return {j: h - evidence.ground for j, h in heights.items()}

    @cached_property
    def pairs(self) -> list[Pair]:
        """Of each pair the first is the one with the lower joint index."""
        found = []
        for joint in self.body.subtree(self.body.root):
            partner = self.plane.partners.get(joint)
            parent = self.body.parents[joint]
            if partner is None or partner < joint or parent in self.plane.partners:
                continue
            if parent < 0 or self._reach(joint) < _SHORT * self.evidence.height:
                continue
            if self._is_point(joint):
                continue
            for start in self._starts(joint):
                twin = self._twin(start, joint, partner)
                if twin is not None:
                    found.append(Pair((start, twin), (joint, partner)))
        return found

    def branches(self) -> list[tuple[Branch, Branch]]:
        """The pairs, judged, and followed from the body outwards."""
        said = [self._words(p.starts[0]) | self._words(p.starts[1]) for p in self.pairs]
        stands = self.stands(said)
        verdicts = classify([self.measure(pair) for pair in self.pairs], said, stands)
        found = []
        for pair, words, verdict in zip(self.pairs, said, verdicts, strict=True):
            lies = not self._pair_stands(pair) and not all(map(self._hangs, pair.starts))
            find = self._leg_path if verdict.kind is LimbKind.LEG else self._arm_path
            paths = self._as_far([find(start) for start in pair.starts])
            one, other = (
                self._branch(path, top, verdict, is_named=bool(words), lies=lies)
                for path, top in zip(paths, pair.tops, strict=True)
            )
            found.append(_on_like_feet(one, other))
        return found

    def lone_arms(self, trunk: Sequence[int]) -> list[Branch]:
        """Arms, by name and with a side, that have no mirror image: the other one is lost."""
        verdict = LimbVerdict(LimbKind.ARM, 1.0, LimbKind.ARM, LimbKind.ARM)
        hanging = [c for j in trunk for c in self.body.children[j] if c not in trunk]
        return [
            self._branch(self._arm_path(joint), joint, verdict, is_named=True, lies=True)
            for joint in hanging
            if joint not in self.plane.partners
            and self._words(joint) & _ARM_WORDS
            and not self._words(joint) & (_LEG_WORDS | _NO_ARM)
            and names.side_of(self.evidence.skeleton.names[joint]) is not names.Side.CENTRE
            and self._reach(joint) > _SHORT * self.evidence.height
        ]

    def stands(self, said: list[frozenset[str]]) -> list[bool]:
        """Whether each pair can be legs, by what reaches the ground and what names say."""
        stands = [self._pair_stands(pair) for pair in self.pairs]
        if sum(stands) == 1:
            stands[stands.index(True)] = not self._swims(self.pairs[stands.index(True)])
        in_flight = not any(stands)
        for k, (pair, words) in enumerate(zip(self.pairs, said, strict=True)):
            # What is called a leg and hangs down is one: in flight, or lifted by a rearing horse.
            drop = min(map(self._drop, pair.starts))
            is_near = in_flight or self._lowest_of(pair) < _LIFTED * drop
            if is_near and words & _LEG_WORDS and all(map(self._hangs, pair.starts)):
                stands[k] = True
        called = [bool(w & _LEG_WORDS) and not w & _ARM_WORDS for w in said]
        if not any(s and c for s, c in zip(stands, called, strict=True)):
            # Bound on its back or its side: what is called a leg is one wherever it points.
            stands = [s or c for s, c in zip(stands, called, strict=True)]
        if sum(stands) == 1:
            alone = stands.index(True)
            stands[alone] = not self._is_half(self.pairs[alone], said[alone])
        return stands

    def _is_half(self, pair: Pair, words: frozenset[str]) -> bool:
        """Whether the only pair that reaches the ground are the arms of a body without legs: by
        name, or because its root reaches as low, and the pair begins elsewhere, near the top."""
        if words & (_LEG_WORDS | _ARM_WORDS):
            return not words & _LEG_WORDS
        evidence, root = self.evidence, self.body.root
        if any(self.body.parents[top] == root for top in pair.tops):
            return False
        top = float(evidence.positions[list(pair.starts), 1].mean()) - evidence.ground
        return self.lowest[root] < _AS_LOW * top and top > _SHOULDER * evidence.height

    def _pair_stands(self, pair: Pair) -> bool:
        """One of them reaches the ground, and the other may be lifted in mid-stride."""
        lowest = [min(self.lowest[j] for j in self.body.subtree(s)) for s in pair.starts]
        is_near = max(lowest) < _IN_STRIDE * self.evidence.height
        return (
            is_near and any(map(self._stands, pair.starts)) and all(map(self._hangs, pair.starts))
        )

    def measure(self, pair: Pair) -> Float[np.ndarray, "F"]:
        """`FEATURES` of a pair: the mean of both sides."""
        own = np.mean([self._measure(start) for start in pair.starts], axis=0)
        others = [p for p in self.pairs if p is not pair]
        low = self._lowest_of(pair) - 0.02 * self.evidence.height
        standing = sum(self._pair_stands(p) for p in others)
        lower = any(self._lowest_of(p) < low for p in others)
        height = max(self.evidence.height, 1e-9)
        forward = np.cross(self.plane.lateral, (0.0, 1.0, 0.0))
        spans = [
            max(float(np.ptp(self.evidence.points @ a)), 1e-9)
            for a in (forward, self.plane.lateral)
        ]
        return np.array([*own, *(np.log(s / height) for s in spans), min(standing, 4), lower])

    def _measure(self, start: int) -> list[float]:
        evidence = self.evidence
        height = max(evidence.height, 1e-9)
        joints = self.body.subtree(start)
        skin = np.concatenate([evidence.skin_of[j] for j in joints])
        points = np.concatenate((evidence.positions[joints], skin))
        origin = evidence.positions[start]
        distances = np.linalg.norm(points - origin, axis=1)
        reach = max(float(distances.max()), 1e-9)
        step = (points[distances.argmax()] - origin) / reach
        forward = np.cross(self.plane.lateral, (0.0, 1.0, 0.0))
        length = max(float(np.ptp(self.evidence.points @ forward)), 1e-9)
        return [
            abs(float(step @ self.plane.lateral)),
            -float(step[1]),
            *_proportions(skin),
            float(np.log(max(evidence.mass[joints].sum(), 1e-4))),
            reach / height,
            float(origin[1] - evidence.ground) / height,
            self._bend(start),
            float(np.ptp(points @ forward)) / length,
        ]

    def _lowest_of(self, pair: Pair) -> float:
        return min(self.lowest[j] for s in pair.starts for j in self.body.subtree(s))

    def _bend(self, start: int) -> float:
        """Sum of the angles between the segments of a limb, radians."""
        steps = np.diff(self.evidence.positions[self._arm_path(start)], axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        steps = (steps / np.maximum(lengths, 1e-12)[:, None])[lengths > 1e-6 * self.evidence.height]
        turns = np.clip((steps[:-1] * steps[1:]).sum(axis=1), -1.0, 1.0)
        return float(np.arccos(turns).sum())

    def _words(self, start: int) -> frozenset[str]:
        joints = self.body.subtree(start)
        return frozenset().union(*(names.parts_of(self.evidence.skeleton.names[j]) for j in joints))

    def _swims(self, pair: Pair) -> bool:
        """Whether the only pair that reaches the ground is fins, by the shape of the body."""
        measured = dict(zip(FEATURES, self.measure(pair).tolist(), strict=True))
        is_long = measured["length"] > math.log(_LONG_BODY)
        return is_long and measured["across"] > _SPLAYED

    def _hangs(self, start: int) -> bool:
        return self._drop(start) > _SHORT * self.evidence.height

    def _reach(self, joint: int) -> float:
        """How far a branch, joints and skin, reaches from the joint it hangs on."""
        origin = self.evidence.positions[self.body.parents[joint]]
        joints = self.body.subtree(joint)
        points = np.concatenate(
            (self.evidence.positions[joints], *(self.evidence.skin_of[j] for j in joints))
        )
        return float(np.linalg.norm(points - origin, axis=1).max())

    def _is_point(self, joint: int) -> bool:
        """Whether a branch is one joint without skin of its own, as a collar bone is in a flat tree
        whose arm hangs elsewhere."""
        if len(self.body.subtree(joint)) > 1 or self.evidence.weights is None:
            return False
        return not len(self.evidence.skin_of[joint])

    def _starts(self, joint: int) -> list[int]:
        """The branch itself, or, where it carries several legs, the tops of these."""
        legs = [c for c in self.body.children[joint] if self._drop(c) > 0.4 * self._drop(joint)]
        legs = [c for c in legs if self._stands(c)]
        if len(legs) < 2:
            return [joint]
        return [s for c in legs for s in self._starts(c)]

    def _twin(self, start: int, top: int, partner: int) -> int | None:
        """The mirror image of a limb's first joint, under the mirror image of its branch."""
        if start == top:
            return partner
        twin = self.plane.partners.get(start)
        return twin if twin in self.body.subtree(partner) else None

    def _drop(self, joint: int) -> float:
        """From a joint down to the lowest point below it."""
        top = float(self.evidence.positions[joint, 1]) - self.evidence.ground
        return top - min(self.lowest[j] for j in self.body.subtree(joint))

    def _stands(self, joint: int) -> bool:
        lowest = min(self.lowest[j] for j in self.body.subtree(joint))
        return lowest < _ON_GROUND * self.evidence.height

    def _as_far(self, paths: list[list[int]]) -> list[list[int]]:
        """Both limbs of a pair to the same joint of each, the further one where one ends earlier:
        a vertex that just misses the ground must not decide."""
        longer = max(paths, key=len)
        mirrored = [self.plane.partners.get(joint, -1) for joint in longer]
        parents = self.body.parents
        if any(parents.get(b) != a for a, b in itertools.pairwise(mirrored)):
            return paths
        return [mirrored if path == mirrored[: len(path)] else path for path in paths]

    def _branch(
        self, path: list[int], top: int, verdict: LimbVerdict, *, is_named: bool, lies: bool
    ) -> Branch:
        is_leg, start = verdict.kind is LimbKind.LEG, path[0]
        while len(path) > 1 and self.body.is_held(path[-1], self.evidence):
            path.pop()
        while not is_leg and len(path) > 1 and self._in_place(path[-2], path[-1]):
            path.pop()
        tip = self._foot(path) if is_leg else path[-1]
        if start != top:
            path = self.body.path(top, start)[:-1] + path
        return Branch(tuple(path), tip, self.body.parents[top], verdict, is_named, lies)

    def _leg_path(self, start: int) -> list[int]:
        """Down to the joint that owns the lowest point, preferring the longest way there."""
        joints = self.body.subtree(start)
        floor = min(self.lowest[j] for j in joints) + 0.02 * self.evidence.height
        standing = [j for j in joints if self.lowest[j] <= floor]
        return max((self.body.path(start, j) for j in standing), key=len)

    def _foot(self, path: list[int]) -> int:
        """The first joint of a leg that is near the ground; the last where none is. The joint
        before the last is the foot where its own skin touches the ground too, as a heel does."""
        heights = [float(self.evidence.positions[j, 1]) - self.evidence.ground for j in path]
        top = max(heights[0], 1e-9)
        foot = next((i for i, h in enumerate(heights) if h < _FOOT_HEIGHT * top), len(path) - 1)
        if foot == len(path) - 1 and foot > 1 and not self._named(path[foot], "foot"):
            foot -= self._is_heel(path[foot - 1], path[foot], top)
        if foot > 0 and self._named(path[foot], *_TOES) and self._named(path[foot - 1], *_FEET):
            foot -= 1
        while foot > 0 and self._in_place(path[foot - 1], path[foot]):
            foot -= 1
        return path[foot]

    def _in_place(self, one: int, other: int) -> bool:
        gap = self.evidence.positions[one] - self.evidence.positions[other]
        return float(np.linalg.norm(gap)) < SAME_PLACE * self.evidence.size

    def _is_heel(self, joint: int, toe: int, top: float) -> bool:
        """Whether the joint before a leg's last stands on the ground with it."""
        positions = self.evidence.positions
        if positions[joint, 1] - self.evidence.ground > _ANKLE_HEIGHT * top:
            return False
        if not len(self.evidence.owners):
            return True
        is_near = float(np.linalg.norm(positions[toe] - positions[joint])) < _FOOT_LENGTH * top
        return is_near and self.lowest[joint] < _SOLE * self.evidence.height

    def _is_hand(self, above: int, joint: int) -> bool:
        """Whether a joint is the hand of a forearm by name: it may be smaller than the twist joints
        and correctives beside it."""
        said = names.parts_of(self.evidence.skeleton.names[joint])
        is_other = bool(said & {"helper", "prop", "end", "wing", "finger"})
        return "hand" in said and not is_other and not self._named(above, "hand")

    def _named(self, joint: int, *parts: str) -> bool:
        return not names.parts_of(self.evidence.skeleton.names[joint]).isdisjoint(parts)

    def _arm_path(self, start: int) -> list[int]:
        """Along the longest branch, and no further than where it splits into fingers."""
        path, total = [start], self._reach(start)
        while children := self.body.children[path[-1]]:
            reaches = {c: self._reach(c) for c in children}
            longest = max(children, key=lambda c: reaches[c])
            fingers = len(children) > 1 and reaches[longest] < 0.35 * total
            if hand := next((c for c in children if self._is_hand(path[-1], c)), None):
                path.append(hand)
                break
            is_hand = "hand" in names.parts_of(self.evidence.skeleton.names[path[-1]])
            if len(path) > 1 and (fingers or is_hand):
                break
            if "finger" in names.parts_of(self.evidence.skeleton.names[longest]):
                break
            path.append(longest)
        return path


def _on_like_feet(one: Branch, other: Branch) -> tuple[Branch, Branch]:
    """Both legs of a pair on the same joint of each, the upper one where they differ: a vertex that
    just misses the ground must not decide."""
    places = [b.joints.index(b.tip) for b in (one, other)]
    if not one.is_leg or places[0] == places[1] or len(one.joints) != len(other.joints):
        return one, other
    place = min(places)
    return replace(one, tip=one.joints[place]), replace(other, tip=other.joints[place])


def _proportions(skin: Float[np.ndarray, "N 3"]) -> tuple[float, float]:
    """Thickness by width and width by length, as standard deviations; usual ones without a skin."""
    if len(skin) < 4:
        return 0.7, 0.3
    spread = np.sqrt(np.maximum(np.linalg.eigvalsh(np.cov(skin.T)), 0.0))  # ascending
    return float(spread[0] / max(spread[1], 1e-9)), float(spread[1] / max(spread[2], 1e-9))
