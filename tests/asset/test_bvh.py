from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from akd.asset import bvh
from akd.asset.asset import Asset, AssetError
from tests.asset.fuzzing import check_fuzzed

ARM = """HIERARCHY
ROOT Hips
{
	OFFSET 0 1 0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	JOINT Upper Arm
	{
		OFFSET 0 2 0
		CHANNELS 3 Xrotation Yrotation Zrotation
		End Site
		{
			OFFSET 0 0.5 0
		}
	}
}
MOTION
Frames: 2
Frame Time: 0.5
0 1 0 0 0 0 0 0 0
3 4 5 10 20 30 40 50 60
"""


def read(tmp_path: Path, text: str) -> Asset:
    path = tmp_path / "arm.bvh"
    path.write_text(text, newline="")
    return bvh.read(path)


def track(asset: Asset, node: int, path: str) -> np.ndarray:
    (found,) = (t for t in asset.clips[0].tracks if (t.node, t.path) == (node, path))
    return found.values


def matrix(wxyz: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(wxyz[..., [1, 2, 3, 0]]).as_matrix()


def test_hierarchy_becomes_nodes_and_a_skin(tmp_path: Path) -> None:
    asset = read(tmp_path, ARM)
    assert [n.name for n in asset.nodes] == ["Hips", "Upper Arm", "Upper Arm_end"]
    assert [n.parent for n in asset.nodes] == [-1, 0, 1]
    assert asset.scene_roots == (0,)
    np.testing.assert_array_equal(asset.nodes[2].translation, (0, 0.5, 0))
    (skin,) = asset.skins
    np.testing.assert_array_equal(skin.joints, (0, 1))
    # Rest rotations are the identity, so the arm rests at (0, 3, 0).
    np.testing.assert_array_equal(skin.inverse_bind[1][:3, 3], (0, -3, 0))
    np.testing.assert_array_equal(skin.inverse_bind[1][:3, :3], np.eye(3))
    assert asset.problems == ()


def test_angles_compose_in_the_order_of_the_channels(tmp_path: Path) -> None:
    asset = read(tmp_path, ARM)
    np.testing.assert_array_equal(asset.clips[0].tracks[0].times, (0, 0.5))
    np.testing.assert_array_equal(track(asset, 0, "translation"), ((0, 1, 0), (3, 4, 5)))
    # Upper case means intrinsic: the first axis is the outermost.
    hips = Rotation.from_euler("ZXY", (10, 20, 30), degrees=True).as_matrix()
    arm = Rotation.from_euler("XYZ", (40, 50, 60), degrees=True).as_matrix()
    np.testing.assert_allclose(matrix(track(asset, 0, "rotation")[1]), hips, atol=1e-6)
    np.testing.assert_allclose(matrix(track(asset, 1, "rotation")[1]), arm, atol=1e-6)


def test_rotations_stay_in_one_hemisphere(tmp_path: Path) -> None:
    rows = "\n".join(f"0 0 0 {angle} 0 0 0 0 0" for angle in range(0, 1440, 30))
    head = ARM.split("Frames", maxsplit=1)[0]
    asset = read(tmp_path, f"{head}Frames: 48\nFrame Time: 0.1\n{rows}\n")
    values = track(asset, 0, "rotation")
    assert ((values[1:] * values[:-1]).sum(1) > 0.9).all()
    assert not asset.problems


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.lower().replace("hips", "Hips").replace("upper arm", "Upper Arm"),
        lambda text: text.replace("\t", "    "),
        lambda text: text.replace("\n{", " {").replace("0 0 0 0 0 0\n", "0\t0 0 0 0 0  \n\n"),
        lambda text: "\ufeff" + text,
    ],
    ids=["crlf", "cr", "lower case", "spaces", "brace on the line", "byte-order mark"],
)
def test_layout_does_not_matter(tmp_path: Path, change) -> None:
    expected, asset = read(tmp_path, ARM), read(tmp_path, change(ARM))
    assert [n.name for n in asset.nodes] == [n.name for n in expected.nodes]
    for a, b in zip(asset.clips[0].tracks, expected.clips[0].tracks, strict=True):
        np.testing.assert_array_equal(a.values, b.values)
    assert asset.problems == ()


def test_rows_wrapped_over_lines_are_joined(tmp_path: Path) -> None:
    head, first, second, _ = ARM.rsplit("\n", 3)
    wrapped = "\n".join((head, first.replace(" ", "\n"), second.replace(" ", "\n"), ""))
    asset = read(tmp_path, wrapped)
    np.testing.assert_array_equal(track(asset, 0, "translation")[1], (3, 4, 5))


def test_missing_channels_keep_the_rest_pose(tmp_path: Path) -> None:
    text = ARM.replace(
        "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation", "1 Xposition"
    )
    text = text.replace("CHANNELS 3 Xrotation Yrotation Zrotation", "CHANNELS 1 Yrotation")
    text = text.split("Frames")[0] + "Frames: 1\nFrame Time: 0.5\n7 90\n"
    asset = read(tmp_path, text)
    np.testing.assert_array_equal(track(asset, 0, "translation"), ((7, 1, 0),))
    turn = Rotation.from_euler("Y", 90, degrees=True).as_matrix()
    np.testing.assert_allclose(matrix(track(asset, 1, "rotation")[0]), turn, atol=1e-6)
    assert len(asset.clips[0].tracks) == 2


SIX = ARM.replace(
    "CHANNELS 3 Xrotation Yrotation Zrotation",
    "CHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation",
).split("Frames")[0]


def test_positions_of_a_joint_replace_its_offset(tmp_path: Path) -> None:
    asset = read(tmp_path, SIX + "Frames: 1\nFrame Time: 1\n0 0 0 0 0 0 0 2.1 0 0 0 0\n")
    np.testing.assert_allclose(track(asset, 1, "translation")[0], (0, 2.1, 0), atol=1e-6)
    assert asset.problems == ()


def test_positions_near_zero_are_added_to_the_offset(tmp_path: Path) -> None:
    asset = read(tmp_path, SIX + "Frames: 1\nFrame Time: 1\n9 9 9 0 0 0 0 0.1 0 0 0 0\n")
    np.testing.assert_allclose(track(asset, 1, "translation")[0], (0, 2.1, 0), atol=1e-6)
    np.testing.assert_allclose(track(asset, 0, "translation")[0], (9, 9, 9))
    assert [p.action for p in asset.problems] == ["adds them to the OFFSET"]


@pytest.mark.parametrize(
    ("written", "step", "action"),
    [
        ("0", 1 / 30, "takes 30 frames per second"),
        ("-1", 1 / 30, "takes 30 frames per second"),
        ("nan", 1 / 30, "takes 30 frames per second"),
        ("soon", 1 / 30, "takes 30 frames per second"),
        ("1e9", 1 / 30, "takes 30 frames per second"),
        ("120", 1 / 120, "takes it as frames per second"),
    ],
)
def test_frame_time_is_repaired(tmp_path: Path, written: str, step: float, action: str) -> None:
    asset = read(tmp_path, ARM.replace("Time: 0.5", f"Time: {written}"))
    np.testing.assert_allclose(asset.clips[0].tracks[0].times, (0, step), rtol=1e-6)
    (problem,) = asset.problems
    assert (problem.where, problem.action) == ("Frame Time", action)
    assert problem.what == f"{written!r} is no frame time"


@pytest.mark.parametrize("declared", ["200", "1", "0", "-3", "many", "99999999999999999999"])
def test_lying_frame_counts_are_reported(tmp_path: Path, declared: str) -> None:
    asset = read(tmp_path, ARM.replace("Frames: 2", f"Frames: {declared}"))
    assert len(asset.clips[0].tracks[0].times) == 2
    assert [p.where for p in asset.problems] == ["Frames"]
    assert f"declares {declared[:20]} frames and holds 2" in asset.problems[0].what


def test_truncated_row_is_reported(tmp_path: Path) -> None:
    asset = read(tmp_path, ARM[: -len("50 60\n")])
    assert len(asset.clips[0].tracks[0].times) == 1
    assert "row 1 is not 9 numbers" in [p.what for p in asset.problems]


def test_rows_after_a_bad_word_are_left_out(tmp_path: Path) -> None:
    asset = read(tmp_path, ARM.replace("4 5 10", "4 five 10"))
    assert len(asset.clips[0].tracks[0].times) == 1


def test_values_that_are_not_finite_are_held(tmp_path: Path) -> None:
    asset = read(tmp_path, ARM.replace("3 4 5", "nan inf 5").replace("\n0 1 0", "\nnan 1 0"))
    np.testing.assert_array_equal(track(asset, 0, "translation"), ((0, 1, 0), (0, 1, 5)))
    assert "3 values are not finite numbers" in [p.what for p in asset.problems]


def test_without_motion_the_hierarchy_is_read(tmp_path: Path) -> None:
    asset = read(tmp_path, ARM.split("MOTION", maxsplit=1)[0])
    assert len(asset.nodes) == 3
    assert asset.clips == ()
    assert [p.what for p in asset.problems] == ["is missing"]


def test_repeated_names_are_numbered(tmp_path: Path) -> None:
    asset = read(tmp_path, ARM.replace("Upper Arm", "Hips"))
    assert [n.name for n in asset.nodes] == ["Hips", "Hips_2", "Hips_2_end"]
    assert "the name 'Hips' is used more than once" in asset.problems[0].what


def test_several_roots(tmp_path: Path) -> None:
    tree = "ROOT A\n{\nOFFSET 1 0 0\nCHANNELS 1 Xrotation\n}\n"
    text = (
        "HIERARCHY\n"
        + tree
        + tree.replace("ROOT A", "ROOT B")
        + "MOTION\nFrames: 1\nFrame Time: 1\n0 0\n"
    )
    assert read(tmp_path, text).scene_roots == (0, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: "", "HIERARCHY must hold a ROOT, got none"),
        (lambda t: t.replace("ROOT", "JOINT", 1), "'JOINT Hips' must lie inside a ROOT"),
        (lambda t: t.replace("0 2 0", "0 2"), "OFFSET of 'Upper Arm' must be 3 numbers, got '0 2'"),
        (lambda t: t.replace("0 2 0", "0 nan 0"),
         "OFFSET of 'Upper Arm' must be 3 numbers, got '0 nan 0'"),
        (lambda t: t.replace("CHANNELS 3", "CHANNELS 4"),
         "CHANNELS of 'Upper Arm' must be a count and as many names, "
         "got '4 Xrotation Yrotation Zrotation'"),
        (lambda t: t.replace("MOTION", "}\nMOTION"), "'}' must close a '{', got one too many"),
        (lambda t: t.replace("Frames:", "Shots:"),
         "MOTION must start with 'Frames:' and 'Frame Time:'"),
    ],
)  # fmt: skip
def test_unusable_files_are_refused_in_one_line(tmp_path: Path, change, message: str) -> None:
    with pytest.raises(AssetError) as error:
        read(tmp_path, change(ARM))
    assert str(error.value) == f"{tmp_path / 'arm.bvh'}: {message}"


@pytest.mark.slow
def test_deep_and_repetitive_hierarchies_do_not_hang(tmp_path: Path) -> None:
    depth = 20_000
    text = "".join("JOINT a\n{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n" for _ in range(depth))
    asset = read(tmp_path, "HIERARCHY\n" + text.replace("JOINT", "ROOT", 1) + "}\n" * depth)
    assert len(asset.nodes) == depth
    assert asset.nodes[-1].name == f"a_{depth}"


def test_fuzzed(tmp_path: Path) -> None:
    check_fuzzed(bvh.read, tmp_path / "a.bvh", ARM.encode())


def test_every_real_file_is_read(shared_assets: Path) -> None:
    paths = sorted(p for p in shared_assets.rglob("*.bvh") if "robustness" not in p.parts)
    assert len(paths) >= 18
    for path in paths:
        asset = bvh.read(path)
        rows = path.read_text().split("Frame Time")[1].split("\n", 1)[1].split()
        declared = int(path.read_text().split("Frames:")[1].split()[0])
        channels = len(rows) // declared
        columns = np.array(rows, dtype=float).reshape(declared, channels)
        root = track(asset, 0, "translation")
        np.testing.assert_allclose(root, columns[:, :3], rtol=1e-6, atol=1e-6)
        assert all(p.severity == "note" for p in asset.problems)
