"""Clips to add to files, and how to tell that nothing else changed."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from akd.asset.asset import Asset, GltfDocument, Node, Track
from akd.motion.clip_data import ClipData, Keys, NodeTracks
from tests.assets import SHARED_ASSETS, gltf_files, one_of_each_rig


def unit(values: np.ndarray) -> np.ndarray:
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def clip_for(asset: Asset, *, name: str = "walk", seed: int = 0, nodes: int = 4) -> ClipData:
    """Random keys on some nodes: all properties, times of their own, morph weights."""
    rng = np.random.default_rng(seed)
    times = np.arange(5, dtype=np.float32) / 10
    own = np.array((0.0, 0.7), dtype=np.float32)
    tracks: dict[int, NodeTracks] = {}
    for node in range(min(nodes, len(asset.nodes))):
        tracks[node] = NodeTracks(
            translation=Keys(rng.normal(size=(5, 3))),
            rotation=Keys(unit(rng.normal(size=(5, 4)))),
            scale=Keys(rng.random((2, 3)) + 0.1, own) if node % 2 else None,
        )
    for index, node in enumerate(asset.nodes):
        mesh = None if node.mesh is None else asset.meshes[node.mesh]
        if mesh is not None and mesh.morph_weights is not None:
            weights = Keys(rng.random((5, len(mesh.morph_weights))))
            tracks[index] = NodeTracks(weights=weights)
    return ClipData(name, times, tracks, {"akd": {"seed": seed}})


def check_clip(asset: Asset, index: int, clip: ClipData) -> None:
    """The clip at `index` of a file that was read is the one that was written."""
    found: Mapping[tuple[int, str], Track] = {
        (t.node, t.path): t for t in asset.clips[index].tracks
    }
    wanted = {(n, p): k for n, tracks in clip.tracks.items() for p, k in tracks.items()}
    assert found.keys() == wanted.keys()
    for key, keys in wanted.items():
        track = found[key]
        assert track.interpolation == "LINEAR"
        times = clip.times if keys.times is None else keys.times
        np.testing.assert_array_equal(track.times, times)
        if key[1] == "rotation":
            dots = np.abs((track.values * keys.values).sum(axis=1))
            np.testing.assert_allclose(dots, 1.0, atol=1e-6)
            assert ((track.values[1:] * track.values[:-1]).sum(axis=1) >= 0).all()
            continue
        np.testing.assert_array_equal(track.values, keys.values.astype(np.float32))


def check_untouched(before: Asset, after: Asset, *, clips: int) -> None:
    """Everything that was in a file is in it still, in the records and in the JSON."""
    for name in ("nodes", "meshes", "materials", "skins", "scene_roots"):
        check_equal(getattr(before, name), getattr(after, name), name)
    check_equal(before.clips, after.clips[: len(before.clips)], "clips")
    assert len(after.clips) == len(before.clips) + clips
    assert [bytes(i.data) for i in before.images] == [bytes(i.data) for i in after.images]
    assert [i.mime_type for i in before.images] == [i.mime_type for i in after.images]
    assert before.document is not None
    assert after.document is not None
    check_json(before.document, after.document)


def check_equal(a: Any, b: Any, where: str) -> None:
    """Equal to the last bit, whatever they are made of."""
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), where
    elif isinstance(a, Node) and a.is_matrix and not b.is_matrix:
        # A matrix taken apart is the same transform, up to the last bit of a 64-bit float.
        for name in ("translation", "rotation", "scale"):
            x, y = getattr(a, name), getattr(b, name)
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12, err_msg=where)
        transform = {name: getattr(b, name) for name in ("translation", "rotation", "scale")}
        check_equal(replace(a, is_matrix=False, **transform), b, where)
    elif is_dataclass(a):
        for field in fields(a):
            check_equal(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    elif isinstance(a, tuple):
        assert len(a) == len(b), where
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            check_equal(x, y, f"{where}[{index}]")
    else:
        assert a == b, where


def check_json(before: GltfDocument, after: GltfDocument) -> None:
    """The JSON is the same but for clips added, matrices taken apart and bytes moved."""
    old, new = before.json, after.json
    moved = {"buffers", "bufferViews", "accessors", "animations", "nodes", "images"}
    assert [k for k in new if k in old] == list(old)  # same keys, same order
    assert set(new) - set(old) <= moved
    for key in old.keys() - moved:
        assert new[key] == old[key], key
    for key in ("accessors", "animations"):
        found = new.get(key, [])[: len(old.get(key, []))]
        assert known_references(found, new) == known_references(old.get(key, []), old), key
    for a, b in zip(old.get("nodes", []), new.get("nodes", []), strict=True):
        trs = ("matrix", "translation", "rotation", "scale") if "matrix" in a else ()
        assert {k: v for k, v in a.items() if k not in trs} == {
            k: v for k, v in b.items() if k not in trs
        }
    for a, b in zip(old.get("images", []), new.get("images", []), strict=True):
        if not isinstance(a, dict):
            assert a == b
            continue
        ignored = ("uri", "bufferView", "mimeType")
        assert {k: v for k, v in a.items() if k not in ignored} == {
            k: v for k, v in b.items() if k not in ignored
        }
    for index, (a, b) in enumerate(
        zip(old.get("bufferViews", []), new.get("bufferViews", []), strict=False)
    ):
        ignored = ("buffer", "byteOffset", "extensions")
        assert {k: v for k, v in a.items() if k not in ignored} == {
            k: v for k, v in b.items() if k not in ignored
        }
        assert view_bytes(before, index) == view_bytes(after, index)
    assert before.other_chunks == after.other_chunks


def known_references(value: Any, root: dict) -> Any:
    """JSON in which references to things that the file does not have are all alike."""
    counts = {"bufferView": "bufferViews", "input": "accessors", "output": "accessors"}
    if isinstance(value, dict):
        return {
            key: "nowhere"
            if key in counts and isinstance(inner, int) and inner >= len(root.get(counts[key], []))
            else known_references(inner, root)
            for key, inner in value.items()
        }
    return [known_references(v, root) for v in value] if isinstance(value, list) else value


def view_bytes(document: GltfDocument, index: int) -> bytes:
    """The bytes of a view, as many as there are; files are allowed to write 4 as 4.0."""
    view = document.json["bufferViews"][index]
    buffer, start = int(view["buffer"]), int(view.get("byteOffset", 0))
    if not 0 <= buffer < len(document.buffers):
        return b""
    return bytes(document.buffers[buffer][start : start + int(view["byteLength"])])


def gltf_paths() -> list[Path]:
    """One file of each rig there is, and all broken ones."""
    broken = (SHARED_ASSETS / "robustness").rglob("*.gl*")
    sound = [SHARED_ASSETS / path for path in one_of_each_rig(gltf_files())]
    return sorted([*sound, *(p for p in broken if p.suffix in (".glb", ".gltf"))])
