"""Writes a cloud as a PLY of 3D Gaussian splatting, for other viewers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from akd.base.files import write_atomically
from akd.math import quaternion
from akd.splat.cloud import SplatCloud


def write_splat_ply(cloud: SplatCloud, path: Path | str) -> Path:
    """Write means, normals, harmonics, opacity logits, log scales and rotations (wxyz), float32.

    `akd.asset.splat_ply` reads it back.
    """
    path = Path(path)
    cloud.check()
    count, harmonics = len(cloud), cloud.sh.shape[1]
    # All of red's higher coefficients, then green's, then blue's.
    rest = cloud.sh[:, 1:].transpose(1, 2).flatten(1)
    normals = cloud.means.new_zeros(count, 3) if cloud.normals is None else cloud.normals
    opacities = cloud.opacities.double().clamp(1e-6, 1.0 - 1e-6).logit()
    columns = {
        "xyz": cloud.means,
        "normal": normals,
        "constant": cloud.sh[:, 0],
        "rest": rest,
        "opacity": opacities[:, None],
        "scale": cloud.scales.log(),
        "rotation": quaternion.normalize(cloud.rotations),
    }
    names = [
        *"xyz", "nx", "ny", "nz", *(f"f_dc_{i}" for i in range(3)),
        *(f"f_rest_{i}" for i in range(3 * (harmonics - 1))), "opacity",
        *(f"scale_{i}" for i in range(3)), *(f"rot_{i}" for i in range(4)),
    ]  # fmt: skip
    table = np.concatenate([c.detach().cpu().float().numpy() for c in columns.values()], axis=1)
    assert table.shape[1] == len(names)
    header = [
        "ply", "format binary_little_endian 1.0", f"element vertex {count}",
        *(f"property float {name}" for name in names), "end_header", "",
    ]  # fmt: skip
    with write_atomically(path) as file:
        file.write("\n".join(header).encode("ascii"))
        file.write(np.ascontiguousarray(table, dtype="<f4").tobytes())
    return path
