"""Makes the pictures of the zoo's page: `python docs/make_zoo_pictures.py [dozen|gait|sheet ...]`.

`sheet SPECIES` writes every action of a species as film strips to sheet_SPECIES.png in this folder,
for judging by eye; it is not part of the documentation.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from zoo_renderer import Stage

from akd.zoo.creature import Creature, build_creature
from akd.zoo.gait.clips import perform

HERE = Path(__file__).resolve().parent / "images"
DOZEN = (
    "fox", "wolf", "cat", "tiger", "horse", "deer", "cow", "elephant",
    "woman", "man", "trex", "ostrich",
)  # fmt: skip
COLOURS = {
    "left_fore": (214, 69, 65), "right_fore": (244, 164, 96),
    "left_hind": (46, 92, 184), "right_hind": (120, 180, 232),
    "left_leg": (46, 92, 184), "right_leg": (244, 164, 96),
}  # fmt: skip

OTHER = (90, 130, 90)
"""Of the feet of spiders and crabs."""


def posed(creature: Creature, world) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, faces and colours of a creature in one pose."""
    return (
        creature.mesh.pose(world).numpy(),
        creature.mesh.faces.numpy(),
        creature.mesh.colours.numpy(),
    )


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """A plain typeface."""
    return ImageFont.load_default(size=size)


def portrait(species: str, size: tuple[int, int], *, azimuth: float = 38.0, quality: int = 3):
    """One creature standing, three quarters from the front."""
    creature = build_creature(species, vertices=8000)
    act = perform(creature, "stand", frames=1)
    vertices, faces, colours = posed(creature, act.motion.world()[0])
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    centre, extent = 0.5 * (low + high), high - low
    angle = np.radians(azimuth)
    toward = np.array((np.sin(angle), 0.24, np.cos(angle)))
    across = abs(extent[0] * np.cos(angle)) + abs(extent[2] * np.sin(angle))
    height = max(1.22 * extent[1], 1.16 * across * size[1] / size[0])
    stage = Stage(checker=0.3 * extent[1])
    stage.add(vertices, faces, colours)
    eye = centre + toward * 2.4 * np.linalg.norm(extent)
    fov = 2 * np.degrees(np.arctan(0.5 * height / np.linalg.norm(eye - centre)))
    picture = stage.render(
        eye, centre, size=size, fov=float(fov), samples=quality, sky_rays=10, sun_rays=4
    )
    return Image.fromarray(picture)


def dozen() -> None:
    """Twelve creatures, each three quarters from the front."""
    tile = (420, 360)
    sheet = Image.new("RGB", (4 * tile[0], 3 * tile[1]))
    for number, species in enumerate(DOZEN):
        picture = portrait(species, tile)
        ImageDraw.Draw(picture).text((14, 10), species, font=font(22), fill=(70, 74, 80))
        sheet.paste(picture, (number % 4 * tile[0], number // 4 * tile[1]))
    sheet.save(HERE / "zoo_dozen.png", optimize=True)


def strip(
    creature: Creature, action: str, frames: int, tile: tuple[int, int], *, quality: int = 2
) -> Image.Image:
    """Frames of one cycle from the side, each foot on the ground marked by its colour."""
    _, period = _cycle(creature, action)
    act = perform(creature, action, fps=frames / period, cycles=1)
    world = act.motion.world()
    start, faces, colours = posed(creature, world[0])
    top = max(posed(creature, w)[0][:, 1].max() for w in world)
    low, high = start.min(axis=0), start.max(axis=0)
    height = max(1.18 * top, 1.14 * (high[2] - low[2]) * tile[1] / tile[0])
    sheet = Image.new("RGB", (frames * tile[0], tile[1]))
    for number in range(frames):
        vertices = posed(creature, world[number])[0]
        root = world[number, 0, :3, 3].numpy()
        centre = root + np.array((0.0, 0.38 * height, 0.5 * (low[2] + high[2])))
        stage = Stage(checker=0.25 * creature.height)
        stage.add(vertices, faces, colours)
        toward = np.array((1.0, 0.08, 0.0)) * 6 * height
        picture = stage.render(
            centre + toward, centre, size=tile, fov=None, height=height, samples=quality,
            sky_rays=8, sun_rays=3,
        )  # fmt: skip
        image = Image.fromarray(picture)
        _mark(image, creature, act.contacts[number].numpy(), vertices, centre, height)
        sheet.paste(image, (number * tile[0], 0))
    return sheet


def _cycle(creature: Creature, action: str) -> tuple[int, float]:
    motion = perform(creature, action, fps=60.0, cycles=1).motion
    return len(motion), motion.duration


def _mark(image, creature, contacts, vertices, centre, height) -> None:
    """A dot under every foot on the ground."""
    draw = ImageDraw.Draw(image)
    scale = image.height / height
    for number, foot in enumerate(creature.feet):
        if not contacts[number]:
            continue
        sole = vertices[foot.vertices.numpy()]
        z = float(sole[:, 2].mean() - centre[2])
        x = image.width / 2 - z * scale
        y = image.height / 2 + float(centre[1]) * scale * 0.997
        y += 12 * image.height / 240
        r = 4.5 * image.height / 240
        draw.ellipse((x - r, y - r, x + r, y + r), fill=COLOURS.get(foot.name, OTHER))


def gait() -> None:
    """Three gaits as film strips, with the feet that are on the ground below."""
    tile = (300, 216)
    fox, horse = build_creature("fox", vertices=6000), build_creature("horse", vertices=6000)
    rows = []
    for creature, action in ((fox, "walk"), (fox, "gallop"), (horse, "trot")):
        rows.append(
            (f"{creature.name}, {action}", strip(creature, action, 6, tile), creature, action)
        )
    bar = 96
    sheet = Image.new("RGB", (6 * tile[0], len(rows) * (tile[1] + bar)), (250, 250, 250))
    draw = ImageDraw.Draw(sheet)
    for number, (title, picture, creature, action) in enumerate(rows):
        top = number * (tile[1] + bar)
        sheet.paste(picture, (0, top))
        draw.text((tile[0] - 12, top + 8), title, font=font(22), fill=(70, 74, 80), anchor="ra")
        _diagram(draw, creature, action, top + tile[1], 6 * tile[0], bar)
    sheet.save(HERE / "zoo_gait.png", optimize=True)


def _diagram(draw, creature, action, top: int, width: int, height: int) -> None:
    """Hildebrand's diagram: when each foot is on the ground, over one stride."""
    _, period = _cycle(creature, action)
    contacts = perform(creature, action, fps=400 / period, cycles=1).contacts.numpy()[:-1]
    line = (height - 12) / len(creature.feet)
    for number, foot in enumerate(creature.feet):
        y = top + 6 + number * line
        draw.text((8, y + 1), foot.name.replace("_", " "), font=font(14), fill=(90, 94, 100))
        left, right = 110, width - 16
        draw.line((left, y + line / 2, right, y + line / 2), fill=(215, 218, 222))
        for i in np.flatnonzero(contacts[:, number]):
            x = left + (right - left) * i / len(contacts)
            draw.rectangle(
                (x, y + 3, x + (right - left) / len(contacts) + 1, y + line - 4),
                fill=COLOURS.get(foot.name, OTHER),
            )


def sheet(species: str) -> None:
    """Every action of a species."""
    creature = build_creature(species, vertices=4000)
    strips = [strip(creature, action, 8, (210, 170), quality=1) for action in creature.actions]
    whole = Image.new("RGB", (strips[0].width, sum(s.height for s in strips)))
    for number, picture in enumerate(strips):
        whole.paste(picture, (0, number * picture.height))
    whole.save(Path(__file__).resolve().parent / f"sheet_{species}.png")


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or ["dozen", "gait"]
    if wanted[0] == "sheet":
        for name in wanted[1:]:
            sheet(name)
    else:
        for name in wanted:
            {"dozen": dozen, "gait": gait}[name]()
