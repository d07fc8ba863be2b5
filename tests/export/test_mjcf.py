"""The exported body against MuJoCo: the same equations, the same rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.mjcf import (
    file_order,
    mjcf_text,
    mujoco_position,
    mujoco_velocity,
    write_mjcf,
    zup_from_yup,
)
from akd.export.replay import replay
from akd.math import quaternion
from akd.physics.bodies import build_body
from akd.physics.body import Body, State, place
from akd.physics.ground import tracking_arrays
from akd.physics.parameters import Parameters, scale_parameters
from akd.physics.settings import SimulatorSettings, TrackingSettings
from akd.physics.simulator import WarpSimulator
from akd.physics.tracking import track
from akd.rig.character import load_character
from tests.physics.bodies_for_tests import biped, quadruped, random_tree, scattered, tensor
from tests.physics.gaits import FEET
from tests.physics.test_cycle import one_cycle

mujoco = pytest.importorskip("mujoco")


def ours(body: Body, parameters: Parameters, start: State, targets, substeps: int) -> State:
    simulator = WarpSimulator(body, parameters, dtype=torch.float64)
    controls = targets.expand(1, substeps, *targets.shape)
    return simulator.rollout(State(*(p[None] for p in start.parts())), controls)[0][-1]


def theirs(
    body: Body, parameters: Parameters, start: State, targets, seconds: float, *, fine: bool
) -> torch.Tensor:
    """World positions of the parts' pivots at the end, Z up, from MuJoCo."""
    model = mujoco.MjModel.from_xml_string(mjcf_text(body, parameters))
    if fine:
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    data.qpos[:] = mujoco_position(body, start).numpy()
    data.qvel[:] = mujoco_velocity(body, start).numpy()
    data.ctrl[:] = targets.flatten().numpy()
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    # Ours: world and its children come first in MuJoCo's list, then depth first.
    return torch.from_numpy(data.xpos[1:].copy())[torch.argsort(torch.tensor(file_order(body)))]


def pivots(body: Body, state: State) -> torch.Tensor:
    return zup_from_yup(place(body, state).origins)


@pytest.mark.slow
@pytest.mark.parametrize("make", [quadruped, biped, lambda: random_tree(4)])
def test_free_flight_is_mujocos(make) -> None:
    body = make()
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    joints = len(body) - 1
    start = State(
        body.pivots[0] + tensor((0.0, 20.0, 0.0)),
        quaternion.from_rotation_vector(0.5 * normal(3)),
        0.2 * normal(joints, 3), normal(3), normal(3), 0.5 * normal(joints, 3),
    )  # fmt: skip
    targets = 0.3 * normal(joints, 3)
    base = replace(scale_parameters(body), assist_limit=0.0)
    truth = theirs(body, replace(base, step=1e-4), start, targets, 1.0, fine=True)
    moved = (truth - pivots(body, start)).norm(dim=-1).max()
    assert moved > 1.0
    errors = []
    for substeps in (5_000, 20_000):
        end = ours(body, replace(base, step=1.0 / substeps), start, targets, substeps)
        errors.append(float((pivots(body, end) - truth).norm(dim=-1).max()))
    # First order: a quarter of the step, a quarter of the error (a third, with the second order).
    assert errors[1] < errors[0] / 3
    assert errors[1] < 1e-3, errors


@pytest.mark.parametrize(("make", "stiffness", "bend"), [(quadruped, 1.0, 0.1), (biped, 4.0, 0.08)])
def test_standing_bodies_settle_as_in_mujoco(make, stiffness: float, bend: float) -> None:
    body = make()
    # MuJoCo has no root assist torque: both must stand by their own servos.
    world = SimulatorSettings(stiffness=stiffness, assist_limit=0.0)
    parameters = scale_parameters(body, world, step=1e-3)
    # Knees bent, hips and ankles against them: every servo carries weight, feet stay flat.
    targets = torch.zeros(len(body) - 1, 3, dtype=torch.float64)
    for joint, name in enumerate(body.names[1:]):
        for part, share in (("upper", 1), ("thigh", 1), ("lower", -2), ("shin", -2), ("foot", 1)):
            if name.endswith(part):
                targets[joint, 0] = bend * share
    start = State.neutral(body)
    end = ours(body, parameters, start, targets, 3000)
    their_end = theirs(body, parameters, start, targets, 3.0, fine=False)
    apart = (pivots(body, end) - their_end).norm(dim=-1).max()
    assert apart < 0.01 * body.height
    # Standing, not lying, and not where it began.
    assert end.position[1] > 0.95 * body.pivots[0, 1]
    assert (pivots(body, end) - pivots(body, start)).norm(dim=-1).max() > 0.015 * body.height


def test_file_has_the_bodys_masses_and_unique_names(tmp_path: Path) -> None:
    body = replace(quadruped(), names=("part",) * 13)
    path = tmp_path / "body.xml"
    write_mjcf(body, scale_parameters(body), path)
    model = mujoco.MjModel.from_xml_path(str(path))
    assert model.nbody == 14
    assert model.nu == 36
    assert float(model.body_mass.sum()) == pytest.approx(body.mass)
    assert model.body(2).name == "part_2"


STANDING = (
    "khronos/Fox/glTF-Binary/Fox.glb", "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
    "quaternius/animals_pack/Cow.glb", "quaternius/animals_pack/Wolf.glb",
    "quaternius/dinosaurs_pack/Triceratops.glb", "threejs/RobotExpressive/RobotExpressive.glb",
    "cmu_bvh/02_01.bvh", "cmu_bvh/104_48.bvh", "cmu_bvh/07_12.bvh", "cmu_bvh/36_01.bvh",
    "cmu_bvh/82_01.bvh", "makehuman/bvh/walk1.bvh",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("file", STANDING)
def test_characters_stand_for_three_seconds(file: str, shared_assets: Path) -> None:
    up = "z" if file.startswith("makehuman") else "y"
    character = load_character(read_asset(shared_assets / file), up=up)
    body = build_body(character.control_rig, character.mesh).body
    model = mujoco.MjModel.from_xml_string(mjcf_text(body, scale_parameters(body)))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("stand").id)
    mujoco.mj_forward(model, data)
    before = float(data.subtree_com[1][2])
    for _ in range(round(3.0 / model.opt.timestep)):
        mujoco.mj_step(model, data)
    assert float(data.subtree_com[1][2]) == pytest.approx(before, rel=0.07)
    assert float(data.xmat[1][8]) > 0.95


def with_neck(body: Body) -> Body:
    """A quadruped with a heavy neck ahead of its legs, and a head on it."""
    neck, head = (0.45, 0.53, 0.0), (0.7, 0.58, 0.0)
    return Body.from_cuboids(
        (*body.names, "neck", "head"), (*body.parents, 0, len(body)),
        torch.cat((body.pivots, tensor([(0.3, 0.53, 0.0), (0.6, 0.53, 0.0)]))),
        torch.cat((body.half_extents, tensor([(0.15, 0.08, 0.08), (0.1, 0.1, 0.08)]))),
        torch.cat((body.centres, tensor([neck, head]))),
        axes=torch.cat((body.axes, body.axes[:1], body.axes[:1].roll(1, 1))), density=600.0,
    )  # fmt: skip


def test_the_stand_keyframe_holds_the_head_up() -> None:
    body = with_neck(quadruped())
    model = mujoco.MjModel.from_xml_string(mjcf_text(body, scale_parameters(body)))
    sunk = []
    for has_targets in (True, False):
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, model.key("stand").id)
        # Only the chain that no leg carries leans against gravity.
        parts = {model.actuator(i).name.split("_")[0] for i in range(model.nu) if data.ctrl[i]}
        assert parts == {"neck", "head"}
        data.ctrl[:] *= has_targets
        mujoco.mj_forward(model, data)
        before = data.body("head").xpos[2] - data.body("torso").xpos[2]
        for _ in range(round(3.0 / model.opt.timestep)):
            mujoco.mj_step(model, data)
        after = data.body("head").xpos[2] - data.body("torso").xpos[2]
        sunk.append((before - after) / body.height)
    assert abs(sunk[0]) < 0.1 * sunk[1], sunk
    assert sunk[1] > 0.005


def test_the_clip_keyframe_is_the_start_of_the_clip() -> None:
    body = quadruped()
    start = scattered(body, 3, height=0.1)
    targets = torch.arange(36, dtype=torch.float64).view(12, 3)
    text = mjcf_text(body, scale_parameters(body), clip=(start, targets))
    key = mujoco.MjModel.from_xml_string(text).key("clip")
    torch.testing.assert_close(torch.from_numpy(key.qpos), mujoco_position(body, start))
    torch.testing.assert_close(torch.from_numpy(key.qvel), mujoco_velocity(body, start))
    assert sorted(key.ctrl.tolist()) == targets.flatten().tolist()


@pytest.mark.slow
def test_mujoco_follows_a_tracked_walk() -> None:
    body, walk = quadruped(), one_cycle()
    made = track(body, walk, feet=FEET, settings=TrackingSettings(iterations=60))
    start = made.rollout[0], made.targets[0]
    model = mujoco.MjModel.from_xml_string(mjcf_text(body, made.parameters, clip=start))
    data = mujoco.MjData(model)
    wanted = zup_from_yup(place(body, made.rollout).origins)[1:, file_order(body)]
    apart = []
    for _ in replay(model, data, tracking_arrays(body, made)):
        mujoco.mj_kinematics(model, data)
        there = wanted[len(apart)]
        apart.append(float((torch.from_numpy(data.xpos[1:]) - there).norm(dim=-1).mean()))
    assert len(apart) == len(made.targets)
    half = len(apart) // 2
    assert max(apart[:half]) < 0.05 * body.height
