"""Describes every file of a folder, and fails on anything but a description or one line that
refuses it. Broken files are described in `tests/asset/test_robustness.py`.

Prints how many files were described and how many refused.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import torch

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.report.describe import describe, describe_text
from akd.rig.character import load_character

SUFFIXES = {".gltf", ".glb", ".obj", ".ply", ".stl", ".off", ".bvh", ".spz", ".sog"}


def main(folder: Path) -> None:
    described = refused = 0
    for path in sorted(folder.glob("**/*")):
        if path.suffix.lower() not in SUFFIXES or "robustness" in path.parts:
            continue
        started = time.process_time()
        try:
            character = load_character(read_asset(path))
            json.dumps(describe(character), allow_nan=False)
            assert describe_text(character)
            described += 1
        except AssetError as error:
            assert "\n" not in str(error), f"{path}: more than one line"
            assert path.name in str(error), f"{path}: the message does not name the file"
            refused += 1
        except Exception as error:
            raise AssertionError(f"{path}: {error!r}") from error
        assert time.process_time() - started < 10, f"{path}: took more than 10 s"
    print(described, refused)


if __name__ == "__main__":
    warnings.simplefilter("error")
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
