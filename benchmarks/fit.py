"""`akd fit` on clips with known motion: joint error, legs, spoiled videos, stated quality.

    python -m benchmarks.fit --clips 24 --processes 2
    python -m benchmarks.fit --clips 24 --device cuda --processes 12 --out docs/benchmarks/fit.md
    python -m benchmarks.fit --smoke

Joint positions are compared in the camera's frame, relative to the root, as shares of the body's
height; angles are geodesic between the true and the found rotation of every driven joint.
`--side training` is for choosing settings; `--smoke` runs every part once, tiny, and checks nothing
but that it runs. The warm start of `akd animate` is a baseline that knows action and camera.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median

import torch
from scipy.stats import spearmanr
from torch import Tensor

from akd.fit.masks import find_masks
from akd.fit.observation import Observation
from akd.fit.settings import FitSettings
from akd.fit.video_fit import fit_video
from akd.math import davenport, quaternion
from akd.rig.character import Character, load_character
from akd.rig.control import ControlPose
from akd.rig.roles.role import Side
from akd.scene.follow import FRONT
from akd.scene.stage import Stage
from akd.splat.camera import Camera
from benchmarks.fit_clips import FPS, SPOILS, Clip, ClipSpec, film, front_view, specs, spoil
from benchmarks.measured import write_report

WITHOUT: dict[str, dict[str, object]] = {
    "limb search": {"limb_search": False},
    "several starts": {"starts": 1},
    "colours": {"colour": 0.0},
    "camera refinement": {"solve_camera": False},
    "smoothness": {"smooth": 0.0},
    "pose regulariser": {"rest": 0.0},
}
PARTS = ("main", "views", "without", "spoiled", "points")
WARM_START = "warm start of animate"
SMOKE = FitSettings(size=48, splats=400, starts=2, trial=2, iterations=3, limb_search=False)


@dataclass(frozen=True)
class Job:
    """One fit."""

    part: str
    variant: str
    spec: ClipSpec
    frames: int
    size: int
    device: str
    settings: FitSettings


@dataclass(frozen=True)
class Row:
    """How one fit went."""

    part: str
    variant: str
    clip: str
    error: float
    """Mean joint error, share of the height."""
    degrees: float
    swapped: bool
    score: float
    overlap: float
    seconds: float
    failed: str = ""


def jobs_of(arguments: argparse.Namespace) -> list[Job]:
    """All fits of the parts that were asked for."""
    settings = SMOKE if arguments.smoke else FitSettings()
    found = []

    def add(part: str, variant: str, spec: ClipSpec, **changes: object) -> None:
        if part in arguments.parts:
            found.append(
                Job(
                    part, variant, spec, arguments.frames, arguments.size, arguments.device,
                    replace(settings, **changes),
                )
            )  # fmt: skip

    for spec in specs(arguments.clips, training=arguments.side == "training"):
        add("main", "true mask", spec)
        add("main", "found mask", spec)
        add("main", WARM_START, spec)
        add("views", "side and front", spec)
        for name, changes in WITHOUT.items():
            add("without", name, spec, **changes)
        for kind in SPOILS:
            add("spoiled", kind, spec)
        add("points", "noisy points", spec)
    return found


def run(job: Job) -> Row:
    """Film, fit and measure."""
    torch.set_num_threads(1)
    spec = job.spec
    actor = spec.seed + 1 if job.variant == "other proportions" else None
    clip = film(spec, frames=job.frames, size=job.size, actor_seed=actor)
    character = clip.character
    if job.variant == "wrong scale":
        character = load_character(character.asset, height=0.6 * character.height)
    name = f"{spec.species} {spec.action}, {spec.style.value}"
    began = time.perf_counter()
    try:
        if job.part == "points":
            from benchmarks.fit_points import fit_noisy_points

            pose, score = fit_noisy_points(clip, job.settings)
            cameras, overlap = clip.camera, score
        elif job.variant == WARM_START:
            from benchmarks.fit_warm_start import fit_warm_start

            pose = fit_warm_start(clip, job.settings, device=job.device)
            cameras, score, overlap = clip.camera, math.nan, math.nan
        else:
            observations = observe(clip, job)
            stage = Stage.of(
                character, style=spec.style, size=(job.settings.size, job.settings.size),
                splats=job.settings.splats, device=job.device, ground=False,
            )  # fmt: skip
            found = fit_video(stage, observations, fps=FPS, settings=job.settings)
            with torch.no_grad():
                pose = found.curves.controls()
            pose = ControlPose(pose.translation.cpu(), pose.root_rotation.cpu(), pose.angles.cpu())
            cameras = found.cameras[0].to("cpu")
            score, overlap = found.quality.score, float(found.quality.overlap.mean())
    except ValueError as error:
        return Row(job.part, job.variant, name, 1.0, 180.0, True, 0.0, 0.0, 0.0, str(error))
    seconds = time.perf_counter() - began
    error, degrees, swapped = measure(clip, character, pose, cameras)
    return Row(job.part, job.variant, name, error, degrees, swapped, score, overlap, seconds)


def observe(clip: Clip, job: Job) -> list[Observation]:
    """What the fit sees."""
    if job.part == "spoiled":
        frames, masks = spoil(clip, job.variant)
        return [Observation(frames, find_masks(frames).masks if masks is None else masks)]
    masks = clip.masks if job.variant != "found mask" else find_masks(clip.frames).masks
    first = Observation(clip.frames, masks)
    if job.part != "views":
        return [first]
    frames, masks, _ = front_view(clip)
    side = replace(first, azimuth=torch.deg2rad(torch.tensor(clip.spec.azimuth)).item())
    return [side, Observation(frames, masks, azimuth=FRONT.azimuth)]


def measure(
    clip: Clip, character: Character, pose: ControlPose, camera: Camera
) -> tuple[float, float, bool]:
    """Joint error as a share of the height, degrees, and whether legs are exchanged."""
    rig, true_rig = character.control_rig, clip.character.control_rig
    found = _seen(rig.world(pose)[:, [rig.root, *rig.joints]], camera, character.height)
    true = _seen(
        clip.world[:, [true_rig.root, *true_rig.joints]], clip.camera, clip.character.height
    )
    error = float((found - true).norm(dim=-1).mean())
    wanted = true_rig.from_world(clip.world).angles
    turned = [davenport.to_quaternion(rig.axes, angles) for angles in (pose.angles, wanted)]
    degrees = float(torch.rad2deg(quaternion.geodesic(turned[0], turned[1])).mean())
    return error, degrees, _swapped(character, found, true)


def _seen(world: Tensor, camera: Camera, height: float) -> Tensor:
    """Joints in the camera's frame, from the root, in body heights."""
    places = world[..., :3, 3] @ camera.camera_from_world[0, :3, :3].T
    return (places - places[:, :1]) / height


def _swapped(character: Character, found: Tensor, true: Tensor) -> bool:
    """Whether the legs of any kind fit better with left and right exchanged."""
    roles = character.control_rig.roles
    kinds = {role.limb for role in roles if role.limb is not None and role.limb.is_leg}
    for kind in kinds:
        left, right = (
            [i + 1 for i, r in enumerate(roles) if r.limb is kind and r.side is side]
            for side in (Side.LEFT, Side.RIGHT)
        )
        if len(left) != len(right):
            continue
        as_is = (found[:, left + right] - true[:, left + right]).norm(dim=-1).mean()

        # Relative to the hips, so that the width of the body does not decide.
        def hung(places: Tensor, limb: list[int]) -> Tensor:
            return places[:, limb] - places[:, limb[:1]]

        same = sum((hung(found, s) - hung(true, s)).norm(dim=-1).mean() for s in (left, right))
        pairs = ((left, right), (right, left))
        other = sum((hung(found, a) - hung(true, b)).norm(dim=-1).mean() for a, b in pairs)
        if float(other) < 0.9 * float(same) and float(as_is) > 0.02:
            return True
    return False


def tables(rows: Sequence[Row], arguments: argparse.Namespace) -> str:
    """Everything as Markdown."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.part, row.variant].append(row)
    lines = [
        f"{arguments.clips} clips of the {arguments.side} side, {arguments.frames} frames of "
        f"{arguments.size} x {arguments.size}, {arguments.device}, {arguments.processes} processes "
        f"at a time.",
        "",
        "| part | variant | clips | joint error, % of height | median | degrees | legs exchanged | "
        "overlap | score | s | failed |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (part, variant), group in groups.items():
        good = [row for row in group if not row.failed]
        if not good:
            lines.append(f"| {part} | {variant} | {len(group)} | | | | | | | | {len(group)} |")
            continue
        errors = sorted(100 * row.error for row in good)
        lines.append(
            f"| {part} | {variant} | {len(group)} | {fmean(errors):.2f} | "
            f"{median(errors):.2f} | {fmean(r.degrees for r in good):.1f} | "
            f"{sum(r.swapped for r in good)} | {fmean(r.overlap for r in good):.3f} | "
            f"{fmean(r.score for r in good):.3f} | {fmean(r.seconds for r in good):.0f} | "
            f"{len(group) - len(good)} |"
        )
    judged = [
        row for row in rows
        if row.part in ("main", "spoiled") and not row.failed and not math.isnan(row.score)
    ]  # fmt: skip
    if len(judged) > 4:
        found = spearmanr([row.score for row in judged], [-row.error for row in judged])
        lines += ["", f"Rank correlation of stated quality with true error: {found[0]:.2f} over "
                      f"{len(judged)} fits."]  # fmt: skip
    lines += ["", "| part | variant | clip | error, % | degrees | exchanged | score | s |",
              "| --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    lines += [
        f"| {r.part} | {r.variant} | {r.clip} | {100 * r.error:.2f} | {r.degrees:.1f} | "
        f"{'yes' if r.swapped else 'no'} | {r.score:.3f} | {r.failed or f'{r.seconds:.0f}'} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def main(work: Callable[[Job], Row] = run) -> None:
    """Run the parts and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=24)
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--side", choices=("training", "measuring"), default="measuring")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--smoke", action="store_true", help="every part once, tiny")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.smoke:
        arguments.clips, arguments.frames, arguments.size = 1, 8, 64
    jobs = jobs_of(arguments)
    rows: list[Row] = []

    def keep(row: Row) -> None:
        rows.append(row)
        print(
            f"{len(rows)}/{len(jobs)} {row.part}, {row.variant}, {row.clip}: "
            f"{100 * row.error:.2f} %, {row.degrees:.1f} deg, exchanged {row.swapped}, "
            f"score {row.score:.3f}, {row.seconds:.0f} s {row.failed}",
            flush=True,
        )
        if arguments.json is not None:
            arguments.json.write_text(json.dumps([vars(one) for one in rows], indent=1))

    if arguments.processes > 1:
        with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
            for row in pool.imap(work, jobs, chunksize=1):
                keep(row)
    else:
        for job in jobs:
            keep(work(job))
    text = tables(rows, arguments)
    print(text)
    if arguments.out is not None:
        write_report(arguments.out, text)


if __name__ == "__main__":
    main()
