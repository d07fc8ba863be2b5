"""Film a clip while the camera goes once round the character.

    python examples/06_render_a_turntable.py --file fox.glb --clip Walk --out fox.mp4

The suffix of `--out` decides the format: .mp4, .gif, or .png for a strip of frames.
"""

from pathlib import Path

import tyro

import akd
from akd.export.creature import write_creature
from akd.zoo import build_creature, make_clip


def main(
    file: Path | None = None,
    clip: str | None = None,
    out: Path = Path("out/turntable.gif"),
    size: tuple[int, int] = (480, 360),
    fps: float = 24.0,
) -> Path:
    """Write a video of `clip`, or of a horse that gallops."""
    if file is None:
        file = out.with_suffix(".glb")
        horse = build_creature("horse")
        write_creature(horse, [make_clip(horse, "gallop", cycles=6)], file)
    video = akd.film(file, clip, turn=360.0, size=size, fps=fps)
    print(f"{out}: {len(video)} frames")
    return video.write(out)


if __name__ == "__main__":
    tyro.cli(main)
