"""A character in the colours of the `roles` style, seen from the front and from its left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from akd.asset.asset import AssetError
from akd.math.triangles import area_normals
from akd.rig.character import Character
from akd.rig.roles.role import Part
from akd.scene.roles import PARTS, bone_roles, role_colour, role_colours

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

_SIZE = 480
_MARGIN = 24
_LEGEND = 22
_BACKGROUND = (250, 250, 248)
_ENDS = (Part.FOOT, Part.HAND, Part.TOES)


def role_image(character: Character) -> Image:
    """The bind pose from the front and from the character's left, with a legend.

    Raises:
        AssetError: the character has no surface to paint.
    """
    from PIL import Image, ImageDraw

    mesh = character.mesh
    if mesh is None:
        raise AssetError(
            f"{character.asset.path.name}: must have a mesh to paint roles on, has none"
        )
    up, left, forward = np.array([0.0, 1.0, 0.0]), character.anatomy.left, character.anatomy.forward
    vertices, faces = mesh.vertices.double().numpy(), mesh.faces.numpy()
    colours = _face_colours(character)
    image = Image.new("RGB", (2 * _SIZE, _SIZE + 3 * _LEGEND), _BACKGROUND)
    draw = ImageDraw.Draw(image)
    # Right of the image, then towards the viewer: the front view shows the left side on the right.
    for place, (across, towards) in enumerate(((left, forward), (-forward, left))):
        seen = vertices @ np.stack((across, up, towards), axis=1)
        shaded = colours * _light(seen, faces)[:, None]
        points = _fit(seen[:, :2]) + np.array([place * _SIZE, 0.0])
        for face in np.argsort(seen[faces, 2].mean(axis=1)):
            draw.polygon(
                [tuple(p) for p in points[faces[face]]], fill=tuple(int(c) for c in shaded[face])
            )
    _legend(draw, character)
    return image


def _face_colours(character: Character) -> Float[np.ndarray, "F 3"]:
    """sRGB colour of each face, 0..255: that of the bone with most weight."""
    mesh = character.mesh
    assert mesh is not None
    strongest = mesh.skin.weights.argmax(1, keepdim=True)
    bones = mesh.skin.bones.gather(1, strongest).squeeze(1)
    colours = 255.0 * role_colours(bone_roles(character))[bones]
    return colours.numpy()[mesh.faces.numpy()].mean(axis=1)


def _light(seen: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> np.ndarray:
    """Brightness of each face, lit from the viewer's side."""
    normal = area_normals(seen, faces)
    length = np.maximum(np.linalg.norm(normal, axis=1), 1e-20)
    return 0.55 + 0.45 * np.abs(normal[:, 2]) / length


def _fit(points: Float[np.ndarray, "V 2"]) -> Float[np.ndarray, "V 2"]:
    """Pixels of one view, y downwards."""
    low, high = points.min(axis=0), points.max(axis=0)
    scale = (_SIZE - 2 * _MARGIN) / max(float((high - low).max()), 1e-12)
    centred = (points - 0.5 * (low + high)) * scale
    return np.stack((centred[:, 0], -centred[:, 1]), axis=1) + 0.5 * _SIZE


def _legend(draw: ImageDraw, character: Character) -> None:
    """Every kind of limb and part that was found, as swatches; the two views are named."""
    for place, view in enumerate(("front", "left side")):
        draw.text((place * _SIZE + 8, 6), view, fill=(60, 60, 60))
    entries: dict[str, tuple[int, ...]] = {}
    for role in character.anatomy.roles:
        name = str(role.part.value) if role.part.value in PARTS else ""
        if role.limb is not None:
            end = f" {role.part.value}" if role.part in _ENDS else ""
            name = f"{role.side.value} {role.limb.value}{end}"
        if name:
            entries[name] = tuple(int(255 * c) for c in role_colour(str(role)))
    x, y = 8, _SIZE
    for text, colour in entries.items():
        width = 20 + int(draw.textlength(text)) + 14
        if x + width > 2 * _SIZE:
            x, y = 8, y + _LEGEND
        draw.rectangle((x, y + 4, x + 12, y + 16), fill=colour)
        draw.text((x + 18, y + 4), text, fill=(40, 40, 40))
        x += width
