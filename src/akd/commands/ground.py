"""`akd ground`: any clip brought down to the ground by physics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from akd.commands.errors import UsageError, input_file

if TYPE_CHECKING:
    from akd.asset.asset import Asset
    from akd.motion.motion import Motion
    from akd.physics.ground import Grounded
    from akd.rig.character import Character


@dataclass(frozen=True)
class Ground:
    """Find the motion nearest to a clip that a body with servos in its joints can make on a floor.

    Writes the file with the clip added (or a BVH), torques and contact forces (physics.npz), the
    numbers before and after (physics.json), a page that shows all of it (report.html), and the
    simulated body as MJCF and USD.
    """

    file: tyro.conf.Positional[Path]
    """A glTF, GLB or BVH file with a clip."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder to write to."""
    clip: str | None = None
    """Which clip; needed where the file has several."""
    asset: Path | None = None
    """A rigged character whose joints have the same names: the clip is carried to it first."""
    height: float | None = None
    """Height of the character in metres, where the file's own is not to be believed: how fast a
    body can step depends on it."""
    up: str = "auto"
    """The file's axis that points up: x, y or z. glTF states y; for BVH, which states none, auto
    takes the axis along which the legs hang."""
    roles: Path | None = None
    """A TOML file that says what joints are, as `akd inspect` reads it."""
    iterations: int = 200
    """How long controls are searched for."""
    fps: float = 30.0
    """Frames a second of the result."""
    in_place: bool = False
    """Take the travel out of the result, for a clip that walked on the spot."""
    simulator: Literal["warp", "newton"] = "warp"
    """akd's own, or Newton's semi-implicit solver (needs akd[newton])."""
    samples: int = 0
    """Also simulate so many variations (friction, masses, pushes) and write samples.npz."""
    seed: int = 0
    """Of the variations."""

    def run(self) -> None:
        """Track, write, and say how it went."""
        if not 1 <= self.iterations <= 100_000:
            raise UsageError(f"--iterations must be from 1 to 100000, got {self.iterations}")
        if not 1 <= self.fps <= 240:
            raise UsageError(f"--fps must be from 1 to 240, got {self.fps:g}")
        if not 0 <= self.samples <= 1_000_000:
            raise UsageError(f"--samples must be from 0 to 1000000, got {self.samples}")
        from akd.commands.progress import Progress
        from akd.physics.ground import ground, take_travel_out
        from akd.physics.settings import TrackingSettings
        from akd.rig.control_build import build_control_rig

        character, motion = self._read()
        if character.anatomy.body.root < 0:
            raise UsageError(f"{self.file}: there is no body in it")
        rig = build_control_rig(character)
        self.out.mkdir(parents=True, exist_ok=True)
        settings = TrackingSettings(iterations=self.iterations)
        with Progress("physics") as progress:
            try:
                grounded = ground(
                    rig,
                    character.mesh,
                    motion,
                    fps=self.fps,
                    settings=settings,
                    make_simulator=self._simulator(),
                    progress=progress,
                )
            except (ValueError, FloatingPointError) as error:
                raise UsageError(f"{self.file}: {error}") from None
        made = grounded.motion
        if self.in_place:
            made = replace(made, pose=rig.to_pose(take_travel_out(grounded)))
        self._write(character, grounded, replace(made, name=f"{motion.name} (grounded)"))
        self._report(character, grounded, motion)
        before, after = grounded.before, grounded.after
        print(f"skate          {before.skate:.3f} -> {after.skate:.3f} body heights a second")
        print(f"contact        {before.contact:.2f} -> {after.contact:.2f} of the time")
        print(f"penetration    {before.deepest:.4f} -> {after.deepest:.4f} body heights at worst")
        print(f"tracking error {100 * grounded.tracking.error:.2f} % of body height")
        if grounded.tracking.failed:
            print("akd: warning: the simulation diverged; the last good result was kept")

    def _read(self) -> tuple[Character, Motion]:
        from akd.asset.read import read_asset
        from akd.commands.options import character_of
        from akd.motion.clip import motion_from_clip
        from akd.motion.retarget import retarget

        file = read_asset(input_file(self.file))
        up = self._up_axis(file)
        if self.asset is None:
            source = character_of(file, height=self.height, up=up, roles=self.roles)
        else:
            source = character_of(file, height=None, up=up)
        clips = {c.name: c for c in source.asset.clips}
        names = ", ".join(map(repr, clips))
        if not clips:
            raise UsageError(f"{self.file}: has no clip to ground")
        if self.clip is None and len(clips) > 1:
            raise UsageError(f"{self.file}: has several clips, choose one with --clip: {names}")
        name = self.clip if self.clip is not None else next(iter(clips))
        if name not in clips:
            raise UsageError(f"{self.file}: there is no clip {name!r}: it has {names}")
        motion = motion_from_clip(source, clips[name])
        if self.asset is None:
            return source, motion
        asset = read_asset(input_file(self.asset))
        target = character_of(asset, height=self.height, up="y", roles=self.roles)
        try:
            ratio = target.height / max(source.height, 1e-9)
            return target, retarget(motion, target.skeleton, scale=ratio)
        except ValueError as error:
            raise UsageError(f"{self.asset}: {error}") from None

    def _up_axis(self, file: Asset) -> str:
        """The axis asked for, or the one found, which is said where it is not the usual one."""
        if self.up != "auto":
            return self.up
        from akd.physics.up_axis import find_up_axis

        found = find_up_axis(file)
        if found != "y":
            print(
                f"{self.file.name}: its legs hang along -{found}, so {found} is up (--up y if not)"
            )
        return found

    def _simulator(self) -> type:
        if self.simulator == "newton":
            try:
                from akd.physics.newton_simulator import NewtonSimulator
            except ImportError as error:
                raise UsageError(f"--simulator newton needs akd[newton]: {error}") from None
            return NewtonSimulator
        from akd.physics.simulator import WarpSimulator

        return WarpSimulator

    def _write(self, character: Character, grounded: Grounded, motion: Motion) -> None:
        from akd.export.bvh import write_bvh
        from akd.export.character import write_motions
        from akd.export.mjcf import write_mjcf

        grounded.save(self.out)
        if character.asset.document is not None:
            write_motions(character, [motion], self.out / "motion.glb")
        else:
            write_bvh(motion, self.out / "motion.bvh", fps=self.fps)
        body, parameters = grounded.character.body, grounded.tracking.parameters
        write_mjcf(body, parameters, self.out / "body.xml")
        try:
            from akd.export.usd_body import write_usd_body

            write_usd_body(body, parameters, self.out / "body.usda")
        except ImportError:
            print("body.usda was not written: that needs akd[usd]")
        if self.samples:
            import torch

            from akd.physics.samples import simulate_samples

            generator = torch.Generator().manual_seed(self.seed)
            made = simulate_samples(body, grounded.tracking, self.samples, generator=generator)
            made.save(self.out / "samples.npz")

    def _report(self, character: Character, grounded: Grounded, motion: Motion) -> None:
        """The page, with filmed frames where there is a skin."""
        from akd.report.ground_page import write_ground_page

        body, tracking = grounded.character.body, grounded.tracking
        about = (
            f"{self.file.name}, clip {motion.name!r}",
            f"{len(body)} parts, {body.mass:.3g} kg, {body.height:.3g} m high; "
            f"{len(tracking.targets)} substeps of {1000 * tracking.parameters.step:.3g} ms, "
            f"{len(tracking.losses) - 1} iterations",
        )
        title = f"{motion.name or self.file.stem} (grounded)"
        pictures = self._film(character, {"clip": motion, "grounded": grounded.motion})
        write_ground_page(
            self.out / "report.html", grounded, title=title, about=about, pictures=pictures
        )

    def _film(self, character: Character, motions: dict[str, Motion]) -> dict[str, Path]:
        """Six frames of each motion side by side."""
        if character.mesh is None:
            return {}
        from akd.scene.film import film
        from akd.splat.surface import surface_splats

        cloud = surface_splats(character.mesh, 10_000)
        pictures = {}
        for name, motion in motions.items():
            bones = character.mesh.skin.bone_transforms(motion.resample(12.0).world())
            video = film(
                cloud, bones, fps=12.0, forward=character.forward, body_height=character.height,
                size=(320, 240),
            )  # fmt: skip
            pictures[name] = video.write_strip(self.out / f"{name}.png")
        return pictures
