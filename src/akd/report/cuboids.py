"""Frames of a simulated body as SVG: cuboids, the ground and contact forces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from torch import Tensor

from akd.base.constants import GRAVITY
from akd.physics.body import Body, State, place
from akd.physics.target import TargetMotion
from akd.physics.tracking import Tracking
from akd.report.plots import COLOURS

WIDTH, MOST_HEIGHT = 250.0, 300.0
"""Of one frame's image."""
MARGIN = (24.0, 18.0)
"""Above and below the body, for the time and for the near side of the ground."""
YAW, PITCH = 0.45, 0.14
"""Where the body is seen from: radians from its side towards its front, and above the level."""
FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))
"""Corners of a cuboid's faces, in the order of `Body.corners`."""
ARROW = 0.45
"""Length of the arrow for a force of the body's weight, in body heights."""
LONGEST = 2.0
"""Weights at which an arrow is cut."""


def cuboid_frames(body: Body, tracking: Tracking, *, count: int = 8, columns: int = 4) -> str:
    """Frames of a tracked motion, evenly spread over it. SVG text.

    Filled: the simulated body. Outlined: the clip that was given. Arrows: forces of the ground,
    over the time of a frame. Marks on the ground are half a body height apart and stay in place.
    """
    chosen = np.linspace(0, len(tracking.states.position) - 1, count).round().astype(int)
    chosen = np.unique(chosen).tolist()
    axes = _view(body)
    scale, height, low = _scale(body, tracking, axes)
    made = _corners(body, tracking.states, chosen)
    given = _corners(body, tracking.given, chosen)
    rows = -(-len(chosen) // columns)
    parts = [f'<rect width="100%" height="100%" fill="#fff" class="back"/>{_ARROW_HEAD}']
    for panel, frame in enumerate(chosen):
        x, y = panel % columns * WIDTH, panel // columns * height
        ground = height - MARGIN[1] - low * scale
        drawn = _panel(body, tracking, axes, scale, ground, frame, made[panel], given[panel])
        seconds = frame / tracking.target.fps
        label = f'<text x="8" y="16" font-size="12" class="soft" fill="#555">{seconds:.2f} s</text>'
        parts.append(
            f'<svg x="{x:.0f}" y="{y:.0f}" width="{WIDTH:.0f}" height="{height:.0f}">'
            f"{drawn}{label}</svg>"
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * WIDTH:.0f} '
        f'{rows * height:.0f}" width="100%" role="img" aria-label="simulated frames" '
        f'font-family="system-ui, Helvetica, Arial, sans-serif">{"".join(parts)}</svg>'
    )


Seen = Callable[[np.ndarray], np.ndarray]
"""From points of the world [N, 3] to points of the image [N, 2]."""
_ARROW_HEAD = (
    '<defs><marker id="head" viewBox="0 0 6 6" refX="4" refY="3" markerWidth="5" '
    'markerHeight="5" orient="auto-start-reverse"><path d="M0 0L6 3L0 6z" fill="#c00000"/>'
    "</marker></defs>"
)


def _view(body: Body) -> Float[np.ndarray, "3 3"]:
    """Rows: right and up of the image, and towards who looks. The body faces right."""
    up, forward = (body.axes[0, i].numpy() for i in (0, 2))
    aside = np.cross(forward, up)
    right = np.cos(YAW) * forward - np.sin(YAW) * aside
    towards = np.cross(right, up)
    return np.stack(
        (
            right,
            np.cos(PITCH) * up - np.sin(PITCH) * towards,
            np.sin(PITCH) * up + np.cos(PITCH) * towards,
        )
    )


def _scale(body: Body, tracking: Tracking, axes: np.ndarray) -> tuple[float, float, float]:
    """Image units a metre, so that the body fits in any of its frames; the image's height; and
    how far (metres) the body is seen below the point of the ground under its root."""
    corners = _corners(body, tracking.states, list(range(len(tracking.states.position))))
    seen = (corners.reshape(len(corners), -1, 3) - _below(tracking.states.position)) @ axes[:2].T
    wide = 2 * float(np.abs(seen[..., 0]).max())
    low = -min(float(seen[..., 1].min()), 0.0)
    high = float(seen[..., 1].max()) + low
    scale = min(0.94 * WIDTH / wide, (MOST_HEIGHT - sum(MARGIN)) / high)
    return scale, high * scale + sum(MARGIN), low


def _below(position: Tensor) -> Float[np.ndarray, "F 1 3"]:
    """The point of the ground under the root."""
    return (position * position.new_tensor((1.0, 0.0, 1.0))).numpy()[:, None]


def _corners(
    body: Body, motion: State | TargetMotion, frames: list[int]
) -> Float[np.ndarray, "F B 8 3"]:
    return place(body, motion).corners(body)[frames].numpy()


def _panel(
    body: Body,
    tracking: Tracking,
    axes: np.ndarray,
    scale: float,
    ground: float,
    frame: int,
    made: Float[np.ndarray, "B 8 3"],
    given: Float[np.ndarray, "B 8 3"],
) -> str:
    """One frame, the root in the middle."""
    centre = _below(tracking.states.position[frame : frame + 1])[0, 0]
    middle = np.array((WIDTH / 2, ground))

    def seen(points: np.ndarray) -> np.ndarray:
        flat = (points - centre) @ axes[:2].T * scale
        return middle + flat * (1.0, -1.0)

    outlines = [
        f'<path d="{_path(seen(part[list(face)]))}"/>'
        for part in given
        for face in FACES
        if _faces_us(part, face, axes)
    ]
    filled = []
    for index in np.argsort(made.mean(1) @ axes[2]):
        part = made[index]
        for face in FACES:
            if _faces_us(part, face, axes):
                colour = _shade(_colour(body.names[index]), part, face, axes)
                filled.append(f'<path d="{_path(seen(part[list(face)]))}" fill="{colour}"/>')
    return (
        _ground(body, centre, seen)
        + f'<g fill="none" stroke="#c9c9c9" stroke-width="0.8">{"".join(outlines)}</g>'
        + f'<g stroke="#333" stroke-width="0.4" stroke-linejoin="round">{"".join(filled)}</g>'
        + _arrows(body, tracking, frame, made, seen)
    )


def _path(points: np.ndarray) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "z"


def _normal(part: np.ndarray, face: tuple[int, ...]) -> np.ndarray:
    out = part[list(face)].mean(0) - part.mean(0)
    return out / max(float(np.linalg.norm(out)), 1e-12)


def _faces_us(part: np.ndarray, face: tuple[int, ...], axes: np.ndarray) -> bool:
    return float(_normal(part, face) @ axes[2]) > 0


def _colour(name: str) -> tuple[int, int, int]:
    """One for each limb, grey for the trunk; near and far legs apart."""
    words = name.split()
    if words[0] not in ("left", "right") or len(words) < 2:
        return 176, 176, 168
    limbs = ("fore", "hind", "leg", "arm", "mid", "wing")
    place = limbs.index(words[1]) if words[1] in limbs else 0
    code = COLOURS[(2 * (place % 3) + (words[0] == "right")) % len(COLOURS)]
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def _shade(
    colour: tuple[int, int, int], part: np.ndarray, face: tuple[int, ...], axes: np.ndarray
) -> str:
    """Lit from above, a little from the front."""
    light = 0.62 + 0.38 * max(float(_normal(part, face) @ (0.8 * axes[1] + 0.6 * axes[2])), 0.0)
    return "#" + "".join(f"{int(light * c):02x}" for c in colour)


def _ground(body: Body, centre: np.ndarray, seen: Seen) -> str:
    """The level of the ground, with marks across the body's way that stay where they are."""
    forward = body.axes[0, 2].numpy() * (1.0, 0.0, 1.0)
    forward = forward / max(float(np.linalg.norm(forward)), 1e-9)
    across = np.cross((0.0, 1.0, 0.0), forward)
    half = 0.5 * body.height
    at = float(centre @ forward)
    lines = []
    for number in range(int(np.floor(at / half)) - 8, int(np.ceil(at / half)) + 9):
        middle = centre + (number * half - at) * forward
        ends = np.stack((middle - 0.7 * half * across, middle + 0.7 * half * across))
        lines.append(f'<path d="{_path(seen(ends))[:-1]}"/>')
    return f'<g fill="none" stroke="#d9d2c4" stroke-width="1.2">{"".join(lines)}</g>'


def _arrows(body: Body, tracking: Tracking, frame: int, made: np.ndarray, seen: Seen) -> str:
    """Forces of the ground on each part, mean over the substeps of one frame."""
    steps = len(tracking.targets)
    per_frame = steps // (len(tracking.target.position) - 1)
    first = min(max(frame * per_frame - per_frame // 2, 0), steps - per_frame)
    forces = tracking.forces.contacts[first : first + per_frame].mean(0).numpy()
    weight = body.mass * GRAVITY
    lines = []
    for part in range(len(body)):
        total = forces[part].sum(0)
        if total[1] < 0.03 * weight:
            continue
        share = np.clip(forces[part][:, 1], 0, None)
        at = (made[part] * share[:, None]).sum(0) / share.sum()
        at[1] = 0.0
        load = total / weight
        tip = at + load * min(1.0, LONGEST / float(np.linalg.norm(load))) * ARROW * body.height
        lines.append(f'<path d="{_path(seen(np.stack((at, tip))))[:-1]}" marker-end="url(#head)"/>')
    return f'<g fill="none" stroke="#c00000" stroke-width="2">{"".join(lines)}</g>'
