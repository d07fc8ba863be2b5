"""`PriorSource`: which video model, from where, and at what size. No torch here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


def user_path(name: str | Path) -> Path:
    """A path whose `~` is the user's home; `~` of an unknown user stays as it is."""
    return Path(os.path.expanduser(name))


def whole_name(name: str, *, folder: Path | None = None) -> str:
    """A folder of weights, relative to `folder` or else to where this process works, by its whole
    path; names of models stay."""
    path = (folder or Path()) / user_path(name)
    return str(path.resolve()) if name != "tiny" and path.is_dir() else name


@dataclass(frozen=True)
class PriorSource:
    """A video model that was asked for. What is left out is the model's own."""

    name: str | Path = "tiny"
    """`tiny`, a name of the catalogue, a hub id, or a folder."""
    weights: Path | None = None
    """Folder of weights instead of the bundled ones or the hub's copy."""
    frames: int | None = None
    height: int | None = None
    """Pixels."""
    width: int | None = None
    """Pixels."""
    fps: float | None = None
    """Frames a second."""
    download: bool = False
    """Fetch what is not on this machine; otherwise that is an error."""

    @property
    def has_own_size(self) -> bool:
        """Whether a size other than the model's was asked for."""
        return any(v is not None for v in (self.frames, self.height, self.width, self.fps))
