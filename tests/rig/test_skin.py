"""Linear blend skinning: against the sum written out, invariances, gradients."""

import pytest
import torch

from akd.math import quaternion, transform
from akd.rig.skin import Skin, blend_transforms, skin_covariances, skin_points


def random_binding(seed: int, *, bones: int = 7, points: int = 20, influences: int = 5):
    g = torch.Generator().manual_seed(seed)
    index = torch.randint(0, bones, (points, influences), generator=g)
    weights = torch.rand(points, influences, generator=g, dtype=torch.float64)
    x = torch.randn(points, 3, generator=g, dtype=torch.float64)
    return index, weights / weights.sum(1, keepdim=True), x


def random_bones(seed: int, *shape: int) -> torch.Tensor:
    g = torch.Generator().manual_seed(seed)
    return transform.compose(
        torch.randn(*shape, 3, generator=g, dtype=torch.float64),
        quaternion.normalize(torch.randn(*shape, 4, generator=g, dtype=torch.float64)),
        0.5 + torch.rand(*shape, 3, generator=g, dtype=torch.float64),
    )


def test_points_equal_the_sum_written_out():
    bones, weights, x = random_binding(0)
    matrices = random_bones(1, 3, 7)
    result = skin_points(matrices, x, bones, weights)
    for t in range(3):
        for v in range(len(x)):
            expected = sum(
                float(weights[v, k]) * transform.apply(matrices[t, int(bones[v, k])], x[v])
                for k in range(bones.shape[1])
            )
            torch.testing.assert_close(result[t, v], expected)


@pytest.mark.parametrize("frames", [(), (1,), (0,), (2, 3)])
@pytest.mark.parametrize("points", [0, 4])
def test_any_number_of_frames_and_points(frames, points):
    bones, weights, x = random_binding(10, points=points)
    matrices = random_bones(11, *frames, 7)
    phi = blend_transforms(matrices, bones, weights)
    assert phi.shape == (*frames, points, 3, 4)
    moved = (phi[..., :3] @ x[..., None]).squeeze(-1) + phi[..., 3]
    torch.testing.assert_close(skin_points(matrices, x, bones, weights), moved)


def test_equal_bones_move_the_body_rigidly():
    bones, weights, x = random_binding(2)
    one = random_bones(3)
    result = skin_points(one.expand(7, 4, 4), x, bones, weights)
    torch.testing.assert_close(result, transform.apply(one, x))


def test_covariance_is_carried_by_the_gradient_of_the_map():
    bones, weights, x = random_binding(4)
    matrices = random_bones(5, 7)
    # With the weights held, phi is affine a point: its Jacobian is grad phi exactly.
    jacobian = torch.autograd.functional.jacobian(
        lambda p: skin_points(matrices, p, bones, weights).sum(0), x
    ).permute(1, 0, 2)
    phi = blend_transforms(matrices, bones, weights)[..., :3]
    torch.testing.assert_close(phi, jacobian)
    root = torch.randn(20, 3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(6))
    covariance = root @ root.transpose(-1, -2)
    result = skin_covariances(matrices, covariance, bones, weights)
    torch.testing.assert_close(result, jacobian @ covariance @ jacobian.transpose(-1, -2))


def test_gradcheck_in_everything_continuous():
    bones, weights, x = random_binding(7, points=4, influences=3)
    matrices = random_bones(8, 2, 7).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda m, p, w: skin_points(m, p, bones, w),
        (matrices, x.requires_grad_(), weights.requires_grad_()),
    )


def test_bones_at_bind_leave_the_mesh_where_it_is():
    joints = random_bones(9, 5)
    skin = Skin(
        torch.tensor([4, 0, 2]),
        transform.inverse(joints[[4, 0, 2]]),
        torch.zeros(1, 1, dtype=torch.long),
        torch.ones(1, 1),
    )
    eye = torch.eye(4, dtype=torch.float64).expand(3, 4, 4)
    torch.testing.assert_close(skin.bone_transforms(joints), eye, atol=1e-9, rtol=0)


@pytest.mark.gpu
def test_cuda_equals_cpu():
    bones, weights, x = random_binding(0)
    matrices = random_bones(1, 3, 7)
    on_gpu = skin_points(matrices.cuda(), x.cuda(), bones.cuda(), weights.cuda())
    torch.testing.assert_close(on_gpu.cpu(), skin_points(matrices, x, bones, weights))
