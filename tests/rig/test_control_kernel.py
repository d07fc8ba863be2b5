"""The Warp kernel from control coordinates to bones, against `ControlRig.deltas`."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from akd.rig.character import Character
from akd.rig.control import ROOT, STATIC, TRAVEL, ControlPose, ControlRig
from akd.rig.control_kernel import ControlKinematics

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def random_pose(rig: ControlRig, *frames: int) -> ControlPose:
    generator = torch.Generator().manual_seed(3)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*frames, *shape, generator=generator)

    return ControlPose(draw(3), draw(3), draw(len(rig), 3))


def bones_of(rig: ControlRig) -> tuple[Tensor, Tensor]:
    """Every driver, those of no control too, moving bones of any shape."""
    drivers = torch.tensor([STATIC, TRAVEL, *range(ROOT, ROOT + 1 + len(rig)), ROOT])
    neutral = torch.eye(4).repeat(len(drivers), 1, 1)
    neutral[:, :3] += 0.5 * torch.randn(
        len(drivers), 3, 4, generator=torch.Generator().manual_seed(4)
    )
    return drivers, neutral


def reference(rig: ControlRig, pose: ControlPose, drivers: Tensor, neutral: Tensor) -> Tensor:
    return rig.deltas(pose).index_select(-3, drivers) @ neutral


def differentiate(
    pose: ControlPose, transforms: Callable[[ControlPose], Tensor], device: str
) -> tuple[Tensor, tuple[Tensor, ...]]:
    leaves = [
        value.to(device).requires_grad_()
        for value in (pose.translation, pose.root_rotation, pose.angles)
    ]
    bones = transforms(ControlPose(*leaves))
    pull = torch.randn(bones.shape, generator=torch.Generator().manual_seed(5))
    pull[..., 3, :] = 0.0  # the last row is constant
    bones.backward(pull.to(bones))
    return bones.detach().cpu(), tuple(leaf.grad.cpu() for leaf in leaves)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("species", ["fox", "man"])
def test_values_and_gradients_are_the_reference_s(
    zoo_character: Callable[[str], Character], species: str, device: str
) -> None:
    rig = zoo_character(species).control_rig
    drivers, neutral = bones_of(rig)
    pose = random_pose(rig, 2, 5)
    kinematics = ControlKinematics.of(rig, drivers, neutral, torch.device(device))
    bones, gradients = differentiate(pose, kinematics.transforms, device)
    wanted, expected = differentiate(pose, lambda p: reference(rig, p, drivers, neutral), "cpu")
    torch.testing.assert_close(bones, wanted, atol=2e-5, rtol=1e-5)
    for mine, theirs in zip(gradients, expected, strict=True):
        torch.testing.assert_close(mine, theirs, atol=2e-4, rtol=2e-4)


def test_frames_do_not_depend_on_each_other(zoo_character: Callable[[str], Character]) -> None:
    rig = zoo_character("fox").control_rig
    kinematics = ControlKinematics.of(rig, *bones_of(rig), torch.device("cpu"))
    pose = random_pose(rig, 6)
    alone = ControlPose(pose.translation[2:3], pose.root_rotation[2:3], pose.angles[2:3])
    assert torch.equal(kinematics.transforms(pose)[2:3], kinematics.transforms(alone))
