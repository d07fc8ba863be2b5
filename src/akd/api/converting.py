"""`convert`: a file in another format, chosen by the target's suffix."""

from __future__ import annotations

import tempfile
from pathlib import Path

from akd.api.clips import check_fps, find_motion
from akd.api.filming import film
from akd.api.loading import load
from akd.asset.asset import Asset, AssetError
from akd.asset.gltf.encode import encode
from akd.asset.read import read_asset
from akd.export.bvh import write_bvh
from akd.export.clip_files import body_joints
from akd.export.gltf.write import write_glb, write_gltf
from akd.motion.grid import find_fps, on_grid
from akd.rig.character import load_character
from akd.rig.up_axis import find_up_axis

WHOLE = (".glb", ".vrm", ".gltf", ".fbx")
"""Formats that hold everything in a file."""
FILMS = (".mp4", ".gif", ".webp")
ONE_CLIP = (".bvh", ".usda", ".npz", ".csv", ".ply", *FILMS)
"""Formats that hold one clip."""


def convert(
    source: str | Path,
    target: str | Path,
    *,
    clip: str | None = None,
    fps: float | None = None,
    view: str = "three-quarter",
    turn: float = 0.0,
    size: tuple[int, int] = (640, 360),
    splats: int = 20_000,
) -> list[Path]:
    """Write a file in the format that the target's suffix names.

    Args:
        source: Any file that `load` reads.
        target: `.glb`, `.vrm`, `.gltf` and `.fbx` hold the whole file, `.bvh`, `.usda`, `.npz`
            (AMASS), `.csv` (MuJoCo's qpos, with the body as `.xml` beside it), `.ply` (a Gaussian
            cloud per frame, numbered), `.mp4`, `.gif` and `.webp` one clip.
        clip: Which clip, where the file has several.
        fps: Frames per second; by default the rate of the clip's keys.
        view: For films: side, three-quarter or front.
        turn: For films: degrees by which the camera orbits the character.
        size: For films: width and height, pixels.
        splats: For films and `.ply`: Gaussians on the surface.

    Returns:
        The files that were written.

    Raises:
        AssetError: The source cannot be read, or lacks what the target needs.
        ValueError: There is no such clip, view or format, or an argument is out of range.
        OSError: The target cannot be written, or needs Blender.
    """
    check_fps(fps)
    source, target = Path(source), Path(target)
    suffix = target.suffix.lower()
    if suffix in WHOLE:
        return _convert_whole(read_asset(source), target, fps)
    if suffix not in ONE_CLIP:
        known = ", ".join((*WHOLE, *ONE_CLIP))
        raise ValueError(f"target must end in one of {known}; got {target.name!r}")
    character = load(source)
    motion = find_motion(character, clip)
    if suffix in FILMS:
        video = film(
            character, motion, view=view, turn=turn, size=size, fps=fps or 24.0, splats=splats
        )
        return [video.write(target)]
    rate = fps or find_fps(motion)
    motion = on_grid(motion, rate)
    match suffix:
        case ".bvh":
            write_bvh(
                motion, target, joints=body_joints(character), fps=rate,
                scale=character.units.units_per_metre,
            )  # fmt: skip
        case ".usda":
            from akd.export.usd import write_usd

            write_usd(character, motion, target, fps=rate)
        case ".npz":
            from akd.export.amass import write_amass

            write_amass(character, motion, target, fps=rate)
        case ".csv":
            from akd.export.qpos import write_qpos

            return write_qpos(character, motion, target, fps=rate)
        case _:
            from akd.export.splat_frames import write_splat_frames

            return write_splat_frames(character, motion, target, fps=rate, splats=splats)
    return [target]


def _convert_whole(asset: Asset, target: Path, fps: float | None) -> list[Path]:
    """The file's document, or a new one of what is in it, in metres and Y up where it is new."""
    if asset.splats is not None and not asset.meshes:
        raise AssetError(f"{asset.path}: is a cloud of Gaussians, which glTF and FBX cannot hold")
    document = asset.document or encode(asset)
    match target.suffix.lower():
        case ".fbx":
            from akd.export.fbx import write_fbx

            with tempfile.TemporaryDirectory() as folder:
                glb = Path(folder) / f"{target.stem}.glb"
                write_glb(document, glb)
                write_fbx(glb, target, fps=fps or _frame_rate(asset))
        case ".gltf":
            write_gltf(document, target)
            binary = target.with_suffix(".bin")
            return [target, binary] if binary.exists() else [target]
        case _:
            write_glb(document, target)
    return [target]


def _frame_rate(asset: Asset) -> float:
    if not asset.clips:
        return 30.0
    character = load_character(asset, up=find_up_axis(asset))
    return max(find_fps(find_motion(character, clip.name)) for clip in asset.clips)
