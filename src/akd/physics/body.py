"""`Body`: a tree of rigid cuboids on three-axis joints, and the state it is in.

Everything is described in the neutral pose, in world axes. A body part moves rigidly with its
joint: G = G_parent T(p) R T(-p), with R = rot(u1, a1) rot(u2, a2) rot(u3, a3) about the joint's
pivot p, all G the identity in the neutral pose. Part 0 is the root and moves freely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import davenport, quaternion

CORNER_SIGNS = tuple((x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0))


@dataclass(frozen=True)
class Body:
    """B cuboids: the root and D = B - 1 parts on joints. SI units, float64, on the CPU."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    """Index of each part's parent, which comes before it; -1 for the root, part 0."""
    pivots: Float[Tensor, "B 3"]
    """Joint positions in the neutral pose, metres; for the root, the point its position means."""
    axes: Float[Tensor, "B 3 3"]
    """Rows u1, u2, u3 of each joint in neutral world axes; u2 is perpendicular to u1 and u3."""
    half_extents: Float[Tensor, "B 3"]
    """Half the edges of the cuboids, metres."""
    centres: Float[Tensor, "B 3"]
    """Centres of the cuboids, which are the centres of mass, in the neutral pose, metres."""
    orientations: Float[Tensor, "B 4"]
    """world_from_cuboid in the neutral pose, wxyz."""
    masses: Float[Tensor, "B"]
    """Kilograms."""
    inertias: Float[Tensor, "B 3 3"]
    """About the centres, in neutral world axes, kg m^2."""

    def __post_init__(self) -> None:
        count = len(self.names)
        arrays = (self.parents, self.pivots, self.axes, self.half_extents, self.centres)
        arrays = (*arrays, self.orientations, self.masses, self.inertias)
        if any(len(array) != count for array in arrays):
            raise ValueError(f"a body of {count} names needs {count} of everything else")
        if count == 0 or self.parents[0] != -1:
            raise ValueError("parents must start with -1: part 0 is the root")
        for i, parent in enumerate(self.parents[1:], start=1):
            if not 0 <= parent < i:
                raise ValueError(
                    f"parents must point to an earlier part: parents[{i}] ({self.names[i]!r}) is "
                    f"{parent}"
                )
        for name in ("pivots", "axes", "half_extents", "centres", "masses", "inertias"):
            if not bool(torch.isfinite(getattr(self, name)).all()):
                raise ValueError(f"{name} must be finite")
        for name in ("half_extents", "masses"):
            if not bool((getattr(self, name) > 0).all()):
                raise ValueError(f"{name} must be above zero, got {getattr(self, name).min()}")
        u1, u2, u3 = self.axes.unbind(-2)
        if not torch.allclose(self.axes.norm(dim=-1), self.axes.new_ones(count, 3), atol=1e-5):
            raise ValueError("axes must be unit vectors")
        worst = float(torch.maximum((u1 * u2).sum(-1).abs(), (u3 * u2).sum(-1).abs()).max())
        if worst > 1e-5:
            raise ValueError(
                f"the middle axis of a joint must be perpendicular to the others, cosine {worst:g}"
            )
        if float(torch.linalg.eigvalsh(self.inertias).min()) <= 0:
            raise ValueError("inertias must be positive definite")

    @classmethod
    def from_cuboids(
        cls,
        names: tuple[str, ...],
        parents: tuple[int, ...],
        pivots: Float[Tensor, "B 3"],
        half_extents: Float[Tensor, "B 3"],
        centres: Float[Tensor, "B 3"],
        *,
        axes: Float[Tensor, "B 3 3"] | None = None,
        orientations: Float[Tensor, "B 4"] | None = None,
        density: float = 1000.0,
    ) -> Body:
        """A body whose masses and inertias are those of solid cuboids of one density, kg/m^3.

        Axes default to world x, y, z, orientations to the world's.
        """
        if not density > 0:
            raise ValueError(f"density must be above zero, got {density}")
        half_extents = half_extents.double()
        count = len(names)
        if axes is None:
            axes = torch.eye(3, dtype=torch.float64).expand(count, 3, 3)
        if orientations is None:
            orientations = quaternion.identity(count, like=half_extents)
        masses, inertias = cuboid_inertia(half_extents, orientations.double(), density)
        return cls(
            names, parents, pivots.double(), axes.double(), half_extents, centres.double(),
            orientations.double(), masses, inertias,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.names)

    @property
    def mass(self) -> float:
        """Of all parts together, kg."""
        return float(self.masses.sum())

    @cached_property
    def height(self) -> float:
        """Extent of the cuboids along up in the neutral pose, metres."""
        heights = self.corners[..., 1]
        return float(heights.max() - heights.min())

    @cached_property
    def corners(self) -> Float[Tensor, "B 8 3"]:
        """Corners of the cuboids in the neutral pose, metres: where contact is felt."""
        signs = torch.tensor(CORNER_SIGNS, dtype=torch.float64)
        arms = quaternion.rotate(self.orientations[:, None], signs * self.half_extents[:, None])
        return self.centres[:, None] + arms

    def scaled(self, *, length: float, mass: float) -> Body:
        """The same body in other units: lengths times `length`, masses times `mass`."""
        return replace(
            self,
            pivots=self.pivots * length,
            half_extents=self.half_extents * length,
            centres=self.centres * length,
            masses=self.masses * mass,
            inertias=self.inertias * (mass * length**2),
        )


def cuboid_inertia(
    half_extents: Float[Tensor, "B 3"], orientations: Float[Tensor, "B 4"], density: float
) -> tuple[Float[Tensor, "B"], Float[Tensor, "B 3 3"]]:
    """Masses (kg) of solid cuboids and their inertias (kg m^2) about their centres, in world axes.

    A cuboid with half edges a, b, c has I_xx = m (b^2 + c^2) / 3, and so on.
    """
    masses = 8.0 * density * half_extents.prod(-1)
    squares = half_extents.square()
    principal = masses[:, None] / 3.0 * (squares.sum(-1, keepdim=True) - squares)
    rotation = quaternion.to_matrix(orientations)
    return masses, rotation @ torch.diag_embed(principal) @ rotation.transpose(-1, -2)


@dataclass(frozen=True)
class Coordinates:
    """Generalized coordinates. Leading dimensions are free (environments, time)."""

    position: Float[Tensor, "*b 3"]
    """World position of the root's pivot, metres."""
    rotation: Float[Tensor, "*b 4"]
    """Rotation of the root from the neutral pose, wxyz."""
    angles: Float[Tensor, "*b D 3"]
    """Of the joints about their three axes, radians, continuous; zero is the neutral pose."""


@dataclass(frozen=True)
class State(Coordinates):
    """Generalized coordinates and velocities."""

    velocity: Float[Tensor, "*b 3"]
    """Of the root's pivot, m/s."""
    angular_velocity: Float[Tensor, "*b 3"]
    """Angular velocity of the root in world axes, rad/s."""
    joint_velocity: Float[Tensor, "*b D 3"]
    """Time derivatives of the angles, rad/s."""

    @classmethod
    def neutral(cls, body: Body, *batch: int, dtype: torch.dtype = torch.float64) -> State:
        """The neutral pose at rest."""
        zeros = torch.zeros(*batch, 3, dtype=dtype)
        joints = torch.zeros(*batch, len(body) - 1, 3, dtype=dtype)
        rotation = quaternion.identity(*batch, like=zeros)
        return cls(body.pivots[0].to(dtype) + zeros, rotation, joints, zeros, zeros, joints)

    def __getitem__(self, index: int | slice | Tensor | tuple) -> State:
        """Index the leading dimensions."""
        return State(*(part[index] for part in self.parts()))

    def parts(self) -> tuple[Tensor, ...]:
        """The six tensors, in the order of the fields."""
        return tuple(vars(self).values())

    def arrays(self) -> dict[str, Tensor]:
        """The tensors by the names they have in npz files."""
        return {("rotation_wxyz" if n == "rotation" else n): t for n, t in vars(self).items()}

    def detach(self) -> State:
        """Without gradients."""
        return State(*(part.detach() for part in self.parts()))

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> State:
        """Move or convert."""
        return State(*(part.to(device=device, dtype=dtype) for part in self.parts()))


@dataclass(frozen=True)
class Placement:
    """World placement of every part: x' = origin + rotation (x - pivot) for neutral points x."""

    origins: Float[Tensor, "*b B 3"]
    """World positions of the pivots, metres."""
    rotations: Float[Tensor, "*b B 4"]
    """From the neutral pose, wxyz."""

    def points(self, body: Body, neutral: Float[Tensor, "B N 3"]) -> Float[Tensor, "*b B N 3"]:
        """World positions of N points on each part, given in the neutral pose."""
        arms = neutral.to(self.origins) - body.pivots.to(self.origins)[:, None]
        return self.origins[..., None, :] + quaternion.rotate(self.rotations[..., None, :], arms)

    def centres(self, body: Body) -> Float[Tensor, "*b B 3"]:
        """World positions of the parts' centres of mass."""
        return self.points(body, body.centres[:, None]).squeeze(-2)

    def corners(self, body: Body) -> Float[Tensor, "*b B 8 3"]:
        """World positions of the cuboids' corners."""
        return self.points(body, body.corners)


def place(body: Body, at: Coordinates) -> Placement:
    """Forward kinematics: the world transform of every part. The reference for `Kinematics`."""
    local = davenport.to_quaternion(body.axes[1:].to(at.angles), at.angles)
    arms = (body.pivots[1:] - body.pivots[list(body.parents[1:])]).to(at.angles)
    origins, rotations = [at.position], [at.rotation]
    for i, parent in enumerate(body.parents[1:]):
        turn = rotations[parent]
        origins.append(origins[parent] + quaternion.rotate(turn, arms[i]))
        rotations.append(quaternion.multiply(turn, local[..., i, :]))
    return Placement(torch.stack(origins, -2), torch.stack(rotations, -2))


def lowest(body: Body, placement: Placement) -> Float[Tensor, "*b"]:
    """Height of the lowest corner of any cuboid above the ground, metres."""
    return placement.corners(body)[..., 1].flatten(-2).amin(-1)
