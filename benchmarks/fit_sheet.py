"""Images of fits for `benchmarks/fit.py`: the video, the fit and their difference, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from akd.fit.observation import Observation
from akd.fit.video_fit import VideoFit, show_over
from akd.report.fit_page import Panel
from akd.scene.stage import Stage
from akd.scene.video import write_image
from benchmarks.fit_tables import Row
from benchmarks.sheet import write_sheet

_FRAMES = (0.3, 0.6)
"""Those that are shown, as shares of the video."""
_EACH = 4
"""Best and worst fits on a sheet."""
_HEIGHT = 136


def write_frames(path: Path, stage: Stage, found: VideoFit, observation: Observation) -> None:
    """Two frames of a fit with one view, cropped to the body, in a row."""
    shown = show_over(stage, found.curves, found.cameras[0], observation)
    at = [round(share * (len(observation) - 1)) for share in _FRAMES]
    crops = []
    for frame in at:
        rows, columns = (
            (observation.masks[frame] > 0.5).any(axis).nonzero().flatten() for axis in (1, 0)
        )
        ends = [(int(x[0]), int(x[-1]) + 1) for x in (rows, columns)]
        side = min(round(1.25 * max(b - a for a, b in ends)), *observation.size)
        corner = [
            min(max(0, (a + b - side) // 2), whole - side)
            for (a, b), whole in zip(ends, observation.masks.shape[1:], strict=True)
        ]
        where = tuple(slice(a, a + side) for a in corner)
        panel = Panel(
            observation.frames[frame][where][None], observation.masks[frame][where][None],
            shown[frame][where][None],
        )  # fmt: skip
        image = panel.comparison()[0].movedim(-1, 0)[None]
        size = (_HEIGHT, 3 * _HEIGHT)
        crops.append(torch.nn.functional.interpolate(image, size, mode="bilinear", antialias=True))
    write_image(path, torch.cat(crops, dim=-1)[0].movedim(0, -1))


def write_best_and_worst(rows: Sequence[Row], folder: Path, path: Path) -> None:
    """The fits with the smallest errors, and those with the largest."""
    rows = sorted((row for row in rows if not row.failed), key=lambda row: row.error)
    shown = rows if len(rows) < 2 * _EACH else [*rows[:_EACH], *rows[-_EACH:]]
    write_sheet(
        [
            (
                f"{row.clip}: {100 * row.error:.1f} % of height, {row.degrees:.0f} degrees",
                np.asarray(Image.open(folder / image_name(row))),
            )
            for row in shown
        ],
        path,
    )


def image_name(row: Row) -> str:
    """File name of a fit's frames."""
    return f"{row.part}, {row.variant}, {row.clip}.png".replace(" ", "_")
