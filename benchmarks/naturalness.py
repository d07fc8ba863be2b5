"""Ranges of naturalness: stride, duty factor, limb phases, lean and vertical motion of true clips.

    python -m benchmarks.naturalness --assets FOLDER --mocap FOLDER --out out/naturalness.json

The actions of the cases. Clips of the training sides of artists' files and motion capture on their
own bodies, and the zoo's creatures of training seeds. `benchmarks/distill.py table --naturalness
FILE` uses them.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

from akd.asset.asset import AssetError
from akd.metrics.travel import with_implied_travel
from akd.motion.actions import ACTIONS
from akd.motion.library import LibraryClip
from akd.motion.loop import repeat
from akd.prior.tiny.creatures import cast_list
from akd.prior.tiny.recorded import Recordings, label_of
from akd.rig.character import bound_character
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from benchmarks.distill_cases import CASES
from benchmarks.natural_range import NaturalRange, body_plan, naturalness_features

FIRST_SEED = 1000
CYCLES = 3
SHORT = 3.0
"""Seconds. Shorter clips of gaits are loops."""

Found = tuple[str, str, dict[str, float]]


def recorded(recordings: Recordings, actions: Collection[str], most: int) -> Iterator[Found]:
    """Recorded clips; one that runs on the spot travels as its stance feet imply."""
    for clip in chain.from_iterable(
        some(clips, actions, most) for clips in (recordings.artists(), recordings.people())
    ):
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


def some(
    clips: Sequence[LibraryClip], actions: Collection[str], most: int
) -> Iterator[LibraryClip]:
    """At most so many clips of each of some actions, evenly taken."""
    by_action: dict[str, list[LibraryClip]] = {}
    for clip in clips:
        by_action.setdefault(label_of(clip) or "", []).append(clip)
    for action in actions:
        found = by_action.get(action, [])
        yield from found[:: math.ceil(len(found) / most) or 1]


def zoo(count: int, actions: Collection[str]) -> Iterator[Found]:
    """Creatures of training seeds."""
    for species, seed in cast_list(count, first_seed=FIRST_SEED):
        creature = build_creature(species, seed=seed, vertices=2000)
        character = bound_character(species, creature.skeleton, creature.mesh)
        for action in creature.actions:
            if ACTIONS[action].label not in actions:
                continue
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
    parser.add_argument(
        "--most", type=int, default=12, help="recorded clips of an action, a source"
    )
    options = parser.parse_args()
    actions = tuple(dict.fromkeys(case.action for case in CASES))
    recordings = Recordings(options.assets, options.mocap)
    found = [*zoo(options.creatures, actions), *recorded(recordings, actions, options.most)]
    ranges = NaturalRange.of(found)
    ranges.write(options.out)
    for key, group in sorted(ranges.ranges.items()):
        values = ", ".join(f"{n} {m:.2f} ± {s:.2f}" for n, (m, s) in group.items())
        print(f"{key}: {values}")


if __name__ == "__main__":
    main()
