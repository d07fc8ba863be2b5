"""`akd.convert`: each target holds what the source does, read by somebody else where possible."""

from pathlib import Path

import av
import numpy as np
import pytest
import torch
from PIL import Image

import akd
from akd.api.clips import find_motion
from akd.api.loading import load
from akd.asset.read import read_asset
from akd.cli import main
from akd.export.amass import PARENTS, smpl_joints
from akd.export.creature import write_creature
from akd.export.mjcf import zup_from_yup
from akd.math import quaternion
from akd.motion.grid import on_grid
from akd.zoo.gait.clips import make_clip
from tests.asset.fbx_text import write_fbx_text
from tests.assets import SHARED_ASSETS
from tests.zoo.menagerie import creature

HUMAN = SHARED_ASSETS / "khronos" / "CesiumMan" / "glTF-Binary" / "CesiumMan.glb"


@pytest.fixture(scope="module")
def fox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    animal = creature("fox")
    path = tmp_path_factory.mktemp("fox") / "fox.glb"
    write_creature(animal, [on_grid(make_clip(animal, "walk"), 30.0)], path)
    return path


def test_fbx_becomes_glb(tmp_path):
    pytest.importorskip("ufbx")
    source = write_fbx_text(tmp_path / "strip.fbx")
    assert akd.convert(source, tmp_path / "strip.glb") == [tmp_path / "strip.glb"]
    made = read_asset(tmp_path / "strip.glb")
    assert [node.name for node in made.nodes] == ["hips", "strip", "spine"]


def test_a_format_without_a_document_becomes_glb(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "utf-8")
    akd.convert(tmp_path / "a.obj", tmp_path / "a.glb")
    assert read_asset(tmp_path / "a.glb").face_count == 1


@pytest.mark.slow
def test_qpos_poses_the_body_in_mujoco(fox, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    table, xml = akd.convert(fox, tmp_path / "walk.csv", fps=10.0)
    names = table.read_text("utf-8").splitlines()[0].split(",")
    rows = np.loadtxt(table, delimiter=",", skiprows=1)
    model = mujoco.MjModel.from_xml_path(str(xml))
    data = mujoco.MjData(model)
    assert rows.shape[1] == model.nq == len(names)
    assert [model.joint(i).name for i in range(1, model.njnt)] == names[7:]
    character = load(fox)
    motion = on_grid(find_motion(character), 10.0)
    rig = character.control_rig
    world = rig.world(rig.from_pose(motion.pose))
    foot = next(j for j, role in enumerate(character.anatomy.roles) if str(role) == "head")
    for row, frame in zip(rows, world, strict=True):
        data.qpos = row
        mujoco.mj_forward(model, data)
        place = zup_from_yup(frame[foot, :3, 3]).numpy()
        np.testing.assert_allclose(data.body("head").xpos[:2], place[:2], atol=0.02)
    mujoco.mj_step(model, data)
    assert np.isfinite(data.qpos).all()


def test_bones_of_amass_point_where_the_character_has_them(tmp_path):
    if not HUMAN.exists():
        pytest.skip("needs the shared assets")
    akd.convert(HUMAN, tmp_path / "walk.npz", fps=10.0)
    made = np.load(tmp_path / "walk.npz")
    poses = torch.from_numpy(made["poses"]).reshape(-1, 52, 3)
    assert float(made["mocap_framerate"]) == 10.0
    character = load(HUMAN)
    world = on_grid(find_motion(character), 10.0).world().double()
    joints, forward = smpl_joints(character), character.forward.double()
    facing = quaternion.between(forward, forward.new_tensor((0.0, 0.0, 1.0)))
    turns: list[torch.Tensor] = []
    for joint, parent in enumerate(PARENTS):
        local = quaternion.from_rotation_vector(poses[:, joint])
        turns.append(local if parent < 0 else quaternion.multiply(turns[parent], local))
    for joint, child, rest in ((1, 4, (0, -1, 0)), (5, 8, (0, -1, 0)), (16, 18, (1, 0, 0)),
                               (17, 19, (-1, 0, 0))):  # fmt: skip
        bone = world[:, joints[child], :3, 3] - world[:, joints[joint], :3, 3]
        bone = zup_from_yup(quaternion.rotate(facing, bone / bone.norm(dim=1, keepdim=True)))
        pointed = quaternion.rotate(turns[joint], bone.new_tensor(rest))
        assert float((pointed - bone).norm(dim=1).max()) < 1e-4


def test_four_legs_are_no_humanoid(fox, tmp_path, capsys):
    assert main(["convert", str(fox), str(tmp_path / "fox.npz")]) == 2
    assert "must have the pelvis, legs and arms of a humanoid" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_films_and_gaussians(fox, tmp_path):
    options = {"size": (64, 48), "splats": 200, "fps": 4.0}
    akd.convert(fox, tmp_path / "fox.webp", view="side", **options)
    with Image.open(tmp_path / "fox.webp") as film:
        assert (film.size, film.n_frames) == ((64, 48), pytest.approx(3, abs=2))
    akd.convert(fox, tmp_path / "fox.mp4", **options)
    with av.open(str(tmp_path / "fox.mp4")) as film:
        assert film.streams.video[0].width == 64
    frames = akd.convert(fox, tmp_path / "fox.ply", splats=200, fps=4.0)
    assert frames[0].name == "fox-0000.ply"
    splats = read_asset(frames[0]).splats
    assert splats is not None
    assert len(splats.means) == 200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.xyz"], "target must end in one of"),
        (["a.mp4", "--size", "9x9"], "--size must be WIDTHxHEIGHT"),
        (["a.mp4", "--view", "above"], "view must be one of"),
    ],
)
def test_wrong_options_are_one_line(fox, tmp_path, capsys, words, message):
    assert main(["convert", str(fox), str(tmp_path / words[0]), *words[1:]]) == 2
    assert message in capsys.readouterr().err


def test_a_frame_rate_out_of_range_is_refused(fox, tmp_path):
    with pytest.raises(ValueError, match="fps must be from 1 to 240"):
        akd.convert(fox, tmp_path / "walk.bvh", fps=0.5)
