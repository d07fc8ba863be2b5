"""The table of `benchmarks.regressor`: groups hold the parts and bodies that they name."""

import pytest
import torch

from akd.fit.regressor.errors import BodyErrors
from akd.motion.retargeting.body_parts import BODY_PARTS
from akd.rig.roles.role import LimbKind
from benchmarks.regressor import groups, named, table


def body(plan: str, arms: float, rest: float) -> BodyErrors:
    frames = torch.ones(len(BODY_PARTS), dtype=torch.float64)
    own = torch.tensor([part.limb is LimbKind.ARM for part in BODY_PARTS])
    seen = torch.where(own, arms, rest).double()
    return BodyErrors("x", plan, seen, 2.0 * frames, 3.0 * frames, frames, 0.0)


def test_groups_are_of_the_parts_and_plans_that_they_name():
    zoo = [body("humanoid", 10.0, 1.0), body("quadruped", 20.0, 5.0)]
    found = groups({"zoo": zoo, "artists": [body("other", 4.0, 4.0)]})
    assert found["zoo, arms"].seen == pytest.approx(15.0)
    assert found["zoo, legs"].seen == pytest.approx(3.0)
    assert found["artists, all"].seen == pytest.approx(4.0)
    assert found["artists, all"].neutral == pytest.approx(2.0)
    assert found["zoo, 1 x humanoid"].seen < found["zoo, 1 x quadruped"].seen
    lines = table({"old": found, "new": found}).splitlines()
    assert lines[0] == "| degrees | neutral pose | old | new |"
    assert "| zoo, arms | 2.0 | 15.0 (3.0) | 15.0 (3.0) |" in lines


def test_weights_are_named_or_called_by_their_folder():
    assert named("new=a/b.safetensors")[0] == "new"
    assert named("run/weights/regressor.safetensors")[0] == "weights"
