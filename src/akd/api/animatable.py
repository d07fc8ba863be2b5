"""What can be animated: a body that can be driven, standing upright."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from akd.api.clips import check_size
from akd.api.loading import loaded
from akd.api.rigging import rig
from akd.asset.asset import AssetError
from akd.rig.character import BODY, Character, load_character
from akd.rig.roles import names

_SURE = 0.9
"""Probability of a limb's kind below which the user is asked to check it."""
_VERTICAL = 0.7
"""Left and right are above one another where they lie apart by this share along up."""


def animatable(character: Character | str | Path, *, template: str = "auto") -> Character:
    """The character, ready to be animated; a bare mesh is rigged first.

    Raises:
        AssetError: It cannot be animated.
    """
    character = loaded(character, up="y")
    asset, name = character.asset, character.asset.path.name
    if not asset.meshes:
        raise AssetError(
            f"{name}: has no mesh to show to a video model"
            + ("; `akd rig` makes one around its Gaussians" if asset.splats is not None else "")
        )
    if not asset.skins and not asset.clips and not character.anatomy.legs:
        try:
            character = rig(character, template=template).character
        except ValueError as error:
            raise AssetError(f"{name}: {error}") from None
    elif asset.document is None:
        raise AssetError(
            f"{name}: a clip can only be added to a glTF file, and this is {asset.format}"
        )
    if len(character.control_rig) < 1:
        raise AssetError(
            f"{name}: must have at least 2 connected joints that move its mesh; `akd rig` makes a "
            f"skeleton"
        )
    check_size(character)
    if all(leg.lies for leg in character.anatomy.legs):
        _check_upright(character)
    return character


def doubts(character: Character) -> tuple[str, ...]:
    """What was assumed about a body, for the user to check: its height, limbs in doubt, that it is
    the only one, and that it stands upright."""
    notes = [character.units.found_by] if character.units.is_assumed else []
    notes += [f"{p.what}; {p.action}" for p in character.problems if p.where == BODY]
    limbs = [limb for limb in character.anatomy.limbs if limb.confidence < _SURE]
    if limbs:
        named = ", ".join(
            f"{limb} ({100 * limb.confidence:.0f} % sure{f': {limb.doubt}' if limb.doubt else ''})"
            for limb in limbs
        )
        notes.append(
            f"limbs in doubt: {named}; check with `akd inspect --image`, correct with --roles"
        )
    return tuple(notes)


def _check_upright(character: Character) -> None:
    """Refuse a body that lies on its side, where it can be told from one that has no feet."""
    asset, name, units = character.asset, character.asset.path.name, character.units
    for other in (axis for axis in "xyz" if axis != units.up):
        turned = load_character(asset, up=other)
        if legs := sum(not leg.lies for leg in turned.anatomy.legs):
            raise AssetError(
                f"{name}: lies on its side: with {units.up} up no foot is on the ground, with "
                f"{other} up it stands on {legs} legs; give --up {other}"
            )
    body = character.anatomy.body
    pairs = names.mirror_pairs(character.skeleton.names, sorted(body.parents))
    places = character.skeleton.forward(character.bind)[:, :3, 3].double().numpy()
    gaps = [places[a] - places[b] for a, b in pairs]
    heights = [abs(gap[1]) / max(float(np.linalg.norm(gap)), 1e-12) for gap in gaps]
    if heights and float(np.median(heights)) > _VERTICAL:
        raise AssetError(
            f"{name}: lies on its side: its left and right joints are above one another; turn it "
            f"upright in its file"
        )
