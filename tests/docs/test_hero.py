"""The moving image of the front page, in small."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from akd.export.creature import write_creature
from akd.zoo import build_creature, make_clip

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "make_hero.py"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".webp", ".gif"])
def test_clips_move_side_by_side(tmp_path, suffix):
    fox = build_creature("fox", vertices=600)
    files = (tmp_path / "walk.glb", tmp_path / "trot.glb")
    for file in files:
        write_creature(fox, [make_clip(fox, "stand"), make_clip(fox, file.stem)], file)
    main = runpy.run_path(str(SCRIPT))["main"]
    out = main(files, tmp_path / f"hero{suffix}", seconds=1.5, size=(48, 36), fps=8.0, splats=500)
    with Image.open(out) as image:
        assert image.size == (96, 36 + 28)
        assert image.n_frames == 12
        first = np.asarray(image.convert("RGB")).astype(float)
        image.seek(3)
        later = np.asarray(image.convert("RGB")).astype(float)
    for side in (slice(0, 48), slice(48, 96)):
        assert np.abs(first[:36, side] - later[:36, side]).mean() > 1.0


def test_panels_fill_rows_and_show_the_recommended_clip(tmp_path):
    script = runpy.run_path(str(SCRIPT))
    images = [Image.new("RGB", (4, 3), (shade, 0, 0)) for shade in (10, 20, 30)]
    sheet = script["_sheet"](images, 2)
    assert sheet.size == (8, 6)
    assert [sheet.getpixel(at)[0] for at in ((0, 0), (4, 0), (0, 3), (4, 3))] == [10, 20, 30, 255]
    file = tmp_path / "motion.glb"
    assert script["_recommended"](file) == -1
    for found, place in (
        ({"best": "grounded", "motion": {}, "grounded": {}}, -1),
        ({"best": "motion", "motion": {}, "grounded": {}}, -2),
        ({"best": "motion", "motion": {}}, -1),
    ):
        (tmp_path / "metrics.json").write_text(json.dumps(found))
        assert script["_recommended"](file) == place
