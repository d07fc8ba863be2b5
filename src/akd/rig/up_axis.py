"""Which axis of a file points up, where the format does not say: legs hang down."""

from __future__ import annotations

import torch

from akd.asset.asset import Asset
from akd.rig.character import Character, load_character


def find_up_axis(asset: Asset) -> str:
    """The axis ("x", "y" or "z") along which the legs hang in the rest pose; "y" without legs.

    glTF states that Y is up. BVH does not say: most files have Y, some (MakeHuman's) Z.
    """
    if asset.format != "bvh":
        return "y"
    # The first of equals is taken, and Y is the usual one.
    return max("yzx", key=lambda axis: _uprightness(load_character(asset, up=axis)))


def _uprightness(character: Character) -> float:
    """Cosine of the angle between up and the legs, from their feet to their first joints."""
    places = character.skeleton.forward(character.bind)[:, :3, 3].double()
    ways = [places[leg.joints[0]] - places[leg.tip] for leg in character.anatomy.legs]
    if not ways:
        return 0.0
    way = torch.stack(ways).sum(0)
    return float(way[1] / way.norm().clamp_min(1e-12))
