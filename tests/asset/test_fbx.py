"""FBX: the same asset as from glTF, in metres with Y up, or one line."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.cli import main
from akd.export import fbx
from akd.export.gltf.write import write_glb
from benchmarks.fbx_round_trip import compare, frame_rate
from tests.asset.fbx_text import SECOND, fbx_text, painted_text, write_fbx_text
from tests.asset.test_robustness import check_sound
from tests.assets import SHARED_ASSETS

pytest.importorskip("ufbx")


@pytest.mark.parametrize(("up", "unit"), [("y", 1.0), ("z", 1.0), ("y", 100.0)])
def test_bones_skin_and_clip_are_in_metres_with_y_up(tmp_path, up, unit):
    asset = read_asset(write_fbx_text(tmp_path / "strip.fbx", up=up, unit=unit))
    check_sound(asset)
    assert asset.format == "fbx"
    assert [node.name for node in asset.nodes] == ["hips", "strip", "spine"]
    metre = 0.01 * unit
    _, strip, spine = asset.nodes
    np.testing.assert_allclose(spine.translation, (0.0, 100 * metre, 0.0), atol=1e-6)
    assert (spine.parent, strip.mesh, strip.skin) == (0, 0, 0)
    (part,) = asset.meshes[0].parts
    assert part.positions.max(axis=0) == pytest.approx((10 * metre, 200 * metre, 0.0), abs=1e-6)
    assert len(part.faces) == 4
    middle = np.abs(part.positions[:, 1] - 100 * metre) < 1e-4
    assert part.weights is not None
    assert np.sort(part.weights[middle], axis=1)[:, -2:] == pytest.approx(0.5)
    inverse_bind = asset.skins[0].inverse_bind[list(asset.skins[0].joints).index(2)]
    assert inverse_bind[:3, 3] == pytest.approx((0.0, -100 * metre, 0.0), abs=1e-6)
    (clip,) = asset.clips
    assert (clip.name, clip.end) == ("bend", pytest.approx(1.0))
    (track,) = clip.tracks
    assert (track.node, track.path, len(track.times)) == (2, "rotation", 31)
    about = (0.0, 0.0, 1.0) if up == "y" else (0.0, 1.0, 0.0)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(track.values[-1], (half, *(half * np.array(about))), atol=1e-5)


def test_a_clip_can_be_added_and_the_file_written_as_glb(tmp_path):
    asset = read_asset(write_fbx_text(tmp_path / "strip.fbx"))
    assert asset.document is not None
    write_glb(asset.document, tmp_path / "strip.glb")
    again = read_asset(tmp_path / "strip.glb")
    assert [node.name for node in again.nodes] == [node.name for node in asset.nodes]
    assert again.clips[0].name == "bend"
    np.testing.assert_array_equal(again.clips[0].tracks[0].values, asset.clips[0].tracks[0].values)


def png(colour):
    drawn = io.BytesIO()
    Image.new("RGB", (4, 2), colour).save(drawn, "PNG")
    return drawn.getvalue()


@pytest.mark.parametrize("embedded", [True, False])
def test_paint_and_blend_shapes(tmp_path, embedded):
    path, image = tmp_path / "a.fbx", png((255, 0, 0))
    path.write_text(painted_text(image, file_name="skin.png", embedded=embedded))
    if not embedded:
        (tmp_path / "skin.png").write_bytes(image)
    asset = read_asset(path)
    check_sound(asset)
    assert not asset.problems
    (mesh,) = asset.meshes
    (part,) = mesh.parts
    assert part.normals is not None
    assert part.uv is not None
    assert part.colours is not None
    np.testing.assert_allclose(part.normals, [(0.0, 0.0, 1.0)] * len(part.positions), atol=1e-6)
    assert {tuple(uv) for uv in part.uv.tolist()} == {(0, 1), (1, 1), (1, 0.5), (0, 0.5)}
    np.testing.assert_allclose(part.colours[:, 0], 1.0)
    (material,) = asset.materials
    assert (material.name, material.base_colour) == ("paint", (1.0, 1.0, 1.0, 1.0))
    assert material.wrap == ("clamp", "repeat")
    assert material.image is not None
    assert asset.images[material.image].data == image
    assert part.morphs is not None
    lifted = np.linalg.norm(part.morphs[0], axis=1)
    assert sorted({round(float(height), 6) for height in lifted}) == [0.0, 0.1]
    assert mesh.morph_names == ("lift",)
    assert mesh.morph_weights is not None
    assert mesh.morph_weights.tolist() == [0.25]


@pytest.mark.parametrize(
    ("image", "name", "problem"),
    [
        (b"no image", "skin.png", "cannot be read"),
        (b"", "", None),
        (b"", "../skin.png", "there is no readable image"),
    ],
)
def test_textures_that_cannot_be_used_leave_the_colour(tmp_path, image, name, problem):
    path = tmp_path / "inner" / "a.fbx"
    path.parent.mkdir()
    (tmp_path / "skin.png").write_bytes(png((0, 0, 255)))
    path.write_text(painted_text(image, file_name=name, embedded=bool(image)))
    asset = read_asset(path)
    (material,) = asset.materials
    assert (material.image, asset.images) == (None, ())
    assert material.base_colour == pytest.approx((0.2, 0.4, 0.6, 1.0))
    assert [problem in p.what for p in asset.problems] == ([True] if problem else [])


def test_vertices_without_a_cluster_stay_with_their_node(tmp_path):
    path = tmp_path / "a.fbx"
    rest = "\t\tIndexes: *2 {\n\t\t\ta: 4,5\n\t\t}\n\t\tWeights: *2 {\n\t\t\ta: 1,1\n\t\t}\n"
    before, _, after = fbx_text().partition("\t\tIndexes: *4 {\n\t\t\ta: 2,3,4,5\n")
    path.write_text(before + rest + after.partition("a: 0.5,0.5,1,1\n\t\t}\n")[2])
    path.write_text(path.read_text().replace("a: 0,1,2,3", "a: 0,1,0,1"))
    asset = read_asset(path)
    check_sound(asset)
    names = [asset.nodes[joint].name for joint in asset.skins[0].joints]
    assert names == ["hips", "spine", "strip"]


def test_a_clip_of_hours_is_left_out(tmp_path):
    path = tmp_path / "a.fbx"
    path.write_text(fbx_text().replace(str(SECOND), str(40_000 * SECOND)))
    asset = read_asset(path)
    assert asset.clips == ()
    assert "more than 4000000 poses" in asset.problems[0].what


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b"Kaydara FBX Binary  \0\x1a\0",
        b"Kaydara FBX Binary  \0\x1a\0" + b"\xff" * 200,
        b"; FBX 7.4.0 project file\nObjects:  {\n",
        fbx_text().encode()[:900],
        fbx_text().replace("0,1,3,-3", "0,1,9,-3").encode(),
        fbx_text().replace("*18 {", "*999999999999 {").encode(),
    ],
)
def test_a_broken_file_is_read_or_one_line(tmp_path, data, capsys):
    path = tmp_path / "a.fbx"
    path.write_bytes(data)
    try:
        check_sound(read_asset(path))
    except AssetError as error:
        assert str(error).startswith(str(path))
        assert "\n" not in str(error)
        assert main(["inspect", str(path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_reader_that_crashes_is_one_line(tmp_path, monkeypatch):
    from akd.asset import isolated

    monkeypatch.setattr(isolated.sys, "executable", "/bin/false")
    with pytest.raises(AssetError, match=r"a\.fbx: is broken: the FBX reader failed"):
        read_asset(write_fbx_text(tmp_path / "a.fbx"))


def test_the_child_keeps_to_its_memory(tmp_path):
    order = (
        "import akd.asset.isolated as i, resource\n"
        "i.READERS['fbx'] = ('greedy', 'ufbx')\n"
        "i.main('fbx', 'a', 'b')"
    )
    (tmp_path / "greedy.py").write_text(
        "def read_records(*_):\n    return bytearray(4 << 30)\n", "utf-8"
    )
    path = os.pathsep.join((str(tmp_path), *sys.path))
    done = subprocess.run(
        [sys.executable, "-c", order], env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "must fit in 768 MiB of memory\n")


@pytest.mark.slow
def test_the_child_keeps_to_its_time(tmp_path):
    order = (
        "import akd.asset.isolated as i\n"
        "i.READERS['fbx'] = ('slow', 'ufbx')\n"
        "i._PROCESSOR_SECONDS = 1\n"
        "i.main('fbx', 'a', 'b')"
    )
    (tmp_path / "slow.py").write_text("def read_records(*_):\n    while True:\n        pass\n")
    path = os.pathsep.join((str(tmp_path), *sys.path))
    done = subprocess.run(
        [sys.executable, "-c", order], env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


def test_lower_limits_of_the_shell_stay(tmp_path):
    path = write_fbx_text(tmp_path / "a.fbx")
    order = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (9, 9))\n"
        "from akd.asset.read import read_asset\n"
        "print(len(read_asset(__import__('pathlib').Path(sys.argv[1])).nodes))"
    )
    done = subprocess.run(
        [sys.executable, "-c", order, path], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout == f"{len(read_asset(path).nodes)}\n", done.stderr


@pytest.mark.parametrize("name", ["Wolf", "Eagle", "Zombie"])
def test_real_files_are_read(name):
    path = SHARED_ASSETS / "quaternius" / "fbx_2016_2018" / f"{name}.fbx"
    if not path.exists():
        pytest.skip("needs the shared assets")
    asset = read_asset(path)
    check_sound(asset)
    assert asset.clips
    assert asset.skins


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "quaternius/animals_pack/Husky.glb",
        "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
        "khronos/Fox/glTF/Fox.gltf",  # fewer keys than frames
        "threejs/RobotExpressive/RobotExpressive.glb",  # rigid pieces on bones, under a scale
        "quaternius/easy_enemies_pack/Wasp.glb",  # weights that are not numbers
    ],
)
def test_what_blender_wrote_is_what_the_glb_holds(name, tmp_path: Path, monkeypatch):
    if "AKD_TEST_BPY" not in os.environ or not (SHARED_ASSETS / name).exists():
        pytest.skip("needs the shared assets and Blender's Python, AKD_TEST_BPY")
    monkeypatch.setenv("AKD_BLENDER", os.environ["AKD_TEST_BPY"])
    fps = frame_rate(SHARED_ASSETS / name)
    fbx.write_fbx(SHARED_ASSETS / name, tmp_path / "made.fbx", fps=fps)
    found = compare(SHARED_ASSETS / name, tmp_path / "made.fbx", fps=fps)
    assert found.clips
    assert max(found.joints, found.vertices) < 1e-3
    assert found.weights < 1e-3
