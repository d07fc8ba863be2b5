"""`akd pose`: the plausible poses of a character, and the model that knows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from akd.commands.engines import EngineName, job_resources, open_engine
from akd.commands.errors import SEEDS, UsageError, check_ranges, input_file
from akd.commands.options import load_file

if TYPE_CHECKING:
    from torch import Tensor

    from akd.posespace.dataset import BodyPoses
    from akd.posespace.space import PoseSpace
    from akd.rig.character import Character

Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]
File = Annotated[Path, tyro.conf.Positional]


@dataclass(frozen=True)
class PoseCollect:
    """Collect true poses from clips of artists, motion capture and the zoo into one file.

    Example: akd pose collect --zoo 40 -o out/poses.safetensors
    """

    out: Out = Path("out/poses.safetensors")
    assets: Path | None = None
    """Folder of rigged characters with clips, split by splits.toml and MANIFEST.tsv."""
    mocap: Path | None = None
    """Folder of BVH files with the sides of an ACTIONS.tsv."""
    zoo: int = 0
    """Creatures of the zoo."""
    side: Literal["training", "measuring"] = "training"

    def run(self) -> None:
        """Collect and write."""
        from akd.posespace.dataset import join_poses, save_poses

        for name, folder in (("assets", self.assets), ("mocap", self.mocap)):
            if folder is not None and not folder.is_dir():
                raise UsageError(f"--{name} {folder}: is not a folder")
        parts = []
        for part in self._found():
            parts.append(part)
            count = sum(len(states) for _, states, _ in part.clips)
            print(f"{part.record.source}  {part.record.name}: {count} poses", flush=True)
        if not parts:
            raise UsageError("no poses were found: give --assets, --mocap or --zoo")
        poses = join_poses(parts)
        save_poses(poses, self.out)
        print(f"{self.out}: {len(poses)} poses of {len(parts)} bodies")

    def _found(self) -> Iterator[BodyPoses]:
        from akd.posespace.collect import collect_assets, collect_mocap

        training = self.side == "training"
        if self.assets is not None:
            yield from collect_assets(self.assets, training=training)
        if self.mocap is not None:
            yield from collect_mocap(self.mocap, training=training)
        if self.zoo:
            from akd.api.poses import collect_zoo

            yield from collect_zoo(self.zoo, training=training)


@dataclass(frozen=True)
class PoseHarvest:
    """Harvest poses from a video prior: sample videos, fit the joints to them, filter the poses.

    Writes one shard of poses and one table of provenance for each body and prompt. A body is a job:
    one that fails is tried three times and stops no other. Run again to continue.

    Example: akd pose harvest --zoo 84 --assets DIR -o out/harvest --engine ray --address auto
    """

    out: Out = Path("out/harvest")
    zoo: int = 0
    """Creatures of the zoo, training side."""
    assets: Path | None = None
    """Folder of rigged characters, of which those of the training side are taken."""
    actions: tuple[str, ...] = ()
    """What prompts say after the body's noun; by default a dozen gaits and actions."""
    prior: str = "tiny"
    videos: int = 32
    """Videos of each body and prompt, fitted in one batch."""
    iterations: int = 60
    """Of the fit."""
    minutes: float | None = None
    """Begin no further body after this time."""
    engine: EngineName = "local"
    """local: the cores and GPUs of this machine. ray: a Ray cluster. shell: print one command a
    body."""
    address: str | None = None
    """Of the Ray cluster; by default RAY_ADDRESS, or this machine alone."""
    only: str | None = None
    """Harvest one body, by the id of its job: what the commands of --engine shell do."""
    device: str = "auto"
    seed: int = 0

    def run(self) -> None:
        """Harvest body after body."""
        import time

        from akd.commands.batch_table import BatchTable
        from akd.engine.run import run_jobs
        from akd.harvest import ACTIONS, harvest_jobs
        from akd.prior.choose import check_prior
        from akd.prior.source import PriorSource

        check_ranges(self, seed=SEEDS)
        if self.videos < 1 or self.iterations < 1:
            raise UsageError("--videos and --iterations must be at least 1")
        if self.assets is not None and not self.assets.is_dir():
            raise UsageError(f"--assets {self.assets}: is not a folder")
        until = None if self.minutes is None else time.monotonic() + 60.0 * self.minutes
        with open_engine(self.engine, self.address, self._command) as engine:
            if self.engine == "local":
                try:
                    check_prior(PriorSource(self.prior), device=self.device)
                except ValueError as error:
                    raise UsageError(str(error)) from None
            jobs = [
                job
                for job in harvest_jobs(
                    zoo=self.zoo, assets=self.assets, actions=self.actions or ACTIONS,
                    prior=self.prior, videos=self.videos, iterations=self.iterations,
                    device=self.device, seed=self.seed,
                    resources=job_resources(self.prior, device=self.device, engine=engine),
                )
                if self.only in (None, job.id)
            ]  # fmt: skip
            if not jobs:
                raise UsageError("there are no bodies: give --zoo or --assets")
            with BatchTable(self.out, len(jobs)) as table:
                for event in run_jobs(jobs, self.out, engine, until=until):
                    table.show(event)
        if self.engine != "shell":
            print(f"{self.out}: {table.summary()}")

    def _command(self, key: str) -> list[str]:
        words = ["akd", "pose", "harvest", "-o", str(self.out.resolve()), "--only", key]
        if self.assets is not None:
            words += ["--assets", str(self.assets.resolve())]
        if self.actions:
            words += ["--actions", *self.actions]
        for name in ("zoo", "prior", "videos", "iterations", "device", "seed"):
            words += [f"--{name}", str(getattr(self, name))]
        return words


@dataclass(frozen=True)
class PoseTrain:
    """Train the pose model on poses of `akd pose collect` and `harvest`. Run again to go on.

    On several GPUs: accelerate launch --num_processes 8 -m akd pose train ...

    Example: akd pose train out/poses.safetensors -o out/pose-model
    """

    poses: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Files, or folders of shards."""
    out: Out = Path("out/pose-model")
    """Folder for pose.safetensors, the state to resume from, and training.json."""
    minutes: float = 8.0
    steps: int | None = None
    """Stop after so many steps, if that is sooner."""
    device: str = "auto"
    seed: int = 0

    def run(self) -> None:
        """Train."""
        from akd.posespace.train import train
        from akd.prior.choose import choose_device

        if not self.minutes > 0:
            raise UsageError(f"--minutes must be above zero, got {self.minutes:g}")
        check_ranges(self, steps=(1, 100_000_000), seed=SEEDS)
        for path in self.poses:
            if not path.is_dir():
                input_file(path)
        try:
            train(
                self.poses, self.out, minutes=self.minutes, steps=self.steps,
                device=choose_device(self.device), seed=self.seed,
            )  # fmt: skip
        except ValueError as error:
            raise UsageError(str(error)) from None


@dataclass(frozen=True)
class PoseSample:
    """Sample plausible poses: a GLB with a clip of one frame each, and a sheet.

    Example: akd pose sample fox.glb -o out/poses
    """

    file: File
    out: Out = Path("out/poses")
    count: int = 8
    seed: int = 0
    weights: Path | None = None
    """A pose model of `akd pose train`."""

    def run(self) -> None:
        """Sample, write, and print how plausible each pose is."""
        check_ranges(self, count=(1, 10_000), seed=SEEDS)
        character, space = _space(self.file, self.weights)
        states = space.sample(self.count, seed=self.seed)
        _write(character, space, states, self.out, name="sample", apart=True)


@dataclass(frozen=True)
class PoseScore:
    """Score the poses of a clip and name the worst joints. Lower is more plausible.

    Example: akd pose score fox.glb --clip Walk
    """

    file: File
    clip: str | None = None
    fps: float = 10.0
    weights: Path | None = None

    def run(self) -> None:
        """Print a line for each pose."""
        character, space = _space(self.file, self.weights)
        _print_scores(space, _clip_states(character, space, self.clip, self.fps), self.fps)


@dataclass(frozen=True)
class PoseProject:
    """Replace every pose of a clip by a plausible one near it.

    Example: akd pose project fox.glb --clip Walk -o out/projected
    """

    file: File
    out: Out = Path("out/projected")
    clip: str | None = None
    level: float = 0.3
    """How far poses may go, 0 to 1."""
    weights: Path | None = None

    def run(self) -> None:
        """Project and write."""
        if not 0 < self.level < 1:
            raise UsageError(f"--level must be between 0 and 1, got {self.level:g}")
        character, space = _space(self.file, self.weights)
        states = _clip_states(character, space, self.clip, 24.0)
        _write(
            character, space, space.project(states, level=self.level), self.out, name="projected"
        )


@dataclass(frozen=True)
class PoseInterpolate:
    """Interpolate between two poses of a file along plausible ones.

    Example: akd pose interpolate fox.glb Walk@0 Walk@0.5 -o out/between
    """

    file: File
    first: Annotated[str, tyro.conf.Positional]
    """CLIP@SECONDS."""
    last: Annotated[str, tyro.conf.Positional]
    out: Out = Path("out/interpolated")
    count: int = 24
    weights: Path | None = None

    def run(self) -> None:
        """Interpolate, and write the clip beside interpolation in joint space."""
        import torch

        check_ranges(self, count=(2, 10_000))
        character, space = _space(self.file, self.weights)
        a, b = (_pose_at(character, space, text) for text in (self.first, self.last))
        states = space.interpolate(a, b, self.count)
        straight = torch.lerp(a, b, torch.linspace(0.0, 1.0, self.count)[:, None, None])
        _write(character, space, states, self.out, name="interpolated")
        _write(character, space, straight, self.out / "joint-space", name="joint space")


@dataclass(frozen=True)
class PoseIk:
    """Find plausible poses whose joints are where you put them.

    Example: akd pose ik fox.glb --handle "left fore foot=0.1,0.4,0.3" -o out/ik
    """

    file: File
    handle: tuple[str, ...] = ()
    """JOINT=x,y,z in metres; by name or role. May be given several times."""
    look: tuple[str, ...] = ()
    """JOINT=x,y,z: a point that the joint's front should face."""
    pin: tuple[str, ...] = ()
    """Joints that keep their place."""
    pose: str | None = None
    """CLIP@SECONDS to start from; the neutral pose if left out."""
    count: int = 1
    seed: int = 0
    out: Out = Path("out/ik")
    weights: Path | None = None

    def run(self) -> None:
        """Solve, write, and print how near the handles are."""
        check_ranges(self, count=(1, 10_000), seed=SEEDS)
        character, space = _space(self.file, self.weights)
        start = None if self.pose is None else _pose_at(character, space, self.pose)
        try:
            found = space.ik(
                dict(map(_target, self.handle)), look=dict(map(_target, self.look)), pin=self.pin,
                start=start, count=self.count, seed=self.seed,
            )  # fmt: skip
        except ValueError as error:
            raise UsageError(str(error)) from None
        for number, residual in enumerate(found.residual.tolist(), start=1):
            share = 100.0 * residual / character.height
            print(f"answer {number}: handles within {residual:.4f} m, {share:.2f} % of height")
        _write(character, space, found.states, self.out, name="ik", apart=True)


@dataclass(frozen=True)
class Pose:
    """The plausible poses of a character.

    Example: akd pose sample fox.glb -o out/poses
    """

    do: (
        Annotated[PoseSample, tyro.conf.subcommand("sample")]
        | Annotated[PoseScore, tyro.conf.subcommand("score")]
        | Annotated[PoseProject, tyro.conf.subcommand("project")]
        | Annotated[PoseInterpolate, tyro.conf.subcommand("interpolate")]
        | Annotated[PoseIk, tyro.conf.subcommand("ik")]
        | Annotated[PoseCollect, tyro.conf.subcommand("collect")]
        | Annotated[PoseHarvest, tyro.conf.subcommand("harvest")]
        | Annotated[PoseTrain, tyro.conf.subcommand("train")]
    )

    def run(self) -> None:
        """Run the command within the command."""
        self.do.run()


def _space(file: Path, weights: Path | None) -> tuple[Character, PoseSpace]:
    from akd.posespace.space import PoseSpace

    character = load_file(file)
    if len(character.control_rig) < 1:
        raise UsageError(f"{file}: has no joints to pose; `akd rig` makes a skeleton")
    try:
        return character, PoseSpace.of(character, weights)
    except (FileNotFoundError, ValueError) as error:
        raise UsageError(str(error)) from None


def _clip_states(character: Character, space: PoseSpace, clip: str | None, fps: float) -> Tensor:
    from akd.api.clips import find_motion

    if not fps > 0:
        raise UsageError(f"--fps must be above zero, got {fps:g}")
    try:
        motion = find_motion(character, clip).resample(fps)
    except ValueError as error:
        raise UsageError(str(error)) from None
    states = space.codec.encode(space.codec.rig.from_pose(motion.pose))
    if not bool(states.isfinite().all()):
        raise UsageError(f"{character.asset.path}: the clip holds numbers that are not finite")
    return states


def _pose_at(character: Character, space: PoseSpace, text: str) -> Tensor:
    """The pose that CLIP@SECONDS names."""
    clip, mark, seconds = text.rpartition("@")
    try:
        frame = round(100.0 * float(seconds)) if mark else 0
    except ValueError:
        raise UsageError(f"a pose must be CLIP@SECONDS, got {text!r}") from None
    states = _clip_states(character, space, clip if mark else text, 100.0)
    if not 0 <= frame < len(states):
        raise UsageError(f"{text!r}: the clip is {len(states) / 100.0:.2f} s long")
    return states[frame]


def _target(text: str) -> tuple[str, tuple[float, ...]]:
    joint, mark, numbers = text.rpartition("=")
    try:
        point = tuple(float(x) for x in numbers.split(","))
    except ValueError:
        point = ()
    if not mark or len(point) != 3:
        raise UsageError(f"--handle and --look must be JOINT=x,y,z, got {text!r}")
    return joint, point


def _print_scores(space: PoseSpace, states: Tensor, fps: float | None) -> None:
    found = space.score(states)
    names = ("pelvis", *(str(role) for role in space.codec.rig.roles))
    for frame, pose in enumerate(found.poses.tolist()):
        worst = found.joints[frame].topk(min(3, len(names)))
        joints = ", ".join(
            f"{names[j]} {value:.2f}"
            for value, j in zip(worst.values.tolist(), worst.indices.tolist(), strict=True)
        )
        where = f"pose {frame + 1}" if fps is None else f"{frame / fps:6.2f} s"
        print(f"{where}  {pose:.3f}  worst: {joints}")


def _write(
    character: Character, space: PoseSpace, states: Tensor, out: Path, *, name: str,
    apart: bool = False,
) -> None:  # fmt: skip
    """`poses.glb`, with one clip or one for each pose, and `poses.png`."""
    from akd.export.character import write_motions
    from akd.scene.film import film_motion

    codec = space.codec
    whole = codec.motion(states, name=name)
    motions = [whole]
    if apart:
        motions = [
            codec.motion(state[None], name=f"{name} {k}") for k, state in enumerate(states, start=1)
        ]
        _print_scores(space, states, None)
    write_motions(character, motions, out / "poses.glb")
    print(out / "poses.glb")
    if character.mesh is not None:
        video = film_motion(character, whole, size=(240, 240), splats=6000)
        print(video.write_strip(out / "poses.png", count=min(8, len(states))))
