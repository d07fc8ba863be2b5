"""`create`: a rigged character from a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from akd.api.rigging import Rigging, rig
from akd.asset.asset import Asset, AssetError, Mesh, MeshPart
from akd.asset.read import read_asset
from akd.asset.surface import linear_colours, mesh_asset
from akd.math.triangles import connected_pieces
from akd.prior.large.shap_e import Triangles, shap_e_mesh
from akd.rig.character import load_character

Generator = Callable[[str, int], Triangles]
"""A prompt and a seed to vertices (Y up), faces and sRGB colours."""
_SMALLEST_PIECE = 0.02
"""Of the faces of the largest one: what is smaller is a floater."""


def create(
    prompt: str,
    *,
    generator: Generator | str | Path | None = None,
    weights: str | Path | None = None,
    download: bool = False,
    steps: int = 64,
    seed: int = 0,
    device: str = "cpu",
    template: str = "auto",
    height: float | None = None,
) -> Rigging:
    """Generate a mesh from a sentence, clean it up, and rig it.

    Args:
        prompt: What to make, such as "an ostrich".
        generator: A function of prompt and seed, or a mesh file made elsewhere; by default Shap-E.
        weights: Folder of Shap-E's pipeline; by default the hub's copy in the local cache.
        download: Download the hub's copy if it is missing.
        steps: Denoising steps of Shap-E.
        seed: Of the generator.
        device: Where Shap-E computes.
        template: Body plan, as for `rig`.
        height: Height in metres; by default a usual one for what the prompt names.

    Returns:
        The rigged character; `save` writes it.

    Raises:
        AssetError: The mesh file cannot be read, or the mesh has no faces.
        ValueError: Weights are missing, or no skeleton can be fitted.
    """
    if isinstance(generator, str | Path):
        asset = read_asset(generator)
    else:
        make = generator or _shap_e(weights, download=download, steps=steps, device=device)
        asset = _asset(prompt, *make(prompt, seed))
    return rig(load_character(asset, height=height), template=template)


def _shap_e(weights: str | Path | None, *, download: bool, steps: int, device: str) -> Generator:
    folder = None if weights is None else Path(weights)
    return lambda prompt, seed: shap_e_mesh(
        prompt, weights=folder, download=download, steps=steps, seed=seed, device=device
    )


def _asset(prompt: str, vertices: np.ndarray, faces: np.ndarray, colours: np.ndarray) -> Asset:
    """The mesh without floaters, as if it had been read from a file."""
    vertices, faces, kept = _clean(np.asarray(vertices), np.asarray(faces))
    if not len(faces):
        raise AssetError(f"{prompt!r}: the generator made no faces")
    part = MeshPart(
        positions=vertices.astype(np.float32),
        faces=faces.astype(np.uint32),
        colours=linear_colours(np.asarray(colours)[kept]),
    )
    words = "".join(c if c.isalnum() else "_" for c in prompt).strip("_")[:60] or "created"
    return mesh_asset(Path(f"{words}.glb"), "created", [Mesh(prompt, (part,))])


def _clean(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Faces of pieces that are no floaters, on the vertices that they use; and which those were."""
    good = np.asarray(np.isfinite(vertices).all(axis=1))
    faces = faces[good[faces].all(axis=1)]
    pieces = connected_pieces(faces, len(vertices))[faces[:, 0]]
    sizes = np.bincount(pieces)
    faces = faces[sizes[pieces] >= _SMALLEST_PIECE * sizes.max(initial=0)]
    kept, renumbered = np.unique(faces, return_inverse=True)
    return vertices[kept], renumbered.reshape(-1, 3), kept
