"""Make `src/akd/metrics/reference.json`: what true clips of the training side measure.

python -m benchmarks.score_reference FOLDER_OF_ASSETS FOLDER_OF_MOCAP

Characters of one family share their clips, so every family has the same weight in the table, and so
has every species of the zoo and every subject of motion capture.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path

import numpy as np

from akd.base.files import write_json
from akd.base.splits import mocap_trains, training_family, zoo_seed_trains
from akd.metrics.motion import measure
from akd.metrics.motion_metrics import MotionMetrics
from akd.metrics.reference import ABOUT, AT_MOST, kind_of
from benchmarks.score_clips import GAITS, stands_on_feet, true_acts, true_clips

FILE = Path(__file__).parents[1] / "src/akd/metrics/reference.json"
FEWEST = 3
"""Families that a group needs."""
NARROWEST = 0.2
"""Least spread of a logarithm: 20 %."""
_MOVES = 0.1
"""Leg lengths by which some part of the body moves in what is no pose."""


Values = dict[str, float]


def main(assets: Path, mocap: Path) -> None:
    """Measure every clip and write the table."""
    groups: dict[str, list[tuple[str, Values]]] = defaultdict(list)
    sources = set()
    gaits = true_clips(assets, training=True, seeds=2)
    acts = true_acts(assets, mocap, seeds=2)
    for name, action, character, motion in chain(gaits, acts):
        family = family_of(name)
        found = measure(character, character.control_rig, motion, asked=action)
        if not _shows_it(found):
            continue
        values = {key: getattr(found, key) for key in (*AT_MOST, *ABOUT)}
        values["skate"] = max(found.skate)
        print(f"{name} {action} " + " ".join(f"{k} {v:.2f}" for k, v in values.items()), flush=True)
        legs, kind = len(found.contact), kind_of(action)
        names = [f"{action}/{legs}"]
        # Gaits of which there are few are not what an unknown gait is like.
        if kind != "gait" or action in GAITS:
            names += [f"{kind}/{legs}", kind]
        for group in names:
            groups[group].append((family, values))
        sources.add(name)
    table = {
        name: _row(found)
        for name, found in sorted(groups.items())
        if len({family for family, _ in found}) >= FEWEST
    }
    about = "benchmarks/score_reference.py: true clips of the training side of splits.toml"
    write_json(FILE, {"made_by": about, "sources": sorted(sources), "groups": table})


def _shows_it(found: MotionMetrics) -> bool:
    """Whether a clip can say how its action is done: with feet, and not as a pose held still."""
    if not found.contact:
        return False
    if found.must_travel:
        return stands_on_feet(found)
    return found.asked == "stand" or found.swing >= _MOVES


def family_of(source: str) -> str:
    """Family of a file, species of a creature ("zoo fox 1000") or subject of motion capture ("mocap
    02_01.bvh"), of the training side.

    Raises:
        ValueError: The source is for measuring.
    """
    if source.startswith("zoo "):
        species, _, seed = source.rpartition(" ")
        family = species if zoo_seed_trains(int(seed)) else None
    elif source.startswith("mocap "):
        file = source.removeprefix("mocap ")
        family = f"mocap {file.partition('_')[0]}" if mocap_trains(file) else None
    else:
        family = training_family(source)
    if family is None:
        raise ValueError(f"{source} is of the measuring side, and the reference may not hold it")
    return family


def _row(found: list[tuple[str, dict[str, float]]]) -> dict[str, tuple[float, float] | int]:
    """Summaries of one group, with as much weight for every family."""
    clips = Counter(family for family, _ in found)
    weights = np.array([1.0 / clips[family] for family, _ in found])
    row: dict[str, tuple[float, float] | int] = {
        key: _summary(key, np.array([values[key] for _, values in found]), weights)
        for key in (*AT_MOST, *ABOUT)
    }
    return row | {"clips": len(found), "families": len(clips)}


def _summary(key: str, values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Median, and 90th percentile or spread of the logarithm."""
    middle, high = np.quantile(values, (0.5, 0.9), weights=weights, method="inverted_cdf")
    if key in AT_MOST:
        return round(float(middle), 4), round(max(float(high), 1e-3), 4)
    logs = np.log(np.maximum(values, 1e-6))
    spread = np.sqrt(np.cov(logs, aweights=weights, ddof=0))
    return round(float(middle), 4), round(max(float(spread), NARROWEST), 4)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
