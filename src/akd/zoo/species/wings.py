"""Wings: an arm of three segments with a vane behind it, spread sideways in the bind pose."""

from __future__ import annotations

from functools import partial

import numpy as np

from akd.zoo.mesh.shapes import Array, Cone, Tube, vector
from akd.zoo.species.anatomy import Anatomy
from akd.zoo.species.parts import Wing

WING = ("upper", "lower", "hand")
"""Segments of a wing, from the body outwards."""


def add_wing(body: Anatomy, wing: Wing, parent: str, shoulder: Array, height: float) -> None:
    """Joints and flesh of a wing that leaves the trunk at `shoulder`."""
    length, chord = wing.length * height, wing.chord * height
    ways = (vector(0.94, 0.20, -0.26), vector(0.96, 0.10, 0.20), vector(0.94, -0.02, -0.34))
    joints = [shoulder]
    for share, way in zip(wing.ratios, ways, strict=True):
        joints.append(joints[-1] + share * length * way / np.linalg.norm(way))
    elbow, wrist, tip = joints[1:]
    body.limb("left_wing", parent, WING, joints[:3], tip)
    r, thick = wing.radius * height, 0.55 * wing.radius * height
    add = partial(body.add, group="left_wing")
    arm = Tube((shoulder, elbow, wrist, 0.35 * wrist + 0.65 * tip), (1.3 * r, r, 0.8 * r, 0.45 * r))
    add(arm, material=wing.material, blend=0.06 * height, detail=0.8)
    # The vane's middle line lies half a chord behind the arm.
    widths = chord * np.array((0.62, 1.0, 0.92, 0.42))
    edge = (shoulder + vector(-0.3 * r, 0, 0), elbow, wrist, tip)
    middle = [
        place + vector(0.0, -0.3 * r, -0.5 * width)
        for place, width in zip(edge, widths, strict=True)
    ]
    vane = Tube(
        middle, (thick, thick, 0.9 * thick, 0.7 * thick), flat=0.5 * widths / thick,
        side=(0.0, 0.0, 1.0), finer=5,
    )  # fmt: skip
    add(vane, material=wing.vane, blend=0.5 * thick, detail=0.9)
    if wing.fingers:
        # Separate primaries of soaring birds, or the fingers that stretch a membrane.
        for i in range(wing.fingers):
            t = i / max(wing.fingers - 1, 1)
            root = wrist + (0.30 + 0.55 * (1 - t)) * (tip - wrist) + vector(0, 0, -0.25 * chord * t)
            way = vector(np.cos(1.15 * t), 0.04 * (1 - t), -np.sin(1.15 * t) - 0.25)
            end = root + (0.42 + 0.10 * t) * wing.ratios[2] * length * way / np.linalg.norm(way)
            quill = Cone(root, end, 1.1 * thick, 0.75 * thick, flat=2.2, side=(0.3, 0.0, 1.0))
            add(quill, material=wing.vane, blend=0.4 * thick, detail=0.8, bone="left_wing_hand")
