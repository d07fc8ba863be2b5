"""All cases of `benchmarks/distill.py` in one image, from the strips that their rows left."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from benchmarks.distill_cases import CASES
from benchmarks.distill_parts import ALL
from benchmarks.distill_rows import STRIP_FRAMES, strip_name

_COLUMNS, _FRAMES = 3, 4
_FRAME = (132, 99)
_LABEL = 16
_EVERY = STRIP_FRAMES // _FRAMES


def write_sheet(out: Path, path: Path) -> None:
    """Some frames of every grounded case whose strip is in OUT/strips."""
    found = [
        (case.name, strip)
        for case in CASES
        if (strip := out / "strips" / strip_name("cases", case.name, ALL, 0)).exists()
    ]
    if not found:
        raise SystemExit(f"{out}: there are no strips of cases")
    width, height = _FRAMES * _FRAME[0] + 6, _FRAME[1] + _LABEL
    rows = -(-len(found) // _COLUMNS)
    sheet = Image.new("RGB", (_COLUMNS * width - 6, rows * height), "white")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(12)
    for k, (name, strip) in enumerate(found):
        left, top = width * (k % _COLUMNS), height * (k // _COLUMNS)
        draw.text((left + 2, top + 1), name, fill="black", font=font)
        picture = Image.open(strip)
        size = picture.width // STRIP_FRAMES
        for frame in range(_FRAMES):
            x = frame * _EVERY * size
            small = picture.crop((x, 0, x + size, picture.height)).resize(_FRAME)
            sheet.paste(small, (left + frame * _FRAME[0], top + _LABEL))
    sheet.save(path)
