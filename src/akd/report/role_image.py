"""A character painted by role, seen from the front and from its left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from akd.asset.asset import AssetError
from akd.rig.character import Character
from akd.rig.roles.role import LimbKind, Part, Role

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

_SIZE = 480
_MARGIN = 24
_LEGEND = 22
_BACKGROUND = (250, 250, 248)
_PLAIN = (176, 176, 176)
_PARTS: dict[Part, tuple[int, int, int]] = {
    Part.PELVIS: (120, 90, 60), Part.SPINE: (190, 150, 100), Part.NECK: (225, 200, 120),
    Part.HEAD: (250, 220, 60), Part.TAIL: (150, 80, 160), Part.EAR: (230, 170, 210),
}  # fmt: skip
_LIMBS: dict[LimbKind, tuple[int, int, int]] = {
    LimbKind.LEG: (40, 110, 220), LimbKind.FORE: (20, 160, 190), LimbKind.MID: (60, 190, 120),
    LimbKind.HIND: (40, 110, 220), LimbKind.ARM: (230, 120, 40), LimbKind.WING: (200, 60, 150),
    LimbKind.FIN: (60, 150, 90),
}  # fmt: skip
_ENDS = (Part.FOOT, Part.HAND, Part.TOES)
_RIGHT_SHADE = 0.62
"""Right limbs are darker than left ones, so that swapped sides show."""


def role_colour(role: Role) -> tuple[int, int, int]:
    """sRGB colour of a role: a hue for each part and kind of limb, lighter at feet and hands."""
    if role.limb is None:
        return _PARTS.get(role.part, _PLAIN)
    colour = np.array(_LIMBS[role.limb], dtype=float)
    if role.part in _ENDS:
        colour = 0.55 * colour + 0.45 * 255.0
    if role.side == "right":
        colour *= _RIGHT_SHADE
    return tuple(int(c) for c in colour)  # pyright: ignore[reportReturnType]


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
    """Colour of each face: that of the joint with most weight, or of its nearest joint with a
    role where that one only helps."""
    mesh = character.mesh
    assert mesh is not None
    skin, skeleton, roles = mesh.skin, character.skeleton, character.anatomy.roles
    table = np.zeros((len(skeleton), 3))
    for joint in range(len(skeleton)):
        above = (joint, *skeleton.ancestors(joint))
        bone = next((j for j in above if roles[j].part is not Part.HELPER), joint)
        table[joint] = role_colour(roles[bone])
    return table[skin.owners.numpy()][mesh.faces.numpy()].mean(axis=1)


def _light(seen: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> np.ndarray:
    """Brightness of each face, lit from the viewer's side."""
    a, b, c = (seen[faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
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
    entries: dict[str, tuple[int, int, int]] = {}
    for role in character.anatomy.roles:
        if role.part in _PARTS:
            entries[role.part.value] = role_colour(role)
        elif role.limb is not None and role.part not in _ENDS:
            entries[f"{role.side.value} {role.limb.value}"] = role_colour(role)
        elif role.limb is not None:
            entries[f"{role.side.value} {role.limb.value} {role.part.value}"] = role_colour(role)
    x, y = 8, _SIZE
    for text, colour in entries.items():
        width = 20 + int(draw.textlength(text)) + 14
        if x + width > 2 * _SIZE:
            x, y = 8, y + _LEGEND
        draw.rectangle((x, y + 4, x + 12, y + 16), fill=colour)
        draw.text((x + 18, y + 4), text, fill=(40, 40, 40))
        x += width
