"""Angles of each limb in every frame, before any gradient: poses of limbs, tried and chained.

Seen pixel by pixel, a leg in the wrong place overlaps with nothing that would draw it on. A limb
has few poses that look different from one side, so all of them are rendered once, each limb on a
layer of its own. Frame by frame the layers are put together, and a path through the poses of one
limb after the other is chosen that looks like the video and does not jump.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as nn
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.fit.phase_search import limb_controls
from akd.fit.view_search import canvas_camera, canvas_scale
from akd.rig.control import ControlPose
from akd.rig.limits import AngleLimits
from akd.rig.roles.role import LimbKind, Role
from akd.rig.skin import skin_points
from akd.scene.compose import render_body
from akd.scene.coverage import narrowed
from akd.scene.stage import Stage
from akd.splat.camera import Camera

_UPPERS, _LOWERS = 7, 4
_SWING, _FOLD = 1.0, 1.4
"""Largest angles of the upper and the lower joint that are tried, radians."""
_ROUNDS = 2
_JUMP = 2e-3
"""Cost of a change from frame to frame, per radian squared, against a mean square difference."""
_LEAN, _ARM_LEAN = 8e-4, 1e-4
"""Cost of the distance from the neutral pose, per radian squared: of a limb, and of an arm, which
is thin and is often bent. At a leg's cost, a runner's forearm in plain view stays down."""
_LIFT = 1e-2
"""Cost of a foot that is lifted from where it stands, per body height squared: a leg that cannot
be seen behind another one is not folded away."""
_COLOUR = 3.0
"""Factor on the weight of colours: thin limbs are mixed with the background."""
_TOGETHER = 12
"""Frames that are compared at once."""
MOST_FRAMES = 32
"""Maximum number of frames searched; longer videos are subsampled evenly."""


@dataclass(frozen=True)
class Limb:
    """A limb's controls, and the poses of it that are tried."""

    upper: int
    lower: int | None
    role: Role
    splats: Bool[Tensor, "N"]
    angles: Float[Tensor, "C 2"]
    """Flexion of the upper and the lower joint, radians."""
    strain: Float[Tensor, "C"]
    """How unlikely each pose is, whatever the video shows."""

    def controls(self, stage: Stage) -> Float[Tensor, "C D 3"]:
        """Angles of all controls, the rest of the body being neutral."""
        angles = torch.zeros(len(self.angles), len(stage.rig), 3)
        angles[:, self.upper, 0] = self.angles[:, 0]
        if self.lower is not None:
            angles[:, self.lower, 0] = self.angles[:, 1]
        return angles.to(stage.cloud.means.device)


@dataclass(frozen=True)
class LimbTarget:
    """What one camera sees, cut out around the body."""

    image: Float[Tensor, "T 4 N N"]
    """Colours over grey and the mask, weighted: see `weighted`."""
    azimuth: float
    elevation: float
    distance: float
    """Metres from the camera to the body."""
    colour: float
    """Weight of colours against the silhouette."""
    pitch: float = 0.0
    """Of the root, radians."""

    @classmethod
    def of(
        cls,
        colours: Float[Tensor, "T 3 N N"],
        masks: Float[Tensor, "T 1 N N"],
        *,
        azimuth: float,
        elevation: float,
        distance: float,
        colour: float,
    ) -> LimbTarget:
        """Colours are premultiplied by the masks."""
        image = weighted(colours, 1.0 - masks, _COLOUR * colour)
        return cls(image, azimuth, elevation, distance, _COLOUR * colour)


@dataclass(frozen=True)
class Layer:
    """A limb, or the rest of the body, in each of its poses, in front of nothing."""

    colour: Float[Tensor, "C c H W"]
    transmittance: Float[Tensor, "C 1 H W"]
    depth: float

    def at(self, poses: Int[Tensor, "T"]) -> tuple[Tensor, Tensor]:
        """Colour and transmittance for one pose a frame."""
        return self.colour[poses], self.transmittance[poses]

    def narrowed(self, exponent: float) -> Layer:
        """The same as wide as the surface: see `akd.scene.coverage`."""
        colour, transmittance = narrowed(
            self.colour.movedim(1, -1), self.transmittance.squeeze(1), exponent
        )
        return Layer(colour.movedim(-1, 1), transmittance[:, None], self.depth)

    def smaller(self, part: int) -> Layer:
        """The same, downsampled by this factor along each side."""
        colour, transmittance = (nn.avg_pool2d(x, part) for x in (self.colour, self.transmittance))
        return Layer(colour, transmittance, self.depth)

    def over_grey(self) -> Float[Tensor, "C c H W"]:
        """Images in front of a grey background."""
        return self.colour + 0.5 * self.transmittance


def find_limbs(stage: Stage, *, uppers: int = _UPPERS, lowers: int = _LOWERS) -> list[Limb]:
    """Limbs by the roles of the controls, with the splats that they carry.

    Args:
        stage: The character.
        uppers: Angles of the upper joint that are tried.
        lowers: Angles of the lower joint that are tried.
    """
    rig, limits = stage.rig, AngleLimits.of(stage.rig)
    found = []
    for controls in limb_controls(rig):
        upper, lower = controls.upper, controls.lower
        splats = splats_of(stage, controls.role)
        if not bool(splats.any()):
            continue
        high = _tried(limits, upper, uppers, _SWING)
        low = torch.zeros(1) if lower is None else _tried(limits, lower, lowers, _FOLD)
        angles = torch.cartesian_prod(high, low).reshape(-1, 2)
        limb = Limb(upper, lower, controls.role, splats, angles, torch.zeros(len(angles)))
        found.append(replace(limb, strain=_strain(stage, limb)))
    return found


def splats_of(stage: Stage, role: Role) -> Bool[Tensor, "N"]:
    """The splats that a limb carries; `role` is that of any of its joints."""
    cloud = stage.cloud
    strongest = cloud.bones.gather(1, cloud.weights.argmax(-1, keepdim=True)).squeeze(1)
    control = stage.driver_index.to(strongest.device)[strongest] - 3
    limb = [
        i for i, own in enumerate(stage.rig.roles) if (own.limb, own.side) == (role.limb, role.side)
    ]
    return torch.isin(control, torch.tensor(limb, device=control.device))


@torch.no_grad()
def _strain(stage: Stage, limb: Limb) -> Float[Tensor, "C"]:
    squares = limb.angles.square().sum(1)
    lean = (_ARM_LEAN if limb.role.limb is LimbKind.ARM else _LEAN) * squares
    if not limb.role.limb or not limb.role.limb.is_leg:
        return lean
    own = stage.cloud[limb.splats]
    bones = stage.transforms(_standing(limb.controls(stage)))
    low = skin_points(bones, own.means, own.bones, own.weights)[..., 1].amin(1).cpu()
    rest = low[squares.argmin()]
    return lean + _LIFT * ((low - rest) / stage.character.height).clamp_min(0.0).square()


def _standing(angles: Float[Tensor, "C D 3"], pitch: float = 0.0) -> ControlPose:
    """Poses of a body whose root is neutral but for its pitch."""
    still = angles.new_zeros(len(angles), 3)
    turned = still.clone()
    turned[:, 1] = pitch
    return ControlPose(still, turned, angles)


def _tried(limits: AngleLimits, control: int, count: int, most: float) -> Float[Tensor, "c"]:
    """Angles within the limits, zero among them."""
    back = min(most, float(limits.back[control, 0]))
    forth = min(most, float(limits.forth[control, 0]))
    angles = torch.linspace(-back, forth, count)
    return angles - angles[angles.abs().argmin()]


@dataclass(frozen=True)
class LimbSearch:
    """What was found."""

    poses: Int[Tensor, "T limbs"]
    """Of every limb in every frame, as indices of `Limb.angles`."""
    residual: float
    """Mean square difference from the targets."""
    images: list[Float[Tensor, "T 4 N N"]]
    """The body for each target, as `LimbTarget.image`."""
    layers: list[list[Layer]]
    """Of each target."""
    targets: list[LimbTarget]
    """Of the frames that were searched."""
    every: int
    """Stride: every n-th frame was searched."""

    def residual_of(self, poses: Int[Tensor, "T limbs"]) -> float:
        """What other poses than those found leave of the targets."""
        return _residual(self.layers, poses[:: self.every], self.targets)


@torch.no_grad()
def search_limbs(
    stage: Stage,
    limbs: list[Limb],
    targets: list[LimbTarget],
    *,
    most: int = MOST_FRAMES,
    rounds: int = _ROUNDS,
    like: LimbSearch | None = None,
) -> LimbSearch:
    """The poses of all limbs that look most like the targets, limb after limb; without `rounds`,
    the neutral ones.

    Of longer videos `most` frames are searched, evenly taken; the others take the pose before.
    `like` is a search from the same directions and distances, whose layers are used again.
    """
    total = len(targets[0].image)
    every = max(1, -(-total // most))
    if every > 1:
        targets = [replace(target, image=target.image[::every]) for target in targets]
    layers = [_layers(stage, limbs, target) for target in targets] if like is None else like.layers
    frames = len(targets[0].image)
    device = targets[0].image.device
    rest = [int(limb.angles.square().sum(1).argmin()) for limb in limbs]
    chosen = torch.tensor(rest, device=device).repeat(frames, 1)
    residual = 0.0
    for _ in range(rounds):
        for k, limb in enumerate(limbs):
            costs = torch.stack(
                [_costs(own, k, chosen, t) for own, t in zip(layers, targets, strict=True)]
            ).mean(0)
            chosen[:, k] = chain(costs + limb.strain.to(device), limb.angles.to(device))
        kinds = dict.fromkeys(limb.role.limb for limb in limbs)
        residual = _residual(layers, chosen, targets)
        for kind in kinds:  # one limb after the other never exchanges two
            other = swap_sides(limbs, chosen, kind=kind)
            if (left := _residual(layers, other, targets)) < residual:
                chosen, residual = other, left
    spread = torch.arange(total, device=device) // every
    images = [_image(own, chosen, t)[spread] for own, t in zip(layers, targets, strict=True)]
    return LimbSearch(chosen[spread], residual, images, layers, targets, every)


def _image(
    layers: list[Layer], chosen: Int[Tensor, "T limbs"], target: LimbTarget
) -> Float[Tensor, "T 4 N N"]:
    """All layers as chosen, as the target is."""
    at = _at(layers, chosen)
    order = sorted(range(len(layers)), key=lambda i: layers[i].depth)
    return weighted(*stacked([at[i] for i in order], layers[0]), target.colour)


def _residual(
    layers: list[list[Layer]], chosen: Int[Tensor, "T limbs"], targets: list[LimbTarget]
) -> float:
    """Mean square difference of all limbs as chosen from the targets."""
    total = 0.0
    for own, target in zip(layers, targets, strict=True):
        last = len(own) - 1  # the rest of the body, which has one pose
        total += float(_costs(own, last, chosen, target).mean())
    return total / len(targets)


def _at(layers: list[Layer], chosen: Int[Tensor, "T limbs"]) -> list[tuple[Tensor, Tensor]]:
    """Every layer as chosen; the last one is the rest of the body, which has one pose."""
    poses = [*chosen.unbind(1), torch.zeros_like(chosen[:, 0])]
    return [layer.at(own) for layer, own in zip(layers, poses, strict=True)]


def limb_angles(
    stage: Stage, limbs: list[Limb], chosen: Int[Tensor, "T limbs"]
) -> Float[Tensor, "T D 3"]:
    """Angles of all controls for the poses that were chosen."""
    angles = torch.zeros(len(chosen), len(stage.rig), 3, device=chosen.device)
    for k, limb in enumerate(limbs):
        own = limb.angles.to(chosen.device)[chosen[:, k]]
        angles[:, limb.upper, 0] = own[:, 0]
        if limb.lower is not None:
            angles[:, limb.lower, 0] = own[:, 1]
    return angles


def swap_sides(
    limbs: list[Limb], chosen: Int[Tensor, "T limbs"], *, kind: object
) -> Int[Tensor, "T limbs"]:
    """The same with left and right exchanged in the limbs of one kind.

    Equal angles left and right are mirror images, and mirror images have the same limits.
    """
    swapped = chosen.clone()
    pair = [k for k, limb in enumerate(limbs) if limb.role.limb is kind]
    if len(pair) == 2 and len(limbs[pair[0]].angles) == len(limbs[pair[1]].angles):
        swapped[:, pair] = chosen[:, pair[::-1]]
    return swapped


def sides_as(
    limbs: list[Limb], chosen: Int[Tensor, "T limbs"], like: Int[Tensor, "T limbs"]
) -> Int[Tensor, "T limbs"]:
    """The same with the limbs of each pair exchanged in every frame in which that brings them
    nearer to the poses `like`.

    Where two limbs pass each other an image does not show which is which, and a search frame by
    frame often has them turn back instead.
    """
    sided = chosen.clone()
    for kind in dict.fromkeys(limb.role.limb for limb in limbs):
        pair = [k for k, limb in enumerate(limbs) if limb.role.limb is kind]
        if len(pair) != 2 or len(limbs[pair[0]].angles) != len(limbs[pair[1]].angles):
            continue
        angles = limbs[pair[0]].angles.to(chosen.device)
        own, wanted = angles[chosen[:, pair]], angles[like[:, pair]]
        same = (own - wanted).square().sum((1, 2))
        exchanged = (own.flip(1) - wanted).square().sum((1, 2))
        nearer = (exchanged < same)[:, None]
        sided[:, pair] = torch.where(nearer, chosen[:, pair[::-1]], chosen[:, pair])
    return sided


def _layers(stage: Stage, limbs: list[Limb], target: LimbTarget) -> list[Layer]:
    """A layer for each limb, and one for the rest of the body."""
    camera = canvas_camera(stage, target.azimuth, target.elevation, target.distance)
    trunk = torch.stack([limb.splats for limb in limbs]).any(0).logical_not()
    still = torch.zeros(1, len(stage.rig), 3, device=stage.cloud.means.device)
    poses = [*((limb.splats, limb.controls(stage)) for limb in limbs), (trunk, still)]
    exponent = stage.coverage_exponent(canvas_scale(stage))
    layers = (render_layer(stage, own, angles, camera, pitch=target.pitch) for own, angles in poses)
    return [layer.narrowed(exponent) for layer in layers]


def render_layer(
    stage: Stage,
    splats: Bool[Tensor, "N"],
    angles: Float[Tensor, "C D 3"],
    camera: Camera,
    *,
    pitch: float = 0.0,
) -> Layer:
    """Some of the body's splats in each of several poses, the root being neutral or pitched."""
    cloud, view = stage.cloud[splats], camera.camera_from_world[0]
    if not len(cloud):
        clear = torch.ones(len(angles), 1, camera.height, camera.width, device=splats.device)
        return Layer(torch.zeros_like(clear).expand(-1, 3, -1, -1), clear, math.inf)
    seen = render_body(
        cloud, stage.transforms(_standing(angles, pitch)), camera, settings=stage.scene,
        bone_colours=stage.bone_colours, renderer=stage.renderer, check=False, clips=len(angles),
    )  # fmt: skip
    depth = float(view[2, :3] @ cloud.means.mean(0) + view[2, 3])
    return Layer(seen.colour.movedim(-1, 1), seen.transmittance[:, None], depth)


def _costs(
    layers: list[Layer], k: int, chosen: Int[Tensor, "T limbs"], target: LimbTarget
) -> Float[Tensor, "T C"]:
    """Mean square difference for every pose of limb `k`, the others being as chosen."""
    order = sorted(range(len(layers)), key=lambda i: layers[i].depth)
    place, own, root = order.index(k), layers[k], target.colour**0.5
    costs = []
    for first in range(0, len(chosen), _TOGETHER):
        at = _at(layers, chosen[first : first + _TOGETHER])
        front = stacked([at[i] for i in order[:place]], own)
        back = stacked([at[i] for i in order[place + 1 :]], own)
        # What `weighted` makes of all layers is affine in the own one: what does not depend on its
        # pose is computed once a frame, not once a frame and pose.
        fixed = torch.cat((root * front[0], torch.ones_like(front[1])), dim=1)
        fixed = fixed - target.image[first : first + _TOGETHER]
        behind = front[1] * torch.cat((root * (back[0] + 0.5 * back[1]), -back[1]), dim=1)
        away = torch.addcmul(fixed[:, None], behind[:, None], own.transmittance)
        away[:, :, :3].addcmul_(root * front[1][:, None], own.colour)
        costs.append(image_costs(away))
    return torch.cat(costs)


def image_costs(away: Float[Tensor, "*b c N N"]) -> Float[Tensor, "*b"]:
    """Mean square difference of images, at full size and a quarter of it."""
    coarse = nn.avg_pool2d(away.flatten(0, -4), 4).square().mean((1, 2, 3))
    fine = away.square().mean((-3, -2, -1))
    return fine + coarse.view_as(fine)


def stacked(layers: list[tuple[Tensor, Tensor]], like: Layer) -> tuple[Tensor, Tensor]:
    """Layers, the nearest first, as one."""
    colour, transmittance = (
        torch.zeros_like(like.colour[:1]),
        torch.ones_like(like.transmittance[:1]),
    )
    for own, through in layers:
        colour, transmittance = colour + transmittance * own, transmittance * through
    return colour, transmittance


def weighted(colour: Tensor, transmittance: Tensor, weight: float) -> Tensor:
    """Colours over grey and coverage, [..., 4, N, N], weighted so that squares can be added."""
    over = colour + 0.5 * transmittance
    return torch.cat((weight**0.5 * over, 1.0 - transmittance), dim=-3)


def chain(
    costs: Float[Tensor, "T C"], angles: Float[Tensor, "C A"], *, jump: float = _JUMP
) -> Int[Tensor, "T"]:
    """The cheapest path through the poses (Viterbi); `jump` is per radian squared."""
    # Few numbers, read one after the other: a GPU would be asked for each of them.
    step = jump * (angles[:, None] - angles[None]).square().sum(-1).cpu()
    device, costs = costs.device, costs.cpu()
    total, came = costs[0], []
    for cost in costs[1:]:
        least, where = (total[:, None] + step).min(0)
        came.append(where)
        total = least + cost
    path = [int(total.argmin())]
    for where in reversed(came):
        path.append(int(where[path[-1]]))
    return torch.tensor(path[::-1], device=device)
