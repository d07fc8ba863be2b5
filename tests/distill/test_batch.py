"""`animate_many`: each job as if it were alone, and errors that end no more than their job."""

from pathlib import Path

import pytest
import torch

from akd.api.animation import Animation
from akd.asset.asset import AssetError
from akd.batch.many import Job, animate_many
from akd.pipeline import animate
from akd.presets import TINY, with_values
from akd.rig.character import Character

pytestmark = pytest.mark.slow

SETTINGS = with_values(TINY, ["iterations=2", "splats=200", "warm_start.samples=0"])


def test_jobs_in_a_batch_are_as_alone(fox: Character, tmp_path: Path) -> None:
    walk, missing = Job(fox, "a fox walking", seed=3), Job(tmp_path / "no.glb", "a fox walking")
    options = {"preset": SETTINGS, "physics": False, "device": "cpu"}
    found = {job.seed: clip for job, clip in animate_many([walk, missing], processes=2, **options)}
    assert isinstance(found[missing.seed], AssetError)
    clip = found[walk.seed]
    assert isinstance(clip, Animation)
    other = animate(fox, walk.prompt, seed=4, **options)
    assert not torch.allclose(clip.motion.pose.translation, other.motion.pose.translation)
    # In this process, which has done other work: the job's was new.
    alone = animate(fox, walk.prompt, seed=3, **options)
    assert torch.equal(clip.motion.pose.translation, alone.motion.pose.translation)
    assert torch.equal(clip.motion.pose.rotation, alone.motion.pose.rotation)


def test_no_process_is_refused(fox: Character) -> None:
    with pytest.raises(ValueError, match="processes must be a whole number from 1 to 1024, got 0"):
        next(animate_many([Job(fox, "a fox walking")], processes=0))
