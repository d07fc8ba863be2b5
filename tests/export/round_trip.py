"""Adds clips to every readable glTF file of a folder, writes each, and checks what was written.

Run by itself and not inside the tests: with the shapes of every record checked at run time, which
other tests do, it would take minutes.
"""

import json
import sys
from pathlib import Path

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.export.gltf.clips import add_clips
from akd.export.gltf.write import write_glb
from tests.export.clip_samples import check_clip, check_untouched, clip_for, gltf_paths


def main(source: Path, target: Path) -> None:
    pairs: list[tuple[str, str]] = []
    for path in gltf_paths(source):
        try:
            before = read_asset(path)
        except AssetError:
            continue
        assert before.document is not None
        out = target / f"{len(pairs)}.glb"
        clips = [clip_for(before), clip_for(before, seed=1)] if before.nodes else []
        write_glb(add_clips(before.document, clips), out)
        after = read_asset(out)
        try:
            check_untouched(before, after, clips=len(clips))
            for index, clip in enumerate(clips):
                check_clip(after, len(before.clips) + index, clip)
        except AssertionError as error:
            raise AssertionError(f"{path}: {error}") from error
        pairs.append((str(path), str(out)))
    print(json.dumps(pairs))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
