"""Families of the training side held out, to choose settings of the pose model by.

    python -m benchmarks.posespace_split out/poses_train.safetensors -o out/split

Writes OUT/fit.safetensors and OUT/held_out.safetensors: train on the first, and give both to
`benchmarks.posespace`. Every fourth family of artists' rigs is held out, in the order of a hash of
its name; all of the zoo and of motion capture trains.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from akd.base.files import text_hash
from akd.posespace.dataset import load_poses, save_poses

EVERY = 4
"""One of so many families is held out."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("poses", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=Path("out/split"))
    options = parser.parse_args()
    poses = load_poses(options.poses)
    families = {record.family for record in poses.records if record.source == "assets"}
    held = set(sorted(families, key=text_hash)[::EVERY])
    out = torch.tensor([r.source == "assets" and r.family in held for r in poses.records])
    for name, keep in (("fit", ~out), ("held_out", out)):
        rows = keep[poses.body_of]
        part = replace(
            poses, states=poses.states[rows], body_of=poses.body_of[rows],
            clip_of=poses.clip_of[rows], times=poses.times[rows],
        )  # fmt: skip
        save_poses(part, options.out / f"{name}.safetensors")
        print(f"{name}: {len(part)} poses of {int(keep.sum())} bodies")
    print(f"{len(held)} of {len(families)} families are held out")


if __name__ == "__main__":
    main()
