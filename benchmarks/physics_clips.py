"""What grounding does to walks and runs, in numbers: before and after.

    python -m benchmarks.physics_clips --assets FOLDER        clips of real files
    python -m benchmarks.physics_clips --assets FOLDER --cycles    seams of artists' cycles
    python -m benchmarks.physics_clips --assets FOLDER --captured  two seconds each of three more
    python -m benchmarks.physics_clips --zoo fox man ...      walks of the zoo, spoiled on purpose
    python -m benchmarks.physics_clips --zoo all

Skate is in body heights a second; penetration, float and error in % of body height; assist is the
work of the root assist torque in % of the joints'. "Up" says whether the body stays up.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.export.mjcf import file_order, mjcf_text, zup_from_yup
from akd.export.replay import replay
from akd.math import quaternion
from akd.motion.actions import action_label
from akd.motion.clip import motion_from_clip
from akd.physics.assess import GroundContact, assess
from akd.physics.bodies import build_body
from akd.physics.body import Body, place
from akd.physics.ground import Grounded, ground, tracking_arrays
from akd.physics.planting import plant_result
from akd.physics.target import TargetMotion, stand_on_ground
from akd.physics.tracking import Tracking, track
from akd.rig.character import load_character
from akd.rig.control_build import build_control_rig
from akd.rig.up_axis import find_up_axis
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import perform
from akd.zoo.species.catalogue import SPECIES
from benchmarks.seam import measure_seam, sideways

CYCLES = (
    ("khronos/Fox/glTF-Binary/Fox.glb", "Walk"),
    ("khronos/Fox/glTF-Binary/Fox.glb", "Run"),
    ("khronos/CesiumMan/glTF-Binary/CesiumMan.glb", ""),
    ("quaternius/animals_pack/Cow.glb", "Walk"),
    ("quaternius/animals_pack/Cow.glb", "Gallop"),
    ("quaternius/animals_pack/Alpaca.glb", "Walk"),
    ("quaternius/animals_pack/Deer.glb", "Gallop"),
    ("quaternius/animals_pack/Wolf.glb", "Walk"),
    ("quaternius/animals_pack/Wolf.glb", "Gallop"),
    ("quaternius/dinosaurs_pack/Trex.glb", "Walk"),
    ("quaternius/dinosaurs_pack/Triceratops.glb", "Walk"),
    ("threejs/RobotExpressive/RobotExpressive.glb", "Walking"),
    ("threejs/RobotExpressive/RobotExpressive.glb", "Running"),
    ("godot/player.glb", "walk"),
)
"""File and clip: walks and runs of artists, one cycle each. Cow, Alpaca, Deer and the dinosaurs are
of the training side."""
CLIPS = (
    ("khronos/Fox/glTF-Binary/Fox.glb", "Walk"),
    ("khronos/Fox/glTF-Binary/Fox.glb", "Run"),
    ("khronos/CesiumMan/glTF-Binary/CesiumMan.glb", ""),
    ("quaternius/animals_pack/Cow.glb", "Walk"),
    ("quaternius/animals_pack/Wolf.glb", "Walk"),
    ("quaternius/animals_pack/Husky.glb", "Gallop"),
    ("quaternius/dinosaurs_pack/Trex.glb", "Walk"),
    ("quaternius/dinosaurs_pack/Triceratops.glb", "Walk"),
    ("quaternius/dinosaurs_pack/Apatosaurus.glb", "Walk"),
    ("threejs/RobotExpressive/RobotExpressive.glb", "Walking"),
    ("godot/player.glb", "walk"),
    ("kenney/character.glb", "walk"),
    ("cmu_bvh/02_01.bvh", ""),
    ("cmu_bvh/104_48.bvh", ""),
    ("makehuman/bvh/walk1.bvh", ""),
)
CAPTURED = (
    ("cmu_bvh/07_12.bvh", ""),
    ("cmu_bvh/36_01.bvh", ""),
    ("cmu_bvh/16_17.bvh", ""),
)
"""More motion capture, of which two seconds are replayed in MuJoCo."""
MOST_SECONDS = 4.0
FPS = 30.0


def cells(b: GroundContact, a: GroundContact, made: Tracking) -> str:
    """The columns of one row, of contact before and after."""
    up = torch.tensor((0.0, 1.0, 0.0), dtype=torch.float64)
    rotations = made.states.rotation, made.given.rotation
    tilt = torch.stack([quaternion.rotate(r, up) for r in rotations]).prod(0).sum(-1)
    work = made.forces.assist_work / made.forces.joint_work
    return (
        f"{b.skate:.2f} > {a.skate:.3f} | {b.contact:.2f} > {a.contact:.2f} "
        f"| {100 * b.penetration:.2f} > {100 * a.penetration:.2f} "
        f"| {100 * b.float_:.2f} > {100 * a.float_:.2f} | {100 * made.error:.2f} "
        f"| {100 * float(work):.1f} | {'yes' if bool((tilt > 0.7).all()) else 'no'} |"
    )


HEAD = "skate | contact | penetration, % | float, % | error, % | assist, % | up |"
RULE = "--- | --- | --- | --- | --- | --- | --- |"


def seam_cells(result: Grounded) -> str:
    """Seam of the grounded cycle, and its drift off the clip's course."""
    if result.cycle_gap is None:
        return " no cycle | | | | | |"
    rig, body = result.character.rig, result.character.body
    given = rig.to_pose(result.character.control_pose(result.clip, result.controls))
    clip, seam = (
        measure_seam(rig, motion, height=body.height)
        for motion in (replace(result.motion, pose=given), result.motion)
    )
    course = (result.clip.position[-1] - result.clip.position[0]) * torch.tensor((1.0, 0.0, 1.0))
    drift = 100 * sideways(rig, result.motion, course, height=body.height)
    seams = " | ".join(
        f"{getattr(clip, name):.2f} > {getattr(seam, name):.2f}"
        for name in ("jump", "step", "inside", "kink")
    )
    return f" {seams} | {100 * result.cycle_gap:.2f} | {drift:.3f} |"


def replay_seconds(result: Grounded) -> float | None:
    """How long MuJoCo follows the clip within 5 % of body height, played the joint targets."""
    try:
        mujoco: Any = import_module("mujoco")
    except ImportError:
        return None
    body, made = result.character.body, result.tracking
    start = made.rollout[0], made.targets[0]
    model = mujoco.MjModel.from_xml_string(mjcf_text(body, made.parameters, clip=start))
    data = mujoco.MjData(model)
    wanted = zup_from_yup(place(body, made.rollout).origins)[1:, file_order(body)].numpy()
    steps = replay(model, data, tracking_arrays(body, made))
    for k, (_, there) in enumerate(zip(steps, wanted, strict=True)):
        mujoco.mj_kinematics(model, data)
        if not np.linalg.norm(data.xpos[1:] - there, axis=-1).mean() < 0.05 * body.height:
            return k * model.opt.timestep
    return len(wanted) * model.opt.timestep


def ground_clips(
    assets: Path, clips: Sequence[tuple[str, str]], *, most: float, cycles: bool = False
) -> None:
    """Walks and runs of real files, `most` seconds of each."""
    extra = (
        (" jump | step | inside | kink | gap, % | drift, % |", " --- |" * 6) if cycles else ("", "")
    )
    print(f"| clip | {HEAD}{extra[0]}\n| --- | {RULE}{extra[1]}", flush=True)
    for path, wanted in clips:
        asset = read_asset(assets / path)
        character = load_character(asset, up=find_up_axis(asset))
        names = [clip.name for clip in character.asset.clips]
        chosen = next((n for n in names if n.split("|")[-1].split("_")[-1] == wanted), names[0])
        clip = next(c for c in character.asset.clips if c.name == chosen)
        motion = motion_from_clip(character, clip)
        if motion.duration > most:
            motion = motion.sample(motion.times[0] + torch.arange(0.0, most, 1 / 60))
        result = ground(
            build_control_rig(character), character.body_mesh, motion, fps=FPS,
            action=action_label(motion.name),
        )  # fmt: skip
        name = f"{Path(path).stem} {wanted}".strip()
        row = cells(result.before, result.after, result.tracking)
        print(f"| {name} | {row}{seam_cells(result) if cycles else ''}", flush=True)
        if (seconds := replay_seconds(result)) is not None:
            whole = len(result.tracking.targets) * result.tracking.parameters.step
            print(f"  MuJoCo follows {seconds:.2f} s of {whole:.2f} s", file=sys.stderr, flush=True)


def zoo_walk(name: str) -> tuple[Body, torch.Tensor, TargetMotion]:
    """Body, feet and walk of an archetype, read back from its file."""
    creature = build_creature(name)
    motion = perform(creature, "walk", fps=FPS).motion
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "creature.glb"
        write_creature(creature, [motion], path)
        character = load_character(read_asset(path))
    rig = build_control_rig(character)
    made = build_body(rig, character.body_mesh)
    clip = motion_from_clip(character, character.asset.clips[0]).resample(FPS)
    return made.body, made.feet, made.target_motion(rig.from_pose(clip.pose), FPS)


def spoiled(body: Body, clean: TargetMotion) -> dict[str, TargetMotion]:
    """The walk as it is, lifted, sunk, and with 60 % of its travel."""
    up = torch.tensor((0.0, 0.05 * body.height, 0.0), dtype=torch.float64)
    along = torch.linspace(0, 1, len(clean.position), dtype=torch.float64)[:, None]
    less = 0.4 * along * (clean.position[-1] - clean.position[0])
    return {
        "no": clean,
        "lifted 5 %": replace(clean, position=clean.position + up),
        "sunk 5 %": replace(clean, position=clean.position - up),
        "feet slowed to 60 %": replace(clean, position=clean.position - less),
    }


def ground_zoo(names: list[str]) -> None:
    """Walks of zoo creatures, clean and spoiled on purpose. A walk that is lifted or sunk is moved
    to the ground before anything else, which gives the clean one back: one run serves the three."""
    print(f"| creature | spoiled | {HEAD}\n| --- | --- | {RULE}", flush=True)
    for name in names:
        body, feet, clean = zoo_walk(name)
        runs: list[tuple[TargetMotion, Tracking]] = []
        for what, target in spoiled(body, clean).items():
            standing, _ = stand_on_ground(body, target)
            same = [made for r, made in runs if torch.allclose(r.position, standing.position)]
            made = same[0] if same else track(body, target, feet=feet)
            runs.append((standing, made))
            s = made.states
            simulated = TargetMotion(s.position, s.rotation, s.angles, target.fps)
            after = plant_result(body, feet, simulated, made.stance)
            row = cells(assess(body, feet, target), assess(body, feet, after), made)
            print(f"| {name} | {what} | {row}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--assets", type=Path, help="folder of real files: ground their clips")
    parser.add_argument("--cycles", action="store_true", help="one cycle each, with its seam")
    parser.add_argument("--captured", action="store_true", help="two seconds of motion capture")
    parser.add_argument("--only", default="", help="only clips whose path holds this")
    parser.add_argument("--zoo", nargs="+", help="species of the zoo, or all")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if options.assets is not None:
        clips = CYCLES if options.cycles else CAPTURED if options.captured else CLIPS
        chosen = [clip for clip in clips if options.only in clip[0]]
        most = 2.0 if options.captured else MOST_SECONDS
        ground_clips(options.assets, chosen, most=most, cycles=options.cycles)
    if options.zoo:
        ground_zoo(list(SPECIES) if options.zoo == ["all"] else options.zoo)


if __name__ == "__main__":
    main()
