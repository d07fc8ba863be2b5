"""Bodies made by hand: a box, a pendulum, a quadruped, a biped, random trees."""

from __future__ import annotations

from dataclasses import replace

import torch

from akd.math import quaternion
from akd.physics.body import Body, State, lowest, place


def tensor(rows: object) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def box(half: tuple[float, float, float] = (0.1, 0.05, 0.1)) -> Body:
    """A single cuboid that stands on the ground."""
    centre = tensor([(0.0, half[1], 0.0)])
    return Body.from_cuboids(("box",), (-1,), centre, tensor([half]), centre)


def pendulum(half: float = 0.5, width: float = 0.005) -> Body:
    """A thin rod hung by its end inside a standing block a million times as heavy."""
    body = Body.from_cuboids(
        ("block", "rod"), (-1, 0),
        tensor([(0.0, 1.2, 0.0), (0.0, 1.2, 0.0)]),
        tensor([(0.5, 1.2, 0.5), (width, half, width)]),
        tensor([(0.0, 1.2, 0.0), (0.0, 1.2 - half, 0.0)]),
    )  # fmt: skip
    factor = tensor([1e6 * float(body.masses[1] / body.masses[0]), 1.0])
    return replace(
        body, masses=body.masses * factor, inertias=body.inertias * factor[:, None, None]
    )


def quadruped() -> Body:
    """19 kg, 0.63 m high, 13 parts, facing +x."""
    names, parents = ["torso"], [-1]
    pivots, halves, centres = [(0.0, 0.53, 0.0)], [(0.30, 0.10, 0.10)], [(0.0, 0.53, 0.0)]
    for leg, x, z in (
        ("fl", 0.25, -0.1),
        ("fr", 0.25, 0.1),
        ("hl", -0.25, -0.1),
        ("hr", -0.25, 0.1),
    ):
        y = 0.48
        for part, parent, drop, half, centre in (
            ("upper", 0, 0.0, (0.04, 0.11, 0.03), (0.0, -0.11, 0.0)),
            ("lower", len(names), 0.22, (0.03, 0.10, 0.025), (0.0, -0.10, 0.0)),
            ("foot", len(names) + 1, 0.42, (0.05, 0.03, 0.03), (0.02, -0.03, 0.0)),
        ):
            names.append(f"{leg}_{part}")
            parents.append(parent)
            pivots.append((x, y - drop, z))
            halves.append(half)
            centres.append((x + centre[0], y - drop + centre[1], z))
    # Flexion about the lateral axis, then abduction, then twist along the bone.
    axes = tensor([(0, 0, 1), (1, 0, 0), (0, 1, 0)]).expand(len(names), 3, 3)
    return Body.from_cuboids(
        tuple(names), tuple(parents), tensor(pivots), tensor(halves), tensor(centres),
        axes=axes, density=600.0,
    )  # fmt: skip


def biped() -> Body:
    """1.7 m high, 13 parts, facing +x."""
    rows = [("pelvis", -1, (0.0, 0.91, 0.0), (0.08, 0.08, 0.13), (0.0, 0.0, 0.0)),
            ("chest", 0, (0.0, 0.99, 0.0), (0.09, 0.18, 0.15), (0.0, 0.18, 0.0)),
            ("head", 1, (0.0, 1.36, 0.0), (0.08, 0.10, 0.07), (0.0, 0.12, 0.0))]  # fmt: skip
    for side, z in (("left", -0.1), ("right", 0.1)):
        at = len(rows)
        rows += [(f"{side}_thigh", 0, (0.0, 0.86, z), (0.06, 0.20, 0.06), (0.0, -0.2, 0.0)),
                 (f"{side}_shin", at, (0.0, 0.46, z), (0.045, 0.20, 0.045), (0.0, -0.2, 0.0)),
                 (f"{side}_foot", at + 1, (0.0, 0.06, z), (0.12, 0.03, 0.045), (0.05, -0.03, 0.0)),
                 (f"{side}_arm", 1, (0.0, 1.29, 2 * z), (0.04, 0.14, 0.04), (0.0, -0.14, 0.0)),
                 (f"{side}_forearm", at + 3, (0.0, 1.01, 2 * z), (0.035, 0.14, 0.035),
                  (0.0, -0.14, 0.0))]  # fmt: skip
    pivots = tensor([row[2] for row in rows])
    axes = tensor([(0, 0, 1), (1, 0, 0), (0, 1, 0)]).expand(len(rows), 3, 3)
    return Body.from_cuboids(
        tuple(row[0] for row in rows), tuple(row[1] for row in rows), pivots,
        tensor([row[3] for row in rows]), pivots + tensor([row[4] for row in rows]),
        axes=axes, density=600.0,
    )  # fmt: skip


def random_tree(seed: int, parts: int = 7) -> Body:
    """Cuboids of any size and orientation on joints with any (tilted) axes."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    parents = [-1] + [int(torch.randint(0, i, (1,), generator=generator)) for i in range(1, parts)]
    half = 0.03 + 0.1 * torch.rand(parts, 3, generator=generator, dtype=torch.float64)
    pivots = [tensor((0.0, 0.6, 0.0))]
    for parent in parents[1:]:
        pivots.append(pivots[parent] + 0.15 * normal(3))
    stacked = torch.stack(pivots)
    basis = quaternion.to_matrix(quaternion.normalize(normal(parts, 4)))
    tilt = 0.5 * normal(parts)
    third = tilt.cos()[:, None] * basis[:, 2] + tilt.sin()[:, None] * basis[:, 0]
    axes = torch.stack((basis[:, 0], basis[:, 1], third), 1)
    return Body.from_cuboids(
        tuple(f"part{i}" for i in range(parts)), tuple(parents), stacked, half,
        stacked + 0.05 * normal(parts, 3), axes=axes,
        orientations=quaternion.normalize(normal(parts, 4)),
    )  # fmt: skip


def scattered(body: Body, seed: int, *, height: float | None) -> State:
    """A random state; its lowest corner at a height above the ground, or anywhere for None."""
    generator = torch.Generator().manual_seed(seed)
    joints = len(body) - 1

    def normal(*shape: int) -> torch.Tensor:
        return 0.3 * torch.randn(*shape, generator=generator, dtype=torch.float64)

    rotation = quaternion.from_rotation_vector(normal(3))
    angles = normal(joints, 3)
    position = body.pivots[0] + normal(3)
    state = State(position, rotation, angles, normal(3), normal(3), normal(joints, 3))
    if height is None:
        return state
    rise = position.new_tensor((0.0, 1.0, 0.0)) * (height - lowest(body, place(body, state)))
    return replace(state, position=position + rise)
