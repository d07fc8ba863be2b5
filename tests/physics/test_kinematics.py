"""The Warp kernel of forward kinematics, against `body.place`."""

import pytest
import torch
from torch import Tensor

from akd.physics.body import Body, Coordinates, Placement, place
from akd.physics.kinematics import Kinematics
from tests.physics.bodies_for_tests import box, quadruped

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def differentiate(body: Body, at: Coordinates, made: Placement) -> list[Tensor]:
    """Values, then gradients under random pulls on all that a placement has."""
    generator = torch.Generator().manual_seed(1)
    seen = [made.origins, made.rotations, made.centres(body), made.corners(body)]
    loss = sum(
        (value.cpu() * torch.randn(value.shape, dtype=torch.float64, generator=generator)).sum()
        for value in seen
    )
    assert isinstance(loss, Tensor)
    gradients = torch.autograd.grad(
        loss, (at.position, at.rotation, at.angles), materialize_grads=True
    )
    return [value.detach().cpu().double() for value in (*seen, *gradients)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "close"), [(torch.float64, 1e-12), (torch.float32, 2e-5)])
@pytest.mark.parametrize("body", [box(), quadruped()], ids=["box", "quadruped"])
def test_values_and_gradients_are_the_reference_s(
    body: Body, dtype: torch.dtype, close: float, device: str
) -> None:
    generator = torch.Generator().manual_seed(0)
    shapes = ((2, 5, 3), (2, 5, 4), (2, 5, len(body) - 1, 3))
    # The root's quaternion is not of unit length: its gradient must be the reference's all the same
    at = Coordinates(
        *(
            torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()
            for shape in shapes
        )
    )
    wanted = differentiate(body, at, place(body, at))
    found = differentiate(body, at, Kinematics(body, dtype=dtype, device=device).place(at))
    for a, b in zip(found, wanted, strict=True):
        size = float(b.abs().max()) if b.numel() else 1.0
        torch.testing.assert_close(a, b, rtol=0.0, atol=close * max(1.0, size))
