"""Which formats motions are written in besides GLB, and what each needs. No torch here."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence

from akd.base.blender import has_blender

FORMATS = ("glb", "bvh", "usd", "fbx")
VIDEO_FORMATS = ("mp4", "gif", "webp")
CLIP_FORMATS = (*FORMATS[1:], *VIDEO_FORMATS)
"""What `export` writes."""


def read_formats(text: str, *, option: str, known: Sequence[str] = FORMATS) -> tuple[str, ...]:
    """Formats from words with commas between them, in the order of `known`.

    Raises `ValueError` for one that is not known or that this machine lacks the means
    for: before any work is done.
    """
    wanted = [word.strip().lower() for word in text.split(",") if word.strip()]
    if not wanted or any(word not in known for word in wanted):
        raise ValueError(
            f"{option} takes formats out of {', '.join(known)}, separated by commas; got {text!r}"
        )
    if "usd" in wanted and importlib.util.find_spec("pxr") is None:
        raise ValueError(f"{option} usd needs akd[usd]: pip install 'akd[usd]'")
    if "fbx" in wanted and not has_blender():
        raise ValueError(
            f"{option} fbx is written by Blender: put `blender` on the PATH (blender.org) or its "
            f"path into AKD_BLENDER, or open the .glb in it and choose File > Export > FBX"
        )
    return tuple(name for name in known if name in wanted)


def files_of(formats: Iterable[str], motions: Iterable[str], *, stem: str = "motion") -> list[str]:
    """Names of the files that `motions` (such as motion and grounded) are written to.

    GLB and FBX hold all of them in one file, named `stem`; other formats have a file for each.
    """
    motions, names = list(motions), []
    for kind in formats:
        ending = "usda" if kind == "usd" else kind
        stems = [stem] if kind in ("glb", "fbx") else motions
        names += [f"{name}.{ending}" for name in stems]
    return names
