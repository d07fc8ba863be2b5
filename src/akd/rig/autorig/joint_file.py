"""Joints placed by hand: a TOML or JSON file with a place for each, in the mesh file's own units.

left_fore_foot = [0.08, 0.15, 0.29]
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
from jaxtyping import Float

from akd.asset.asset import AssetError


def read_joint_file(path: Path) -> dict[str, Float[np.ndarray, "3"]]:
    """Places by the names of joints. Raises `AssetError` with one line where the file is wrong."""
    try:
        text = path.read_text("utf-8")
        given = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise AssetError(f"{path}: must be TOML or JSON: {error}") from None
    if not isinstance(given, dict):
        raise AssetError(f"{path}: must be a table of joints, got {type(given).__name__}")
    places: dict[str, np.ndarray] = {}
    for name, value in given.items():
        is_place = (
            isinstance(value, list)
            and len(value) == 3
            and all(isinstance(v, int | float) and not isinstance(v, bool) for v in value)
        )
        if not is_place or not np.isfinite(value).all():
            raise AssetError(f"{path}: {name!r} must be three numbers, [x, y, z], got {value!r}")
        places[name] = np.array(value, dtype=np.float64)
    return places
