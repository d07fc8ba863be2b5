"""Draco: the same character compressed and not, what is said without DracoPy, and lies."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import KDTree

from akd.asset.asset import AssetError, MeshPart
from akd.asset.gltf.draco import _claimed_counts
from akd.asset.read import read_asset

NAME = "KHR_draco_mesh_compression"


def only_part(path: Path) -> MeshPart:
    (mesh,) = read_asset(path).meshes
    (part,) = mesh.parts
    return part


@pytest.mark.parametrize("name", ["CesiumMan", "RiggedFigure"])
def test_the_same_character_with_and_without_compression(shared_assets: Path, name: str) -> None:
    pytest.importorskip("DracoPy")
    folder = shared_assets / "khronos" / name
    packed = only_part(folder / "glTF-Draco" / f"{name}.gltf")
    plain = only_part(folder / "glTF-Binary" / f"{name}.glb")
    assert packed.faces.shape == plain.faces.shape
    size = np.ptp(plain.positions, axis=0).max()
    centres = plain.positions[plain.faces].mean(axis=1)
    distance, nearest = KDTree(centres).query(packed.positions[packed.faces].mean(axis=1))
    assert distance.max() < 1e-3 * size
    assert len(set(nearest.tolist())) > 0.99 * len(centres)
    # The weights of each joint, summed over the body, are those of the plain file.
    area = {}
    for key, part in (("packed", packed), ("plain", plain)):
        assert part.weights is not None
        assert part.joints is not None
        joints, weights = part.joints[part.faces], part.weights[part.faces]
        area[key] = np.bincount(joints.reshape(-1), weights.reshape(-1), minlength=19)
    np.testing.assert_allclose(area["packed"], area["plain"], atol=0.01 * len(centres))


def test_without_dracopy_one_line_says_what_to_install(shared_assets, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "DracoPy", None)
    path = shared_assets / "khronos" / "CesiumMan" / "glTF-Draco" / "CesiumMan.gltf"
    with pytest.raises(AssetError) as caught:
        read_asset(path)
    assert str(caught.value) == (
        f"{path}: mesh 0, part 0: is compressed with Draco, which needs DracoPy: "
        "pip install 'akd[draco]'"
    )


@pytest.fixture
def copy(shared_assets: Path, tmp_path: Path) -> Path:
    """A compressed file that a test may break."""
    pytest.importorskip("DracoPy")
    source = shared_assets / "khronos" / "RiggedFigure" / "glTF-Draco"
    shutil.copytree(source, tmp_path / "copy")
    return tmp_path / "copy" / "RiggedFigure.gltf"


def refusal(path: Path) -> str:
    with pytest.raises(AssetError) as caught:
        read_asset(path)
    return str(caught.value).removeprefix(f"{path}: ")


def test_broken_data_is_refused(copy: Path) -> None:
    data = copy.parent / "RiggedFigure0.bin"
    document = json.loads(copy.read_text())
    part = document["meshes"][0]["primitives"][0]["extensions"][NAME]
    view = document["bufferViews"][part["bufferView"]]
    offset = view.get("byteOffset", 0)
    content = bytearray(data.read_bytes())
    where = f"mesh 0, part 0, extensions, {NAME}: "
    vertices, faces = _claimed_counts(bytes(content[offset:]), "")
    assert faces == 256
    assert 0 < vertices <= 370

    def with_bytes(at: int, new: bytes) -> str:
        broken = bytearray(content)
        broken[offset + at : offset + at + len(new)] = new
        data.write_bytes(broken)
        return refusal(copy)

    assert with_bytes(0, b"PUFFO").startswith(where + "must be a Draco 2.2 mesh, got b'PUFFO")
    assert with_bytes(10, b"\x80") == where + "must carry no Draco metadata, but does"
    # Four thousand million vertices in a few bytes.
    assert "the file must fit in 768 MiB of memory" in with_bytes(12, b"\xff\xff\xff\xff\x0f")
    assert with_bytes(14, b"\xff" * 40).startswith(where)


def test_counts_that_do_not_agree_are_refused(copy: Path) -> None:
    document = json.loads(copy.read_text())
    position = document["meshes"][0]["primitives"][0]["attributes"]["POSITION"]
    document["accessors"][position]["count"] = 5
    copy.write_text(json.dumps(document))
    assert refusal(copy) == f"accessor {position}: must have shape (5, 3), its data has (367, 3)"
