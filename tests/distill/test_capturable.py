"""Steps that a CUDA graph can hold: after a first call, nothing passes between host and device.

They run on torch's meta device, where no value can be read and every copy from the CPU shows. Warp
has no such device, so its launches are left out.
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
from akd.fit.losses import default
from akd.fit.observation import Observation
from akd.fit.settings import FitSettings, WarmStartSettings
from akd.fit.starts import Candidate
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.settings import TinySettings
from akd.rig import control_kernel
from akd.scene.stage import Stage
from akd.splat import raster_inputs, raster_tiles, render, shade
from akd.splat.list_room import ListRoom
from akd.splat.rasterize import rasterize
from tests.distill.fox import stage_for

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
    for module in (control_kernel, raster_inputs, raster_tiles, shade):
        monkeypatch.setattr(module, "as_warp", lambda tensor, kind: None)
    monkeypatch.setattr(wp, "launch", lambda *args, **options: None)
    monkeypatch.setattr(wp, "device_from_torch", lambda device: wp.get_device("cpu"))
    rows = raster_tiles.BoneRows(*(torch.empty(2, dtype=torch.int32, device=META),) * 3)
    monkeypatch.setattr(raster_tiles, "bone_rows", lambda *args: rows)
    monkeypatch.setattr(render, "rasterize", lambda call, threads: rasterize(call, tiles=True))
    return moved


def candidates(rig: Any, period: float | None, monkeypatch: pytest.MonkeyPatch) -> list:
    start = MotionStart(rig, TINY.frames, 8.0, 0.5, 0.3, period)
    found = [ControlCurves.start(start, knots=4, harmonics=1, device=META) for _ in range(2)]
    tensors = [(one.angles, one.root, one.pace) for one in found]
    both = {id(one): list(mine) for one, mine in zip(found, tensors, strict=True)}
    # Whether a path turns is read from its value, before any graph.
    monkeypatch.setattr(ControlCurves, "tensors", lambda self: both[id(self)])
    return found


def traffic(function: Any, stage: Stage, *inputs: torch.Tensor) -> Traffic:
    room, seen = ListRoom(), Traffic()
    for frames in (2 * TINY.frames, 2):
        room.measure((frames, len(stage.cloud), TINY.width, TINY.height), 100)
    with room.fixed():
        function(*inputs, progress=0.5)
        with seen:
            function(*inputs, progress=0.5)
    return seen


@pytest.mark.parametrize("period", [None, 0.5])
def test_distillation_keeps_to_the_device(stage: Stage, rig, period, monkeypatch) -> None:
    prior = PriorTiny(TinyNetwork(TINY).to(META))
    step = DistillStep(stage, prior, "a fox walking", DistillSettings(), default())
    run = step.of(candidates(rig, period, monkeypatch), progress=1.0)
    turns, t = torch.zeros(2, dtype=torch.float64, device=META), torch.zeros(2, device=META)
    noise = torch.zeros(2, TINY.frames, TINY.height, TINY.width, 3, device=META)
    seen = traffic(run._function, stage, turns, t, noise)
    assert seen.operators > 500
    assert seen.found == []


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
            stage, candidates(rig, None, monkeypatch), targets, default(),
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
        for curves in candidates(rig, None, monkeypatch)
    ]  # fmt: skip
    with pytest.raises(Stop):
        video_fit.optimise(stage, starts, [video], default()[:1], FitSettings(), iterations=1)
    assert seen[0].operators > 300
    assert seen[0].found == []
