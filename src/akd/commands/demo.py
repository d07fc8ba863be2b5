"""`akd demo`: as much of the whole job as there is, on the built-in fox."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import tyro

from akd.commands.errors import UsageError


@dataclass(frozen=True)
class Demo:
    """Show what akd does, on the built-in fox: build it, read it as any user's file, take its walk
    through the control rig and the physics, write it back with a new clip, and film it.

    The step in the middle, making the motion from a sentence, is not in this version: the walk that
    is grounded and filmed here is the zoo's own gait.
    """

    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("out/demo")
    """Folder to write to."""
    iterations: int = 200
    """How long the physics searches for the controls."""
    rasterizer: Literal["warp", "gsplat"] = "warp"
    """akd's own, or gsplat where it is installed and there is a GPU."""

    def run(self) -> None:
        """Do it, saying what is being done."""
        import torch

        from akd.asset.read import read_asset
        from akd.commands.progress import Progress
        from akd.export.character import write_motions
        from akd.export.creature import write_creature
        from akd.motion.clip import motion_from_clip
        from akd.physics.ground import ground
        from akd.physics.settings import TrackingSettings
        from akd.rig.character import load_character
        from akd.rig.control_build import build_control_rig
        from akd.scene.film import film
        from akd.splat.surface import surface_splats
        from akd.zoo.clips import make_clip
        from akd.zoo.creature import build_creature

        if self.rasterizer == "gsplat" and not torch.cuda.is_available():
            raise UsageError("--rasterizer gsplat needs a CUDA device, and torch finds none here")
        started = time.monotonic()
        self.out.mkdir(parents=True, exist_ok=True)
        fox = build_creature("fox")
        write_creature(
            fox, [make_clip(fox, action) for action in fox.actions], self.out / "fox.glb"
        )
        print(
            f"fox.glb        a fox of {len(fox.mesh.vertices):,} vertices: {', '.join(fox.actions)}"
        )

        body = load_character(read_asset(self.out / "fox.glb"))
        rig = build_control_rig(body)
        print(f"control rig    {len(rig)} driven joints, {len(body.anatomy.legs)} legs")

        clip = next(c for c in body.asset.clips if c.name == "walk")
        walk = motion_from_clip(body, clip)
        settings = TrackingSettings(iterations=self.iterations)
        with Progress("physics") as progress:
            grounded = ground(rig, body.mesh, walk, settings=settings, progress=progress)
        made = replace(grounded.motion, name=f"{walk.name} (grounded)")
        grounded.save(self.out)
        write_motions(body, [made], self.out / "motion.glb")
        print(f"motion.glb     the same file with the clip {made.name!r} added")

        assert body.mesh is not None
        device = "cuda" if self.rasterizer == "gsplat" else "cpu"
        cloud = surface_splats(body.mesh, 20_000).to(device)
        for name, motion in (("video", walk), ("grounded", made)):
            frames = motion.resample(30.0)
            bones = body.mesh.skin.bone_transforms(frames.world()).to(device)
            video = film(
                cloud,
                bones,
                fps=30.0,
                forward=body.forward,
                body_height=body.height,
                rasterizer=self.rasterizer,
            )
            video.write_mp4(self.out / f"{name}.mp4")
            video.write_strip(self.out / f"{name}.png")
        print("video.mp4      the walk; grounded.mp4: after physics; .png: six frames of each")
        print(f"done in {time.monotonic() - started:.0f} s: see {self.out}")
