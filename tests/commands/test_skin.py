"""`akd skin`, from the command line to the file."""

import json

import numpy as np
import pytest

from akd.cli import main
from tests.independent_gltf import IndependentGltf

pytestmark = pytest.mark.slow


def run(capfd, *arguments) -> tuple[int, str, str]:
    code = main([str(a) for a in arguments])
    out, err = capfd.readouterr()
    return code, out, err


FILES = [
    "khronos/Fox/glTF-Binary/Fox.glb",
    "quaternius/modular_men/King.glb",
    "threejs/RobotExpressive/RobotExpressive.glb",
]


@pytest.mark.parametrize("name", FILES)
def test_only_joints_and_weights_change(name, shared_assets, tmp_path, capfd):
    out = tmp_path / "out.glb"
    code, said, _ = run(capfd, "skin", shared_assets / name, "-o", out)
    assert code == 0
    assert "vertices on" in said
    before, after = IndependentGltf(shared_assets / name), IndependentGltf(out)
    for key in before.json:
        if key not in ("accessors", "bufferViews", "buffers", "meshes", "images"):
            assert after.json[key] == before.json[key], key
    changed = 0
    for old, new in zip(before.json["meshes"], after.json["meshes"], strict=True):
        for p, q in zip(old["primitives"], new["primitives"], strict=True):
            assert p.get("material") == q.get("material")
            for attribute, index in p["attributes"].items():
                values = before.accessor(index)
                if attribute.startswith(("JOINTS", "WEIGHTS")):
                    continue
                np.testing.assert_array_equal(after.accessor(q["attributes"][attribute]), values)
            if "indices" in p:
                np.testing.assert_array_equal(
                    after.accessor(q["indices"]), before.accessor(p["indices"])
                )
            if "WEIGHTS_0" in p["attributes"]:
                weights = after.accessor(q["attributes"]["WEIGHTS_0"])
                np.testing.assert_array_equal(weights.sum(axis=1), 1.0)
                theirs = before.accessor(p["attributes"]["WEIGHTS_0"])
                changed += int(np.abs(np.sort(weights) - np.sort(theirs)).max() > 0.05)
    assert changed > 0
    assert len(after.json["nodes"]) == len(before.json["nodes"])


def test_the_weights_move_the_fox_almost_as_the_artist_does(shared_assets, tmp_path, capfd):
    path = shared_assets / FILES[0]
    out = tmp_path / "fox.glb"
    assert run(capfd, "skin", path, "-o", out)[0] == 0
    before, after = IndependentGltf(path), IndependentGltf(out)
    clip = next(a for a in before.json["animations"] if a["name"] == "Walk")
    gaps = []
    for time in (0.0, 0.2, 0.4):
        old = before.skinned(before.worlds(before.clip_at(clip, time)))[0]
        new = after.skinned(after.worlds(after.clip_at(clip, time)))[0]
        gaps.append(np.linalg.norm(old - new, axis=1))
    # 79 units tall; 1.3 % of that on average over the walk.
    assert 0.001 < np.sqrt(np.mean(np.square(gaps))) / 79.0 < 0.02


def test_what_cannot_be_skinned_is_one_line(shared_assets, tmp_path, capfd):
    out = tmp_path / "out.glb"
    spot = shared_assets / "unrigged" / "spot" / "spot_low_resolution.obj"
    for arguments, message in (
        ((spot, "-o", out), "has no skeleton to bind to"),
        ((tmp_path / "none.glb", "-o", out), "there is no such file"),
        ((shared_assets / FILES[0], "-o", out, "--influences", "0"), "--influences must be from"),
        ((shared_assets / FILES[0], "-o", out, "--heat", "-1"), "--heat must be above zero"),
        (
            (shared_assets / "mesh2motion" / "rigs" / "rig-fox.glb", "-o", out),
            "there is no mesh to bind",
        ),
    ):
        code, _, err = run(capfd, "skin", *arguments)
        lines = [line for line in err.splitlines() if "Warp" not in line]
        assert code == 2
        assert len(lines) == 1
        assert message in lines[0]
        assert not out.exists()


def test_a_mesh_without_area_is_one_line(tmp_path, capfd):
    import base64
    import struct

    # One triangle whose corners are all in one place, on one joint.
    data = struct.pack("<9f", *([0.0] * 9)) + bytes(12) + struct.pack("<12f", *([1, 0, 0, 0] * 3))
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    views = [(0, 36), (36, 12), (48, 48)]
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"mesh": 0, "skin": 0}, {"name": "bone"}],
        "skins": [{"joints": [1]}],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}]}
        ],
        "buffers": [{"byteLength": len(data), "uri": uri}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": offset, "byteLength": length} for offset, length in views
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
             "min": [0, 0, 0], "max": [0, 0, 0]},
            {"bufferView": 1, "componentType": 5121, "count": 3, "type": "VEC4"},
            {"bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC4"},
        ],
    }  # fmt: skip
    path = tmp_path / "flat.gltf"
    path.write_text(json.dumps(document))
    code, _, err = run(capfd, "skin", path, "-o", tmp_path / "out.glb")
    lines = [line for line in err.splitlines() if "Warp" not in line]
    assert code == 2
    assert len(lines) == 1
    assert str(path) in lines[0]
