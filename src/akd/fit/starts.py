"""Starts of a fit to a video: cameras, the path of the root, and the limbs, several of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.cameras import FitCamera, SolvedCamera
from akd.fit.gait_search import search_gait
from akd.fit.limb_search import (
    Limb,
    LimbSearch,
    LimbTarget,
    find_limbs,
    image_costs,
    limb_angles,
    search_limbs,
    sides_as,
    swap_sides,
)
from akd.fit.observation import Observation
from akd.fit.placing import find_shifts
from akd.fit.reading import is_readable, pose_images, read_motion, regressor_for
from akd.fit.regressor.regressor import MotionRegressor
from akd.fit.settings import FitSettings
from akd.fit.view_search import (
    APART,
    ELEVATIONS,
    STEP,
    ViewGuess,
    angle_between,
    canvas_camera,
    canvas_scale,
    focal_of,
    look_from,
    neutral_middle,
    onto_canvas,
    search_views,
)
from akd.math import davenport, quaternion
from akd.math.least_squares import least_squares
from akd.motion.feet import leg_length
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart
from akd.motion.settings import Spline
from akd.rig.control import ControlPose
from akd.scene.compose import render_body
from akd.scene.follow import smooth_path
from akd.scene.stage import Stage
from akd.splat.camera import Camera

_SMOOTH = 1.5
"""Frames over which the first path of the root is smoothed: it was found in whole pixels."""
_PITCHES = (-0.14, 0.0, 0.14)
"""Pitch of the root that is tried, radians: who runs leans."""
_ROUNDS = 2
"""How often the limbs are searched and the body is placed again, for each of them."""
_FEW = 8
"""Frames in which directions are compared."""
GAIT, SIDED, READ = ", as a gait", ", sides of a gait", ", as read"
"""In the name of a start."""
_SIDED = 4
"""Starts with the sides of a gait, beside the others: fore and hind legs as found and exchanged."""
_OTHERWISE = 0.1
"""Share of the frames in which they differ from what was found frame by frame, at least."""
_ALIKE = 0.08
"""Colours that differ by less (root mean square, sRGB) are the character's own."""


@dataclass(frozen=True)
class Candidate:
    """A motion and the cameras that see it."""

    curves: ControlCurves
    cameras: tuple[FitCamera, ...]
    """One for each observation."""
    name: str
    """How it began, for a person to read."""
    anchor: Float[Tensor, "T D 3"] | None = None
    """The joint angles that the regressor read, which the fit is held to; None: it is not."""

    def tensors(self) -> list[Tensor]:
        """What an optimiser changes of the motion."""
        return self.curves.tensors()

    def camera_tensors(self) -> list[Tensor]:
        """What it changes of the cameras."""
        return [c.values for c in self.cameras if isinstance(c, SolvedCamera)]

    def plain_cameras(self) -> tuple[Camera, ...]:
        """The cameras as they are now, without gradient."""
        return tuple(c.camera() if isinstance(c, SolvedCamera) else c for c in self.cameras)

    def resized(self, observations: Sequence[Observation]) -> Candidate:
        """The same, sharing its tensors, for images of other sizes."""
        cameras = tuple(
            c.of(o) if isinstance(c, SolvedCamera) else _given(o)
            for c, o in zip(self.cameras, observations, strict=True)
        )
        return replace(self, cameras=cameras)


def _given(observation: Observation) -> Camera:
    assert observation.camera is not None
    return observation.camera


def make_starts(
    stage: Stage, observations: Sequence[Observation], settings: FitSettings, *, fps: float
) -> tuple[list[Candidate], float]:
    """Candidates to optimise: directions of the camera, legs as found and exchanged.

    Returns:
        The candidates; and what the best direction leaves of the video as a share of what the other
        one leaves, 0 where there is no other.
    """
    limbs = find_limbs(stage) if settings.limb_search else []
    regressor = regressor_for(stage, settings)
    ranked = [_directions(stage, observation, limbs, settings) for observation in observations]
    pairings = [tuple(guesses[0] for guesses in ranked)]
    if len(observations) == 1 and len(ranked[0]) > 1:
        pairings.append((ranked[0][1],))
    found, least = [], []
    for guesses in pairings:
        own = _with_limbs(stage, observations, guesses, limbs, settings, fps)
        least.append(min(left for left, _ in own))
        found += own
        if regressor is not None:
            found += _as_read(stage, observations, guesses, regressor, settings, fps)
    rivalry = min(least) / max(*least, 1e-9) if len(least) > 1 else 0.0
    # Where one direction is clearly wrong, more exchanges of the other's legs are tried.
    found.sort(key=lambda pair: pair[0])
    kinds = (GAIT, SIDED, READ)
    gaits, sided, read = ([c for _, c in found if kind in c.name] for kind in kinds)
    free = [c for _, c in found if not any(kind in c.name for kind in kinds)]
    # A gait leaves more of the video than poses that are free in every frame, right or wrong; so
    # does what was read.
    kept = [*read[: settings.starts // 4], *gaits][: settings.starts // 2]
    others = max(1, settings.starts - len(kept))
    kept += sided[:_SIDED] if settings.starts > 1 else []
    return [*free[:others], *kept], rivalry


def _directions(
    stage: Stage, observation: Observation, limbs: list[Limb], settings: FitSettings
) -> list[ViewGuess]:
    """The direction in which body and limbs look most like the video, refined, and the next best
    one that is far from it."""
    elevations = ELEVATIONS
    if observation.camera is not None:
        view = observation.camera.camera_from_world[0, 2, :3]
        elevations = (-math.asin(max(-1.0, min(1.0, float(view[1])))),)
    guesses = search_views(stage, observation, elevations=elevations)
    if not limbs:
        return guesses[:2]

    chosen = torch.linspace(0, len(observation) - 1, min(_FEW, len(observation))).round().long()
    some = observation.at(chosen)

    def residual(guess: ViewGuess) -> float:
        """With the body upright, or leaning as one that runs, and placed with its limbs."""
        left = []
        for pitch in _PITCHES[1:]:
            own, found = replace(guess, places=guess.places[chosen.to(guess.places.device)]), None
            for rounds in (0, 1, 1):
                target = replace(_limb_target(stage, some, own, settings), pitch=pitch)
                found = search_limbs(stage, limbs, [target], rounds=rounds, like=found)
                own = _moved(stage, some, own, found.images[0], settings)
            assert found is not None
            left.append(found.residual)
        return min(left)

    costs = {guess: residual(guess) for guess in guesses}
    best = min(costs, key=costs.__getitem__)

    def try_from(ways: Sequence[tuple[float, float]]) -> ViewGuess:
        for azimuth, elevation in ways:
            guess = look_from(stage, observation, azimuth, elevation)
            costs[guess] = residual(guess)
        return min(costs, key=costs.__getitem__)

    # Outlines alone may have ranked a neighbour higher that hides the right direction.
    for turn in (2.0 * STEP, STEP) if observation.azimuth is None else ():
        best = try_from([(best.azimuth + way, best.elevation) for way in (-turn, turn)])
    try_from([(best.azimuth, height) for height in elevations if height != best.elevation])
    ranked = sorted(costs, key=costs.__getitem__)
    far = [g for g in ranked if angle_between(g.azimuth, ranked[0].azimuth) > APART]
    return [ranked[0], *far[:1]]


def _with_limbs(
    stage: Stage,
    observations: Sequence[Observation],
    guesses: Sequence[ViewGuess],
    limbs: list[Limb],
    settings: FitSettings,
    fps: float,
) -> list[tuple[float, Candidate]]:
    """Candidates of one direction, each with what it leaves of the video."""
    name = " and ".join(f"{math.degrees(guess.azimuth):.0f} degrees" for guess in guesses)
    if not limbs:
        angles = torch.zeros(len(observations[0]), len(stage.rig), 3)
        return [(0.0, _candidate(stage, observations, guesses, angles, settings, fps, name))]

    def search(
        guesses: Sequence[ViewGuess], pitch: float, like: LimbSearch | None = None, **options: int
    ) -> LimbSearch:
        targets = [
            replace(_limb_target(stage, observation, guess, settings), pitch=pitch)
            for observation, guess in zip(observations, guesses, strict=True)
        ]
        return search_limbs(stage, limbs, targets, like=like, **options)

    def located(guesses: Sequence[ViewGuess], found: LimbSearch) -> list[ViewGuess]:
        return [
            _moved(stage, observation, guess, own, settings)
            for guess, observation, own in zip(guesses, observations, found.images, strict=True)
        ]

    # With its limbs where they are, the body is found more exactly, and then the limbs are.
    tried = []
    for pitch in _PITCHES:
        found = search(guesses, pitch, most=_FEW, rounds=0)
        placed = located(guesses, found)
        for _ in range(_ROUNDS):
            placed = located(placed, search(placed, pitch, found, most=_FEW))
        found = search(placed, pitch, found, most=_FEW)
        tried.append((found, pitch, placed))
    best, pitch, guesses = min(tried, key=lambda one: one[0].residual)
    guesses = located(guesses, search(guesses, pitch, best))
    found = search(guesses, pitch, best)

    def starts(poses: Tensor, angles: Tensor, name: str) -> list[tuple[float, Candidate]]:
        rotation = torch.zeros(len(observations[0]), 3)
        rotation[:, 1] = pitch
        begun = _candidate(stage, observations, guesses, angles, settings, fps, name, rotation)
        return [(found.residual_of(poses), begun)]

    def variants(poses: Tensor, angles: Tensor, name: str) -> list[tuple[float, Candidate]]:
        made = []
        for what, kinds in _pairings(limbs):
            own, turned = poses, angles
            for kind in kinds:
                own = swap_sides(limbs, own, kind=kind)
                turned = _swap_angles(limbs, turned, kind)
            made += starts(own, turned, name + what)
        return made

    candidates = variants(found.poses, limb_angles(stage, limbs, found.poses), name)
    gait = None
    if settings.gait_search:
        gait = search_gait(stage, limbs, found, frames=len(observations[0]), fps=fps)
    if gait is not None:
        candidates += variants(gait.poses, gait.angles, name + GAIT)
        sided = sides_as(limbs, found.poses, gait.poses)
        if float((sided != found.poses).float().mean(0).max()) > _OTHERWISE:
            candidates += variants(sided, limb_angles(stage, limbs, sided), name + SIDED)
    return candidates


def _as_read(
    stage: Stage,
    observations: Sequence[Observation],
    guesses: Sequence[ViewGuess],
    regressor: MotionRegressor,
    settings: FitSettings,
    fps: float,
) -> list[tuple[float, Candidate]]:
    """The candidate that begins with what the regressor reads in the first view that it can read,
    with what it leaves of the video; none where it can read none."""
    seen = [k for k, guess in enumerate(guesses) if is_readable(guess)]
    if not seen:
        return []
    pose = read_motion(stage, observations[seen[0]], guesses[seen[0]], regressor, fps=fps)
    placed, left = [], 0.0
    for observation, guess in zip(observations, guesses, strict=True):
        target = _limb_target(stage, observation, guess, settings)
        images = pose_images(stage, pose, target)
        placed.append(_moved(stage, observation, guess, images, settings))
        target = _limb_target(stage, observation, placed[-1], settings)
        left += float(image_costs(images - target.image).mean()) / len(guesses)
    name = " and ".join(f"{math.degrees(guess.azimuth):.0f} degrees" for guess in guesses) + READ
    begun = _candidate(
        stage, observations, placed, pose.angles, settings, fps, name, pose.root_rotation
    )
    anchor = pose.angles.to(stage.cloud.means.device)
    return [(left, replace(begun, anchor=anchor))]


def _pairings(limbs: list[Limb]) -> list[tuple[str, tuple[object, ...]]]:
    """Legs as found, those of each kind exchanged left and right, and all of them."""
    every = (limb.role.limb for limb in limbs)
    kinds = list(dict.fromkeys(kind for kind in every if kind is not None and kind.is_leg))
    found: list[tuple[str, tuple[object, ...]]] = [("", ())]
    found += [(f", {kind.value} exchanged", (kind,)) for kind in kinds]
    return [*found, (", legs exchanged", tuple(kinds))] if len(kinds) > 1 else found


def _swap_angles(
    limbs: list[Limb], angles: Float[Tensor, "T D 3"], kind: object
) -> Float[Tensor, "T D 3"]:
    """What `swap_sides` does to poses."""
    pair, swapped = [limb for limb in limbs if limb.role.limb is kind], angles.clone()
    if len(pair) == 2:
        for own, other in (pair, pair[::-1]):
            swapped[:, own.upper] = angles[:, other.upper]
            if own.lower is not None and other.lower is not None:
                swapped[:, own.lower] = angles[:, other.lower]
    return swapped


def _moved(
    stage: Stage,
    observation: Observation,
    guess: ViewGuess,
    images: Float[Tensor, "T 4 N N"],
    settings: FitSettings,
) -> ViewGuess:
    """The guess with the places at which the body's images look most like the video."""
    shifts = find_shifts(images, _limb_target(stage, observation, guess, settings).image)
    return replace(guess, places=guess.places + shifts * guess.scale / canvas_scale(stage))


def _limb_target(
    stage: Stage, observation: Observation, guess: ViewGuess, settings: FitSettings
) -> LimbTarget:
    factor = canvas_scale(stage) / guess.scale
    premultiplied = observation.frames * observation.masks[..., None]
    colours = onto_canvas(premultiplied.movedim(-1, 1), guess.places, factor)
    masks = onto_canvas(observation.masks[:, None], guess.places, factor)
    return LimbTarget.of(
        colours, masks, azimuth=guess.azimuth, elevation=guess.elevation,
        distance=guess.distance(focal_of(observation)),
        colour=settings.colour / max(settings.silhouette, 1e-9),
    )  # fmt: skip


def _candidate(
    stage: Stage,
    observations: Sequence[Observation],
    guesses: Sequence[ViewGuess],
    angles: Float[Tensor, "T D 3"],
    settings: FitSettings,
    fps: float,
    name: str,
    rotation: Float[Tensor, "T 3"] | None = None,
) -> Candidate:
    """A motion with these angles, its root turned by `rotation` and seen where the guesses say."""
    cameras = tuple(
        _camera(stage, observation, guess)
        for observation, guess in zip(observations, guesses, strict=True)
    )
    frames = len(observations[0])
    character, rig = stage.character, stage.rig
    start = MotionStart(rig, frames, fps, leg_length(character, rig))
    knots = max(4, math.ceil(frames / settings.frames_per_knot))
    curves = Spline(knots=knots, free_root=True).begin(start, stage)
    yaw = _heading(stage, cameras[0], guesses[0])
    path = _path(stage, observations, guesses, cameras, yaw)
    rotation = path.new_zeros(frames, 3) if rotation is None else rotation.to(path, copy=True)
    rotation[:, 0] += yaw
    curves.set_controls(ControlPose(path, rotation, angles.to(path)))
    return Candidate(curves, cameras, name)


def _camera(stage: Stage, observation: Observation, guess: ViewGuess) -> FitCamera:
    if observation.camera is not None:
        return observation.camera
    width, height = observation.whole
    middle, places = neutral_middle(stage), guess.places
    if observation.window is not None:
        places = places + observation.window.corners
    place = places.median(0).values
    return SolvedCamera.start(
        observation=observation, azimuth=guess.azimuth, elevation=guess.elevation,
        axes=stage.rig.root_axes.to(middle), anchor=middle,
        place=(float(place[0] - 0.5 * width) / height, float(place[1] - 0.5 * height) / height),
        distance=guess.distance(focal_of(observation)),
    )  # fmt: skip


def _heading(stage: Stage, camera: FitCamera, guess: ViewGuess) -> float:
    """The body's yaw at which the camera sees it from where the guess says."""
    if isinstance(camera, SolvedCamera):
        return 0.0
    _, left, forward = stage.rig.root_axes.unbind(0)
    away = -camera.camera_from_world[0, 2, :3].cpu()
    return math.atan2(float(away @ left), float(away @ forward)) - guess.azimuth


def _path(
    stage: Stage,
    observations: Sequence[Observation],
    guesses: Sequence[ViewGuess],
    cameras: Sequence[FitCamera],
    yaw: float,
) -> Float[Tensor, "T 3"]:
    """Translation of the root at which the neutral body is seen where the guesses have it.

    Where views disagree, or where one view leaves the distance open, it is the least-squares
    solution.
    """
    frames = len(observations[0])
    rows, values = [], []
    for observation, guess, own in zip(observations, guesses, cameras, strict=True):
        camera = own.camera() if isinstance(own, SolvedCamera) else own
        camera = camera.expand(frames)
        pose, distance = camera.camera_from_world, guess.distance(focal_of(observation))
        seen = (guess.places.to(pose) - camera.centre) / camera.focal
        across = pose[:, :2, :3] - seen[..., None] * pose[:, 2:3, :3]
        rows += [across, 0.1 * pose[:, 2:3, :3]]
        values += [
            seen * pose[:, 2:3, 3] - pose[:, :2, 3],
            0.1 * (distance - pose[:, 2:3, 3]),
        ]
    middles = least_squares(torch.cat(rows, 1), torch.cat(values, 1)[..., None])
    middle = neutral_middle(stage)
    pivot = stage.rig.root_pivot.to(middle) + middle.new_tensor((0.0, stage.lift, 0.0))
    turned = davenport.to_quaternion(
        stage.rig.root_axes.to(middle), middle.new_tensor((yaw, 0.0, 0.0))
    )
    at_rest = pivot + quaternion.rotate(turned, middle - pivot)
    return smooth_path(middles[..., 0] - at_rest, _SMOOTH)


@torch.no_grad()
def colours_agree(stage: Stage, observation: Observation, guess: ViewGuess) -> bool:
    """Whether the video has the character's colours, but for a tint, where both are seen."""
    camera = canvas_camera(
        stage, guess.azimuth, guess.elevation, guess.distance(focal_of(observation))
    )
    seen = render_body(
        stage.cloud, stage.neutral[None].to(stage.cloud.means), camera, settings=stage.scene,
        bone_colours=stage.bone_colours, renderer=stage.renderer, check=False,
    )  # fmt: skip
    factor = canvas_scale(stage) / guess.scale
    video = onto_canvas(observation.frames.movedim(-1, 1), guess.places, factor)
    masks = onto_canvas(observation.masks[:, None], guess.places, factor)
    own = seen.colour.movedim(-1, 1).expand_as(video)
    both = ((1.0 - seen.transmittance[:, None]) * masks > 0.9).expand_as(video)
    if not bool(both.any()):
        return False
    total = both.sum((0, 2, 3)).clamp_min(1)
    means = [(both * x).sum((0, 2, 3)) / total for x in (video, own)]
    tint = (means[0] / means[1].clamp_min(1e-3)).clamp(0.5, 2.0)
    away = (video - own * tint[:, None, None])[both].square().mean().sqrt()
    spread = (video - means[0][:, None, None])[both].square().mean().sqrt()
    return float(away) < max(_ALIKE, 0.95 * float(spread))
