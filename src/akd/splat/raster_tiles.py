"""The rasterizer on CUDA: tiles, a radix sort, and a lane per pixel.

Frames are sorted and differentiated in groups, so that the working memory does not grow with the
length of the video. The host waits for the device once a call, to learn how long the lists are,
unless room was set aside for them (`akd.splat.list_room`).
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import torch
import warp as wp
from torch import Tensor

from akd.base.warp_runtime import as_warp, torch_stream
from akd.splat import kernel_bones, kernel_project, kernel_tile_lists, kernel_tiles
from akd.splat.kernel_types import mat34, vec6, vec9
from akd.splat.list_room import ListRoom, current_room
from akd.splat.raster_call import RasterCall

TILE = 8
"""Side of a tile, pixels. Small tiles make longer lists to sort and far less to blend."""
GROUP = 500_000
"""Frames are grouped so that about this many Gaussians are worked on at a time."""
SEGMENT = 512
"""Gaussians of one bone that one warp adds up."""


@dataclass(frozen=True)
class BoneRows:
    """For every bone the Gaussians it moves, cut into segments."""

    entries: Tensor
    """Places in the flattened [N, K] weights, ordered by bone."""
    segments: Tensor
    """Where each segment starts in `entries`; one more for the end."""
    first_segments: Tensor
    """The first segment of each bone; one more for the end."""

    @classmethod
    def of(cls, bones: Tensor, weights: Tensor, count: int) -> BoneRows:
        """List the Gaussians of `count` bones, those of weight zero left out."""
        flat = bones.flatten().long()
        places = weights.flatten().nonzero().squeeze(-1)
        order = torch.argsort(flat[places], stable=True)
        entries = places[order].to(torch.int32)
        sizes = torch.bincount(flat[places], minlength=count).cpu()
        starts, firsts, place = [], [0], 0
        for size in sizes.tolist():
            starts += range(place, place + size, SEGMENT)
            firsts.append(len(starts))
            place += size
        starts.append(place)
        device = bones.device
        return cls(
            entries.contiguous(),
            torch.tensor(starts, dtype=torch.int32, device=device),
            torch.tensor(firsts, dtype=torch.int32, device=device),
        )


_rows: dict[int, tuple[Any, tuple, BoneRows]] = {}


def bone_rows(key: Tensor, bones: Tensor, weights: Tensor, count: int) -> BoneRows:
    """`BoneRows.of`, remembered for as long as the tensor `key` lives unchanged."""
    state = (key._version, weights.shape, count, str(bones.device))
    known = _rows.get(id(key))
    if known is not None and known[0]() is key and known[1] == state:
        return known[2]
    rows = BoneRows.of(bones, weights, count)
    place = id(key)
    _rows[place] = (weakref.ref(key, lambda _: _rows.pop(place, None)), state, rows)
    return rows


class TileRaster:
    """One image sequence: made by `forward`, differentiated by `backward`.

    On the CPU it gives the same images, slowly and on one thread: it is run there by the tests.
    """

    def __init__(self, call: RasterCall, *, tile: int = TILE, group: int = GROUP) -> None:
        self.call = call
        self.tile = tile
        self.device = call.means.device
        self._warp_device = wp.device_from_torch(self.device)
        frames, splats = call.frames, call.splats
        self.group = max(1, min(frames, group // max(splats, 1)))
        self.tiles = (-(-call.width // tile), -(-call.height // tile))
        self._centres = self._empty(frames, splats, 2)
        self._conics = self._empty(frames, splats, 3)
        self._strengths = self._empty(frames, splats)
        pixels = call.width * call.height
        self.image = self._empty(frames, pixels, 3)
        self.transmittance = self._empty(frames, pixels)
        self._ids = torch.empty(0, dtype=torch.int32, device=self.device)
        self._ranges = self._ids

    def _empty(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.empty(shape, dtype=dtype, device=self.device)

    def _zeros(self, *shape: int) -> Tensor:
        return torch.zeros(shape, dtype=torch.float32, device=self.device)

    def _launch(self, kernel: Any, dim: Any, inputs: list[Any], block: int = 256) -> None:
        wp.launch(
            kernel, dim=dim, inputs=inputs, device=self._warp_device, record_tape=False,
            block_dim=block,
        )  # fmt: skip

    def _groups(self) -> list[range]:
        frames = self.call.frames
        return [range(t, min(t + self.group, frames)) for t in range(0, frames, self.group)]

    def forward(self) -> None:
        """Fill `image` and `transmittance`."""
        with torch_stream(self.device):
            self._list_and_sort()
            self._launch(
                kernel_tiles.blend_tiles,
                (self._ranges.shape[0], self.tile * self.tile),
                [*self._lists(), *self._seen()],
                128,
            )

    def _sizes(self) -> list[int]:
        return [self.tile, self.call.width, self.call.height]

    def _lists(self) -> list[Any]:
        call = self.call
        return [
            as_warp(self._ids, wp.int32), as_warp(self._ranges, wp.int32),
            as_warp(self._centres.flatten(0, 1), wp.vec2),
            as_warp(self._conics.flatten(0, 1), wp.vec3),
            as_warp(self._strengths.flatten(), wp.float32), as_warp(call.colours, wp.vec3),
            *self._sizes(), *self.tiles,
        ]  # fmt: skip

    def _seen(self) -> list[Any]:
        return [as_warp(self.image, wp.vec3), as_warp(self.transmittance, wp.float32)]

    def _list_and_sort(self) -> None:
        call = self.call
        frames, splats = call.frames, call.splats
        extents = self._empty(frames, splats, 2)
        depths = self._empty(frames, splats, dtype=torch.int64)
        counts = self._empty(frames, splats, dtype=torch.int32)
        flat = [
            as_warp(self._centres, wp.vec2), as_warp(self._conics, wp.vec3),
            as_warp(extents, wp.vec2),
        ]  # fmt: skip
        strengths = as_warp(self._strengths, wp.float32)
        self._launch(
            kernel_project.project,
            (frames, splats),
            [*call.cloud(), call.planes(), 0, 0, *flat, strengths, as_warp(depths, wp.int64)],
        )
        self._launch(
            kernel_tile_lists.count_tiles,
            (frames, splats),
            [*flat, strengths, *self._sizes(), as_warp(counts, wp.int32)],
        )
        ends = counts.flatten().cumsum(0, dtype=torch.int32).view(frames, splats)
        tiles = frames * self.tiles[0] * self.tiles[1]
        self._ranges = torch.zeros(tiles, 2, dtype=torch.int32, device=self.device)
        gaussians = [*flat, as_warp(depths, wp.int64), strengths, *self._sizes(), *self.tiles]
        room, size = current_room(), (frames, splats, call.width, call.height)
        if room is not None and room.is_fixed:
            self._sort_within(room, size, gaussians, ends, counts)
        else:
            self._sort_in_groups(room, size, gaussians, ends, counts)

    def _sort_in_groups(
        self,
        room: ListRoom | None,
        size: tuple[int, int, int, int],
        gaussians: list[Any],
        ends: Tensor,
        counts: Tensor,
    ) -> None:
        """A list for each group of frames, one after the other, as long as it must be."""
        splats, per_frame = counts.shape[1], self.tiles[0] * self.tiles[1]
        count_view = as_warp(counts, wp.int32)
        groups = self._groups()
        # The one wait: how long is each group's list?
        lengths = ends[[g.stop - 1 for g in groups], -1].tolist()
        if room is not None:
            room.measure(size, lengths[-1])
        self._ids = self._empty(lengths[-1], dtype=torch.int32)
        longest = max(b - a for a, b in zip([0, *lengths], lengths, strict=False))
        keys = self._empty(2 * longest, dtype=torch.int64)
        values = self._empty(2 * longest, dtype=torch.int32)
        base = 0
        for frames_here, end in zip(groups, lengths, strict=True):
            count = end - base
            if count == 0:
                continue
            key_array, value_array = wp.from_torch(keys), wp.from_torch(values)
            self._launch(
                kernel_tile_lists.list_tiles,
                (len(frames_here), splats),
                [
                    *gaussians, frames_here.start, as_warp(ends, wp.int32), count_view, base, count,
                    key_array, value_array,
                ],
            )  # fmt: skip
            bits = 32 + max(1, (len(frames_here) * per_frame - 1).bit_length())
            wp.utils.radix_sort_pairs(key_array, value_array, count, 0, bits)
            self._ids[base:end] = values[:count]
            self._launch(
                kernel_tile_lists.find_ranges,
                count,
                [
                    key_array, count, base, frames_here.start * per_frame,
                    len(frames_here) * per_frame, as_warp(self._ranges, wp.int32),
                ],
            )  # fmt: skip
            base = end

    def _sort_within(
        self,
        room: ListRoom,
        size: tuple[int, int, int, int],
        gaussians: list[Any],
        ends: Tensor,
        counts: Tensor,
    ) -> None:
        """One list of a length that was fixed beforehand; entries that are not used sort last."""
        frames, splats = counts.shape
        capacity, tiles = room.capacity(size), len(self._ranges)
        room.use(ends[-1, -1], capacity)
        keys = torch.full((capacity,), tiles << 32, dtype=torch.int64, device=self.device)
        values = self._empty(capacity, dtype=torch.int32)
        self._launch(
            kernel_tile_lists.list_tiles,
            (frames, splats),
            [
                *gaussians, 0, as_warp(ends, wp.int32), as_warp(counts, wp.int32), 0, capacity,
                as_warp(keys, wp.int64), as_warp(values, wp.int32),
            ],
        )  # fmt: skip
        # Torch's sort takes its memory from the pool of a graph that is being captured.
        keys, order = keys.sort(stable=True)
        self._ids = values[order]
        self._launch(
            kernel_tile_lists.find_ranges,
            capacity,
            [as_warp(keys, wp.int64), capacity, 0, 0, tiles, as_warp(self._ranges, wp.int32)],
        )

    def backward(
        self, d_image: Tensor, d_transmittance: Tensor, *, cloud_too: bool
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Gradients to transforms, means, covariances (six numbers), colours and opacities."""
        with torch_stream(self.device):
            return self._backward(d_image, d_transmittance, cloud_too)

    def _backward(
        self, d_image: Tensor, d_transmittance: Tensor, cloud_too: bool
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        call = self.call
        splats, bones = call.splats, call.camera_from_mesh.shape[1]
        count = splats if cloud_too else 0
        d_transforms = self._empty(*call.camera_from_mesh.shape)
        d_means, d_covariances = self._zeros(count, 3), self._zeros(count, 6)
        d_colours = self._zeros(call.colours.shape[0], count, 3)
        d_opacities = self._zeros(count)
        key = call.bones if call.bones_key is None else call.bones_key
        rows = bone_rows(key, call.bones, call.weights, bones)
        gradients = self._empty(self.group, splats, 9)
        d_phi = self._empty(self.group, splats, 3, 4)
        partial = self._empty(self.group, rows.segments.shape[0] - 1, 3, 4)
        per_frame = self.tiles[0] * self.tiles[1]
        lanes = 32 if self.device.type == "cuda" else 1
        lists, seen, cloud = self._lists(), self._seen(), call.cloud()
        incoming = [as_warp(d_image, wp.vec3), as_warp(d_transmittance, wp.float32)]
        sums = [
            as_warp(d_means, wp.vec3), as_warp(d_covariances, vec6),
            as_warp(d_colours, wp.vec3), as_warp(d_opacities, wp.float32),
        ]  # fmt: skip
        wanted = 9 if cloud_too else 6 if call.antialias else 5
        for frames in self._groups():
            here = len(frames)
            gradients.zero_()
            self._launch(
                kernel_tiles.blend_tiles_backward,
                (here * per_frame, self.tile * self.tile),
                [
                    *lists, *seen, *incoming, frames.start * per_frame, frames.start * splats,
                    wanted, as_warp(gradients.flatten(0, 1), vec9),
                ],
                128,
            )  # fmt: skip
            # The cloud's sums run over frames, so one lane takes all of them.
            groups, each = (1, here) if cloud_too else (here, 1)
            self._launch(
                kernel_bones.project_backward_all,
                (groups, splats),
                [
                    *cloud, frames.start, each, as_warp(self._conics, wp.vec3),
                    as_warp(gradients, vec9), int(cloud_too), as_warp(d_phi, mat34), *sums,
                ],
                128,
            )  # fmt: skip
            self._launch(
                kernel_bones.sum_segments,
                (here, partial.shape[1], lanes),
                [
                    as_warp(rows.entries, wp.int32), as_warp(rows.segments, wp.int32), cloud[2],
                    as_warp(d_phi, mat34), lanes, as_warp(partial, mat34),
                ],
            )  # fmt: skip
            self._launch(
                kernel_bones.sum_bones,
                (here, bones),
                [
                    as_warp(rows.first_segments, wp.int32), as_warp(partial, mat34),
                    frames.start, as_warp(d_transforms, mat34),
                ],
            )  # fmt: skip
        return d_transforms, d_means, d_covariances, d_colours, d_opacities
