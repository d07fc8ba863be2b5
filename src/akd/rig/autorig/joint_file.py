"""Joints placed by hand: a TOML or JSON file with a place for each, in the mesh file's own units.

left_fore_foot = [0.08, 0.15, 0.29]
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from jaxtyping import Float

from akd.asset.asset import AssetError
from akd.asset.gltf.fields import shown
from akd.asset.surface import naming_file, read_bytes
from akd.base.files import parse_toml

_FARTHEST = 1e12


def read_joint_file(path: Path) -> dict[str, Float[np.ndarray, "3"]]:
    """Places by the names of joints. Raises `AssetError` where the file is wrong."""
    with naming_file(path):
        data = read_bytes(path, growth=100)
    try:
        text = data.decode("utf-8-sig")
        given = json.loads(text) if path.suffix.lower() == ".json" else parse_toml(text)
    except (ValueError, RecursionError) as error:
        raise AssetError(f"{path}: must be TOML or JSON: {shown(str(error))}") from None
    if not isinstance(given, dict):
        raise AssetError(f"{path}: must be a table of joints, got {type(given).__name__}")
    places: dict[str, np.ndarray] = {}
    for name, value in given.items():
        is_place = (
            isinstance(value, list)
            and len(value) == 3
            and all(type(v) in (int, float) and abs(v) < _FARTHEST for v in value)
        )
        if not is_place:
            got = shown(value)
            raise AssetError(f"{path}: {shown(name)} must be three numbers, [x, y, z], got {got}")
        places[name] = np.array(value, dtype=np.float64)
    return places
