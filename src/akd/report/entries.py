"""Motions that `akd eval` compares: of folders that `akd animate` wrote, and clips of any file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from akd.asset.asset import ClipRecord
from akd.asset.gltf.fields import clean_text
from akd.asset.read import read_asset
from akd.base.files import read_json
from akd.distill.run_folder import RunFolder
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import find_clip, split_clip
from akd.motion.motion import Motion
from akd.rig.character import Character, load_character
from akd.rig.role_file import correct_roles, read_role_file
from akd.rig.units import UP_AXES


@dataclass(frozen=True)
class Entry:
    """One motion to be measured."""

    name: str
    """As tables show it."""
    method: str
    """The method that made it, as far as the paths tell."""
    prompt: str
    """The prompt; the clip's name where there is none."""
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
    split = [split_clip(text) for text in given]
    folders = [path.resolve().parent for path, _ in split]
    titles = _short_titles({path.resolve() for path, _ in split})
    entries: list[Entry] = []
    for (path, clip), folder in zip(split, folders, strict=True):
        title = titles[path.resolve()]
        method = folder.name if 1 < len(set(folders)) < len(given) else title
        entries += (
            _of_folder(path, title, method)
            if path.is_dir()
            else _of_file(path, clip, title, method)
        )
    names = [entry.name for entry in entries]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice}: is given twice")
    return entries


def _short_titles(paths: set[Path]) -> dict[Path, str]:
    """As many of the last parts of each path as tell it from the others."""
    titles = {}
    for path in paths:
        parts = next(
            path.parts[-count:]
            for count in range(1, len(path.parts) + 1)
            if sum(other.parts[-count:] == path.parts[-count:] for other in paths) == 1
        )
        titles[path] = Path(*parts).as_posix()
    return titles


@dataclass(frozen=True)
class Outcome:
    """Score and checks of a clip, as its run wrote them."""

    score: float
    """From 0 to 1."""
    fails: int
    """Checks that it fails."""


@dataclass(frozen=True)
class Run:
    """A finished run of `akd animate`, read from its folder."""

    prompt: str
    character: Character
    """As the run read it: with its height, up axis and roles."""
    clips: dict[str, ClipRecord]
    """Those that the run added to the file, in their order there: motion and, where there is one,
    grounded."""
    best: str
    """The one to use, as the run says: a grounded clip may be worse than the distilled one."""
    asset: str
    """Name of the file that was animated."""
    outcomes: dict[str, Outcome]
    """Outcomes of its clips, by their kind."""


def read_run(folder: Path) -> Run:
    """Read a finished run. Raises `ValueError` where the folder holds none."""
    try:
        about = read_json(folder / "metrics.json")
        prompt = clean_text(str(about["prompt"]))
    except (OSError, ValueError, KeyError, TypeError):
        preview = folder / "preview.glb"
        rest = f", only a preview: {preview}; `akd resume {folder}` continues to the result"
        raise ValueError(
            f"{folder}: holds no result of `akd animate` (metrics.json)"
            f"{rest if preview.is_file() else ''}"
        ) from None
    options = (RunFolder(folder).read() or {}).get("options", {})
    up, roles = options.get("up"), options.get("roles")
    # The name of the asset decides as well, and motion.glb has another one.
    height = about.get("height", options.get("height"))
    if not (
        isinstance(height, int | float | None)
        and up in (*UP_AXES, None)
        and isinstance(roles, str | None)
    ):
        raise ValueError(f"{folder}: a run must state a height, an up axis and a file of roles")
    character = _character(folder / "motion.glb", height=height, up=up or "y")
    if roles:
        character = correct_roles(character, read_role_file(Path(roles)))
    kinds = _kinds(about)
    clips = character.asset.clips[-len(kinds) :]
    if len(clips) < len(kinds):
        raise ValueError(f"{folder / 'motion.glb'}: must hold {len(kinds)} clips of this run")
    best = about.get("best")
    return Run(
        prompt, character, dict(zip(kinds, clips, strict=True)),
        best if best in kinds else (kinds or [""])[-1],
        clean_text(str(about.get("asset", ""))),
        {kind: found for kind in kinds if (found := _outcome(about[kind])) is not None},
    )  # fmt: skip


def _kinds(about: dict[str, Any]) -> list[str]:
    """Which clips a run added to the file, in their order there; earlier versions did not state
    it, and wrote the distilled one first."""
    kinds = [kind for kind in ("motion", "grounded") if kind in about]
    stated = about.get("clips")
    return (
        stated if isinstance(stated, list) and sorted(stated, key=str) == sorted(kinds) else kinds
    )


def _outcome(about: object) -> Outcome | None:
    """Score and failed checks of a clip, where the file has them as `akd animate` writes them."""
    if not isinstance(about, dict):
        return None
    score, fails = about.get("score"), about.get("fails")
    if not isinstance(score, int | float) or not isinstance(fails, list):
        return None
    return Outcome(float(score), len(fails))


def _of_folder(path: Path, title: str, method: str) -> list[Entry]:
    """The motion and the grounded one of a folder that `akd animate` wrote."""
    run, entries = read_run(path), []
    for kind, clip in run.clips.items():
        video = path / ("video.mp4" if kind == "motion" else "grounded.mp4")
        grounded = kind == "grounded"
        name = f"{title} grounded" if grounded else title
        entries.append(
            Entry(
                name, method, run.prompt, run.character, motion_from_clip(run.character, clip),
                video if video.exists() else None, grounded,
            )
        )  # fmt: skip
    return entries


def _of_file(path: Path, clip: str | None, title: str, method: str) -> list[Entry]:
    """A clip of a file, or all of them."""
    character = _character(path)
    clips = character.asset.clips
    if not clips:
        raise ValueError(f"{path}: has no clip to measure")
    if clip is not None:
        clips = [find_clip(character, clip)]
    shorts = {c.name: c.name.rpartition("|")[2] for c in character.asset.clips}
    if len({*shorts.values()}) < len(shorts) or not all(shorts.values()):
        shorts = {name: name for name in shorts}
    return [
        Entry(
            f"{title}:{shorts[c.name]}", method, c.name, character, motion_from_clip(character, c),
            None,
        )
        for c in clips
    ]  # fmt: skip


def _character(path: Path, *, height: float | None = None, up: str = "y") -> Character:
    character = load_character(read_asset(path), height=height, up=up)
    if character.anatomy.body.root < 0:
        raise ValueError(f"{path}: has no body")
    return character
