"""The discrete embedding: which spheres inside a body are the nodes of a plan.

Every choice of spheres has a price: ways of the wrong length, in the wrong direction or not
straight, ends where the body goes on, limbs that share a way, and limbs of the body that no node
accounts for. The cheapest choice is found by a best-first search that is led by the exact price of
what is still to be chosen, but for limbs shared and left over (Baran and Popovic 2007, section 3).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np
from jaxtyping import Float, Int

from akd.rig.autorig.landmarks import Landmarks
from akd.rig.autorig.plans import Node, Plan
from akd.rig.autorig.solid import MedialGraph

_MIDDLE = 0.04
"""Half the width of what counts as the middle of the body, in heights."""
_ROBUST = 2.0
"""A deviation of more spreads than this costs in proportion, not squared."""
_BEYOND = 0.06
"""Spread of how much of the body comes after an end, in heights."""
_ONWARD = 0.9
"""A way leads away from the deepest place if it gains this much of its length."""
_DETOUR = 0.12
"""Spread of how much longer than straight a way is."""
_THIN = 0.45
"""Spread of how much thinner than the thickest place the trunk is."""
_SHARED = 0.1
"""Spread of how far two limbs share a way, in heights."""
_LEFT_OVER = 0.13
"""Spread of how long a limb that no node accounts for is, in heights. Ears are shorter."""
_STANDING = 9.0
"""Price of such a limb that stands on the ground, and of a leg that was followed from there."""
_STANDS = 0.08
"""What is lower than this stands on the ground, in heights."""
_NEAR = 0.15
"""A foot this near to the sole of a leg, in heights, is the foot of that leg."""
_MOST_FOR_ONE = 5.0
"""However long a limb that is left over is, it costs no more, but for standing."""
_OPTIONS = 12
"""Spheres tried for each node, besides those where legs were seen to stand."""
_MOST = 800
"""Choices looked at before the cheapest whole one so far is taken."""


@dataclass(frozen=True)
class Embedding:
    """Spheres for the nodes of a plan."""

    plan: Plan
    spheres: dict[str, int]
    """Without those that were left out."""
    price: float
    """From 0, the less the better; about 1 a node is ordinary."""
    worst: str
    """What was most expensive, in words."""

    @property
    def score(self) -> float:
        """Price a node."""
        return self.price / len(self.plan.nodes)


def embed(plan: Plan, marks: Landmarks) -> Embedding | None:
    """The cheapest embedding of a plan in a body that faces +z; None where a node that must be
    there has no sphere it could be."""
    search = _Search(plan, marks)
    if any(not len(search.candidates[n.name]) for n in plan.nodes if n.price is None):
        return None
    return search.run()


def _robust(deviation: np.ndarray) -> np.ndarray:
    """Half the square, and straight on beyond `_ROBUST`."""
    size = np.abs(deviation)
    return np.where(size < _ROBUST, 0.5 * size**2, _ROBUST * (size - 0.5 * _ROBUST))


class _Search:
    """Prices of single spheres and of pairs, and the search over them."""

    def __init__(self, plan: Plan, marks: Landmarks) -> None:
        self.plan, self.marks, self.graph = plan, marks, marks.graph
        self.height = marks.height
        self.beyond = _beyond(self.graph)
        centres = self.graph.centres
        edge = max(_MIDDLE * self.height, 1.1 * marks.solid.cell)
        self.is_middle = np.abs(centres[:, 0]) < edge
        reached = np.isfinite(self.graph.lengths[self.graph.deepest])
        ground = float(centres[:, 1].min())
        self.places = centres - [0.0, ground, 0.0]
        self.candidates: dict[str, Int[np.ndarray, "N"]] = {}
        for node in plan.nodes:
            fits = (centres[:, 0] > 0.5 * edge) if node.is_side else self.is_middle
            fits = fits & reached & (not node.is_end or self.beyond < 4 * _BEYOND * self.height)
            self.candidates[node.name] = np.flatnonzero(fits)
        self.standing = {n.name: self._at_soles(n) for n in plan.nodes}
        self.single = {n.name: self._single(n) for n in plan.nodes}
        self.pair = {n.name: self._pair(n) for n in plan.nodes if n.parent}

    def _at_soles(self, node: Node) -> list[int]:
        """The candidates of a foot that are nearest to where legs stand."""
        chosen = self.candidates[node.name]
        if not node.name.endswith("foot") or not len(chosen):
            return []
        gaps = [
            np.linalg.norm(self.graph.centres[chosen] - leg.sole, axis=1) for leg in self.marks.legs
        ]
        return [int(gap.argmin()) for gap in gaps]

    def _single(self, node: Node) -> Float[np.ndarray, "N"]:
        chosen = self.candidates[node.name]
        mean, spread = node.height
        price = _robust((self.places[chosen, 1] / self.height - mean) / spread)
        if node.is_end:
            return price + _robust(self.beyond[chosen] / (_BEYOND * self.height))
        radii = self.graph.radii
        return price + _robust((1.0 - radii[chosen] / radii.max()) / _THIN)

    def _pair(self, node: Node) -> Float[np.ndarray, "P N"]:
        above, chosen = self.candidates[node.parent], self.candidates[node.name]
        ways = self.graph.lengths[np.ix_(above, chosen)]
        step = self.places[chosen][None] - self.places[above][:, None]
        if not node.is_side:
            step = step * [0.0, 1.0, 1.0]
        straight = np.linalg.norm(step, axis=-1)
        is_way = np.isfinite(ways) & (straight > 0)
        ways, straight = np.where(is_way, ways, 1.0), np.where(is_way, straight, 1.0)
        towards = np.array(node.direction) / np.linalg.norm(node.direction)
        angle = np.degrees(np.arccos((step @ towards / straight).clip(-1.0, 1.0)))
        price = _robust((np.log(ways / self.height) - node.way[0]) / node.way[1])
        price += _robust(angle / node.turn) + _robust((ways / straight - 1.0) / _DETOUR)
        return np.where(is_way, price, np.inf)

    def run(self) -> Embedding | None:
        """Best first: what was paid, and at least has to be paid, decides what is looked at."""
        nodes = self.plan.nodes
        rest = self._at_least()
        number = count()
        first = self.candidates[nodes[0].name]
        queue: list[tuple[float, int, float, tuple[int, ...]]] = []
        for i, sphere in enumerate(first):
            paid = float(self.single[nodes[0].name][i])
            heapq.heappush(queue, (paid + rest[0][i], next(number), paid, (int(sphere),)))
        best: tuple[float, tuple[int, ...]] | None = None
        seen = 0
        while queue and seen < _MOST:
            bound, _, paid, chosen = heapq.heappop(queue)
            if best is not None and bound >= best[0]:
                break
            seen += 1
            if len(chosen) == len(nodes):
                whole = paid + self._left_over(chosen)[0]
                if best is None or whole < best[0]:
                    best = (whole, chosen)
                continue
            for sphere, more, coming in self._next(chosen, rest):
                price = paid + more
                at_least = price + coming
                if np.isfinite(at_least) and (best is None or at_least < best[0]):
                    heapq.heappush(queue, (at_least, next(number), price, (*chosen, sphere)))
        if best is None:
            best = self._hastily([state[3] for state in queue], rest)
        if best is None:
            return None
        spheres = {n.name: s for n, s in zip(nodes, best[1], strict=True) if s >= 0}
        return Embedding(self.plan, spheres, best[0], self._worst(best[1]))

    def _hastily(
        self, states: list[tuple[int, ...]], rest: list[np.ndarray]
    ) -> tuple[float, tuple[int, ...]] | None:
        """A whole choice, from the most nearly whole state by the cheapest sphere each time."""
        if not states:
            return None
        chosen = max(states, key=len)
        while len(chosen) < len(self.plan.nodes):
            options = self._next(chosen, rest)
            chosen = (*chosen, min(options, key=lambda o: o[1] + o[2])[0])
        whole = self._paid(chosen)
        return (whole, chosen) if np.isfinite(whole) else None

    def _at_least(self) -> list[Float[np.ndarray, "N"]]:
        """For the pelvis and for the chest: the least that nodes after them cost, by candidate."""
        nodes = self.plan.nodes
        least: dict[str, np.ndarray] = {
            n.name: np.zeros(len(self.candidates[n.name])) for n in nodes[:2]
        }
        for node in reversed(nodes[1:]):
            price = self.pair[node.name] + self.single[node.name]
            if node.name in least:
                price = price + least[node.name]
            lowest = price.min(axis=1) if price.shape[1] else np.full(len(price), np.inf)
            if node.price is not None:
                lowest = np.minimum(lowest, node.price)
            least[node.parent] = least[node.parent] + lowest
        return [least[n.name] for n in nodes[:2]]

    def _next(
        self, chosen: tuple[int, ...], rest: list[np.ndarray]
    ) -> list[tuple[int, float, float]]:
        """Spheres for the next node, cheapest first: each with what it costs and what at least
        comes after it."""
        nodes = self.plan.nodes
        node = nodes[len(chosen)]
        spheres = self.candidates[node.name]
        names = [n.name for n in nodes]
        row = self._row(node, chosen[names.index(node.parent)])
        price = self.pair[node.name][row] + self.single[node.name]
        after = np.full(len(spheres), self._ends_at_least(chosen, len(chosen) + 1))
        if len(chosen) == 1:
            after = rest[1] + self._ends_at_least(chosen, 2, only=nodes[0].name)
        cheapest = np.argsort(price + after, kind="stable")[:_OPTIONS].tolist()
        options = []
        for i in dict.fromkeys([*cheapest, *self.standing[node.name]]):
            shared = self._shared(chosen, node, int(spheres[i]))
            options.append((int(spheres[i]), float(price[i]) + shared, float(after[i])))
        if node.price is not None:
            options.append((-1, node.price, float(self._ends_at_least(chosen, len(chosen) + 1))))
        return options

    def _row(self, node: Node, sphere: int) -> int:
        return int(np.searchsorted(self.candidates[node.parent], sphere))

    def _ends_at_least(self, chosen: tuple[int, ...], start: int, *, only: str = "") -> float:
        """The least that the nodes from `start` on cost whose parents are chosen."""
        names = [n.name for n in self.plan.nodes]
        total = 0.0
        for node in self.plan.nodes[start:]:
            parent = names.index(node.parent)
            if parent >= len(chosen) or (only and node.parent != only):
                continue
            price = self.pair[node.name][self._row(node, chosen[parent])] + self.single[node.name]
            lowest = float(price.min()) if len(price) else np.inf
            total += lowest if node.price is None else min(lowest, node.price)
        return total

    def way(self, chosen: tuple[int, ...], index: int) -> list[int]:
        """Spheres between a node and its parent."""
        names = [n.name for n in self.plan.nodes]
        return self.graph.way(chosen[names.index(self.plan.nodes[index].parent)], chosen[index])

    def _shared(self, chosen: tuple[int, ...], node: Node, sphere: int) -> float:
        """Price of a way that other limbs have taken already, off the trunk."""
        if not node.is_end:
            return 0.0
        names = [n.name for n in self.plan.nodes]
        graph = self.graph
        mine = graph.way(chosen[names.index(node.parent)], sphere)
        total = 0.0
        for index in range(2, len(chosen)):
            if chosen[index] < 0:
                continue
            theirs = set(self.way(chosen, index))
            both = [s for s in mine if s in theirs]
            far = [
                min(graph.lengths[s, chosen[0]] - graph.radii[chosen[0]],
                    graph.lengths[s, chosen[1]] - graph.radii[chosen[1]])
                for s in both
            ]  # fmt: skip
            reach = max(far, default=0.0)
            total += float(_robust(np.array(max(reach, 0.0) / (_SHARED * self.height))))
        return total

    def _left_over(self, chosen: tuple[int, ...]) -> tuple[float, float]:
        """Price of limbs that no node accounts for, and the length of the longest, in heights."""
        graph = self.graph
        taken: set[int] = {chosen[0]}
        for index in range(1, len(chosen)):
            if chosen[index] >= 0:
                taken |= set(self.way(chosen, index))
        feet = [i for n, i in zip(self.plan.nodes, chosen, strict=True) if n.name.endswith("foot")]
        soles = [leg.sole for leg in self.marks.legs if not self._is_at(leg.sole, feet)]
        total, longest = _STANDING * len(soles), 0.0
        is_left = graph.centres[:, 0] > -1.1 * self.marks.solid.cell
        for _ in range(4):
            ways = np.array(sorted(taken))
            away = graph.lengths[:, ways] - 1.2 * graph.radii[ways]
            gap = np.where(is_left, away.min(axis=1), 0.0)
            gap = np.where(np.isfinite(gap), gap, 0.0)
            end = int(gap.argmax())
            length = float(gap[end]) / self.height
            if length < 0.5 * _LEFT_OVER:
                break
            longest = max(longest, length)
            total += min(float(_robust(np.array(length / _LEFT_OVER))), _MOST_FOR_ONE)
            # What stands in the middle is a trunk or a tail: legs come in pairs.
            is_pair = not self.is_middle[end] and length > _LEFT_OVER
            is_standing = is_pair and self.places[end, 1] < _STANDS * self.height
            if is_standing and not any(self._is_at(sole, [end]) for sole in soles):
                total += _STANDING
            taken |= set(graph.way(int(ways[away[end].argmin()]), end))
        return total, longest

    def _is_at(self, sole: Float[np.ndarray, "3"], spheres: list[int]) -> bool:
        """Whether any of some spheres is over a sole."""
        gaps = (self.graph.centres[spheres] - sole)[:, [0, 2]]
        return bool((np.linalg.norm(gaps, axis=1) < _NEAR * self.height).any())

    def _prices(self, chosen: tuple[int, ...]) -> dict[str, float]:
        """What a whole choice paid for, in words."""
        names = [n.name for n in self.plan.nodes]
        prices: dict[str, float] = {}
        for index, node in enumerate(self.plan.nodes):
            said = node.name.replace("_", " ")
            if chosen[index] < 0:
                prices[f"it has no {said}"] = float(node.price or 0.0)
                continue
            at = int(np.searchsorted(self.candidates[node.name], chosen[index]))
            price = float(self.single[node.name][at])
            if node.parent:
                row = self._row(node, chosen[names.index(node.parent)])
                price += float(self.pair[node.name][row, at])
            price += self._shared(chosen[:index], node, chosen[index])
            prices[f"the {said} is not where one is"] = price
        left, longest = self._left_over(chosen)
        prices[f"a limb {100 * longest:.0f} % as long as the body is high is left over"] = left
        return prices

    def _paid(self, chosen: tuple[int, ...]) -> float:
        return sum(self._prices(chosen).values())

    def _worst(self, chosen: tuple[int, ...]) -> str:
        prices = self._prices(chosen)
        return max(prices, key=lambda k: prices[k])


def _beyond(graph: MedialGraph) -> Float[np.ndarray, "N"]:
    """How much of the body comes after each sphere, going outwards from the deepest; metres: the
    longest way on from it that leads almost straight away from there."""
    far = graph.lengths[graph.deepest]
    far = np.where(np.isfinite(far), far, 0.0)
    ways = np.where(np.isfinite(graph.lengths), graph.lengths, 0.0)
    is_onward = far[None, :] - far[:, None] >= _ONWARD * ways
    return np.where(is_onward, ways, 0.0).max(axis=1)
