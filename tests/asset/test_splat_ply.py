import gzip
from pathlib import Path

import numpy as np
import pytest

from akd.asset import ply, splat_ply
from akd.asset.asset import AssetError, SplatRecord
from akd.asset.read import read_asset
from tests.asset.fuzzing import check_fuzzed

POSITION, NORMAL = ["x", "y", "z"], ["nx", "ny", "nz"]
DC, SCALE = [f"f_dc_{i}" for i in range(3)], [f"scale_{i}" for i in range(3)]
ROTATION = [f"rot_{i}" for i in range(4)]


def rest(count: int) -> list[str]:
    return [f"f_rest_{i}" for i in range(count)]


REFERENCE = [*POSITION, *NORMAL, *DC, *rest(9), "opacity", *SCALE, *ROTATION]
VARIANT = [*POSITION, *SCALE, *DC, "opacity", *ROTATION, *rest(9)]


def value(name: str, row: int) -> float:
    """A different number for every property and row."""
    return round(row + sum(ord(c) * 0.001 * (i + 1) for i, c in enumerate(name)), 4)


def cloud(names: list[str], count: int = 3, *, ascii: bool = False, dtype: str = "float") -> bytes:
    kind = "ascii" if ascii else "binary_little_endian"
    lines = ["ply", f"format {kind} 1.0", f"element vertex {count}"]
    lines += [f"property {dtype} {name}" for name in names]
    head = "\n".join((*lines, "end_header", "")).encode()
    rows = np.array([[value(name, row) for name in names] for row in range(count)])
    if ascii:
        return head + "\n".join(" ".join(map(str, row)) for row in rows).encode() + b"\n"
    return head + rows.astype("<f8" if dtype == "double" else "<f4").tobytes()


def read(tmp_path: Path, data: bytes) -> SplatRecord:
    path = tmp_path / "cloud.ply"
    path.write_bytes(data)
    asset = splat_ply.read(path)
    assert asset.format == "splat-ply"
    assert asset.splats is not None
    return asset.splats


@pytest.mark.parametrize("names", [REFERENCE, VARIANT], ids=["reference", "variant"])
@pytest.mark.parametrize("kind", ["binary", "ascii", "double"])
def test_both_property_orders(tmp_path: Path, names: list[str], kind: str) -> None:
    data = cloud(names, ascii=kind == "ascii", dtype="double" if kind == "double" else "float")
    splats = read(tmp_path, data)
    for row in range(3):
        expected = [value(n, row) for n in ROTATION]
        np.testing.assert_allclose(splats.rotations[row], expected, rtol=1e-6)
        np.testing.assert_allclose(splats.means[row], [value(n, row) for n in POSITION], rtol=1e-6)
        np.testing.assert_allclose(
            splats.log_scales[row], [value(n, row) for n in SCALE], rtol=1e-6
        )
        np.testing.assert_allclose(splats.opacity_logits[row], value("opacity", row), rtol=1e-6)
        np.testing.assert_allclose(splats.sh[row, 0], [value(n, row) for n in DC], rtol=1e-6)
        # f_rest holds the three coefficients of red, then those of green, then of blue.
        for k in range(3):
            expected = [value(f"f_rest_{c * 3 + k}", row) for c in range(3)]
            np.testing.assert_allclose(splats.sh[row, 1 + k], expected, rtol=1e-6)


@pytest.mark.parametrize(("count", "width"), [(0, 1), (9, 4), (24, 9), (45, 16)])
def test_degrees(tmp_path: Path, count: int, width: int) -> None:
    names = [*POSITION, *DC, *rest(count), "opacity", *SCALE, *ROTATION]
    splats = read(tmp_path, cloud(names))
    assert splats.sh.shape == (3, width, 3)
    if count:
        last = value(f"f_rest_{count - 1}", 2)
        np.testing.assert_allclose(splats.sh[2, -1, 2], last, rtol=1e-6)


def test_odd_number_of_coefficients_keeps_whole_degrees(tmp_path: Path) -> None:
    names = [*POSITION, *DC, *rest(36), "opacity", *SCALE, *ROTATION]
    path = tmp_path / "cloud.ply"
    path.write_bytes(cloud(names))
    asset = splat_ply.read(path)
    assert asset.splats is not None
    assert asset.splats.sh.shape == (3, 9, 3)
    # Twelve coefficients a colour are stored, the first eight are read.
    np.testing.assert_allclose(asset.splats.sh[0, 8, 1], value("f_rest_19", 0), rtol=1e-6)
    assert [p.what for p in asset.problems] == ["36 coefficients are not 0, 9, 24 or 45"]


def test_gaussians_that_are_not_finite_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "cloud.ply"
    data = bytearray(cloud(VARIANT))
    last = len(data) - 4 * len(VARIANT)
    data[last : last + 4] = b"\0\0\xc0\x7f"  # not a number
    path.write_bytes(data)
    asset = splat_ply.read(path)
    assert asset.splats is not None
    assert len(asset.splats.means) == 2
    assert [p.what for p in asset.problems] == ["1 Gaussians are not finite"]


def test_a_mesh_reader_passes_gaussians_on(tmp_path: Path) -> None:
    path = tmp_path / "cloud.ply"
    path.write_bytes(cloud(REFERENCE))
    assert ply.read(path).format == "splat-ply"
    assert read_asset(path).format == "splat-ply"


@pytest.mark.parametrize(
    ("name", "data", "start"),
    [
        (
            "a.spz",
            gzip.compress(b"NGSP", mtime=0),
            "SPZ (compressed Gaussians) is not supported: akd reads",
        ),
        ("a.sog", b"PK\x03\x04", "SOG (compressed Gaussians) is not supported: akd reads"),
        ("a.ply", cloud(["packed_position"]), "compressed Gaussian PLY (packed_position) is not"),
        ("a.ply", cloud([*POSITION, *DC, *SCALE, *ROTATION]), "a Gaussian must have opacity: akd"),
        ("a.ply", cloud(VARIANT, count=0), "a Gaussian cloud must hold at least one Gaussian"),
    ],
)
def test_other_formats_are_refused_in_one_line(
    tmp_path: Path, name: str, data: bytes, start: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(AssetError) as error:
        splat_ply.read(tmp_path / name)
    assert str(error.value).startswith(f"{tmp_path / name}: {start}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("data", [cloud(VARIANT), cloud(REFERENCE, ascii=True)])
def test_fuzzed(tmp_path: Path, data: bytes) -> None:
    check_fuzzed(splat_ply.read, tmp_path / "a.ply", data)


def test_real_files(shared_assets: Path) -> None:
    folder = shared_assets / "splats"
    asset = read_asset(folder / "combined_SPZv3.ply")
    assert asset.splats is not None
    assert asset.splats.sh.shape == (1566, 4, 3)
    # The same scene as SPZ: 16 bytes of header, then positions in 24-bit fixed point.
    packed = gzip.decompress((folder / "combined_SPZv3.spz").read_bytes())
    digits = np.frombuffer(packed, np.uint8, 1566 * 9, 16).reshape(1566, 3, 3).astype(np.int64)
    fixed = digits @ (1, 1 << 8, 1 << 16)
    expected = np.where(fixed >= 1 << 23, fixed - (1 << 24), fixed) / (1 << packed[13])
    order = np.lexsort(asset.splats.means.T)
    np.testing.assert_allclose(
        asset.splats.means[order], expected[np.lexsort(expected.T)], atol=1e-3
    )
    for name in ("combined_SPZv3.spz", "combined_SPZv3.sog", "combined_SPZv3.compressed.ply"):
        with pytest.raises(AssetError, match="akd reads uncompressed 3DGS PLY"):
            read_asset(folder / name)
