"""Ranges of naturalness: stride, duty factor, limb phases, lean and vertical motion of true clips.

    python benchmarks/naturalness.py --assets FOLDER --mocap FOLDER --out out/naturalness.json

Clips of the training sides of artists' files and motion capture on their own bodies, and the zoo's
creatures of training seeds. `benchmarks/distill.py table --naturalness FILE` uses them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from akd.asset.asset import AssetError
from akd.metrics.travel import with_implied_travel
from akd.motion.actions import ACTIONS
from akd.motion.loop import repeat
from akd.prior.tiny.creatures import cast_list
from akd.prior.tiny.recorded import Recordings, label_of
from akd.rig.character import bound_character
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from benchmarks.natural_range import NaturalRange, body_plan, naturalness_features

FIRST_SEED = 1000
CYCLES = 3
SHORT = 3.0
"""Seconds. Shorter clips of gaits are loops."""

Found = tuple[str, str, dict[str, float]]


def recorded(recordings: Recordings) -> Iterator[Found]:
    """Recorded clips; one that runs on the spot travels as its stance feet imply."""
    for clip in (*recordings.artists(), *recordings.people()):
        label = label_of(clip)
        assert label is not None
        try:
            character, motion = clip.load()
            if ACTIONS[label].is_cyclic:
                motion = with_implied_travel(character, motion)
                if motion.duration < SHORT:  # a loop
                    motion = repeat(character.control_rig, motion, CYCLES)
            features = naturalness_features(character, motion)
        except (AssetError, ValueError) as error:
            print(f"left out: {clip.name}: {error}", flush=True)
            continue
        yield label, body_plan(character), features


def zoo(count: int) -> Iterator[Found]:
    """Creatures of training seeds."""
    for species, seed in cast_list(count, first_seed=FIRST_SEED):
        creature = build_creature(species, seed=seed, vertices=2000)
        character = bound_character(species, creature.skeleton, creature.mesh)
        for action in creature.actions:
            motion = make_clip(creature, action, cycles=CYCLES)
            yield (
                ACTIONS[action].label,
                body_plan(character),
                naturalness_features(character, motion),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--assets", type=Path)
    parser.add_argument("--mocap", type=Path)
    parser.add_argument("--creatures", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path("out/naturalness.json"))
    options = parser.parse_args()
    found = [*zoo(options.creatures), *recorded(Recordings(options.assets, options.mocap))]
    ranges = NaturalRange.of(found)
    ranges.write(options.out)
    for key, group in sorted(ranges.ranges.items()):
        values = ", ".join(f"{n} {m:.2f} ± {s:.2f}" for n, (m, s) in group.items())
        print(f"{key}: {values}")


if __name__ == "__main__":
    main()
