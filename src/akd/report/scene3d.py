"""A character and its clips as a 3D view of a page: skinned by the browser, no library needed.

A vertex follows its four strongest bones, as most engines have it.
"""

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from akd.asset.asset import AssetError
from akd.asset.gltf.influences import pack_influences
from akd.asset.image import decode_image
from akd.math.triangles import vertex_normals
from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.mesh import SkinnedMesh
from akd.rig.skin import skin_points
from akd.scene.follow import THREE_QUARTER, smooth_path

FPS = 24.0
_IMAGE = 512
"""Pixels of a texture's side."""
_MOST_IMAGES = 8
_MOST_TRIANGLES = 60_000
"""More would make the page larger than 5 MB."""
_MEASURED = 2_000
"""Vertices that the camera's path is found from."""


def scene3d(
    character: Character, motions: Mapping[str, Motion], *, shown: str | None = None
) -> str:
    """The view as HTML for a page with `scene3d.js`; nothing where there is nothing to show.

    Args:
        character: Whose body it is.
        motions: The clips to choose from, by name.
        shown: The clip that is shown first; the last one by default.
    """
    mesh = character.mesh
    if mesh is None or not motions or not 0 < len(mesh.faces) <= _MOST_TRIANGLES:
        return ""
    colours, uv, images = _paint(character, mesh)
    bones, weights = pack_influences(mesh.skin.bones.numpy(), mesh.skin.weights.double().numpy())
    weights = weights[:, :4] / weights[:, :4].sum(1, keepdims=True)
    forward, extent = character.forward, mesh.vertices.amax(0) - mesh.vertices.amin(0)
    data = {
        "vertices": _packed(mesh.vertices.numpy(), np.float32),
        "normals": _packed(_normals(mesh), np.float32),
        "faces": _packed(mesh.faces.numpy(), np.uint32),
        "colours": _packed(colours, np.float32),
        "uv": _packed(uv, np.float32),
        "bones": _packed(bones[:, :4], np.uint16),
        "weights": _packed(weights, np.float32),
        "images": images,
        "image_size": _IMAGE,
        "fps": FPS,
        "size": max(character.height, 1e-6),
        "reach": 0.5 * max(float(extent.norm()), 1e-6),
        "yaw": math.atan2(float(forward[0]), float(forward[2])) + THREE_QUARTER.azimuth,
        "shown": len(motions) - 1 if shown is None else list(motions).index(shown),
        "clips": [_clip(character, mesh, name, motion) for name, motion in motions.items()],
    }
    # "</" would end the element.
    text = json.dumps(data).replace("</", "<\\/")
    return (
        '<h2>In 3D</h2><div class="scene3d"><script type="application/json">'
        f'{text}</script></div><p class="about">Drag to rotate; hold Ctrl and scroll to zoom. '
        "Synchronised with the videos.</p>"
    )


def _clip(character: Character, mesh: SkinnedMesh, name: str, motion: Motion) -> dict[str, str]:
    """Bone transforms of each frame as three rows of four, and the path that the camera follows."""
    frames = motion.resample(FPS)
    world = frames.world()
    bones = mesh.skin.bone_transforms(world)
    path = smooth_path(_middles(mesh, bones), 5.0)
    return {
        "name": name,
        "frames": _packed(bones[:, :, :3].numpy(force=True), np.float32),
        "path": _packed(path.numpy(force=True), np.float32),
    }


def _middles(mesh: SkinnedMesh, bones: Float[Tensor, "T B 4 4"]) -> Float[Tensor, "T 3"]:
    """Centre of the body's bounding box in each frame, metres: roots are where tails begin."""
    some = slice(None, None, 1 + len(mesh.vertices) // _MEASURED)
    chosen = mesh.vertices[some], mesh.skin.bones[some], mesh.skin.weights[some]
    boxes = [torch.aminmax(skin_points(each, *chosen), dim=0) for each in bones]
    return torch.stack([0.5 * (low + high) for low, high in boxes])


def _paint(
    character: Character, mesh: SkinnedMesh
) -> tuple[Float[np.ndarray, "V 3"], Float[np.ndarray, "V 3"], list[str]]:
    """Linear colours, texture coordinates with the texture's number (-1: none), and textures."""
    colours = mesh.colours.numpy().copy()
    uv = np.full((len(mesh.vertices), 3), -1.0)
    images: list[str] = []
    numbers: dict[int, int] = {}
    for part in mesh.parts:
        material = None if part.material is None else character.asset.materials[part.material]
        if part.uv is None or material is None or material.image is None:
            continue
        if material.image not in numbers:
            if len(images) == _MOST_IMAGES:
                continue
            try:
                pixels = decode_image(character.asset.images[material.image])
            except AssetError:
                continue
            numbers[material.image] = len(images)
            images.append(_data_uri(pixels, cut_out=material.alpha_cutoff is not None))
        colours[part.vertices] = part.base_colours.numpy()
        uv[part.vertices, :2] = part.uv.numpy()
        uv[part.vertices, 2] = numbers[material.image]
    return colours, uv, images


def _data_uri(pixels: np.ndarray, *, cut_out: bool) -> str:
    """A texture as a square JPEG, or PNG where its alpha matters."""
    image = Image.fromarray(pixels).resize((_IMAGE, _IMAGE))
    kind, file = ("png" if cut_out else "jpeg"), io.BytesIO()
    (image if cut_out else image.convert("RGB")).save(file, kind)
    return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode('ascii')}"


def _normals(mesh: SkinnedMesh) -> Float[np.ndarray, "V 3"]:
    """Unit normals at the vertices, smooth across seams."""
    smooth = mesh.smooth_vertices().numpy()
    return vertex_normals(mesh.vertices.numpy(), smooth[mesh.faces.numpy()])[smooth]


def _packed(values: np.ndarray, kind: type) -> str:
    """Little-endian bytes in base64."""
    array = np.ascontiguousarray(values, np.dtype(kind).newbyteorder("<"))
    return base64.b64encode(array.tobytes()).decode("ascii")
