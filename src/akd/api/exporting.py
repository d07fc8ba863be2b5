"""`export`: the clips of a file, or of a finished run, in other formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from akd.api.clips import check_fps
from akd.api.loading import loaded
from akd.asset.asset import AssetError, ClipRecord
from akd.export.clip_files import key_motions, write_clip_files
from akd.export.formats import CLIP_FORMATS, VIDEO_FORMATS, read_formats
from akd.export.settings import KeySettings, LoopFrame
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import find_clip
from akd.motion.grid import find_fps
from akd.motion.motion import MAX_VALUES, Motion
from akd.report.entries import read_run
from akd.rig.character import Character

_LONGEST_NAME = 100
"""Bytes of a file's name that are taken from the name of a clip, and of its file: systems take 255
in all."""


def export(
    source: Character | str | Path,
    formats: Sequence[str] = ("bvh",),
    out: str | Path | None = None,
    *,
    clip: str | None = None,
    fps: float | None = None,
    loop_frame: LoopFrame = "repeat",
    in_place: bool = False,
) -> list[Path]:
    """Write clips in other formats. FBX holds all of them in one file, other formats have a file
    for each.

    Args:
        source: What `load` returned, a file with clips, or a folder that `akd animate` wrote.
        formats: Out of bvh, usd, fbx, mp4, gif and webp.
        out: Folder to write to; by default the run's own, or the current one.
        clip: Only this clip: its name, or a part of it that no other has. Those of a run may also
            be called `motion` and `grounded`.
        fps: Frames per second; by default the rate of the clip's keys.
        loop_frame: As in `Animation.save`.
        in_place: Remove the root motion from the clips.

    Returns:
        The files that were written.

    Raises:
        AssetError: The file cannot be read, or has no mesh to film.
        ValueError: There is no such clip or format, a format needs what is not installed, the
            folder holds no result, or the clips are too long together.
    """
    formats = read_formats(",".join(formats), option="formats", known=CLIP_FORMATS)
    check_fps(fps)
    folder = None
    if not isinstance(source, Character) and Path(source).is_dir():
        folder = Path(source)
        character, clips = _run_clips(folder, clip)
    else:
        character, clips = _file_clips(loaded(source), clip)
    path = folder or character.asset.path
    if character.mesh is None and set(formats) & set(VIDEO_FORMATS):
        raise AssetError(f"{path}: has no mesh to film")
    try:
        motions = _motions(character, clips)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    rate = fps or max(map(find_fps, motions.values()))
    keys = KeySettings(rate, loop_frame=loop_frame)
    out = Path(out) if out is not None else folder or Path()
    out.mkdir(parents=True, exist_ok=True)
    if folder is not None:
        stem = "motion"
    else:
        stem = next(iter(motions)) if len(motions) == 1 else path.stem
    # By the same name: the first ones are not kept while files are written.
    motions = key_motions(character, motions, keys, stay=in_place)
    return write_clip_files(
        character, motions, out, formats=formats, keys=keys, stem=stem, alone=True
    )


def _motions(character: Character, clips: Mapping[str, ClipRecord]) -> dict[str, Motion]:
    """The clips as motions. Raises `ValueError` where all of them do not fit in memory."""
    motions, poses = {}, 0
    for name, clip in clips.items():
        motions[name] = motion = motion_from_clip(character, clip)
        poses += len(motion) * len(character.skeleton)
        if 10 * poses > MAX_VALUES:
            raise ValueError(
                f"{len(clips)} clips must have at most {MAX_VALUES // 10} poses of a joint in all, "
                f"the first {len(motions)} have {poses}: export them one by one"
            )
    return motions


def _run_clips(source: Path, clip: str | None) -> tuple[Character, dict[str, ClipRecord]]:
    """The chosen clips of a run, by the names of the files they go to: motion and grounded."""
    run = read_run(source)
    if clip is None:
        return run.character, run.clips
    if clip in run.clips:
        return run.character, {clip: run.clips[clip]}
    found = find_clip(run.character, clip, clips=list(run.clips.values()))
    return run.character, {kind: own for kind, own in run.clips.items() if own is found}


def _file_clips(character: Character, clip: str | None) -> tuple[Character, dict[str, ClipRecord]]:
    """The chosen clips of a file, by the names of the files they go to."""
    clips = character.asset.clips
    if clip is not None or not clips:
        clips = (find_clip(character, clip),)
    names = _file_names(character.asset.path.stem, [found.name for found in clips])
    return character, dict(zip(names, clips, strict=True))


def _file_names(file: str, clips: Sequence[str]) -> list[str]:
    """A file name for each clip, numbered where two would be the same on some file system."""
    names: dict[str, str] = {}
    for clip in clips:
        kept = "".join(c if c.isalnum() or c in "-_" else "_" for c in clip).strip("_")
        wanted = name = f"{_cut(file)}-{_cut(kept) or 'clip'}"
        number = 1
        while name.casefold() in names:
            number += 1
            name = f"{wanted}-{number}"
        names[name.casefold()] = name
    return list(names.values())


def _cut(name: str) -> str:
    """The start of a name, in whole letters: one may have several bytes."""
    return name.encode("utf-8", "replace")[:_LONGEST_NAME].decode("utf-8", "ignore")
