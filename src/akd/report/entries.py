"""What `akd eval` compares: folders that `akd animate` wrote, and clips of any file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from akd.asset.read import read_asset
from akd.motion.clip import motion_from_clip
from akd.motion.motion import Motion
from akd.rig.character import Character, load_character


@dataclass(frozen=True)
class Entry:
    """One motion to be judged."""

    name: str
    """As tables show it."""
    method: str
    """Who made it, as far as the paths tell."""
    prompt: str
    """What it was to be; the clip's name where nobody said."""
    character: Character
    motion: Motion
    video: Path | None
    """A video of it, where there is one already."""
    is_grounded: bool = False

    @property
    def file_name(self) -> str:
        """The name as part of a file's."""
        return "".join(c if c.isalnum() or c in "-_." else "_" for c in self.name).strip("._")


def load_entries(given: list[str]) -> list[Entry]:
    """The motions of folders and files: `out/`, `fox.glb` (all its clips) or `fox.glb:Walk`."""
    paths = [Path(text) for text in given]
    parents = {p.resolve().parent for p in paths}
    entries: list[Entry] = []
    for text, path in zip(given, paths, strict=True):
        method = path.resolve().parent.name if 1 < len(parents) < len(paths) else text
        entries += _of_folder(path, method) if path.is_dir() else _of_file(text, method)
    names = [entry.name for entry in entries]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice}: is given twice")
    return entries


def _of_folder(path: Path, method: str) -> list[Entry]:
    """The motion and the grounded one of a folder that `akd animate` wrote."""
    try:
        about = json.loads((path / "metrics.json").read_text("utf-8"))
        prompt = str(about["prompt"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{path}: holds no result of `akd animate` (metrics.json)") from None
    kinds = [kind for kind in ("motion", "grounded") if kind in about]
    character, motions = _clips(path / "motion.glb")
    if len(motions) < len(kinds):
        raise ValueError(f"{path / 'motion.glb'}: must hold {len(kinds)} clips of this run")
    entries = []
    for kind, motion in zip(kinds, motions[-len(kinds) :], strict=True):
        video = path / ("video.mp4" if kind == "motion" else "grounded.mp4")
        grounded = kind == "grounded"
        name = f"{path} grounded" if grounded else str(path)
        entries.append(
            Entry(
                name, method, prompt, character, motion,
                video if video.exists() else None, grounded,
            )
        )  # fmt: skip
    return entries


def _of_file(text: str, method: str) -> list[Entry]:
    """A clip of a file, or all of them."""
    path, clip = Path(text), None
    if not path.exists() and ":" in text:
        before, _, clip = text.rpartition(":")
        path = Path(before)
    character, motions = _clips(path)
    if not motions:
        raise ValueError(f"{path}: has no clip to judge")
    if clip is not None and clip not in [m.name for m in motions]:
        names = ", ".join(repr(m.name) for m in motions)
        raise ValueError(f"{path}: there is no clip {clip!r}: it has {names}")
    return [
        Entry(f"{path}:{m.name}", method, m.name, character, m, None)
        for m in motions
        if clip is None or m.name == clip
    ]


def _clips(path: Path) -> tuple[Character, list[Motion]]:
    if path.is_dir():
        raise ValueError(f"{path}: is a folder, a file is needed")
    if not path.exists():
        raise ValueError(f"{path}: there is no such file")
    character = load_character(read_asset(path))
    if character.anatomy.body.root < 0:
        raise ValueError(f"{path}: there is no body in it")
    return character, [motion_from_clip(character, clip) for clip in character.asset.clips]
