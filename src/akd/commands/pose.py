"""`akd pose`: the plausible poses of a character."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from akd.commands.errors import SEEDS, UsageError, check_ranges, usage_errors
from akd.commands.options import Clip, Device, PoseModel, Seed, load_file
from akd.commands.pose_data import PoseCollect, PoseHarvest, PoseTrain

if TYPE_CHECKING:
    from torch import Tensor

    from akd.posespace.keyframes import Keyframes
    from akd.posespace.space import PoseSpace
    from akd.prior.protocol import VideoPrior
    from akd.rig.character import Character
    from akd.rig.units import FileUnits

File = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(help="A rigged character.")]
Count = Annotated[int, tyro.conf.arg(help="Number of poses.")]
PoseOut = Annotated[Path, tyro.conf.arg(aliases=["-o"], help="Folder to write to.")]


@dataclass(frozen=True)
class PoseSample:
    """Sample plausible poses: a GLB with one clip of one frame per pose, and an image.

    Example: akd pose sample fox.glb -o out/poses
    """

    file: File
    out: PoseOut = Path("out/poses")
    count: Count = 8
    seed: Seed = 0
    weights: PoseModel = None

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
    clip: Clip = None
    fps: float = 10.0
    """Poses per second to score."""
    weights: PoseModel = None

    def run(self) -> None:
        """Print a line for each pose, and how many are implausible."""
        character, space = _space(self.file, self.weights)
        _print_scores(space, _clip_states(self, character, space, self.fps), self.fps)


@dataclass(frozen=True)
class PoseProject:
    """Replace every pose of a clip by a plausible one near it.

    Example: akd pose project fox.glb --clip Walk -o out/projected
    """

    file: File
    out: PoseOut = Path("out/projected")
    clip: Clip = None
    level: float = 0.3
    """How far poses may go, 0 to 1."""
    weights: PoseModel = None

    def run(self) -> None:
        """Project and write."""
        if not 0 < self.level < 1:
            raise UsageError(f"--level must be between 0 and 1, got {self.level:g}")
        character, space = _space(self.file, self.weights)
        states = _clip_states(self, character, space, 24.0)
        found = space.project(states, level=self.level)
        before, after = (int((space.score(poses).poses > 0.0).sum()) for poses in (states, found))
        print(f"{before} of {len(states)} poses were implausible, {after} are now")
        _write(character, space, found, self.out, name="projected")


@dataclass(frozen=True)
class PoseInterpolate:
    """Interpolate between two poses of a file through plausible poses.

    Example: akd pose interpolate fox.glb Walk@0 Walk@0.5 -o out/between
    """

    file: File
    first: Annotated[str, tyro.conf.Positional]
    """The first pose: CLIP@SECONDS."""
    last: Annotated[str, tyro.conf.Positional]
    """The last pose: CLIP@SECONDS."""
    out: PoseOut = Path("out/interpolated")
    count: Count = 24
    weights: PoseModel = None

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
    """Where a joint should be: JOINT=x,y,z in metres, the joint by name or role."""
    look: tuple[str, ...] = ()
    """JOINT=x,y,z: a point that the joint's front should face."""
    pin: tuple[str, ...] = ()
    """Joints that stay in place."""
    stand: bool = True
    """Keep feet that stand on the ground there, as far as handles and pins allow."""
    file_units: bool = False
    """Points are in the file's own units and axes instead of metres with Y up."""
    pose: str | None = None
    """CLIP@SECONDS to start from; the neutral pose if left out."""
    count: Count = 1
    seed: Seed = 0
    out: PoseOut = Path("out/ik")
    weights: PoseModel = None

    def run(self) -> None:
        """Solve, write, and print how near the handles are."""
        check_ranges(self, count=(1, 10_000), seed=SEEDS)
        character, space = _space(self.file, self.weights)
        start = None if self.pose is None else _pose_at(character, space, self.pose)
        units = character.units if self.file_units else None
        handles = dict(_target(text, units) for text in self.handle)
        look = dict(_target(text, units) for text in self.look)
        with usage_errors():
            found = space.ik(
                handles, look=look, pin=self.pin, stand=self.stand, start=start,
                count=self.count, seed=self.seed,
            )  # fmt: skip
        for joint, point in handles.items():
            was = space.place(joint, start)
            print(f"{joint}: from {_said(was, units)} to {_said(point, units)}")
        for number, residual in enumerate(found.residual.tolist(), start=1):
            share = 100.0 * residual / character.height
            print(f"answer {number}: handles within {residual:.4f} m, {share:.2f} % of height")
        _write(character, space, found.states, self.out, name="ik", apart=True)


@dataclass(frozen=True)
class PoseKeyframes:
    """Render poses along a path as mesh and skeleton, and let a video model start from them.

    Example: akd pose keyframes fox.glb Walk@0 Walk@0.4 -o out/keyframes
    """

    file: File
    poses: Annotated[tuple[str, ...], tyro.conf.Positional]
    """CLIP@SECONDS, two or more: the path goes through them in plausible poses."""
    out: PoseOut = Path("out/keyframes")
    count: int = 4
    """Keyframes on the path between two poses, those two included."""
    prior: str | None = None
    """A video model that takes an image: tiny, a name from `akd prior list`, or a folder."""
    prompt: str = ""
    """What the video should show."""
    size: tuple[int, int] = (720, 480)
    """Width and height, pixels; the prior's own where one is given."""
    steps: int = 40
    """Denoising steps of the prior."""
    seed: Seed = 0
    device: Device = "auto"
    weights: PoseModel = None

    def run(self) -> None:
        """Render and write; then sample videos."""
        import torch

        from akd.api.posing import keyframes
        from akd.motion.feet import leg_length
        from akd.posespace.keyframes import check_pixels
        from akd.prior.protocol import for_body

        check_ranges(self, count=(2, 1000), steps=(1, 10_000), seed=SEEDS)
        if len(self.poses) < 2:
            raise UsageError(f"poses must be at least two, got {len(self.poses)}")
        if not all(16 <= side <= 4096 for side in self.size):
            raise UsageError(f"--size must be 16 to 4096 pixels, got {self.size}")
        if bool(self.prior) != bool(self.prompt.strip()):
            raise UsageError("--prior and --prompt must be given together")
        character, space = _space(self.file, self.weights)
        if character.mesh is None:
            raise UsageError(f"{self.file}: has no mesh to show")
        prior = None if self.prior is None else self._prior(self.prior)
        count = (len(self.poses) - 1) * (self.count - 1) + 1
        with usage_errors():
            check_pixels(count, self.size if prior is None else (prior.width, prior.height))
        ends = [_pose_at(character, space, text) for text in self.poses]
        path = [ends[0][None]]
        for a, b in itertools.pairwise(ends):
            path.append(space.interpolate(a, b, self.count)[1:])
        states = torch.cat(path)
        frames = keyframes(character, space, states, prior=prior, size=self.size)
        for written in frames.write(self.out):
            print(written)
        _write(character, space, states, self.out, name="keyframes")
        if prior is not None:
            leg = leg_length(character, character.control_rig)
            self._film(for_body(prior, leg), frames)

    def _prior(self, name: str) -> VideoPrior:
        from akd.prior.choose import choose_prior
        from akd.prior.source import PriorSource

        with usage_errors():
            prior = choose_prior(PriorSource(name), device=self.device)
        if not prior.takes_reference_image:
            raise UsageError(f"--prior {name}: takes no image, only text")
        return prior

    def _film(self, prior: VideoPrior, frames: Keyframes) -> None:
        from akd.posespace.keyframes import keyframe_videos
        from akd.prior.choose import prompt_for

        with usage_errors():
            asked = prompt_for(self.prior or "", self.prompt)
            videos = keyframe_videos(prior, asked, frames, seed=self.seed, steps=self.steps)
            for number, video in enumerate(videos, start=1):
                print(video.write(self.out / f"video_{number:02}.mp4"), flush=True)


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
        | Annotated[PoseKeyframes, tyro.conf.subcommand("keyframes")]
        | Annotated[PoseCollect, tyro.conf.subcommand("collect")]
        | Annotated[PoseHarvest, tyro.conf.subcommand("harvest")]
        | Annotated[PoseTrain, tyro.conf.subcommand("train")]
    )

    def run(self) -> None:
        """Run the command within the command."""
        self.do.run()


def _space(file: Path, weights: Path | None) -> tuple[Character, PoseSpace]:
    from akd.api.posing import poses
    from akd.asset.asset import AssetError

    character = load_file(file)
    with usage_errors(AssetError, FileNotFoundError, ValueError):
        return character, poses(character, weights=weights)


def _clip_states(
    command: PoseScore | PoseProject, character: Character, space: PoseSpace, fps: float
) -> Tensor:
    from akd.api.posing import clip_states

    with usage_errors(command=command):
        return clip_states(character, space, command.clip, fps=fps)


def _pose_at(character: Character, space: PoseSpace, text: str) -> Tensor:
    from akd.api.posing import pose_at

    with usage_errors():
        return pose_at(character, space, text)


def _target(text: str, units: FileUnits | None) -> tuple[str, tuple[float, ...]]:
    """Joint and point, metres."""
    from torch import tensor

    joint, mark, numbers = text.rpartition("=")
    try:
        point = tuple(float(x) for x in numbers.split(","))
    except ValueError:
        point = ()
    if not mark or len(point) != 3:
        raise UsageError(f"--handle and --look must be JOINT=x,y,z, got {text!r}")
    return joint, point if units is None else tuple(units.points_in(tensor(point)).tolist())


def _said(point: tuple[float, ...], units: FileUnits | None) -> str:
    """A point as `--handle` takes it."""
    from torch import tensor

    shown = point if units is None else units.points_out(tensor(point)).tolist()
    return ",".join(f"{x:.3g}" for x in shown)


def _print_scores(space: PoseSpace, states: Tensor, fps: float | None) -> None:
    found = space.score(states)
    names = ("pelvis", *(str(role) for role in space.codec.rig.roles))
    print("log-odds that a pose is implausible (below 0: plausible), and its worst joints")

    def where(frame: int) -> str:
        return f"pose {frame + 1}" if fps is None else f"{frame / fps:.2f} s"

    for frame, pose in enumerate(found.poses.tolist()):
        worst = found.joints[frame].topk(min(3, len(names)))
        joints = ", ".join(
            f"{names[j]} {value:.1f}"
            for value, j in zip(worst.values.tolist(), worst.indices.tolist(), strict=True)
        )
        print(f"{where(frame):>7} {pose:6.1f}  {joints}")
    wrong, worst = int((found.poses > 0.0).sum()), int(found.poses.argmax())
    if len(states) > 1:
        print(f"{wrong} of {len(states)} poses are implausible; the worst: {where(worst)}")


def _write(
    character: Character, space: PoseSpace, states: Tensor, out: Path, *, name: str,
    apart: bool = False,
) -> None:  # fmt: skip
    """Write the poses; print how plausible each one is, where they are apart."""
    from akd.api.posing import save_poses

    if apart:
        _print_scores(space, states, None)
    for path in save_poses(character, space, states, out, name=name, apart=apart):
        print(path)
