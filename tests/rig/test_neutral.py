"""Which of several idle clips the neutral pose is taken from."""

import numpy as np
import pytest

from akd.asset.asset import ClipRecord, Track
from akd.rig.neutral import find_idle


def _clip(name: str) -> ClipRecord:
    track = Track(0, "rotation", "LINEAR", np.zeros(1), np.array([[0.0, 0.0, 0.0, 1.0]]))
    return ClipRecord(name, (track,))


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (("Idle_Sword", "Idle_Gun_Shoot", "Idle_Neutral"), "Idle_Neutral"),
        (("Fighting Idle", "Idle Listening"), "Idle Listening"),
        (("AnimalArmature|Idle_2", "AnimalArmature|Idle"), "AnimalArmature|Idle"),
        (("Armature|LayToIdle", "Armature|Idle_Talking_Loop"), "Armature|Idle_Talking_Loop"),
        (("Jump_Idle", "Sitting_Idle"), None),
        (("Idle_Weapon",), "Idle_Weapon"),
    ],
)
def test_the_plainest_idle_clip_is_neutral(names: tuple[str, ...], chosen: str | None) -> None:
    found = find_idle(tuple(map(_clip, names)))
    assert (found and found.name) == chosen
