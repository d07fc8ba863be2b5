"""The up axis of files whose format does not state one."""

from __future__ import annotations

from pathlib import Path

import pytest

from akd.asset.read import read_asset
from akd.rig.up_axis import find_up_axis

CAPTURED = """HIERARCHY
ROOT Hips
{{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
{joints}}}
MOTION
Frames: 1
Frame Time: 0.0333333
{numbers}
"""


def stick_figure(path: Path, up: str) -> Path:
    """Hips, a spine and two legs, with an axis of choice up."""

    def offset(side: float, height: float, ahead: float) -> str:
        x, y, z = {"y": (side, height, ahead), "z": (side, -ahead, height)}[up]
        return f"OFFSET {x} {y} {z}"

    def chain(names: tuple[str, ...], offsets: tuple[str, ...]) -> str:
        if len(names) == 0:
            return f"End Site\n{{\n{offsets[0]}\n}}\n"
        rest = chain(names[1:], offsets[1:])
        channels = "CHANNELS 3 Zrotation Xrotation Yrotation"
        return f"JOINT {names[0]}\n{{\n{offsets[0]}\n{channels}\n{rest}}}\n"

    joints = chain(
        ("Spine", "Chest", "Neck", "Head"),
        (*(offset(0, 12.0, 0) for _ in range(4)), offset(0, 15.0, 0)),
    )
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        joints += chain(
            (f"{side}UpLeg", f"{side}Leg", f"{side}Foot"),
            (offset(9 * sign, 0, 0), offset(0, -40.0, 0), offset(0, -40.0, 0), offset(0, -5, 14.0)),
        )
        joints += chain(
            (f"{side}Arm", f"{side}ForeArm", f"{side}Hand"),
            (offset(20 * sign, 40.0, 0), offset(25 * sign, 0, 0), offset(25 * sign, 0, 0),
             offset(8 * sign, 0, 0)),
        )  # fmt: skip
    count = joints.count("CHANNELS 3") * 3 + 6
    text = CAPTURED.format(joints=joints, numbers=" ".join(["0"] * count))
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("up", ["y", "z"])
def test_legs_hang_down(tmp_path: Path, up: str) -> None:
    asset = read_asset(stick_figure(tmp_path / "figure.bvh", up))
    assert len(asset.skins[0].joints) > 10
    assert find_up_axis(asset) == up


@pytest.mark.slow
def test_real_files(shared_assets: Path) -> None:
    files = dict.fromkeys(sorted((shared_assets / "cmu_bvh").glob("*.bvh"))[:4], "y")
    files |= dict.fromkeys(sorted((shared_assets / "makehuman" / "bvh").glob("*.bvh")), "z")
    assert len(files) > 5
    assert {f: find_up_axis(read_asset(f)) for f in files} == files


def test_gltf_states_its_axis(shared_assets: Path) -> None:
    fox = shared_assets / "khronos" / "Fox" / "glTF-Binary" / "Fox.glb"
    assert find_up_axis(read_asset(fox)) == "y"
