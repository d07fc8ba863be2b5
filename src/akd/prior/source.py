"""`PriorSource`: which video model, from where, and at what size. No torch here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


def user_path(name: str | Path) -> Path:
    """A path whose `~` is the user's home; `~` of an unknown user stays as it is."""
    return Path(os.path.expanduser(name))


def whole_name(name: str, *, folder: Path | None = None) -> str:
    """The absolute path of a folder of weights, which is relative to `folder` or the working
    directory; names of models stay as they are."""
    path = (folder or Path()) / user_path(name)
    return str(path.resolve()) if name != "tiny" and path.is_dir() else name


@dataclass(frozen=True)
class PriorSource:
    """A video model by name. Sizes that are left out are the model's own."""

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
