"""Skin that sinks is raised, smoothly and no further than feet still touch."""

from dataclasses import replace

import pytest
import torch

from akd.motion.contact import TOUCH
from akd.physics.skin_lift import DEPTH, lift_skin
from tests.rig.block_figure import block_figure


@pytest.mark.parametrize("cyclic", [False, True])
def test_sunk_frames_are_raised(cyclic: bool) -> None:
    figure = block_figure()
    rig, height, mesh = figure.control_rig, figure.height, figure.body_mesh
    assert mesh is not None
    pose = rig.zero(12)
    sunk = torch.zeros(12)
    sunk[5] = -0.01 * height
    given = replace(pose, translation=pose.translation + sunk[:, None] * torch.tensor((0, 1.0, 0)))
    made = lift_skin(rig, mesh, given, height=height, cyclic=cyclic)
    low = mesh.pose(rig.world(made))[..., 1].amin(-1)
    assert float(low.min()) >= -DEPTH * height - 1e-6
    # The frames around take part, none rises as far as to leave the ground, the rest stays.
    lift = (made.translation - given.translation)[:, 1]
    assert float(low.max()) < TOUCH * height
    assert bool((lift[3:8] > 0).all())
    assert lift[0] == lift[-1] == 0
    torch.testing.assert_close(made.translation[:, [0, 2]], given.translation[:, [0, 2]])
    assert made.angles is given.angles


def test_what_drags_does_not_carry_the_body_up() -> None:
    figure = block_figure()
    rig, height, mesh = figure.control_rig, figure.height, figure.body_mesh
    assert mesh is not None
    pose = rig.zero(6)
    deep = replace(pose, translation=pose.translation - torch.tensor((0, 0.2, 0)))
    made = lift_skin(rig, mesh, deep, height=height, cyclic=False)
    lift = (made.translation - deep.translation)[:, 1]
    assert float(lift.max()) < TOUCH * height
    above = replace(pose, translation=pose.translation + torch.tensor((0, 0.2, 0)))
    assert lift_skin(rig, mesh, above, height=height, cyclic=False) is above
