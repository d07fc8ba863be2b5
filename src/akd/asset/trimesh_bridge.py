"""Adapter for trimesh: it reads only the files it is given, and its errors become ours."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Integer

from akd.asset.asset import AssetError, Image
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.uri import AssetFolder
from akd.asset.surface import fan_triangles, load_texture


class FolderResolver:
    """Hands trimesh the files an asset names: those in its folder, nothing else, no network."""

    def __init__(self, folder: AssetFolder, problems: ProblemLog) -> None:
        self.folder = folder
        self.problems = problems
        self.texts: dict[str, bytes] = {}
        """What to answer for some names without looking on the disk."""
        self.images: dict[str, Image] = {}
        """The images handed out, by the reference they were asked for with."""

    def get(self, name: str) -> bytes:
        """Return the bytes of a file; trimesh takes `OSError` to mean that there is none."""
        if name in self.texts:
            return self.texts[name]
        if name not in self.images:
            image = load_texture(self.folder, name, "material", self.problems)
            if image is None:
                raise FileNotFoundError(name)
            self.images[name] = image
        return bytes(self.images[name].data)

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)


def call_trimesh(kind: str, load: Callable[..., Any], *args: Any, **options: Any) -> dict[str, Any]:
    """Run one of trimesh's loaders. Any exception becomes an `AssetError`."""
    try:
        # numpy only warns when it stops at a word that is no number.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", DeprecationWarning)
            loaded = load(*args, **options)
    except MemoryError:
        raise AssetError(f"{kind} is too large to be read") from None
    except Exception as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise AssetError(f"not a readable {kind} file: {reason}") from error
    if not isinstance(loaded, dict):
        raise AssetError(f"not a readable {kind} file: it holds no mesh")
    return loaded


def named_geometry(loaded: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The meshes in what a loader returned, by name; those without faces are left out."""
    if "geometry" in loaded:
        found = dict(loaded["geometry"])
    else:
        name = (loaded.get("metadata") or {}).get("name") or ""
        found = {str(name): loaded}
    return {
        name: mesh
        for name, mesh in found.items()
        if np.ndim(mesh.get("vertices", ())) == 2 and np.size(mesh.get("faces", ())) > 0
    }


def triangles(faces: Any) -> Integer[np.ndarray, "F 3"]:
    """Faces as trimesh returns them, three or more corners wide, as triangles."""
    faces = np.asarray(faces)
    if faces.ndim != 2 or faces.shape[1] < 3 or not np.issubdtype(faces.dtype, np.integer):
        raise AssetError(f"faces must have at least 3 corners, got shape {list(faces.shape)}")
    if faces.shape[1] == 3:
        return faces
    return fan_triangles(np.full(len(faces), faces.shape[1]), faces.reshape(-1))
