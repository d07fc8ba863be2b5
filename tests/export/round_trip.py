"""Adds clips to readable glTF files, writes each file, reads it back, and checks what was written.

Two clips have random keys; the others are the file's own, taken through `Motion`, and must play as
they did. All else in the file must be untouched.

Run by itself and not inside the tests: with the shapes of every record checked at run time, which
other tests do, it would take minutes. Prints the number of clips and the pairs of files as JSON.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

import torch

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.export.gltf.clips import add_clips
from akd.export.gltf.write import write_glb
from akd.motion.clip import clip_from_motion, motion_from_clip
from akd.motion.motion import Motion
from akd.rig.character import load_character
from tests.export.clip_samples import check_clip, check_untouched, clip_for, gltf_paths

TOLERANCE = 1e-5  # of body height


def main(target: Path, part: int, parts: int) -> None:
    pairs: list[tuple[str, str]] = []
    played = 0
    for path in gltf_paths()[part::parts]:
        out = target / f"{len(pairs)}.glb"
        try:
            played += check_file(path, out)
        except AssetError:
            continue
        except AssertionError as error:
            raise AssertionError(f"{path}: {error}") from error
        pairs.append((str(path), str(out)))
    print(json.dumps({"clips": played, "files": pairs}))


def check_file(path: Path, out: Path) -> int:
    """The number of the file's own clips; `AssetError` where the file cannot be read."""
    before = read_asset(path)
    assert before.document is not None
    body = load_character(before) if before.clips and before.nodes else None
    motions = [] if body is None else [motion_from_clip(body, clip) for clip in before.clips]
    made = [clip_for(before), clip_for(before, seed=1)] if before.nodes else []
    own = [clip_from_motion(body, motion) for motion in motions] if body is not None else []
    write_glb(add_clips(before.document, [*made, *own]), out)
    try:
        after = read_asset(out)
    except AssetError as error:
        raise AssertionError(f"cannot be read again: {error}") from error
    check_untouched(before, after, clips=len(made) + len(own))
    first = len(before.clips)
    for index, clip in enumerate(made, first):
        check_clip(after, index, clip)
    if body is not None:
        again = replace(body, asset=after)
        for motion, clip in zip(motions, after.clips[first + len(made) :], strict=True):
            gap = compare(motion, motion_from_clip(again, clip)) / (body.height or 1.0)
            assert gap < TOLERANCE, f"clip {clip.name!r} is {gap:.1e} body heights off"
    return len(motions)


def compare(before: Motion, after: Motion) -> float:
    """Largest distance in metres between joints at times between and at keys."""
    span = before.times[-1] - before.times[0]
    at = torch.unique(before.times[0] + span * torch.tensor([0.0, 0.137, 0.5, 0.731, 1.0]))
    before, after = before.sample(at), after.sample(at)
    for node, weights in before.morphs.items():
        assert torch.allclose(weights, after.morphs[node], atol=1e-5), "morphs changed"
    gap = before.world()[..., :3, 3] - after.world()[..., :3, 3]
    return float(gap.norm(dim=-1).max())


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
