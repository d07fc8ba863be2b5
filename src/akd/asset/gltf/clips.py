"""Animations: every channel becomes a `Track`, or is left out and reported."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from akd.asset.asset import ClipRecord, Mesh, Node, Track
from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.fields import Fields, GltfError, shown
from akd.asset.gltf.keys import make_keys, read_interpolation
from akd.asset.gltf.problems import ProblemLog, objects_if_any

_MAX_CHANNELS = 100_000
"""In all animations together: five hundred clips of two hundred channels."""


class ClipReader:
    """Reads the animations of one file. A broken channel costs that channel, not the file."""

    def __init__(
        self,
        root: Fields,
        accessors: Accessors,
        nodes: Sequence[Node],
        meshes: Sequence[Mesh],
        problems: ProblemLog,
    ) -> None:
        self._root = root
        self._accessors = accessors
        self._nodes = nodes
        self._meshes = meshes
        self._problems = problems
        self._channels_left = _MAX_CHANNELS
        self._keys: dict[tuple[int, int, str, str, int], tuple[np.ndarray, np.ndarray]] = {}

    def read(self) -> tuple[ClipRecord, ...]:
        """Return every animation, in the file's order."""
        entries = objects_if_any(self._root, "animations", "animation", self._problems)
        return tuple(self._clip(entry) for entry in entries)

    def _clip(self, entry: Fields) -> ClipRecord:
        try:
            channels = entry.objects("channels", "channel", limit=self._channels_left)
            samplers = entry.objects("samplers", "sampler", limit=_MAX_CHANNELS)
        except GltfError as error:
            self._problems.left_out(error, "the animation is kept, empty")
            return ClipRecord(entry.name(), ())
        self._channels_left -= len(channels)
        tracks: dict[tuple[int, str], Track] = {}
        repeated: list[Track] = []
        for channel in channels:
            try:
                track = self._track(channel, samplers)
            except GltfError as error:
                self._problems.left_out(error, "the channel is left out")
                continue
            if track is None:
                continue
            if tracks.setdefault((track.node, track.path), track) is not track:
                repeated.append(track)
        if repeated:
            first = f"the {repeated[0].path} of node {repeated[0].node}"
            what = f"{len(repeated)} channels move what another does already, {first} for one"
            self._problems.warn(entry.where, what, "the first of them counts")
        if not tracks:
            self._problems.warn(entry.where, "moves no node", "it is kept, empty")
        return ClipRecord(entry.name(), tuple(tracks.values()))

    def _track(self, channel: Fields, samplers: Sequence[Fields]) -> Track | None:
        target = channel.object("target")
        path = target.text("path")
        node = target.index("node", len(self._nodes), "nodes")
        if node is None:
            what = f"moves no node ({shown(path)})"
            self._problems.note(channel.where, what, "the channel is left out")
            return None
        components = self._components(node, path, target)
        number = channel.index("sampler", len(samplers), "samplers")
        if number is None:
            raise channel.refuse("sampler", "must be there", None)
        sampler = samplers[number]
        interpolation = read_interpolation(sampler)
        source, output = self._accessor(sampler, "input"), self._accessor(sampler, "output")
        key = (source, output, interpolation, path, components)
        if key not in self._keys:
            times = self._times(source, sampler)
            values = self._accessors.floats(output)
            self._keys[key] = make_keys(
                times,
                values,
                path=path,
                components=components,
                interpolation=interpolation,
                sampler=sampler,
                problems=self._problems,
            )
        times, values = self._keys[key]
        match path:
            case "translation" | "rotation" | "scale" | "weights":
                return Track(node, path, interpolation, times, values)
        raise target.refuse("path", "must be translation, rotation, scale or weights", path)

    def _components(self, node: int, path: str, target: Fields) -> int:
        """How many numbers the property has."""
        match path:
            case "translation" | "scale":
                return 3
            case "rotation":
                return 4
            case "weights":
                mesh = self._nodes[node].mesh
                weights = None if mesh is None else self._meshes[mesh].morph_weights
                if weights is None:
                    raise GltfError(target.where, f"node {node} must have morph targets, got none")
                return len(weights)
        raise target.refuse("path", "must be translation, rotation, scale or weights", path)

    def _accessor(self, sampler: Fields, key: str) -> int:
        index = sampler.index(key, len(self._accessors), "accessors")
        if index is None:
            raise sampler.refuse(key, "must be there", None)
        return index

    def _times(self, index: int, sampler: Fields) -> np.ndarray:
        raw = self._accessors.raw(index)
        if raw.shape[1] != 1 or raw.dtype != np.float32:
            rule = "must be SCALAR of 32-bit floats"
            raise sampler.refuse("input", rule, f"{raw.dtype} {self._accessors.kind(index)}")
        return raw[:, 0]
