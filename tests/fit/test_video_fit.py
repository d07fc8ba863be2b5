"""A known motion is found in its own video; cameras, masks and limbs on the way there."""

import math
from dataclasses import replace

import pytest
import torch

from akd.api.creatures import creature_character
from akd.fit.cameras import SolvedCamera, cameras_of
from akd.fit.limb_search import LimbTarget, find_limbs, limb_angles, search_limbs
from akd.fit.losses import LossState, hinge_regulariser, smoothness
from akd.fit.masks import find_masks, plain_background, static_background
from akd.fit.observation import Observation, PointTracks
from akd.fit.placing import find_shifts
from akd.fit.quality import assess_fit, disagreement
from akd.fit.settings import FitSettings
from akd.fit.video_fit import fit_video, show_fit, show_over
from akd.fit.view_search import (
    angle_between,
    canvas_camera,
    canvas_scale,
    focal_of,
    look_from,
    neutral_middle,
    onto_canvas,
    search_views,
)
from akd.motion.parametrization import MotionStart, pose_together
from akd.motion.settings import Spline
from akd.rig.control import ControlPose
from akd.rig.roles.role import LimbKind, Part, Side
from akd.scene.coverage import narrowed
from akd.scene.follow import View, follow
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage
from akd.splat.camera import Camera
from akd.zoo import build_creature

FRAMES, SIZE = 6, 72


@pytest.fixture(scope="module")
def stage(fox):
    return Stage.of(fox, style=SceneStyle.ROLES, size=(SIZE, SIZE), splats=700, ground=False)


def swinging(stage: Stage) -> ControlPose:
    """Legs of the left go back while those of the right go forward, more and more."""
    angles = torch.zeros(FRAMES, len(stage.rig), 3)
    for i, role in enumerate(stage.rig.roles):
        if role.limb is not None and role.part is Part.UPPER:
            angles[:, i, 0] = torch.linspace(0.2, 0.6, FRAMES) * (
                1.0 if role.side is Side.LEFT else -1.0
            )
    return ControlPose(torch.zeros(FRAMES, 3), torch.zeros(FRAMES, 3), angles)


def camera_at(stage: Stage, azimuth: float):
    low, high = stage.neutral_box
    view = View(math.radians(azimuth), math.radians(12.0), zoom=0.8)
    return follow(low, high, view, forward=stage.character.forward, width=SIZE, height=SIZE)


@pytest.fixture(scope="module")
def filmed(stage) -> Observation:
    colour, light = film(stage, stage.transforms(swinging(stage)), camera_at(stage, 90.0))
    return Observation(colour + 0.8 * light[..., None], 1.0 - light)


def film(stage: Stage, transforms, camera):
    """What a camera sees of the surface, which is narrower than the splats."""
    pose = camera.camera_from_world[0]
    depth = float(pose[2, :3] @ neutral_middle(stage) + pose[2, 3])
    exponent = stage.coverage_exponent(float(camera.focal[0, 0]) / depth)
    return narrowed(*show_fit(stage, transforms, camera), exponent)


def test_the_direction_of_the_camera_is_found(stage):
    for azimuth in (90.0, -70.0):
        still = stage.neutral.expand(2, -1, -1, -1)
        _, light = show_fit(stage, still, camera_at(stage, azimuth))
        masks = 1.0 - light
        observation = Observation(masks[..., None].expand(-1, -1, -1, 3), masks)
        found = search_views(stage, observation, elevations=[math.radians(12.0)])
        assert angle_between(found[0].azimuth, math.radians(azimuth)) < math.radians(25.0)
        assert found[0].overlap > 0.75


def searched_angles(stage: Stage, filmed: Observation):
    """Limbs, and their angles as `search_limbs` finds them from the side."""
    guess = look_from(stage, filmed, math.radians(90.0), math.radians(12.0))
    factor, limbs = canvas_scale(stage) / guess.scale, find_limbs(stage)
    colours = (filmed.frames * filmed.masks[..., None]).movedim(-1, 1)
    search = None
    for rounds in (0, 2, 2):  # the body is placed with its limbs, then they are searched again
        target = LimbTarget.of(
            onto_canvas(colours, guess.places, factor),
            onto_canvas(filmed.masks[:, None], guess.places, factor),
            azimuth=guess.azimuth, elevation=guess.elevation,
            distance=guess.distance(focal_of(filmed)), colour=1.0,
        )  # fmt: skip
        search = search_limbs(stage, limbs, [target], rounds=rounds)
        shifts = find_shifts(search.images[0], target.image)
        guess = replace(guess, places=guess.places + shifts / factor)
    assert search is not None
    return limbs, limb_angles(stage, limbs, search.poses)


def test_limbs_are_found_without_a_gradient(stage, filmed):
    limbs, found = searched_angles(stage, filmed)
    true = swinging(stage).angles
    for limb in limbs:
        last = float(found[-1, limb.upper, 0]), float(true[-1, limb.upper, 0])
        assert last[0] * last[1] > 0.0, limb.role


@pytest.mark.slow
def test_bent_elbows_in_plain_view_are_found():
    character = creature_character(build_creature("man", seed=1003, vertices=800), [])
    stage = Stage.of(
        character, style=SceneStyle.TEXTURED, size=(SIZE, SIZE), splats=1000, ground=False
    )
    angles = torch.zeros(4, len(stage.rig), 3)
    lower = [
        i for i, role in enumerate(stage.rig.roles)
        if role.limb is LimbKind.ARM and role.part is Part.LOWER
    ]  # fmt: skip
    angles[:, lower, 0] = -1.3
    pose = ControlPose(torch.zeros(4, 3), torch.zeros(4, 3), angles)
    colour, light = film(stage, stage.transforms(pose), camera_at(stage, 90.0))
    _, found = searched_angles(stage, Observation(colour + 0.8 * light[..., None], 1.0 - light))
    # The near one; the far one is behind the trunk and the near one.
    near = next(i for i in lower if stage.rig.roles[i].side is Side.LEFT)
    assert (found[:, near, 0] < -0.8).all()


def test_a_camera_that_is_solved_for_sees_the_same_zoomed_or_not(stage):
    low, high = stage.neutral_box
    video = Observation(torch.zeros(3, 48, 64, 3), torch.zeros(3, 48, 64))
    solved = SolvedCamera.start(
        observation=video, azimuth=0.4, elevation=0.2, axes=stage.rig.root_axes,
        anchor=0.5 * (low + high)[0], place=(0.1, -0.05), distance=2.0,
    )  # fmt: skip
    with torch.no_grad():
        solved.values.add_(torch.tensor((0.2, 0.1, 0.0, 0.0, 0.0)))
    plain, zoomed = solved.camera(), cameras_of([solved], 3)
    plain.check()
    assert len(zoomed) == 3
    point = torch.tensor((0.1, 0.3, 0.2, 1.0))
    places = []
    for camera in (plain, zoomed):
        seen = camera.camera_from_world[0].detach() @ point
        places.append(camera.focal[0] * seen[:2] / seen[2] + camera.centre[0])
    torch.testing.assert_close(places[0], places[1], rtol=1e-4, atol=1e-3)
    anchor = plain.camera_from_world[0] @ torch.cat((solved.anchor, torch.ones(1)))
    seen = plain.focal[0] * anchor[:2] / anchor[2] + plain.centre[0]
    expected = torch.tensor((32.0 + 0.1 * 48, 24.0 - 0.05 * 48))
    torch.testing.assert_close(seen, expected, rtol=1e-3, atol=1e-2)


@pytest.mark.slow
def test_a_motion_is_found_in_its_own_video(stage, filmed):
    settings = FitSettings(size=SIZE, splats=700, trial=4, iterations=16, starts=2)
    found = fit_video(stage, [filmed], fps=12.0, settings=settings)
    assert float(found.quality.overlap.mean()) > 0.8
    rounds = (len(found.residuals) - 1).bit_length()
    assert len(found.history) == 4 * rounds + 16
    with torch.no_grad():
        angles = found.curves.controls().angles
    true = swinging(stage).angles
    for i, role in enumerate(stage.rig.roles):
        if role.limb is not None and role.part is Part.UPPER:
            assert float(angles[-1, i, 0]) * float(true[-1, i, 0]) > 0.0, role


@pytest.mark.slow
def test_a_video_of_something_else_is_fitted_and_called_poor(stage):
    x = torch.arange(SIZE) - 0.5 * SIZE
    arms = (x[:, None] - x[None]).abs() < 4.0
    cross = (arms | arms.flip(1)).float().expand(FRAMES, -1, -1)
    other = Observation(cross[..., None].expand(-1, -1, -1, 3), cross)
    settings = FitSettings(size=SIZE, splats=700, trial=4, iterations=8, starts=2)
    found = fit_video(stage, [other], fps=12.0, settings=settings)
    assert found.quality.verdict().startswith("poor")
    assert found.quality.score < 0.3
    assert bool(torch.isfinite(found.curves.angles).all())


@pytest.mark.slow
def test_two_frames_are_fitted(stage, filmed):
    two = replace(filmed, frames=filmed.frames[:2], masks=filmed.masks[:2])
    settings = FitSettings(size=SIZE, splats=700, trial=4, iterations=8, starts=2)
    found = fit_video(stage, [two], fps=12.0, settings=settings)
    assert found.quality.verdict().split(":")[0] in ("fair", "good")
    assert found.curves.frames == 2


@pytest.mark.slow
def test_a_given_camera_and_tracks_are_used(stage, filmed):
    camera = camera_at(stage, 90.0)
    bones = stage.transforms(swinging(stage))
    points = torch.stack([bones[:, 0, :3, 3], bones[:, -1, :3, 3]], dim=1)
    seen = points @ camera.camera_from_world[0, :3, :3].T + camera.camera_from_world[0, :3, 3]
    pixels = camera.focal[0] * seen[..., :2] / seen[..., 2:] + camera.centre[0]
    tracks = PointTracks(pixels, torch.ones(FRAMES, 2, dtype=torch.bool))
    depth = torch.where(filmed.masks > 0.5, 2.0, float("nan"))
    given = replace(filmed, camera=camera, tracks=tracks, depth=depth)
    settings = FitSettings(size=SIZE, splats=700, trial=0, iterations=6, starts=1)
    found = fit_video(stage, [given], fps=12.0, settings=settings)
    torch.testing.assert_close(found.cameras[0].camera_from_world, camera.camera_from_world)
    assert float(found.quality.overlap.mean()) > 0.7


@pytest.mark.slow
def test_a_moving_camera_and_normals_are_used(stage):
    cameras = [camera_at(stage, azimuth) for azimuth in torch.linspace(80, 100, FRAMES).tolist()]
    camera = replace(
        cameras[0],
        camera_from_world=torch.cat([one.camera_from_world for one in cameras]),
        focal=torch.cat([one.focal for one in cameras]),
        centre=torch.cat([one.centre for one in cameras]),
    )
    colour, light = show_fit(stage, stage.transforms(swinging(stage)), camera)
    normals = torch.zeros(FRAMES, SIZE, SIZE, 3)
    normals[..., 2] = -1.0
    given = Observation(colour + 0.8 * light[..., None], 1.0 - light, camera, normals=normals)
    settings = FitSettings(size=SIZE, splats=700, trial=0, iterations=6, starts=1)
    found = fit_video(stage, [given], fps=12.0, settings=settings)
    assert len(found.cameras[0]) == FRAMES
    torch.testing.assert_close(found.cameras[0].camera_from_world, camera.camera_from_world)
    assert float(found.quality.overlap.mean()) > 0.7


def test_what_a_fit_leaves_uncovered_is_grey(stage, filmed):
    curves = Spline(knots=4, free_root=True).begin(MotionStart(stage.rig, FRAMES, 12.0, 0.3), stage)
    away = torch.zeros(FRAMES, 3)
    away[:, 1] = 10.0
    still, angles = torch.zeros(FRAMES, 3), torch.zeros(FRAMES, len(stage.rig), 3)
    curves.set_controls(ControlPose(away, still, angles))
    shown = show_over(stage, curves, camera_at(stage, 90.0), filmed)
    inside, outside = filmed.masks > 0.999, filmed.masks < 0.001
    torch.testing.assert_close(
        shown[inside], torch.full_like(shown[inside], 0.5), atol=2e-3, rtol=0.0
    )
    torch.testing.assert_close(shown[outside], filmed.frames[outside], atol=2e-3, rtol=0.0)
    curves.set_controls(swinging(stage))
    shown = show_over(stage, curves, camera_at(stage, 90.0), filmed)
    assert float((shown - filmed.frames)[inside].abs().mean()) < 0.05


def test_observations_are_checked():
    frames, masks = torch.zeros(3, 8, 8, 3), torch.zeros(3, 8, 8)
    with pytest.raises(ValueError, match="at least 2 frames"):
        Observation(frames[:1], masks[:1])
    with pytest.raises(ValueError, match="images of 8 x 8, got 4 x 4"):
        Observation(frames, masks, Camera.look_at(*torch.eye(3)[:2, None], width=4, height=4))
    small = Observation(frames, masks).resized(4)
    assert small.size == (4, 4)


def crossing() -> tuple[Observation, torch.Tensor]:
    """A block that crosses the image, unseen in one frame, and where its corner is."""
    masks, places = torch.zeros(4, 40, 80), torch.tensor([(2, 5), (20, 8), (20, 8), (66, 20)])
    for t in (0, 1, 3):
        x, y = places[t].tolist()
        masks[t, y : y + 16, x : x + 12] = 1.0
    frames = masks[..., None] * torch.tensor((0.2, 0.5, 0.9))
    camera = Camera.look_at(
        torch.tensor([[0.0, 1.0, 3.0]]), torch.tensor([[0.1, 0.8, 0.0]]), width=80, height=40
    )
    tracks = PointTracks(places[:, None].float(), torch.ones(4, 1, dtype=torch.bool))
    return Observation(frames, masks, camera, tracks=tracks, depth=masks + 1.0), places


def test_crops_follow_the_character_and_cameras_follow_the_crops():
    whole, places = crossing()
    crop = whole.cropped()
    assert crop.size == (16, 21)
    assert crop.whole == (80, 40)
    assert crop.masks.sum((1, 2)).tolist() == [192.0, 192.0, 0.0, 192.0]
    assert crop.window is not None
    corners, tracks = crop.window.corners, crop.tracks
    assert tracks is not None
    assert crop.depth is not None
    torch.testing.assert_close(crop.depth, crop.masks + 1.0)
    torch.testing.assert_close(tracks.points[:, 0], places - corners)
    point, seen = torch.tensor((0.3, 0.9, 0.1, 1.0)), []
    for one in (whole, crop, crop.resized(10)):
        camera = one.camera
        assert camera is not None
        at = (camera.camera_from_world @ point)[:, :3]
        seen.append(camera.focal * at[:, :2] / at[:, 2:] + camera.centre)
    torch.testing.assert_close(seen[1], seen[0] - corners)
    small = torch.tensor((8 / 16, 10 / 21))
    torch.testing.assert_close(seen[2], seen[1] * small)
    axes = torch.eye(3)[[1, 0, 2]]
    solved = SolvedCamera.start(
        observation=whole, azimuth=0.1, elevation=0.2, axes=axes, anchor=torch.zeros(3),
        place=(0.1, 0.0), distance=3.0,
    )  # fmt: skip
    plain, cropped = solved.camera(), solved.of(crop).camera()
    torch.testing.assert_close(cropped.centre, plain.centre - corners)
    torch.testing.assert_close(cropped.focal, plain.focal.expand(4, 2))
    tiny = solved.of(crop.resized(10)).camera()
    torch.testing.assert_close(tiny.focal[:, 1], plain.focal[:, 1].expand(4) * 10 / 21)
    assert crop.cropped() is crop


def test_a_character_that_fills_the_image_is_not_cropped():
    frames, masks = torch.zeros(3, 20, 20, 3), torch.zeros(3, 20, 20)
    assert Observation(frames, masks).cropped().window is None
    masks[:, 2:18, 2:18] = 1.0
    assert Observation(frames, masks).cropped().window is None


def test_masks_of_a_plain_background_and_of_a_static_camera():
    frames = torch.full((10, 40, 60, 3), 0.7)
    frames = frames + 0.1 * torch.linspace(0, 1, 60)[None, None, :, None]
    true = torch.zeros(10, 40, 60, dtype=torch.bool)
    for t in range(10):
        true[t, 12:30, 4 + 4 * t : 16 + 4 * t] = True
    shown = torch.where(true[..., None], torch.tensor((0.2, 0.1, 0.1)), frames)
    found = find_masks(shown)
    assert found.source == "plain background"
    assert found.confidence > 0.8
    assert float(((found.masks > 0.5) == true).float().mean()) > 0.99
    noise = 0.06 * torch.randn(shown.shape, generator=torch.Generator().manual_seed(0))
    assert isinstance(plain_background(shown + noise), str)
    found = find_masks((shown + noise).clamp(0.0, 1.0))
    assert float(((found.masks > 0.5) == true).float().mean()) > 0.95
    wall = torch.rand(40, 60, 3, generator=torch.Generator().manual_seed(1))
    cluttered = torch.where(true[..., None], torch.tensor((0.2, 0.1, 0.1)), wall)
    assert isinstance(plain_background(cluttered), str)
    found = find_masks(cluttered)
    assert found.source == "background subtraction"
    assert float(((found.masks > 0.5) == true).float().mean()) > 0.9


def test_masks_are_refused_where_they_would_be_guessed():
    noise = torch.rand(10, 40, 60, 3, generator=torch.Generator().manual_seed(2))
    assert "camera moves" in str(static_background(noise))
    with pytest.raises(ValueError, match=r"masks are needed: .* give --masks"):
        find_masks(noise)


def before_clutter(stage: Stage, *, steps: float) -> tuple[torch.Tensor, torch.Tensor]:
    """A body that goes past a painted wall by so many body lengths, and its true masks."""
    count, side = 12, 256
    low, high = stage.neutral_box
    length = float((high - low)[0, 2])
    path = torch.zeros(count, 3)
    path[:, 2] = torch.linspace(-0.5, 0.5, count) * steps * length
    pose = ControlPose(path, torch.zeros(count, 3), torch.zeros(count, len(stage.rig), 3))
    reach = torch.tensor((0.0, 0.0, 0.5 * steps * length))
    view = View(math.radians(90.0), math.radians(10.0))
    forward = stage.character.forward
    camera = follow(low - reach, high + reach, view, forward=forward, width=side, height=side)
    colour, light = show_fit(stage, stage.transforms(pose), camera)
    noise = torch.rand(1, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    wall = torch.nn.functional.interpolate(noise, (side, side), mode="bilinear")[0].movedim(0, -1)
    return colour + light[..., None] * wall, 1.0 - light > 0.5


def test_a_body_that_goes_past_clutter_is_cut_out(fox):
    # As many Gaussians as make a sharp outline at this size.
    sharp = Stage.of(fox, style=SceneStyle.ROLES, size=(SIZE, SIZE), splats=6000, ground=False)
    frames, true = before_clutter(sharp, steps=2.4)
    found = find_masks(frames)
    assert found.source == "background subtraction"
    mask = found.masks > 0.5
    assert float((mask & true).sum() / (mask | true).sum()) > 0.9


def test_clutter_that_a_body_never_uncovers_is_refused(stage):
    frames, _ = before_clutter(stage, steps=0.3)
    with pytest.raises(ValueError, match=r"finds no whole body .* give --masks"):
        find_masks(frames)


def test_two_frames_have_no_bends(stage):
    start = MotionStart(stage.rig, 2, 12.0, 0.3)
    curves = Spline(knots=2, free_root=True).begin(start, stage)
    posed = pose_together([curves], stage)
    state = LossState(stage, curves, posed, torch.zeros(1, 2, 4, 4, 3), 0.0)
    assert smoothness(state).tolist() == [0.0]


def test_a_knee_that_leaves_its_plane_costs_and_one_that_bends_or_a_hip_does_not(stage):
    still = torch.zeros(4, 3)

    def cost(part: Part, axis: int) -> float:
        angles = torch.zeros(4, len(stage.rig), 3)
        angles[:, [i for i, r in enumerate(stage.rig.roles) if r.part is part], axis] = 0.05
        curves = Spline(knots=4, free_root=True).begin(MotionStart(stage.rig, 4, 12.0, 1.0), stage)
        curves.set_controls(ControlPose(still, still, angles))
        posed = pose_together([curves], stage)
        state = LossState(stage, curves, posed, torch.zeros(1, 4, 4, 4, 3), 0.0)
        return float(hinge_regulariser(state).detach())

    knees = sum(role.part is Part.LOWER for role in stage.rig.roles)
    for axis in (1, 2):
        assert cost(Part.LOWER, axis) == pytest.approx(0.05**2 * knees / len(stage.rig), rel=0.05)
        assert cost(Part.UPPER, axis) == pytest.approx(0.0, abs=1e-7)
    assert cost(Part.LOWER, 0) == pytest.approx(0.0, abs=1e-7)


def test_starts_that_differ_and_explain_the_video_as_well_lower_the_score():
    joints = torch.zeros(3, 2, 4, 3)
    joints[1] += torch.tensor((0.3, 0.0, 0.0))
    same = disagreement(joints, (1.0, 1.0, 9.0))
    assert abs(same - 0.15) < 1e-3
    assert disagreement(joints, (1.0, 1.1, 9.0)) < same
    assert disagreement(joints, (1.0, 9.0, 1.0)) < 1e-6
    mask = torch.ones(2, 8, 8)
    sure, unsure = (assess_fit([mask], [mask], None, ambiguity) for ambiguity in (0.0, same))
    assert unsure.score < sure.score
    rivalled = assess_fit([mask], [mask], None, rivalry=0.9)
    assert rivalled.score < assess_fit([mask], [mask], None, rivalry=0.3).score < sure.score
    odd, natural = (replace(sure, implausible=odds) for odds in (-1.0, -5.0))
    assert odd.score < natural.score == sure.score


def test_quality_names_frames_to_distrust():
    mask = torch.zeros(4, 20, 20)
    mask[:, 5:15, 5:15] = 1.0
    fit = mask.clone()
    fit[2] = mask[2].roll(6, dims=1)
    quality = assess_fit([fit], [mask], None)
    assert quality.distrusted() == [2]
    assert float(quality.outline[0]) == 0.0
    assert 0.0 < quality.score < 1.0
    assert quality.verdict().startswith("good")
    assert all(len(replace(quality, what=what).verdict()) < 80 for what in ("points", quality.what))
    cropped = assess_fit([mask[:, :12]], [mask[:, :12]], None)
    assert cropped.score < assess_fit([mask], [mask], None).score
    empty = assess_fit([torch.zeros_like(mask)], [mask], None)
    assert empty.score == 0.0
    assert empty.verdict().startswith("poor")


def test_colours_are_known_if_the_outline_is_taken_for_one_from_the_other_side(
    stage, filmed, monkeypatch
):
    from akd.api import fitting

    def other_side_first(*asked, **options):
        found = search_views(*asked, **options)
        assert any(
            angle_between(g.azimuth, math.radians(-90.0)) < math.radians(60.0) for g in found
        )
        return sorted(found, key=lambda guess: math.sin(guess.azimuth))

    monkeypatch.setattr(fitting, "search_views", other_side_first)
    settings = FitSettings(size=SIZE, splats=700)
    asked = (stage.character, [filmed], settings, "auto", torch.device("cpu"))
    found, kept, said = fitting._set_stage(*asked)
    assert (found.scene.style, kept) == (SceneStyle.ROLES, settings), said


def test_a_canvas_shows_the_middle_of_the_body(stage):
    camera = canvas_camera(stage, 1.0, 0.2, 3.0)
    low, high = stage.neutral_box
    middle = camera.camera_from_world[0] @ torch.cat((0.5 * (low + high)[0], torch.ones(1)))
    assert float(middle[2]) == pytest.approx(3.0, rel=1e-4)
    assert float(camera.focal[0, 0]) == pytest.approx(3.0 * canvas_scale(stage), rel=1e-4)
