"""The rasterizer on the CPU: frames, or bands of rows, shared out between threads.

A Warp launch on the CPU runs on the calling thread and releases the interpreter's lock, so Python
threads use all cores. Each thread owns what it writes; sums over threads are made in their order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import torch
import warp as wp
from torch import Tensor

from akd.base.warp_runtime import as_warp
from akd.splat import kernel_blend, kernel_project
from akd.splat.kernel_types import mat34, vec6, vec9
from akd.splat.raster_call import RasterCall

NEVER = wp.int64(0x7FFFFFFFFFFFFFFF)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="akd-raster")


def available_threads() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _each(threads: int, work: Callable[[int], None]) -> None:
    """Run work(0) .. work(threads - 1), at the same time where there are several."""
    if threads == 1:
        work(0)
    else:
        list(_pool(threads).map(work, range(threads)))


def _zeros(*shape: int) -> Tensor:
    """Zeros made without torch's own threads, which would keep a core busy for a while after."""
    if 0 in shape:
        return torch.zeros(shape)
    return torch.from_numpy(np.zeros(shape, dtype=np.float32))


def _launch(kernel: Any, dim: int | tuple[int, int], inputs: list[Any]) -> None:
    wp.launch(kernel, dim=dim, inputs=inputs, device="cpu", record_tape=False)


class CpuRaster:
    """One image sequence: made by `forward`, differentiated by `backward`."""

    def __init__(self, call: RasterCall, threads: int | None = None) -> None:
        self.call = call
        self.threads = max(1, threads or available_threads())
        frames = call.frames
        # Whole frames where they share out evenly enough; else every frame is cut into bands.
        self.by_frame = frames % self.threads == 0 or frames >= 4 * self.threads
        # More bands than threads, dealt out in turn: a character fills the middle, not the edges.
        self.bands = 1 if self.by_frame else min(2 * self.threads, call.height)
        shape = (frames, call.splats)
        self._keys = torch.empty(shape, dtype=torch.int64)
        self._centres = torch.empty(*shape, 2)
        self._conics = torch.empty(*shape, 3)
        self._extents = torch.empty(*shape, 2)
        self._strengths = torch.empty(shape)
        pixels = call.width * call.height
        self.image = torch.empty(frames, pixels, 3)
        self.transmittance = torch.empty(frames, pixels)
        self._cloud = call.cloud()
        self._flat = [
            as_warp(self._centres, wp.vec2), as_warp(self._conics, wp.vec3),
            as_warp(self._extents, wp.vec2),
        ]  # fmt: skip
        self._look = [
            as_warp(self._strengths, wp.float32), as_warp(call.colours, wp.vec3),
            call.width, call.height,
        ]  # fmt: skip
        self._key_view = as_warp(self._keys, wp.int64)
        self._seen = [as_warp(self.image, wp.vec3), as_warp(self.transmittance, wp.float32)]

    def _frames_of(self, worker: int) -> range:
        frames = self.call.frames
        return range(frames * worker // self.threads, frames * (worker + 1) // self.threads)

    def _splats_of(self, worker: int) -> range:
        splats = self.call.splats
        return range(splats * worker // self.threads, splats * (worker + 1) // self.threads)

    def _project(self, frames: range, splats: range) -> None:
        _launch(
            kernel_project.project,
            (len(frames), len(splats)),
            [
                *self._cloud, self.call.planes(), frames.start, splats.start, *self._flat,
                self._look[0], self._key_view,
            ],
        )  # fmt: skip

    def _blend(self, t: int, band: int) -> None:
        _launch(
            kernel_blend.blend,
            1,
            [self._key_view, NEVER, *self._flat, *self._look, t, band, self.bands, *self._seen],
        )

    def forward(self) -> None:
        """Fill `image` and `transmittance`."""
        keys: np.ndarray = self._keys.numpy()

        def whole_frames(worker: int) -> None:
            frames = self._frames_of(worker)
            self._project(frames, range(self.call.splats))
            keys[frames.start : frames.stop].sort(axis=1)
            for t in frames:
                self._blend(t, 0)

        def bands(worker: int) -> None:
            for band in range(worker, self.bands, self.threads):
                for t in range(self.call.frames):
                    self._blend(t, band)

        def share_of_cloud(worker: int) -> None:
            self._project(range(self.call.frames), self._splats_of(worker))

        if self.by_frame:
            _each(self.threads, whole_frames)
        else:
            _each(self.threads, share_of_cloud)
            keys.sort(axis=1)
            _each(self.threads, bands)

    def backward(
        self, d_image: Tensor, d_transmittance: Tensor, *, cloud_too: bool
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Gradients to transforms, means, covariances (six numbers), colours and opacities."""
        call, threads = self.call, self.threads
        frames, splats = call.frames, call.splats
        workers = threads if self.by_frame else 1
        pixels = call.width * call.height
        lefts, comings = torch.empty(workers, pixels), torch.empty(workers, pixels)
        flat = torch.empty(workers, self.bands, splats, 9)
        bone_slots = 1 if self.by_frame else threads
        d_transforms = _zeros(bone_slots, *call.camera_from_mesh.shape)
        count = splats if cloud_too else 0
        layers = call.colours.shape[0]
        d_means, d_covariances = _zeros(threads, count, 3), _zeros(threads, count, 6)
        d_colours, d_opacities = _zeros(threads, layers, count, 3), _zeros(threads, count)
        scratch = [as_warp(lefts, wp.float32), as_warp(comings, wp.float32), as_warp(flat, vec9)]
        gradients = [as_warp(d_image, wp.vec3), as_warp(d_transmittance, wp.float32)]
        sums = [
            as_warp(d_transforms, mat34), as_warp(d_means, wp.vec3), as_warp(d_covariances, vec6),
            as_warp(d_colours, wp.vec3), as_warp(d_opacities, wp.float32),
        ]  # fmt: skip

        def blend(t: int, band: int, slot: int) -> None:
            _launch(
                kernel_blend.blend_backward,
                1,
                [
                    self._key_view, NEVER, *self._flat, *self._look, t, band, self.bands,
                    *self._seen, *gradients, slot, *scratch,
                ],
            )  # fmt: skip

        def project(t: int, share: range, bone_slot: int, slot: int, flat_slot: int) -> None:
            _launch(
                kernel_project.project_backward,
                len(share),
                [
                    *self._cloud, t, share.start, bone_slot, slot, self._flat[1], flat_slot,
                    scratch[2], min(t, layers - 1), int(cloud_too), *sums,
                ],
            )  # fmt: skip

        def whole_frames(worker: int) -> None:
            for t in self._frames_of(worker):
                blend(t, 0, worker)
                project(t, range(splats), 0, worker, worker)

        if self.by_frame:
            _each(threads, whole_frames)
        else:
            for t in range(frames):

                def bands(worker: int, t: int = t) -> None:
                    for band in range(worker, self.bands, threads):
                        blend(t, band, 0)

                def share_of_cloud(worker: int, t: int = t) -> None:
                    project(t, self._splats_of(worker), worker, worker, 0)

                _each(threads, bands)
                _each(threads, share_of_cloud)
        return (
            d_transforms.sum(0), d_means.sum(0), d_covariances.sum(0),
            d_colours.sum(0), d_opacities.sum(0),
        )  # fmt: skip
