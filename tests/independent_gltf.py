"""A second, plain reading of glTF: the specification in numpy and scipy, sharing no code with akd.

Only what the rigged files need: GLB or glTF, no sparse or compressed accessors.
"""

import base64
import json
import struct
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

COMPONENT = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
LANES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
SCALE = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}


class IndependentGltf:
    def __init__(self, path: Path):
        data = path.read_bytes()
        if data[:4] == b"glTF":
            length = struct.unpack_from("<I", data, 12)[0]
            self.json = json.loads(data[20 : 20 + length])
            self.buffers = [data[28 + length :]]
        else:
            self.json = json.loads(data)
            self.buffers = [self._load(path, b["uri"]) for b in self.json.get("buffers", [])]
        self.decoded: dict[int, np.ndarray] = {}
        self.nodes = self.json.get("nodes", [])
        self.parent = {c: i for i, n in enumerate(self.nodes) for c in n.get("children", [])}

    @staticmethod
    def _load(path: Path, uri: str) -> bytes:
        if uri.startswith("data:"):
            return base64.b64decode(uri.split(",", 1)[1])
        return (path.parent / uri).read_bytes()

    def accessor(self, index: int) -> np.ndarray:
        if index not in self.decoded:
            self.decoded[index] = self._decode(index)
        return self.decoded[index]

    def _decode(self, index: int) -> np.ndarray:
        a = self.json["accessors"][index]
        lanes, kind = LANES[a["type"]], np.dtype(COMPONENT[a["componentType"]])
        if "bufferView" not in a:
            return np.zeros((a["count"], lanes), kind)
        view = self.json["bufferViews"][a["bufferView"]]
        stride = view.get("byteStride", lanes * kind.itemsize)
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        raw = np.frombuffer(self.buffers[view["buffer"]], np.uint8)[start:]
        rows = np.arange(a["count"])[:, None] * stride + np.arange(lanes * kind.itemsize)
        values = raw[rows].view(kind).reshape(a["count"], lanes)
        if a.get("normalized"):
            values = np.maximum(values.astype(float) / SCALE[a["componentType"]], -1.0)
        return values

    def local(self, node: int, override: dict) -> np.ndarray:
        n = self.nodes[node]
        if "matrix" in n and not override:
            return np.array(n["matrix"]).reshape(4, 4).T
        t = override.get("translation", n.get("translation", [0, 0, 0]))
        r = override.get("rotation", n.get("rotation", [0, 0, 0, 1]))
        s = override.get("scale", n.get("scale", [1, 1, 1]))
        m = np.eye(4)
        m[:3, :3] = Rotation.from_quat(r).as_matrix() * np.array(s)
        m[:3, 3] = t
        return m

    def worlds(self, overrides: dict[int, dict]) -> np.ndarray:
        done: dict[int, np.ndarray] = {}

        def world(node: int) -> np.ndarray:
            if node not in done:
                m = self.local(node, overrides.get(node, {}))
                done[node] = world(self.parent[node]) @ m if node in self.parent else m
            return done[node]

        return np.array([world(n) for n in range(len(self.nodes))])

    def clip_at(self, clip: dict, time: float) -> dict[int, dict]:
        overrides: dict[int, dict] = {}
        for channel in clip["channels"]:
            target = channel["target"]
            if "node" not in target or target["path"] not in ("translation", "rotation", "scale"):
                continue
            sampler = clip["samplers"][channel["sampler"]]
            times = self.accessor(sampler["input"])[:, 0].astype(float)
            values = self.accessor(sampler["output"]).astype(float)
            value = self._sample(
                sampler.get("interpolation", "LINEAR"), times, values, time, target
            )
            overrides.setdefault(target["node"], {})[target["path"]] = value
        return overrides

    @staticmethod
    def _sample(kind, times, values, time, target):
        time = float(np.clip(time, times[0], times[-1]))
        k = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, max(len(times) - 2, 0)))
        if kind == "STEP" or len(times) == 1:
            return values[int(np.searchsorted(times, time, side="right")) - 1]
        u = (time - times[k]) / (times[k + 1] - times[k])
        if kind == "CUBICSPLINE":
            v, d = values.reshape(len(times), 3, -1), times[k + 1] - times[k]
            out = (
                (2 * u**3 - 3 * u**2 + 1) * v[k, 1]
                + d * (u**3 - 2 * u**2 + u) * v[k, 2]
                + (-2 * u**3 + 3 * u**2) * v[k + 1, 1]
                + d * (u**3 - u**2) * v[k + 1, 0]
            )
            return out / np.linalg.norm(out) if target["path"] == "rotation" else out
        if target["path"] == "rotation":
            pair = Rotation.from_quat(values[[k, k + 1]])
            return Slerp([0, 1], pair)(u).as_quat()
        return (1 - u) * values[k] + u * values[k + 1]

    def skinned(self, worlds: np.ndarray) -> list[np.ndarray]:
        """World positions of every primitive of every skinned mesh node, in file order."""
        result = []
        for node in self.nodes:
            if "mesh" not in node or "skin" not in node:
                continue
            skin = self.json["skins"][node["skin"]]
            inverse_bind = self.accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4)
            matrices = worlds[skin["joints"]] @ inverse_bind.transpose(0, 2, 1)
            for primitive in self.json["meshes"][node["mesh"]]["primitives"]:
                attributes = primitive["attributes"]
                points = self.accessor(attributes["POSITION"]).astype(float)
                posed = np.zeros_like(points)
                total = np.zeros((len(points), 1))
                for s in range(4):
                    if f"JOINTS_{s}" not in attributes:
                        break
                    joints = self.accessor(attributes[f"JOINTS_{s}"]).astype(int)
                    weights = self.accessor(attributes[f"WEIGHTS_{s}"]).astype(float)
                    for k in range(4):
                        m = matrices[joints[:, k]]
                        moved = np.einsum("vij,vj->vi", m[:, :3, :3], points) + m[:, :3, 3]
                        posed += weights[:, k, None] * moved
                        total += weights[:, k, None]
                with np.errstate(invalid="ignore"):  # weights of zero: not a number
                    result.append(posed / total)
        return result
