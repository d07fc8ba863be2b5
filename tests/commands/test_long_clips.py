"""Clips of hours, and hundreds of them: within 1 GiB, or one line that says what is too long."""

import subprocess
import sys

import numpy as np
import pytest

from akd.api import exporting
from akd.cli import main
from akd.export.creature import write_creature
from akd.zoo import build_creature, make_clip
from tests.asset.gltf_builder import GltfBuilder

MOST_MIB = 1024


def turning(path, frames: int):
    """A cloud of triangles that turns about itself at 30 frames a second."""
    file = GltfBuilder()
    seconds = np.arange(frames) / 30.0
    angle = 0.3 * np.sin(2.0 * np.pi * seconds)
    still = np.zeros(frames)
    turns = np.stack((np.sin(angle / 2), still, still, np.cos(angle / 2)), axis=1)
    times, values = file.accessor(seconds), file.accessor(turns)
    points = np.random.default_rng(0).random((300, 3))
    node = file.show({"attributes": {"POSITION": file.accessor(points)}})
    channel = {"sampler": 0, "target": {"node": node, "path": "rotation"}}
    sampler = {"input": times, "output": values}
    file.add("animations", name="turn", channels=[channel], samplers=[sampler])
    return file.write(path)


# Not `ru_maxrss`, which begins at the size of the process that started this one.
PEAK = """
import re
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""
MEASURED = f"""
import sys
from akd.cli import main
assert main(sys.argv[1:]) == 0
{PEAK}
"""


@pytest.mark.slow
def test_a_million_frames_are_exported_within_a_gibibyte(tmp_path):
    path = turning(tmp_path / "long.glb", 1_000_000)
    words = [sys.executable, "-c", MEASURED, "export", str(path), "-o", str(tmp_path)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert int(done.stdout.splitlines()[-1]) < MOST_MIB
    with (tmp_path / "long-turn.bvh").open("rb") as file:
        assert sum(1 for _ in file) > 1_000_000


@pytest.mark.slow
def test_clips_that_are_too_long_together_are_one_line(tmp_path, capsys, monkeypatch):
    fox = build_creature("fox", vertices=600)
    clips = [make_clip(fox, action) for action in ("walk", "trot", "gallop")]
    write_creature(fox, clips, path := tmp_path / "fox.glb")
    monkeypatch.setattr(exporting, "MAX_VALUES", 20_000)
    assert main(["export", str(path), "-o", str(tmp_path)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "3 clips must have at most 2000 poses of a joint in all, the first 2 have" in said[0]
    assert main(["export", str(path), "-o", str(tmp_path), "--clip", "walk"]) == 0
    assert [p.name for p in tmp_path.glob("*.bvh")] == ["fox-walk.bvh"]


@pytest.mark.slow
def test_an_hour_is_read_within_a_gibibyte(tmp_path):
    """As `akd view` and all other commands read it: poses of the fox's 34 nodes."""
    fox = build_creature("fox", vertices=600)
    walk = make_clip(fox, "walk")
    write_creature(fox, [walk], path := tmp_path / "fox.glb")
    script = LONG.format(path=str(path)) + PEAK
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert int(done.stdout) < MOST_MIB


LONG = """
from dataclasses import replace
from pathlib import Path
import numpy as np
from akd.api.loading import load
from akd.motion.clip import motion_from_clip
fox = load({path!r})
(walk,) = fox.asset.clips
keys = np.arange(108_000)
long = tuple(
    replace(t, times=(keys / 30.0).astype(np.float32), values=t.values[keys % len(t.values)])
    for t in walk.tracks
)
motion = motion_from_clip(fox, replace(walk, tracks=long))
assert len(motion) == 108_000
"""
