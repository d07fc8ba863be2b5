"""Least squares whose result does not depend on what memory held before."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def least_squares(
    matrix: Float[Tensor, "*batch m n"], values: Float[Tensor, "*batch m k"]
) -> Float[Tensor, "*batch n k"]:
    """The x that minimises |matrix x - values|.

    Torch's default driver on the CPU, gelsy, takes the order of its pivots from memory that torch
    does not initialise, so that two calls may round differently. gelsd is as tolerant of a matrix
    that lacks rank, and takes no such input.

    Args:
        matrix: Of full rank on CUDA; of any rank on the CPU, where the shortest solution is taken.
        values: Right-hand sides.

    Returns:
        The solutions.
    """
    driver = "gelsd" if matrix.device.type == "cpu" else "gels"
    return torch.linalg.lstsq(matrix, values, driver=driver).solution
