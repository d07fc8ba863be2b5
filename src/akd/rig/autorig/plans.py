"""Minimal body plans: a trunk of two nodes, and the ends of its limbs.

What the nodes expect was measured on creatures of the zoo's training side and made wider, because
bodies are drawn in more ways than the zoo has.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A node of a plan, and what its place in a body is expected to be. The body faces +z, lengths
    are in heights of the body."""

    name: str
    parent: str
    """Empty for the first."""
    height: tuple[float, float]
    """Above the ground: the mean and its spread."""
    way: tuple[float, float] = (0.0, 1.0)
    """Natural logarithm of the way from the parent through the inside, and its spread."""
    direction: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """From the parent."""
    turn: float = 180.0
    """How far from that direction it may well be, degrees."""
    is_side: bool = False
    """Off the middle of the body; its mirror image is meant as well."""
    is_end: bool = True
    """Nothing of the body comes after it."""
    price: float | None = None
    """What it costs to do without; None where it must be there."""


@dataclass(frozen=True)
class Plan:
    """A reduced template: `nodes[0]` is the pelvis and `nodes[1]` the chest."""

    name: str
    nodes: tuple[Node, ...]

    @property
    def pairs(self) -> int:
        """Pairs of feet."""
        return sum(n.name.endswith("foot") for n in self.nodes)


PLANS: dict[str, Plan] = {
    plan.name: plan
    for plan in (
        Plan(
            "quadruped",
            (
                Node("pelvis", "", (0.66, 0.10), is_end=False),
                Node("chest", "pelvis", (0.62, 0.10), (-0.3, 0.4), (0, -0.07, 1), 20, is_end=False),
                Node("fore_foot", "chest", (0.02, 0.03), (-0.4, 0.2), (0.16, -0.98, 0.07), 15,
                     is_side=True),
                Node("hind_foot", "pelvis", (0.02, 0.03), (-0.3, 0.25), (0.13, -0.99, 0.08), 15,
                     is_side=True),
                Node("head", "chest", (0.78, 0.15), (-0.7, 0.4), (0, 0.38, 0.92), 30),
                Node("tail", "pelvis", (0.5, 0.25), (-0.7, 0.6), (0, -0.4, -0.9), 40, price=1.5),
            ),
        ),
        Plan(
            "biped",
            (
                Node("pelvis", "", (0.51, 0.06), is_end=False),
                Node("chest", "pelvis", (0.79, 0.06), (-1.25, 0.25), (0, 1, 0), 12, is_end=False),
                Node("foot", "pelvis", (0.02, 0.03), (-0.5, 0.2), (0.15, -0.96, 0.2), 15,
                     is_side=True),
                Node("head", "chest", (0.95, 0.06), (-1.5, 0.35), (0, 1, 0.1), 20),
                Node("hand", "chest", (0.55, 0.2), (-0.7, 0.25), (0.8, -0.5, 0.1), 45,
                     is_side=True, price=4.0),
            ),
        ),
        Plan(
            "theropod",
            (
                Node("pelvis", "", (0.56, 0.10), is_end=False),
                Node("chest", "pelvis", (0.66, 0.12), (-1.2, 0.4), (0, 0.35, 0.94), 25,
                     is_end=False),
                Node("foot", "pelvis", (0.02, 0.03), (-0.35, 0.25), (0.15, -0.96, 0.2), 15,
                     is_side=True),
                Node("head", "chest", (0.95, 0.06), (-0.9, 0.35), (0, 0.76, 0.65), 28),
                Node("tail", "pelvis", (0.55, 0.25), (-0.4, 0.5), (0, 0.0, -1), 30, price=6.0),
                Node("hand", "chest", (0.5, 0.2), (-1.1, 0.5), (0.6, -0.75, 0.2), 45,
                     is_side=True, price=0.7),
            ),
        ),
    )
}  # fmt: skip
