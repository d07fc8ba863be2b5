"""Find the limbs of a body: paired branches that leave its middle, and where each one ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from akd.rig.roles import names
from akd.rig.roles.body import Body, Evidence
from akd.rig.roles.symmetry import Sagittal

_ON_GROUND = 0.08
"""A limb whose lowest point is within this fraction of the body's height stands on the ground."""
_FOOT_HEIGHT = 0.18
"""A leg's foot is its first joint lower than this fraction of the leg's height."""
_ANKLE_HEIGHT = 0.3
"""A joint whose own skin touches the ground may be this high and still be the foot."""
_SOLE = 0.02
"""Skin within this fraction of the body's height touches the ground."""
_SPRAWL = 0.7
"""A limb without a knee that goes sideways more than this, for each metre down, is a fin."""
_THIN = 0.3
"""A wing's thickness is less than this fraction of its width, both as standard deviations."""
_WIDE = 0.15
"""A wing's width is more than this fraction of its length."""
_SHORT = 0.1
"""A branch that reaches less far than this fraction of the body's height is no limb."""


@dataclass(frozen=True)
class Branch:
    """A paired branch of the body, before it is known what it is."""

    joints: tuple[int, ...]
    """From the body outwards along the main path."""
    tip: int
    attached_to: int
    is_leg: bool
    words: frozenset[str]
    """Parts that the names along it mention."""
    is_fin: bool = False
    """It reaches the ground and is no leg, by its shape."""
    is_blade: bool = False
    """Its skin is thin and wide, as a wing's."""


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

    def branches(self) -> list[tuple[Branch, Branch]]:
        """Pairs of limbs. Of each pair the first is the one with the lower joint index."""
        found = []
        for joint in self.body.subtree(self.body.root):
            partner = self.plane.partners.get(joint)
            parent = self.body.parents[joint]
            if partner is None or partner < joint or parent in self.plane.partners:
                continue
            if parent < 0 or self._reach(joint) < _SHORT * self.evidence.height:
                continue
            for start in self._starts(joint):
                twin = self._twin(start, joint, partner)
                if twin is not None:
                    found.append((self._branch(start, joint), self._branch(twin, partner)))
        return found

    def _reach(self, joint: int) -> float:
        """How far a branch, joints and skin, reaches from the joint it hangs on."""
        origin = self.evidence.positions[self.body.parents[joint]]
        joints = self.body.subtree(joint)
        points = np.concatenate(
            (self.evidence.positions[joints], *(self.evidence.skin_of[j] for j in joints))
        )
        return float(np.linalg.norm(points - origin, axis=1).max())

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

    def _branch(self, start: int, top: int) -> Branch:
        joints = self.body.subtree(start)
        words = frozenset(
            w for j in joints for w in names.parts_of(self.evidence.skeleton.names[j])
        )
        is_leg = self._stands(start) and self._drop(start) > _SHORT * self.evidence.height
        if words & {"wing", "fin", "face", "ear", "tail"} and not words & {"leg", "foot"}:
            is_leg = False
        is_fin = is_leg and not words & {"leg", "foot"} and self._is_fin(start)
        is_leg = is_leg and not is_fin
        path = self._leg_path(start) if is_leg else self._arm_path(start)
        tip = self._foot(path) if is_leg else path[-1]
        if start != top:
            path = self.body.path(top, start)[:-1] + path
        attached_to = self.body.parents[top]
        is_blade = self._is_blade(joints)
        return Branch(tuple(path), tip, attached_to, is_leg, words, is_fin, is_blade)

    def _is_blade(self, joints: list[int]) -> bool:
        """Whether the skin of a branch is thin for its width, and wide for its length."""
        skin = np.concatenate([self.evidence.skin_of[j] for j in joints])
        if len(skin) < 4:
            return False
        spread = np.sqrt(np.maximum(np.linalg.eigvalsh(np.cov(skin.T)), 0.0))  # ascending
        return bool(spread[0] < _THIN * spread[1] and spread[1] > _WIDE * spread[2])

    def _is_fin(self, start: int) -> bool:
        """Whether a branch is one stiff piece that spreads out: nothing walks on such legs, but a
        fish that was modelled lying on the ground rests on its fins."""
        joints = self.body.subtree(start)
        evidence = self.evidence
        if not len(evidence.owners) or sum(np.isfinite(self.lowest[j]) for j in joints) > 1:
            return False
        own = evidence.vertices[np.isin(evidence.owners, joints)]
        step = own[own[:, 1].argmin()] - evidence.positions[start]
        return abs(float(step @ self.plane.lateral)) > _SPRAWL * abs(float(step[1]))

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
        is_last = foot == len(path) - 1 and foot > 1 and not self._named(path[foot], "foot")
        if is_last and bool(len(self.evidence.owners)) and heights[foot - 1] < _ANKLE_HEIGHT * top:
            foot -= self.lowest[path[foot - 1]] < _SOLE * self.evidence.height
        if foot > 0 and self._named(path[foot], "toe") and self._named(path[foot - 1], "foot"):
            foot -= 1
        return path[foot]

    def _named(self, joint: int, part: str) -> bool:
        return part in names.parts_of(self.evidence.skeleton.names[joint])

    def _arm_path(self, start: int) -> list[int]:
        """Along the longest branch, and no further than where it splits into fingers."""
        path, total = [start], self._reach(start)
        while children := self.body.children[path[-1]]:
            reaches = {c: self._reach(c) for c in children}
            longest = max(children, key=lambda c: reaches[c])
            fingers = len(children) > 1 and reaches[longest] < 0.35 * total
            is_hand = "hand" in names.parts_of(self.evidence.skeleton.names[path[-1]])
            if len(path) > 1 and (fingers or is_hand):
                break
            if "finger" in names.parts_of(self.evidence.skeleton.names[longest]):
                break
            path.append(longest)
        return path
