"""Gaussian clouds as 3D Gaussian splatting stores them: PLY with one vertex per Gaussian.

Properties are found by name, so their order does not matter: the reference writes colour, opacity,
scale, rotation; others scale, colour, opacity, rotation, and the higher harmonics last. Normals
are ignored. The higher harmonics `f_rest_*` hold all of red, then green, then blue.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import Float

from akd.asset.asset import Asset, AssetError, SplatRecord
from akd.asset.gltf.problems import ProblemLog
from akd.asset.ply_elements import Columns, Header, parse_header, read_elements
from akd.asset.surface import naming_file, read_bytes

_POSITION = ("x", "y", "z")
_SCALE = ("scale_0", "scale_1", "scale_2")
_ROTATION = ("rot_0", "rot_1", "rot_2", "rot_3")
_CONSTANT = ("f_dc_0", "f_dc_1", "f_dc_2")
_NEEDED = (*_POSITION, *_CONSTANT, "opacity", *_SCALE, *_ROTATION)
_SUPPORTED = "akd reads uncompressed 3DGS PLY (x, f_dc_*, f_rest_*, opacity, scale_*, rot_*)"


def is_splat(header: Header) -> bool:
    """Whether the vertices of a PLY file are Gaussians, compressed or not."""
    vertex = header.element("vertex")
    return vertex is not None and bool({"f_dc_0", "packed_position"} & vertex.names())


def read(path: Path) -> Asset:
    """Read a Gaussian cloud. Raises `AssetError`, also for the compressed formats."""
    with naming_file(path):
        data = memoryview(read_bytes(path, growth=3))
        kind = _compressed_kind(path, data)
        if kind is not None:
            raise AssetError(f"{kind} is not supported: {_SUPPORTED}")
        return from_elements(path, parse_header(data), data)


def _compressed_kind(path: Path, data: memoryview) -> str | None:
    """What other Gaussian format this is, by its first bytes or, failing that, by its name."""
    head = bytes(data[:4])
    suffix = path.suffix.lower()
    if head[:2] == b"\x1f\x8b" or head == b"NGSP" or suffix == ".spz":
        return "SPZ (compressed Gaussians)"
    if head == b"PK\x03\x04" or suffix == ".sog":
        return "SOG (compressed Gaussians)"
    return None


def from_elements(path: Path, header: Header, data: memoryview) -> Asset:
    """The cloud in a PLY file whose header is known."""
    vertex = header.element("vertex")
    names = set() if vertex is None else vertex.names()
    if "packed_position" in names:
        raise AssetError(
            f"compressed Gaussian PLY (packed_position) is not supported: {_SUPPORTED}"
        )
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise AssetError(f"a Gaussian must have {missing[0]}: {_SUPPORTED}")
    problems = ProblemLog()
    columns = read_elements(header, data)["vertex"]
    if not columns:
        raise AssetError("a Gaussian cloud must hold at least one Gaussian, got none")
    splats = SplatRecord(
        means=_stack(columns, _POSITION),
        log_scales=_stack(columns, _SCALE),
        rotations=_stack(columns, _ROTATION),
        opacity_logits=_stack(columns, ("opacity",))[:, 0],
        sh=_harmonics(columns, problems),
    )
    return Asset(
        path=path,
        format="splat-ply",
        splats=_keep_finite(splats, problems),
        problems=problems.all(),
    )


def _stack(columns: Columns, names: tuple[str, ...]) -> Float[np.ndarray, "N C"]:
    found = [columns[name] for name in names]
    if not all(isinstance(column, np.ndarray) for column in found):
        raise AssetError(f"{names[0]} must be a number, got a list")
    with np.errstate(over="ignore"):
        return np.stack(
            [column.astype(np.float32) for column in found if isinstance(column, np.ndarray)],
            axis=1,
        )


def _harmonics(columns: Columns, problems: ProblemLog) -> Float[np.ndarray, "N D 3"]:
    """Coefficients with the constant one first, as many whole degrees as there are, up to three."""
    constant = _stack(columns, _CONSTANT)[:, None, :]
    count = 0
    while f"f_rest_{count}" in columns:
        count += 1
    stored = count // 3
    degree = max(d for d in range(4) if (d + 1) ** 2 - 1 <= stored)
    used = (degree + 1) ** 2 - 1
    if 3 * used != count:
        problems.warn(
            "f_rest_*",
            f"{count} coefficients are not 0, 9, 24 or 45",
            f"reads degree {degree} and leaves the rest out",
        )
    if used == 0:
        return constant
    # All coefficients of red first, then of green, then of blue.
    indices = (c * stored + k for c in range(3) for k in range(used))
    rest = _stack(columns, tuple(f"f_rest_{i}" for i in indices))
    rest = rest.reshape(-1, 3, used).transpose(0, 2, 1)
    return np.ascontiguousarray(np.concatenate((constant, rest), axis=1))


def _keep_finite(splats: SplatRecord, problems: ProblemLog) -> SplatRecord:
    """Leave Gaussians out that are not finite, and give those without an orientation one."""
    flat = (splats.means, splats.log_scales, splats.rotations, splats.opacity_logits[:, None])
    good = np.asarray(np.isfinite(splats.sh).all(axis=(1, 2)))
    for values in flat:
        good &= np.isfinite(values).all(axis=1)
    if not good.any():
        raise AssetError(f"Gaussians must be finite, got {len(good)} that are not")
    if not good.all():
        lost = int((~good).sum())
        problems.warn("vertex", f"{lost} Gaussians are not finite", "leaves them out")
        splats = SplatRecord(
            splats.means[good],
            splats.log_scales[good],
            splats.rotations[good],
            splats.opacity_logits[good],
            splats.sh[good],
        )
    unturned = np.abs(splats.rotations).max(axis=1) < 1e-12
    if unturned.any():
        what = f"{int(unturned.sum())} Gaussians have no orientation (rot is zero)"
        problems.warn("vertex", what, "does not turn them")
        splats.rotations[unturned] = (1.0, 0.0, 0.0, 0.0)
    return splats
