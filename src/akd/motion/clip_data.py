"""`ClipData`: keys of an animation on the nodes of a file, ready to be written. Numpy only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Float32

from akd.asset.asset import TrackPath

_WIDTHS: dict[TrackPath, int | None] = {
    "translation": 3,
    "rotation": 4,
    "scale": 3,
    "weights": None,
}


@dataclass(frozen=True)
class Keys:
    """Values of one property over time, interpolated linearly (rotations spherically)."""

    values: Float[np.ndarray, "K C"]
    """C is 3 for translation and scale, 4 (wxyz) for rotation, else one weight a morph target."""
    times: Float32[np.ndarray, "K"] | None = None
    """Seconds, strictly increasing from zero or later. None: the times of the clip."""


@dataclass(frozen=True)
class NodeTracks:
    """Animated properties of one node. A property without keys stays as the file has it."""

    translation: Keys | None = None
    rotation: Keys | None = None
    scale: Keys | None = None
    weights: Keys | None = None

    def items(self) -> Iterator[tuple[TrackPath, Keys]]:
        """The properties that have keys, by name."""
        for path in _WIDTHS:
            keys = getattr(self, path)
            if keys is not None:
                yield path, keys


@dataclass(frozen=True)
class ClipData:
    """An animation in the units and axes of the file it belongs to.

    Raises `ValueError` where times do not increase, values are not finite, or shapes disagree.
    """

    name: str
    times: Float32[np.ndarray, "T"]
    """Seconds, strictly increasing from zero or later: when the keys are, unless they say."""
    tracks: Mapping[int, NodeTracks]
    """By index of the node in the file."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Where the clip came from, as JSON values: written to the clip's `extras`."""

    def __post_init__(self) -> None:
        _check_times(self.name, "times", self.times)
        for node, tracks in self.tracks.items():
            for path, keys in tracks.items():
                self._check_keys(f"node {node}, {path}", path, keys)

    def _check_keys(self, where: str, path: TrackPath, keys: Keys) -> None:
        if keys.times is not None:
            _check_times(self.name, f"{where}, times", keys.times)
        count = len(self.times if keys.times is None else keys.times)
        width = _WIDTHS[path]
        if len(keys.values) != count or keys.values.shape[1] != (width or keys.values.shape[1]):
            raise ValueError(
                f"clip {self.name!r}, {where}: values must have shape "
                f"[{count}, {width or 'M'}], got {list(keys.values.shape)}"
            )
        if not np.isfinite(keys.values).all():
            raise ValueError(f"clip {self.name!r}, {where}: values must be finite")


def _check_times(name: str, where: str, times: Float32[np.ndarray, "K"]) -> None:
    """Refuse what no player can play."""
    if len(times) == 0:
        raise ValueError(f"clip {name!r}, {where}: at least one key is needed")
    if not (np.isfinite(times).all() and times[0] >= 0 and (np.diff(times) > 0).all()):
        raise ValueError(
            f"clip {name!r}, {where}: must be finite and increase strictly from zero or later, "
            f"got {len(times)} from {times[0]:g} to {times[-1]:g}"
        )
