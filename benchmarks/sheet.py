"""Rows of images under their names, as one image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

NAMES = 18
"""Pixels above each row, for its name."""
NamedRow = tuple[str, UInt8[np.ndarray, "H W 3"]]


def write_sheet(rows: list[NamedRow], path: Path, *, quality: int = 85) -> None:
    """Rows of images under their names; nothing where there are none."""
    if not rows:
        return
    width = max(row.shape[1] for _, row in rows)
    heights = [row.shape[0] + NAMES for _, row in rows]
    sheet = Image.new("RGB", (width, sum(heights)), (255, 255, 255))
    draw, top = ImageDraw.Draw(sheet), 0
    for (name, row), height in zip(rows, heights, strict=True):
        draw.text((4, top + 3), name, fill=(0, 0, 0))
        sheet.paste(Image.fromarray(row), (0, top + NAMES))
        top += height
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path, quality=quality)
