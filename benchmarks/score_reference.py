"""Make `src/akd/metrics/reference.json`: what true clips of the training side measure.

python -m benchmarks.score_reference FOLDER_OF_ASSETS
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from akd.base.files import write_json
from akd.metrics.motion import measure
from akd.metrics.reference import ABOUT, AT_MOST
from benchmarks.score_clips import true_clips

FILE = Path(__file__).parents[1] / "src/akd/metrics/reference.json"
FEWEST = 3
"""Clips that a group needs."""
NARROWEST = 0.2
"""Least spread of a logarithm: 20 %."""


def main(assets: Path) -> None:
    """Measure every clip and write the table."""
    groups, sources = defaultdict(list), set()
    for name, action, character, motion in true_clips(assets, training=True, seeds=2):
        found = measure(character, character.control_rig, motion, asked=action)
        values = {key: getattr(found, key) for key in (*AT_MOST, *ABOUT)}
        values["skate"] = max(found.skate)
        print(f"{name} {action} " + " ".join(f"{k} {v:.2f}" for k, v in values.items()), flush=True)
        legs = len(found.contact)
        for group in (f"{action}/{legs}", f"gait/{legs}", "gait"):
            groups[group].append(values)
        sources.add(name)
    table = {
        name: {key: _summary(key, [m[key] for m in found]) for key in (*AT_MOST, *ABOUT)}
        | {"clips": len(found)}
        for name, found in sorted(groups.items())
        if len(found) >= FEWEST
    }
    about = "benchmarks/score_reference.py: true clips of the training side of splits.toml"
    write_json(FILE, {"made_by": about, "sources": sorted(sources), "groups": table})


def _summary(key: str, values: list[float]) -> tuple[float, float]:
    """Median, and 90th percentile or spread of the logarithm."""
    middle = float(np.median(values))
    if key in AT_MOST:
        return round(middle, 4), round(max(float(np.quantile(values, 0.9)), 1e-3), 4)
    logs = [math.log(max(v, 1e-6)) for v in values]
    return round(middle, 4), round(max(float(np.std(logs)), NARROWEST), 4)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
