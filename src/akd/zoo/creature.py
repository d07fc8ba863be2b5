"""`Creature`: a skinned, coloured mesh with its skeleton, feet and mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from akd.math.triangles import vertex_normals
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin
from akd.zoo.acts.catalogue import acts_of
from akd.zoo.mesh.remesh import edges_of
from akd.zoo.mesh.shapes import Array, Tube, body_distance
from akd.zoo.mesh.sole import Outline, Sole
from akd.zoo.mesh.surface import mirror, surface_half
from akd.zoo.species.anatomy import Anatomy, LegPlan
from akd.zoo.species.catalogue import SPECIES
from akd.zoo.species.coat import paint
from akd.zoo.species.parameters import (
    Arthropod,
    Fish,
    Humanoid,
    Parameters,
    Quadruped,
    Serpent,
    Theropod,
)
from akd.zoo.species.variation import vary
from akd.zoo.weights import mirror_joints, skin_weights, strongest


@dataclass(frozen=True)
class Foot:
    """The foot of a leg: its joint, sole and rigid vertices."""

    leg: LegPlan
    """The leg, by its joints' names."""
    joint: int
    """The toes' joint."""
    sole: Sole
    vertices: Int[Tensor, "S"]
    """Vertices that move with the toes alone."""

    @property
    def name(self) -> str:
        """Such as `left_hind`."""
        return self.leg.name


@dataclass(frozen=True)
class Creature:
    """One animal or person, in the standing pose it was bound in.

    Metres, Y up, facing +Z, its own left at +X, feet on y = 0.
    """

    name: str
    """Its species."""
    seed: int
    parameters: Parameters
    mesh: SkinnedMesh
    skeleton: Skeleton
    """`root` on the ground carries travel and heading; `pelvis` below it the rest. At rest no joint
    is turned: the rest pose is the bind pose."""
    feet: tuple[Foot, ...]
    mass: Float[Tensor, "J 4"]
    """For each joint, its share of the body's volume times (x, y, z, 1) of that share's centre in
    the bind pose: enough to find the centre of mass in any pose."""

    @property
    def plan(self) -> str:
        """`quadruped`, `humanoid`, `theropod`, ..."""
        return type(self.parameters).__name__.lower()

    @property
    def actions(self) -> tuple[str, ...]:
        """Actions that `make_clip` accepts."""
        return (*self.parameters.actions, *acts_of(self.parameters))

    @property
    def height(self) -> float:
        """Extent along up in the bind pose, metres."""
        return float(self.mesh.vertices[:, 1].max() - self.mesh.vertices[:, 1].min())

    def centre_of_mass(self, world_from_joint: Float[Tensor, "*b J 4 4"]) -> Float[Tensor, "*b 3"]:
        """Centre of mass in the world, metres, the body being equally dense everywhere."""
        inverse = self.mesh.skin.inverse_bind.to(world_from_joint)
        mass = self.mass.to(world_from_joint)
        local = (inverse @ mass[:, :, None]).squeeze(-1)
        total = (world_from_joint @ local[..., None]).squeeze(-1).sum(dim=-2)
        return total[..., :3] / total[..., 3:]


def build_creature(species: str, *, seed: int = 0, vertices: int = 5000) -> Creature:
    """Build a creature of a named species.

    Seed 0 is the species' archetype; any other seed varies proportions, posture and coat within
    plausible bounds. `vertices` is about how many the mesh will have. The same arguments always
    give the same creature, bit for bit.
    """
    if species not in SPECIES:
        known = ", ".join(sorted(SPECIES))
        raise ValueError(f"species must be one of {known}; got {species!r}")
    if vertices < 500:
        raise ValueError(f"vertices must be at least 500, got {vertices}")
    if seed < 0:
        raise ValueError(f"seed must be zero or more, got {seed}")
    parameters = vary(SPECIES[species], species=species, seed=seed)
    return assemble(species, parameters, seed=seed, vertices=vertices)


def assemble(name: str, parameters: Parameters, *, seed: int, vertices: int) -> Creature:
    """Build a creature from parameters of one's own; `seed` only moves the markings of its coat."""
    anatomy = parameters_to_anatomy(parameters)
    half = surface_half(anatomy.parts, vertices=vertices, thinnest=_thinnest(anatomy))
    if anatomy.legs:  # the grid of a coarse mesh may miss the lowest tip of thin toes
        half.vertices[:, 1] -= half.vertices[:, 1].min()
    edges, _ = edges_of(half.faces, len(half.vertices))
    half_weights = skin_weights(anatomy, half.vertices, edges)
    points, faces, source = mirror(half)
    weights = half_weights[source]
    weights[len(half.vertices) :] = weights[len(half.vertices) :][:, mirror_joints(anatomy.names)]
    bones, kept = strongest(weights)
    colours = paint(anatomy, parameters, points, vertex_normals(points, faces), seed=seed)

    positions = np.stack(anatomy.positions)
    skeleton = _skeleton(anatomy, positions)
    inverse_bind = torch.eye(4).repeat(len(positions), 1, 1)
    inverse_bind[:, :3, 3] = -torch.from_numpy(positions).float()
    skin = Skin(
        bone_joints=torch.arange(len(positions)),
        inverse_bind=inverse_bind,
        bones=torch.from_numpy(bones),
        weights=torch.from_numpy(kept).float(),
    )
    mesh = SkinnedMesh(
        vertices=torch.from_numpy(points).float(),
        faces=torch.from_numpy(faces),
        skin=skin,
        colours=torch.from_numpy(colours).float(),
    )
    feet = tuple(_foot(anatomy, leg, points, bones, kept) for leg in anatomy.legs)
    mass = torch.from_numpy(_masses(anatomy, half.vertices, half_weights)).float()
    return Creature(name, seed, parameters, mesh, skeleton, feet, mass)


def parameters_to_anatomy(parameters: Parameters) -> Anatomy:
    """Joints and flesh for any body plan."""
    from akd.zoo.species.arthropod import build_arthropod
    from akd.zoo.species.humanoid import build_humanoid
    from akd.zoo.species.legless import build_fish, build_serpent
    from akd.zoo.species.quadruped import build_quadruped
    from akd.zoo.species.theropod import build_theropod

    match parameters:
        case Quadruped():
            return build_quadruped(parameters)
        case Humanoid():
            return build_humanoid(parameters)
        case Theropod():
            return build_theropod(parameters)
        case Arthropod():
            return build_arthropod(parameters)
        case Serpent():
            return build_serpent(parameters)
        case Fish():
            return build_fish(parameters)


def _thinnest(anatomy: Anatomy) -> float:
    """Least radius of a leg, metres."""
    legs = {leg.name for leg in anatomy.legs}
    tubes = (p.shape for p in anatomy.parts if p.group in legs and isinstance(p.shape, Tube))
    return min((float(np.min(tube.radii)) for tube in tubes), default=np.inf)


def _skeleton(anatomy: Anatomy, positions: Array) -> Skeleton:
    parents = np.asarray(anatomy.parents)
    above = np.where(parents[:, None] < 0, 0.0, positions[parents.clip(0)])
    rest = Pose.identity(len(parents))
    offsets = torch.from_numpy(positions - above).float()
    return Skeleton(
        tuple(anatomy.names), tuple(anatomy.parents), Pose(offsets, rest.rotation, rest.scale)
    )


def _foot(
    anatomy: Anatomy, leg: LegPlan, points: Array, bones: NDArray[np.integer], weights: Array
) -> Foot:
    toes, foot = anatomy.names.index(leg.toes), anatomy.names.index(leg.foot)
    on_toes = np.where(bones == toes, weights, 0.0).sum(axis=1)
    on_foot = np.where(bones == foot, weights, 0.0).sum(axis=1)
    # A pointed foot may have too few vertices of its own on a coarse mesh.
    rigid = np.flatnonzero(on_toes > min(0.999, 0.95 * float(np.sort(on_toes)[-4])))
    whole = rigid
    if leg.kind == "plantigrade":
        whole = np.flatnonzero(on_toes + on_foot > 0.999)
    centre = anatomy.positions[toes]
    outlines = [Outline.around((points[rows] - centre)[:, [2, 1]]) for rows in (rigid, whole)]
    return Foot(leg, toes, Sole(*outlines), torch.from_numpy(rigid))


def _masses(anatomy: Anatomy, half: Array, weights: Array) -> Array:
    """Volume shares of the joints, from points spread evenly through the body."""
    from scipy.spatial import KDTree

    low, high = half.min(axis=0), half.max(axis=0)
    cell = float(np.cbrt(np.prod(high - low) / 24000.0))
    axes = [np.arange(lo + 0.5 * cell, hi, cell) for lo, hi in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = grid[body_distance(anatomy.parts, grid) < 0.0]
    _, nearest = KDTree(half).query(inside)
    homogeneous = np.concatenate((inside, np.ones((len(inside), 1))), axis=1)
    left = weights[nearest].T @ homogeneous / (2.0 * len(inside))
    right = left[mirror_joints(anatomy.names)] * (-1.0, 1.0, 1.0, 1.0)
    return left + right
