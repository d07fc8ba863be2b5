"""What commands do with an asset after reading it: all of it must hold the limits of reading."""

import io
import json
import tempfile
from pathlib import Path

from akd.asset.asset import Asset
from akd.export.bvh import write_bvh
from akd.export.character import write_motions
from akd.motion.clip import motion_from_clip
from akd.motion.motion import Motion
from akd.report.describe import describe, describe_text
from akd.rig.character import Character, load_character

FOLDER = Path(tempfile.mkdtemp())


def use(asset: Asset) -> None:
    """Load the character, describe it, resample its first clips, and write them.

    `ValueError` is allowed where the documentation says so: a motion too long to be resampled, no
    joint to write.
    """
    character = load_character(asset)
    json.dumps(describe(character), allow_nan=False)
    text = describe_text(character)
    assert not any(c < " " and c != "\n" for c in text), "control characters reach the terminal"
    print(text, file=io.StringIO())
    for clip in asset.clips[:2]:
        motion = motion_from_clip(character, clip)
        try:
            motion = motion.resample(24.0)
        except ValueError as error:
            assert "must have at most" in str(error) or "increase" in str(error), error
            continue
        write(character, motion)


def write(character: Character, motion: Motion) -> None:
    try:
        write_bvh(motion, FOLDER / "motion.bvh")
    except ValueError as error:
        assert "must" in str(error), error
    if character.asset.document is not None:
        write_motions(character, [motion], FOLDER / "motion.glb")
