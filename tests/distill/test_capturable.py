"""Steps that a CUDA graph can hold: after a first call, nothing passes between host and device.

They run on torch's meta device, where no value can be read and every copy from the CPU shows. Warp
has no such device, so its launches are left out. With real values, on the CPU, a reading of one
shows as an operator.
"""

from dataclasses import replace
from typing import Any

import pytest
import torch
import warp as wp
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from akd.distill.settings import DistillSettings
from akd.distill.step import DistillStep
from akd.fit import video_fit, warm_start
from akd.fit.cameras import SolvedCamera
from akd.fit.candidate import Candidate
from akd.fit.losses import default
from akd.fit.observation import Observation
from akd.fit.settings import FitSettings, WarmStartSettings
from akd.motion.key_poses import KeyPoses
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.settings import TinySettings
from akd.rig import control_kernel
from akd.rig.control import ControlPose
from akd.scene.stage import Stage
from akd.splat import raster_call, raster_tiles, render, shade
from akd.splat.list_room import ListRoom
from akd.splat.rasterize import rasterize
from tests.distill.fox import stage_for
from tests.host_reads import HostReads

META = torch.device("meta")
TINY = TinySettings(
    frames=6, width=24, height=24, channels=12, layers=1, heads=2, text_channels=8,
    refine_channels=4,
)  # fmt: skip


class Traffic(TorchDispatchMode):
    """Operators that touch the host."""

    def __init__(self) -> None:
        super().__init__()
        self.operators, self.found = 0, []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.operators += 1
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        if func.name() == "aten::lift_fresh" or any(x.device.type == "cpu" for x in tensors):
            self.found.append(func.name())
        return func(*args, **(kwargs or {}))


@pytest.fixture
def stage(tube, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage on the meta device, rendered by the kernels made for CUDA."""
    plain = stage_for(tube, PriorTiny(TinyNetwork(TINY)), splats=40)
    cloud = plain.cloud.to(META)
    moved = replace(plain, cloud=cloud, body_cloud=cloud, bone_colours=plain.bone_colours.to(META))
    moved.__dict__["neutral_box"] = plain.neutral_box  # read back once, before any graph
    for module in (control_kernel, raster_call, raster_tiles, shade):
        monkeypatch.setattr(module, "as_warp", lambda tensor, kind: None)
    monkeypatch.setattr(wp, "launch", lambda *args, **options: None)
    monkeypatch.setattr(wp, "device_from_torch", lambda device: wp.get_device("cpu"))
    rows = raster_tiles.BoneRows(*(torch.empty(2, dtype=torch.int32, device=META),) * 3)
    monkeypatch.setattr(raster_tiles, "bone_rows", lambda *args: rows)
    monkeypatch.setattr(render, "rasterize", lambda call, threads: rasterize(call, tiles=True))
    return moved


def candidates(
    rig: Any,
    period: float | None = None,
    *,
    count: int = 2,
    turn: float = 0.0,
    keys: KeyPoses | None = None,
    device: torch.device = META,
) -> list:
    start = MotionStart(rig, TINY.frames, 8.0, 0.5, 0.3, period, turn, keys=keys)
    found = [ControlCurves.start(start, knots=4, harmonics=1, device=device) for _ in range(count)]
    for one in found:
        one.__dict__["turns"] = turn != 0.0  # read back once, before any graph
    return found


def traffic(function: Any, stage: Stage, *inputs: torch.Tensor) -> Traffic:
    room, seen = ListRoom(), Traffic()
    for frames in (2 * TINY.frames, TINY.frames, 2, 1):
        for part in (1, 2):
            size = TINY.width // part, TINY.height // part
            room.measure((frames, len(stage.cloud), *size), 100)
    with room.fixed():
        function(*inputs, progress=0.5)
        with seen:
            function(*inputs, progress=0.5)
    return seen


@pytest.mark.parametrize(
    ("period", "count", "turn", "half_size"),
    [(None, 2, 0.0, 0.0), (0.5, 2, 0.0, 0.0), (0.5, 1, 0.7, 0.0), (None, 1, 0.0, 1.0)],
)
def test_distillation_keeps_to_the_device(
    stage: Stage, rig, period: float | None, count: int, turn: float, half_size: float
) -> None:
    prior = PriorTiny(TinyNetwork(TINY).to(META))
    settings = DistillSettings(half_size=half_size)
    step = DistillStep(stage, prior, "a fox walking", settings, default())
    run = step.of(candidates(rig, period, count=count, turn=turn), progress=0.5)
    inputs = drawn(count, META)
    seen = traffic(run._function, stage, *inputs)
    assert seen.operators > 500
    assert seen.found == []


@pytest.mark.parametrize("keyed", [False, True])
def test_distillation_reads_no_value(tube, rig, keyed: bool, monkeypatch) -> None:
    prior = PriorTiny(TinyNetwork(TINY))
    stage = stage_for(tube, prior, splats=40)
    # On a GPU there are no checks, and other kernels than these render.
    monkeypatch.setattr(Stage, "_checks", False)
    keys = key_of(rig) if keyed else None
    step = DistillStep(stage, prior, "a fox walking", DistillSettings(), default())
    some = candidates(rig, 0.5, turn=0.7, keys=keys, device=torch.device("cpu"))
    run = step.of(some, progress=0.5)._function
    inputs = drawn(2, torch.device("cpu"))
    run(*inputs, progress=0.5)
    with HostReads() as seen:
        found = run(*inputs, progress=0.5)
    assert len(found) == 1 + 2 * len(some[0].tensors())
    assert any(tensor is some[0].turn for tensor in some[0].tensors())
    assert seen.operators > 500
    assert seen.found == []


def test_a_value_that_is_read_is_seen_with_its_line(rig) -> None:
    curves = candidates(rig, device=torch.device("cpu"))[0]
    with HostReads() as seen:
        curves.current_speed()
    assert seen.found == [
        "aten::_local_scalar_dense in parameters.py: return self.speed * (1.0 + float(pace))"
    ]


def drawn(count: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What `DistillStep.draw` draws, all zero but the noise levels."""
    return (
        torch.zeros(count, dtype=torch.float64, device=device),
        torch.full((count,), 0.5, device=device),
        torch.zeros(count, TINY.frames, TINY.height, TINY.width, 3, device=device),
    )


def key_of(rig: Any) -> KeyPoses:
    """The neutral pose a moment after the start."""
    zeros = ControlPose(torch.zeros(1, 3), torch.zeros(1, 3), torch.zeros(1, len(rig), 3))
    return KeyPoses((0.25,), zeros)


class Stop(Exception):
    """The first step was seen."""


def watch(module: Any, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[Traffic]:
    """The traffic of a module's first step, which ends there."""
    seen: list[Traffic] = []

    def watched(function: Any, *_: Any, **__: Any) -> Any:
        def run(*, progress: float) -> None:
            seen.append(traffic(function, stage))
            raise Stop

        return run

    monkeypatch.setattr(module, "graph_step", watched)
    return seen


def test_warm_start_keeps_to_the_device(stage: Stage, rig, monkeypatch) -> None:
    seen = watch(warm_start, stage, monkeypatch)
    targets = torch.zeros(2, TINY.frames, TINY.height, TINY.width, 3)
    with pytest.raises(Stop):
        warm_start.fit_to_videos(
            stage, candidates(rig), targets, default(),
            WarmStartSettings(phase_search=False), iterations=1,
        )  # fmt: skip
    assert seen[0].operators > 300
    assert seen[0].found == []


def test_fit_to_a_video_keeps_to_the_device(stage: Stage, rig, monkeypatch) -> None:
    seen = watch(video_fit, stage, monkeypatch)
    # Read back once, before any graph.
    monkeypatch.setattr(video_fit, "_exponent", lambda *read: 8.0)
    size = (TINY.width, TINY.height)
    video = Observation(
        torch.zeros(TINY.frames, *size, 3, device=META),
        torch.zeros(TINY.frames, *size, device=META),
    )
    starts = [
        Candidate(
            curves,
            (
                SolvedCamera.start(
                    observation=video, azimuth=1.0, elevation=0.2, axes=rig.root_axes.to(META),
                    anchor=torch.zeros(3, device=META), place=(0.0, 0.0), distance=3.0,
                ),
            ),
            "start",
        )
        for curves in candidates(rig)
    ]  # fmt: skip
    with pytest.raises(Stop):
        video_fit.optimise(stage, starts, [video], default()[:1], FitSettings(), iterations=1)
    assert seen[0].operators > 300
    assert seen[0].found == []
