"""Small linear systems in batches, by operations that a CUDA graph can hold."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def solve_definite(a: Float[Tensor, "*b N N"], y: Float[Tensor, "*b N"]) -> Float[Tensor, "*b N"]:
    """Solve `a x = y` for symmetric positive definite matrices, by Gauss-Jordan elimination.

    Such matrices need no pivoting: the steps are the same for all of a batch, and no value is read
    back. `torch.linalg.solve` waits for a GPU, so that a CUDA graph cannot hold it.

    Args:
        a: The matrices.
        y: The right-hand sides.

    Returns:
        The solutions; not finite where a matrix is singular.
    """
    # With ones on the diagonal no pivot exceeds one, and no step loses digits.
    scale = a.diagonal(dim1=-2, dim2=-1).rsqrt()
    scaled = a * scale[..., :, None] * scale[..., None, :]
    both = torch.cat((scaled, (y * scale)[..., None]), dim=-1)
    one = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    for k in range(a.shape[-1]):
        row = both[..., k : k + 1, :]
        # Clears the column in all rows but its own, which is divided by the pivot.
        factor = (both[..., k : k + 1] - one[:, k : k + 1]) / row[..., k : k + 1]
        both = torch.addcmul(both, factor, row, value=-1.0)
    return both[..., -1] * scale
