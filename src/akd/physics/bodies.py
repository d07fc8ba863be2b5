"""A character's simulated body: one cuboid for the root and one for each joint worth simulating."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.math import davenport, quaternion
from akd.motion.feet import BONE_WIDTH
from akd.physics.body import Body, Coordinates
from akd.physics.forces import root_angles
from akd.physics.target import TargetMotion
from akd.rig.control import ROOT, ControlPose, ControlRig
from akd.rig.mesh import SkinnedMesh
from akd.rig.roles.names import Side
from akd.rig.roles.role import LimbKind, Part
from akd.rig.size import is_person

FLESH_DENSITY = 600.0
"""kg/m^3 of a cuboid round a limb. Flesh is near 1000, and fills 52 % (an ellipsoid) to 79 % (a
cylinder) of its box."""
LEAST_MASS = 1e-3
"""Share of the body's mass below which an outer part (with all beyond it) is welded to the next."""
LEAST_HALF_EXTENT = 0.006
"""Of a cuboid, as a share of body height: thinner ones would turn too fast for the step."""
FLAT = 0.012
"""A part whose lowest point is within this share of body height of the ground stands on it."""
STANDS = 0.04
"""So does one within this share of it, where it is the last of its limb."""
TIP = 0.8
"""Radians by which a foot tips, about: there its cuboid is as low as its skin."""
SURFACE_POINTS = 10_000
"""Points spread over a mesh to fit cuboids to."""
SKIRT = 0.2
"""Skin of a trunk that has legs is left out below this share of body height."""
TRIM = 0.01
"""Share of a part's points left out at either end of an edge: hair, straps, loose corners."""
HEEL = 0.5
"""Distance of the heel behind the ankle over that of the toes before it, without a surface. Of four
captured skeletons two fall over with 0.25; all stand with 0.35."""
PERSON_DENSITY = 14.0
"""kg/m^3: mass of a person over the cube of the stature, 69 kg at 1.7 m."""
WING_SHARE = 0.2
"""Greatest share of a body's mass that its wings have: a tenth to a fifth in birds (Berg and Rayner
1995). Feathers and membranes are thin and curved, and their cuboids mostly hold air."""
LEG_BONES = 0.491
"""Thigh and shank of a person over the stature (Drillis and Contini, 1966)."""


@dataclass(frozen=True)
class CharacterBody:
    """The body of a character, and how its parts answer to the control rig."""

    rig: ControlRig
    body: Body
    controls: Int[Tensor, "D"]
    """The control of each part after the root."""
    welded: tuple[str, ...]
    """Names of the controls that carry too little to be simulated. They still move in a clip."""
    feet: Bool[Tensor, "B"]
    """Parts that stand on the ground in the neutral pose."""
    ground: float
    """Height of the lowest point in the neutral pose, metres."""

    def target_motion(self, pose: ControlPose, fps: float) -> TargetMotion:
        """What the simulation is to follow: control coordinates as coordinates of the body."""
        pivot, axes = self.rig.root_pivot.double(), self.rig.root_axes.double()
        rotation = davenport.to_quaternion(axes, pose.root_rotation.double())
        return TargetMotion(
            pivot + pose.translation.double(),
            quaternion.make_continuous(rotation),
            pose.angles.double()[:, self.controls],
            fps,
        )

    def control_pose(self, states: Coordinates, like: ControlPose) -> ControlPose:
        """Control coordinates of simulated states; welded joints move as they do in `like`."""
        angles = like.angles.double().clone()
        angles[:, self.controls] = states.angles.double()
        translation = states.position.double() - self.rig.root_pivot.double()
        heading = root_angles(self.body, states.rotation.double())
        # Whole turns of the yaw belong to the motion that was followed.
        whole = torch.round((like.root_rotation[0].double() - heading[0]) / (2 * torch.pi))
        heading = heading + whole * (2 * torch.pi)
        return ControlPose(translation.float(), heading.float(), angles.float())


def build_body(
    rig: ControlRig, mesh: SkinnedMesh | None, *, density: float | None = None
) -> CharacterBody:
    """Fit cuboids to the skin of every control, in the neutral pose.

    Args:
        rig: The control rig.
        mesh: The skin; without one, cuboids follow the bones.
        density: Of the cuboids, kg/m^3. By default a body with the plan of a person has the mass
            of a person of its stature, any other `FLESH_DENSITY`; wings are lighter (`WING_SHARE`).

    Returns:
        The body. An outer part that carries less than a thousandth of it is welded to its parent.

    Raises:
        ValueError: The character has no height.
    """
    points, owners = _points_by_control(rig, mesh)
    ground = float(points[:, 1].min())
    height = float(points[:, 1].max()) - ground
    if not height > 0:
        raise ValueError("a body needs points at different heights: the character is flat or empty")
    pieces = _fit_all(rig, points, owners, mesh is None)
    volumes = torch.tensor([float(piece.half.prod()) for piece in pieces])
    has_skin = torch.bincount(owners, minlength=len(rig) + 1) > 0
    keep = _worth_simulating(rig, volumes * (has_skin | (mesh is None)))
    kept = [0, *(i + 1 for i in range(len(rig)) if keep[i])]
    if len(kept) < len(pieces):
        # What is welded is skin of the part it hangs on.
        owners = _owner_after_welding(rig, keep)[owners]
        pieces = _fit_all(rig, points, owners, mesh is None)
    place = {part: i for i, part in enumerate(kept)}
    names = ("root", *(str(role) for role in rig.roles))
    parents = tuple(-1 if p == 0 else place[rig.parents[p - 1] + 1] for p in kept)
    pivots = torch.cat((rig.root_pivot[None], rig.pivots)).double()
    axes = torch.cat((rig.root_axes[None], rig.axes)).double()
    body = Body.from_cuboids(
        tuple(names[part] for part in kept),
        parents,
        pivots[kept],
        torch.stack([pieces[part].half for part in kept]),
        torch.stack([pieces[part].centre for part in kept]),
        axes=_orthonormal(axes[kept]),
        orientations=torch.stack([pieces[part].orientation for part in kept]),
        density=density or FLESH_DENSITY,
    )
    if density is None:
        limbs = [rig.roles[part - 1].limb if part else None for part in kept]
        body = _with_light_wings(body, limbs)
    tail_joints = sum(role.part is Part.TAIL for role in rig.roles)
    if density is None and is_person({role.limb for role in rig.roles}, tail_joints=tail_joints):
        mass = PERSON_DENSITY * _stature(rig, mesh, height) ** 3
        body = body.scaled(length=1.0, mass=mass / body.mass)
    return CharacterBody(
        rig=rig,
        body=body,
        controls=torch.tensor([part - 1 for part in kept[1:]], dtype=torch.long),
        welded=tuple(names[i + 1] for i in range(len(rig)) if not keep[i]),
        feet=torch.tensor([pieces[part].stands for part in kept]),
        ground=ground,
    )


def _with_light_wings(body: Body, limbs: list[LimbKind | None]) -> Body:
    """The body with wings of at most `WING_SHARE` of its mass."""
    is_wing = torch.tensor([limb is LimbKind.WING for limb in limbs])
    wings = float(body.masses[is_wing].sum())
    most = WING_SHARE / (1.0 - WING_SHARE) * (body.mass - wings)
    factor = torch.where(is_wing, min(1.0, most / max(wings, 1e-12)), 1.0).to(body.masses)
    inertias = body.inertias * factor[:, None, None]
    return replace(body, masses=body.masses * factor, inertias=inertias)


def _stature(rig: ControlRig, mesh: SkinnedMesh | None, span: float) -> float:
    """Height of a person who stands straight, metres.

    With a mesh that of the bind pose, as an idle pose may crouch. Joints alone end below the crown
    and above the soles: then it follows from the bones of the legs, or is the `span` of the joints
    where a leg has no knee.
    """
    if mesh is not None:
        return float(mesh.vertices[:, 1].max() - mesh.vertices[:, 1].min())
    legs: dict[Side, list[Tensor]] = defaultdict(list)
    for role, pivot in zip(rig.roles, rig.pivots, strict=True):
        if role.limb is LimbKind.LEG and role.part not in (Part.GIRDLE, Part.TOES):
            legs[role.side].append(pivot)
    lengths = [
        sum(float((b - a).norm()) for a, b in pairwise(pivots))
        for pivots in legs.values()
        if len(pivots) >= 3
    ]
    return sum(lengths) / len(lengths) / LEG_BONES if lengths else span


@dataclass(frozen=True)
class _Cuboid:
    half: Float[Tensor, "3"]
    centre: Float[Tensor, "3"]
    orientation: Float[Tensor, "4"]
    stands: bool


def _points_by_control(
    rig: ControlRig, mesh: SkinnedMesh | None
) -> tuple[Float[Tensor, "N 3"], Int[Tensor, "N"]]:
    """Points of the neutral body, and the part (0 the root, 1 + control) each belongs to."""
    part_of_joint = (rig.driver_index - ROOT).clamp_min(0)
    if mesh is None:
        return rig.neutral_world[:, :3, 3].double(), part_of_joint
    part_of_bone = part_of_joint[mesh.skin.bone_joints]
    shares = torch.zeros(len(mesh.vertices), len(rig) + 1)
    shares.scatter_add_(1, part_of_bone[mesh.skin.bones], mesh.skin.weights.float())
    vertices = mesh.pose(rig.neutral_world.to(mesh.vertices)).double()
    faces, corners = _sample_surface(vertices, mesh.faces)
    inner = (vertices[mesh.faces[faces]] * corners[..., None]).sum(1)
    inner_shares = (shares[mesh.faces[faces]] * corners[..., None].float()).sum(1)
    return torch.cat((vertices, inner)), torch.cat((shares, inner_shares)).argmax(1)


def _sample_surface(
    vertices: Float[Tensor, "V 3"], faces: Int[Tensor, "F 3"]
) -> tuple[Int[Tensor, "S"], Float[Tensor, "S 3"]]:
    """Faces and barycentric coordinates of points spread over the surface by area.

    A coarse mesh has vertices only where its parts meet; what is between them counts as well.
    """
    a, b, c = vertices[faces].unbind(1)
    areas = torch.linalg.cross(b - a, c - a).norm(dim=-1)
    if not bool(areas.sum() > 0):
        return torch.zeros(0, dtype=torch.long), torch.zeros(0, 3, dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    chosen = torch.multinomial(areas, SURFACE_POINTS, replacement=True, generator=generator)
    u, v = torch.rand(2, SURFACE_POINTS, generator=generator, dtype=torch.float64)
    root = u.sqrt()
    return chosen, torch.stack((1 - root, root * (1 - v), root * v), dim=1)


def _own_points(
    rig: ControlRig, points: Tensor, owners: Tensor, part: int, bones_only: bool
) -> Float[Tensor, "N 3"]:
    """Points of a part; the bone from its pivot to its children's where there is no surface."""
    own = points[owners == part]
    if len(own) >= 8 and not bones_only:
        trunk = part == 0 or rig.roles[part - 1].part in (Part.PELVIS, Part.SPINE)
        if trunk and any(role.limb is not None and role.limb.is_leg for role in rig.roles):
            # A skirt or robe is skin of the trunk, but no part of what carries the body.
            ground, top = float(points[:, 1].min()), float(points[:, 1].max())
            above = own[own[:, 1] > ground + SKIRT * (top - ground)]
            return above if len(above) >= 8 else own
        return own
    pivot = rig.root_pivot if part == 0 else rig.pivots[part - 1]
    children = [i for i, parent in enumerate(rig.parents) if parent + 1 == part]
    ends = torch.cat((own, pivot[None].double(), rig.pivots[children].double()))
    if part and rig.roles[part - 1].part is Part.FOOT:
        # A skeleton has no heel; without one a body stands on its toes and falls backwards.
        tip = ends[(ends - pivot).norm(dim=-1).argmax()]
        heel = pivot - HEEL * (tip - pivot)
        heel[1] = ends[:, 1].min()
        ends = torch.cat((ends[:1], heel[None].double(), ends[1:]))
    length = float((ends.amax(0) - ends.amin(0)).norm())
    spread = BONE_WIDTH * length * torch.eye(3, dtype=torch.float64)
    sideways = torch.cat((spread, -spread))
    # A bone is thickened across itself only: its ends stay where they are.
    along = ends[-1] - ends[0] if len(ends) > 1 else pivot.new_zeros(3).double()
    along = along / along.norm().clamp_min(1e-12)
    sideways = sideways - (sideways @ along)[:, None] * along
    return (ends[:, None] + sideways).flatten(0, 1)


def _frame(rig: ControlRig, part: int) -> Float[Tensor, "3 3"]:
    """Columns: the cuboid's axes, the second along the bone (or up, for the root)."""
    if part == 0:
        up, _, forward = rig.root_axes.double()
        return torch.stack((forward, up, torch.linalg.cross(forward, up)), dim=1)
    flexion, abduction = rig.axes[part - 1, :2].double()
    return torch.stack((abduction, torch.linalg.cross(flexion, abduction), flexion), dim=1)


def _fit_all(
    rig: ControlRig, points: Float[Tensor, "N 3"], owners: Int[Tensor, "N"], bones_only: bool
) -> list[_Cuboid]:
    """A cuboid for every part."""
    ground, top = float(points[:, 1].min()), float(points[:, 1].max())
    own = [_own_points(rig, points, owners, part, bones_only) for part in range(len(rig) + 1)]
    # Without a surface a bone's end is the beginning of the next: only its own joints count.
    judged = [points[owners == p] if bones_only else own[p] for p in range(len(own))]
    lowest = [
        float(p[:, 1].quantile(TRIM if len(p) > 50 else 0.0)) if len(p) else top for p in judged
    ]
    above = [(low - ground) / (top - ground) for low in lowest]
    # What is on the ground stands. What is only near it does where nothing beyond it is nearer.
    near = [a < STANDS for a in above]
    covered = [False] * len(above)
    for child, parent in reversed(list(enumerate(rig.parents, start=1))):
        covered[parent + 1] |= near[child] or covered[child]
    stands = [a < FLAT or (n and not c) for a, n, c in zip(above, near, covered, strict=True)]
    return [
        _fit(own[part], _frame(rig, part), stands[part], top - ground)
        for part in range(len(rig) + 1)
    ]


def _fit(
    points: Float[Tensor, "N 3"], frame: Float[Tensor, "3 3"], stands: bool, height: float
) -> _Cuboid:
    """The cuboid along a frame that holds the points but for a few; flat on the ground, turned
    about the vertical only and as wide as its sole is, where the part stands on it.

    A cuboid as wide as a round paw stands on corners that the paw has not, and as soon as it tips
    the paw hangs in the air.
    """
    if stands:
        frame = _upright(points, frame)
    local = points @ frame
    trim = TRIM if len(points) > 50 else 0.0
    low, high = local.quantile(trim, dim=0), local.quantile(1 - trim, dim=0)
    if stands:
        bottom = local[:, 1].min()
        # Tipped by this angle, the corners touch the ground when the skin does.
        rise = (local[:, 1] - bottom) / math.tan(TIP)
        low = torch.stack(((local[:, 0] + rise).min(), bottom, (local[:, 2] + rise).min()))
        high = torch.stack(((local[:, 0] - rise).max(), high[1], (local[:, 2] - rise).max()))
    half = ((high - low) / 2).clamp_min(LEAST_HALF_EXTENT * height)
    middle = (low + high) / 2
    if stands:
        middle = torch.stack((middle[0], low[1] + half[1], middle[2]))
    return _Cuboid(half, frame @ middle, quaternion.from_matrix(frame), stands)


def _upright(points: Tensor, frame: Tensor) -> Float[Tensor, "3 3"]:
    """A frame with its second axis up and its first along the longer horizontal axis of `frame`."""
    spread = points.amax(0) - points.amin(0)
    flat = frame.clone()
    flat[1] = 0.0
    # The steepest axis of the frame gives way to up; of the others the flatter is followed.
    first = flat[:, int(flat.norm(dim=0).argmax())]
    if float(first.norm()) < 1e-6:
        first = torch.tensor(
            (1.0, 0.0, 0.0) if spread[0] >= spread[2] else (0.0, 0.0, 1.0)
        ).double()
    first = first / first.norm()
    up = first.new_tensor((0.0, 1.0, 0.0))
    return torch.stack((first, up, torch.linalg.cross(first, up)), dim=1)


def _worth_simulating(rig: ControlRig, volumes: Float[Tensor, "P"]) -> list[bool]:
    """Whether each control, with all that hangs on it, is a worthwhile share of the whole."""
    carried = volumes.tolist()
    for i in reversed(range(len(rig))):
        carried[rig.parents[i] + 1] += carried[i + 1]
    return [carried[i + 1] > LEAST_MASS * carried[0] for i in range(len(rig))]


def _owner_after_welding(rig: ControlRig, keep: list[bool]) -> Int[Tensor, "P"]:
    """For each part the nearest one above it (or itself) that is kept."""
    owners = [0]
    for i, parent in enumerate(rig.parents):
        owners.append(i + 1 if keep[i] else owners[parent + 1])
    return torch.tensor(owners)


def _orthonormal(axes: Float[Tensor, "B 3 3"]) -> Float[Tensor, "B 3 3"]:
    """Axes made exact in double: unit length, the middle one perpendicular to the others."""
    u1, u2, u3 = (axes / axes.norm(dim=-1, keepdim=True)).unbind(1)
    # Both outer axes may stand at any angle to each other, so the middle one is made to fit; where
    # they are parallel it is only cleared of the first.
    normal = torch.linalg.cross(u1, u3)
    sign = (normal * u2).sum(-1, keepdim=True).sign()
    parallel = normal.norm(dim=-1, keepdim=True) < 1e-3
    cleared = u2 - (u2 * u1).sum(-1, keepdim=True) * u1
    middle = torch.where(parallel, cleared, normal * sign)
    middle = middle / middle.norm(dim=-1, keepdim=True)
    return torch.stack((u1, middle, u3), dim=1)
