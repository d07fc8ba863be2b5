"""Takes every clip of every readable glTF file through `Motion`, writes the file with the clips
added again, reads it back, and compares: the clips play the same, all else is untouched.

A script of its own because shapes checked at run time would make it take minutes.
Prints the number of clips, the pairs of files, and the worst gap in body heights, as JSON.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from akd.asset.asset import Asset, AssetError
from akd.asset.read import read_asset
from akd.export.character import write_motions
from akd.motion.clip import motion_from_clip
from akd.rig.character import load_character

TOLERANCE = 1e-5  # of body height


def same(a, b) -> bool:
    """Equal records, arrays by value."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and np.array_equal(a, b, equal_nan=True)
    if isinstance(a, memoryview | bytes):
        return bytes(a) == bytes(b)
    if hasattr(a, "__dataclass_fields__"):
        return all(same(getattr(a, f), getattr(b, f)) for f in a.__dataclass_fields__)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return a == b


def check_untouched(before: Asset, after: Asset) -> None:
    for field in ("meshes", "materials", "skins", "extras", "scene_roots"):
        assert same(getattr(before, field), getattr(after, field)), f"{field} changed"
    # An external image moves into the file, so only its bytes are the same.
    pictures = [[bytes(image.data) for image in asset.images] for asset in (before, after)]
    assert pictures[0] == pictures[1], "images changed"
    assert same(before.clips, after.clips[: len(before.clips)]), "the file's own clips changed"
    for a, b in zip(before.nodes, after.nodes, strict=True):
        assert same(replace(a, is_matrix=False), replace(b, is_matrix=False)) or (
            a.is_matrix
            and np.allclose(a.translation, b.translation, atol=1e-6)
            and np.allclose(np.abs(a.rotation @ b.rotation), 1, atol=1e-6)
            and np.allclose(a.scale, b.scale, rtol=1e-5)
        ), f"node {a.name} changed"
    old, new = before.document.json, after.document.json
    for key in old:
        if key not in ("buffers", "bufferViews", "accessors", "animations", "nodes", "images"):
            assert old[key] == new[key], f"{key} changed"


def main(assets: Path, out: Path) -> None:
    clips = files = 0
    worst = 0.0
    pairs: list[tuple[str, str]] = []
    for path in sorted([*assets.glob("**/*.glb"), *assets.glob("**/*.gltf")]):
        try:
            before = read_asset(path)
        except AssetError:
            continue
        if not before.clips or not before.nodes:
            continue
        body = load_character(before)
        motions = [motion_from_clip(body, clip) for clip in before.clips]
        target = out / f"{files}.glb"
        pairs.append((str(path), str(target)))
        write_motions(body, motions, target)
        # A file's name has a say in its height, and the copy has another name.
        again = load_character(read_asset(target), height=body.height or None)
        try:
            check_untouched(before, again.asset)
            for motion, clip in zip(motions, again.asset.clips[len(motions) :], strict=True):
                gap = compare(body, motion, motion_from_clip(again, clip))
                worst = max(worst, gap)
                assert gap < TOLERANCE, f"clip {clip.name!r} is {gap:.1e} body heights off"
        except AssertionError as error:
            raise AssertionError(f"{path}: {error}") from error
        clips += len(motions)
        files += 1
    print(json.dumps({"clips": clips, "files": pairs, "worst_gap": worst}))


def compare(body, before, after) -> float:
    """Largest distance between joints at times between and at keys, in body heights."""
    span = before.times[-1] - before.times[0]
    at = before.times[0] + span * torch.tensor([0.0, 0.137, 0.5, 0.731, 1.0])
    at = torch.unique(at)
    gap = before.sample(at).world()[..., :3, 3] - after.sample(at).world()[..., :3, 3]
    for node, weights in before.sample(at).morphs.items():
        assert torch.allclose(weights, after.sample(at).morphs[node], atol=1e-5), "morphs changed"
    # A body of no height (a node without a mesh) is measured in metres.
    return float(gap.norm(dim=-1).max()) / (body.height or 1.0)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
