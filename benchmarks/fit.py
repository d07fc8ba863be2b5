"""`akd fit` on clips with known motion: joint error, legs, spoiled videos, stated quality.

    python -m benchmarks.fit --clips 24 --processes 2 --rows rows.jsonl
    python -m benchmarks.fit --device cuda --processes 6 --minutes 7 --rows rows.jsonl \\
        --out docs/benchmarks/fit.md
    python -m benchmarks.fit --device cuda --rows rows.jsonl --report-only \\
        --out docs/benchmarks/fit.md
    python -m benchmarks.fit --smoke

Joint positions are compared in the camera's frame, relative to the root, as shares of the body's
height; angles are geodesic between the true and the found rotation of every driven joint.
Fits are those of `akd fit`: with the pose model and, in role colours, what the regressor reads.
`--rows` receives a line for each fit as it ends; a run that was interrupted, or that `--minutes`
ended, goes on from there. The parts come in order of importance (`PARTS`), and their clips in one
in which characters, actions and styles take turns; two views, points, the warm start, spoiled
videos and fits without a part are those of every third clip (`--every`). Seconds are those of all
cores together on a CPU, so that other work on the machine hardly counts, and wall-clock on a GPU.
`--side training` is for choosing settings; `--smoke` runs every part once, tiny, and checks nothing
but that it runs. The warm start of `akd animate` is a baseline that knows action and camera.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.losses import LossTerm
from akd.fit.masks import find_masks
from akd.fit.observation import Observation
from akd.fit.settings import FitSettings
from akd.fit.video_fit import VideoFit, fit_video
from akd.math import davenport, quaternion
from akd.posespace.judge import implausibility
from akd.posespace.loss import pose_prior
from akd.rig.character import Character, load_character
from akd.rig.control import ControlPose
from akd.rig.roles.role import Side
from akd.scene.follow import FRONT
from akd.scene.stage import Stage
from akd.splat.camera import Camera
from benchmarks.fit_clips import FPS, SPOILS, Clip, ClipSpec, film, front_view, specs, spoil
from benchmarks.fit_points import fit_noisy_points
from benchmarks.fit_sheet import image_name, write_best_and_worst, write_frames
from benchmarks.fit_tables import Row, tables
from benchmarks.fit_warm_start import fit_warm_start
from benchmarks.measured import write_report
from benchmarks.rows import append_row, read_rows

POSE_MODEL = "pose model"
WITHOUT: dict[str, dict[str, object]] = {
    "regressor": {"regressor": False},
    POSE_MODEL: {},
    "limb search": {"limb_search": False},
    "gait search": {"gait_search": False},
    "several starts": {"starts": 1},
    "colours": {"colour": 0.0},
    "camera refinement": {"solve_camera": False},
    "smoothness": {"smooth": 0.0},
    "pose regulariser": {"rest": 0.0},
    "sagittal regulariser": {"sagittal": 0.0},
}
TRUE, FOUND = "true mask", "found mask"
PARTS = (TRUE, FOUND, "two views", "spoiled", "without", "points", "warm start")
"""In the order in which they are run. The first two have one view."""
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

    @property
    def key(self) -> str:
        """What was fitted and how; the same for equal jobs of another run."""
        return repr(self)

    @property
    def clip(self) -> str:
        """For a person to read."""
        return f"{self.spec.species} {self.spec.action}, {self.spec.style.value}"


def jobs_of(arguments: argparse.Namespace) -> list[Job]:
    """All fits of the parts that were asked for, clip by clip."""
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

    for spec in in_turns(specs(arguments.clips, training=arguments.side == "training")):
        for part in (TRUE, FOUND):
            add(part, "one view", spec)
        if spec.number % arguments.every:
            continue
        add("two views", "side and front", spec)
        add("warm start", "of animate", spec)
        add("points", "noisy points", spec)
        for name, changes in WITHOUT.items():
            add("without", name, spec, **changes)
        for kind in SPOILS:
            add("spoiled", kind, spec)
    return found


def in_turns(clips: Sequence[ClipSpec]) -> list[ClipSpec]:
    """One clip of each character, then the other; walks and faster gaits, textured and in role
    colours, take turns: a run that ends early has as many of each."""
    return sorted(clips, key=lambda spec: spec.number % 2 != spec.number // 4 % 2)


def batches_of(jobs: Sequence[Job], processes: int) -> list[list[Job]]:
    """Jobs that one process does one after the other: those of a part and a clip, so that it is
    filmed once; fewer where there are fewer clips than processes. Parts follow each other."""
    found: dict[tuple[str, ClipSpec], list[Job]] = defaultdict(list)
    for job in sorted(jobs, key=lambda job: PARTS.index(job.part)):
        found[job.part, job.spec].append(job)
    parts = max(1, -(-processes // max(1, len({job.spec for job in jobs}))))
    batches = [own[k::parts] for own in found.values() for k in range(parts)]
    return [batch for batch in batches if batch]


def run_batch(jobs: Sequence[Job], *, rows: Path, images: Path | None, until: float) -> None:
    """Fit one after the other; every row is written at once. After `until`, seconds since the
    epoch, no fit is begun."""
    for job in jobs:
        if time.time() > until:
            return
        row = run(job, images=images)
        append_row(rows, asdict(row))
        print(
            f"{row.part}, {row.variant}, {row.clip}: {100 * row.error:.2f} %, "
            f"{row.degrees:.1f} deg, exchanged {row.swapped}, score {row.score:.3f}, "
            f"{row.seconds:.1f} s {row.failed}",
            flush=True,
        )


def run(job: Job, *, images: Path | None = None) -> Row:
    """Film, fit and measure."""
    torch.set_num_threads(1)
    spec = job.spec
    actor = spec.seed + 1 if job.variant == "other proportions" else None
    clip = film(spec, frames=job.frames, size=job.size, actor_seed=actor, device=job.device)
    character = clip.character
    if job.variant == "wrong scale":
        character = load_character(character.asset, height=0.6 * character.height)
    clock = time.process_time if job.device == "cpu" else time.perf_counter
    began = clock()
    value = overlap = math.nan
    found: VideoFit | None = None
    observations: list[Observation] = []
    stage = Stage.of(
        character, style=spec.style, size=(job.settings.size, job.settings.size),
        splats=job.settings.splats, device=job.device, ground=False,
    )  # fmt: skip
    try:
        if job.part == "points":
            pose, value = fit_noisy_points(clip, job.settings, device=job.device)
            cameras, overlap = clip.camera, value
        elif job.part == "warm start":
            pose, cameras = fit_warm_start(clip, job.settings, device=job.device), clip.camera
        else:
            observations = observe(clip, job)
            losses: list[LossTerm] = [] if job.variant == POSE_MODEL else [pose_prior(1.0)]
            found = fit_video(
                stage, observations, fps=FPS, settings=job.settings, losses=losses,
                judge=partial(implausibility, character),
            )  # fmt: skip
            with torch.no_grad():
                pose = found.curves.controls().to("cpu")
            cameras = found.cameras[0].to("cpu")
            value, overlap = found.quality.score, float(found.quality.overlap.mean())
    except (ValueError, RuntimeError) as error:
        return Row.of_failure(job.key, job.part, job.variant, job.clip, str(error))
    seconds = clock() - began
    stated = {}
    if found is not None:
        stated = found.quality.parts() | unstated(found)
    error, degrees, swapped, heading, ahead = measure(clip, character, pose, cameras)
    row = Row(
        job.key, job.part, job.variant, job.clip, error, degrees, swapped, value, overlap, seconds,
        stated=stated, heading=heading, ahead=ahead,
    )  # fmt: skip
    if images is not None and found is not None:
        write_frames(images / image_name(row), stage, found, observations[0])
    return row


def unstated(found: VideoFit) -> dict[str, float]:
    """What a stated quality could be made of beside its parts: what is left of the video, and how
    much more the second best start left."""
    best, *others = sorted(found.residuals.values()) or [0.0]
    return {
        "residual": found.history[-1]["difference"],
        "gap": others[0] / max(best, 1e-9) - 1.0 if others else 0.0,
    }


def observe(clip: Clip, job: Job) -> list[Observation]:
    """What the fit sees."""
    if job.part == "spoiled":
        frames, masks = spoil(clip, job.variant)
        return [Observation(frames, find_masks(frames).masks if masks is None else masks)]
    masks = clip.masks if job.part != FOUND else find_masks(clip.frames).masks
    first = Observation(clip.frames, masks)
    if job.part != "two views":
        return [first]
    frames, masks, _ = front_view(clip, device=job.device)
    side = replace(first, azimuth=torch.deg2rad(torch.tensor(clip.spec.azimuth)).item())
    return [side, Observation(frames, masks, azimuth=FRONT.azimuth)]


def measure(
    clip: Clip, character: Character, pose: ControlPose, camera: Camera
) -> tuple[float, float, bool, float, float]:
    """Joint error as a share of the height, degrees, whether legs are exchanged, by how many
    degrees the heading is off, and the joint error without that."""
    rig, true_rig = character.control_rig, clip.character.control_rig
    found = _seen(rig.world(pose)[:, [rig.root, *rig.joints]], camera, character.height)
    true = _seen(
        clip.world[:, [true_rig.root, *true_rig.joints]], clip.camera, clip.character.height
    )
    error = float((found - true).norm(dim=-1).mean())
    wanted = true_rig.from_world(clip.world).angles
    turned = [davenport.to_quaternion(rig.axes, angles) for angles in (pose.angles, wanted)]
    degrees = float(torch.rad2deg(quaternion.geodesic(turned[0], turned[1])).mean())
    up = clip.camera.camera_from_world[0, :3, 1]
    heading = turn_about(up, found, true)
    turned_back = quaternion.rotate(quaternion.from_rotation_vector(heading * up), found)
    ahead = float((turned_back - true).norm(dim=-1).mean())
    away = abs(math.degrees(heading))
    return error, degrees, _swapped(character, found, true), away, ahead


def turn_about(up: Float[Tensor, "3"], found: Tensor, true: Tensor) -> float:
    """Radians about `up` by which `found` must be turned to come nearest to `true`."""
    level = [places - (places @ up)[..., None] * up for places in (found, true)]
    across = (torch.linalg.cross(*level) @ up).sum()
    return math.atan2(float(across), float((level[0] * level[1]).sum()))


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


def rows_in(path: Path) -> dict[str, Row]:
    """Rows by their key."""
    return {row["key"]: Row(**row) for row in read_rows(path)}


def warm_up(device: str) -> None:
    """Load kernels and libraries, so that the first fit is no slower than the others."""
    spec = specs(1, training=True)[0]
    run(Job(TRUE, "one view", spec, 4, 48, device, SMOKE))


def main() -> None:
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
    parser.add_argument("--every", type=int, default=3, help="clips for one of the later parts")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="no fit is begun after this time"
    )
    parser.add_argument("--rows", type=Path, help="a line for each fit; goes on from what is there")
    parser.add_argument("--images", type=Path, help="folder for frames of each video and its fit")
    parser.add_argument("--sheet", type=Path, help="image of the best and worst fits of --images")
    parser.add_argument("--timing", action="store_true", help="say how long the fits took")
    parser.add_argument("--report-only", action="store_true", help="tables of the rows that exist")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.sheet is not None and arguments.images is None:
        parser.error("--sheet needs --images")
    if arguments.smoke:
        arguments.clips, arguments.frames, arguments.size = 1, 8, 64
    jobs = jobs_of(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.rows or Path(folder) / "rows.jsonl"
        done = rows_in(path)
        left = [] if arguments.report_only else [job for job in jobs if job.key not in done]
        waiting = batches_of(left, arguments.processes)
        until = time.time() + 60.0 * arguments.minutes
        work = partial(run_batch, rows=path, images=arguments.images, until=until)
        if arguments.processes > 1:
            warm_up(arguments.device)  # kernels are compiled once, not by every process
            context = multiprocessing.get_context("spawn")
            count = min(arguments.processes, max(1, len(waiting)))
            with context.Pool(count, warm_up, (arguments.device,)) as pool:
                for _ in pool.imap_unordered(work, waiting):
                    pass
        else:
            for batch in waiting:
                work(batch)
        done = rows_in(path)
    shown = [done[job.key] for job in jobs if job.key in done]
    text = tables(
        shown,
        f"{arguments.clips} clips of the {arguments.side} side, {arguments.frames} frames of "
        f"{arguments.size} x {arguments.size}, {arguments.device}.",
        timing=arguments.timing,
    )
    print(text)
    if arguments.sheet is not None:
        own = [row for row in shown if row.part == TRUE]
        write_best_and_worst(own, arguments.images, arguments.sheet)
    if arguments.out is not None:
        write_report(arguments.out, text)


if __name__ == "__main__":
    main()
