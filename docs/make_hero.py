"""Makes the moving image at the top of README.md: clips that akd made, side by side.

    python docs/make_hero.py out/fox/motion.glb out/man/motion.glb out/trex/motion.glb

Each panel shows the clip of a run that `akd animate` recommends, or the last clip of any other
file, with its prompt below. `--columns` breaks the panels into rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tyro
from PIL import Image, ImageDraw, ImageFont

import akd
from akd.api.clips import find_motion
from akd.motion.loop import repeat
from akd.scene.follow import THREE_QUARTER

TARGET = Path(__file__).resolve().parent / "images" / "hero.webp"
CAPTION = 28
"""Height of the caption, pixels."""


def panel(
    file: Path, *, seconds: float, size: tuple[int, int], fps: float, splats: int
) -> list[Image.Image]:
    """Frames of a file's last clip, repeated to fill the time, with its name below."""
    character = akd.load(file)
    motion = find_motion(character, character.asset.clips[_recommended(file)].name)
    times = math.ceil((seconds + 1.0 / fps) / motion.duration)
    motion = repeat(character.control_rig, motion, times).resample(fps)
    frames = motion.sample(motion.times[: round(seconds * fps)])
    video = akd.film(character, frames, view=THREE_QUARTER, size=size, fps=fps, splats=splats)
    caption = motion.name.removesuffix(" (grounded)")
    return [_captioned(frame, caption) for frame in video.bytes()]


def _recommended(file: Path) -> int:
    """Place of the clip: a run writes the distilled one and then the grounded one."""
    metrics = file.with_name("metrics.json")
    found = json.loads(metrics.read_text()) if metrics.exists() else {}
    return -2 if found.get("best") == "motion" and "grounded" in found else -1


def _captioned(frame: np.ndarray, caption: str) -> Image.Image:
    height, width = frame.shape[:2]
    image = Image.new("RGB", (width, height + CAPTION), "white")
    image.paste(Image.fromarray(frame), (0, 0))
    font = ImageFont.load_default(size=0.5 * CAPTION)
    middle = (0.5 * width, height + 0.5 * CAPTION)
    ImageDraw.Draw(image).text(middle, caption, fill="#333333", font=font, anchor="mm")
    return image


def _sheet(images: Sequence[Image.Image], columns: int) -> Image.Image:
    """Images of one size in rows."""
    width, height = images[0].size
    sheet = Image.new("RGB", (columns * width, math.ceil(len(images) / columns) * height), "white")
    for place, image in enumerate(images):
        sheet.paste(image, (place % columns * width, place // columns * height))
    return sheet


def main(
    files: tyro.conf.Positional[tuple[Path, ...]],
    out: Path = TARGET,
    seconds: float = 4.0,
    size: tuple[int, int] = (320, 240),
    fps: float = 20.0,
    quality: int = 70,
    splats: int = 20_000,
    columns: int | None = None,
) -> Path:
    """Write an animated WebP, or a GIF where `out` ends so."""
    panels = [panel(file, seconds=seconds, size=size, fps=fps, splats=splats) for file in files]
    together = [_sheet(images, columns or len(files)) for images in zip(*panels, strict=True)]
    together[0].save(
        out, save_all=True, append_images=together[1:], duration=round(1000.0 / fps), loop=0,
        quality=quality, method=6,
    )  # fmt: skip
    print(f"{out}: {len(together)} frames, {out.stat().st_size / 1e6:.2f} MB")
    return out


if __name__ == "__main__":
    tyro.cli(main)
