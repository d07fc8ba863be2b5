"""Travel that the feet of an in-place clip imply."""

import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.metrics.travel import with_implied_travel
from akd.motion.clip import motion_from_clip
from akd.motion.root_motion import displaced, travel_path
from akd.rig.character import load_character
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip


def test_a_walk_on_the_spot_gets_its_travel_back(tmp_path) -> None:
    creature = build_creature("fox", vertices=600)
    write_creature(creature, [make_clip(creature, "walk")], tmp_path / "fox.glb")
    character = load_character(read_asset(tmp_path / "fox.glb"))
    rig = character.control_rig
    walk = motion_from_clip(character, character.asset.clips[0])
    # A clip that travels is left as it is.
    assert with_implied_travel(character, walk) is walk
    path = travel_path(rig, walk)
    spot = displaced(rig, walk, path[:1] - path)
    again = travel_path(rig, with_implied_travel(character, spot))
    gone, wanted = again[-1] - again[0], path[-1] - path[0]
    torch.testing.assert_close(gone, wanted, rtol=0, atol=0.1 * float(wanted.norm()))
