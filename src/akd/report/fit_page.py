"""Writes the files of a fit: the clips, a comparison with the video, numbers, and a page."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.files import write_json, write_text
from akd.base.version import __version__
from akd.export.clip_files import key_motions, write_clip_files
from akd.export.settings import KeySettings
from akd.fit.inputs import write_camera
from akd.report import page as pages
from akd.report.motion_charts import angle_charts, feet_chart, loss_charts, root_charts
from akd.report.plots import line_chart
from akd.scene.video import Video

if TYPE_CHECKING:
    from akd.api.fitting import Fitting

FORMAT = 1
"""Of fit.json."""
_SIDE = 360
"""Height of the panels of a comparison, pixels, at most."""


@dataclass(frozen=True)
class Panel:
    """The video of one camera, and the fit rendered from it."""

    video: Float[Tensor, "T H W 3"]
    masks: Float[Tensor, "T H W"]
    fit: Float[Tensor, "T H W 3"]
    """Over the video's background, grey where the video's body hides it."""

    def comparison(self) -> Float[Tensor, "T H W3 3"]:
        """Video with the mask's outline, fit, and their difference, side by side."""
        small = [_reduced(images) for images in (self.video, self.fit)]
        mask = _reduced(self.masks[..., None])
        inside = (mask > 0.5).float()
        edge = inside - (-torch.nn.functional.max_pool2d(
            -inside.movedim(-1, 1), 3, stride=1, padding=1
        )).movedim(1, -1)  # fmt: skip
        outlined = torch.lerp(small[0], small[0].new_tensor((1.0, 0.2, 0.6)), edge.clamp(0, 1))
        away = (small[1] - small[0]).abs().amax(-1, keepdim=True)
        return torch.cat((outlined, small[1], away.expand_as(outlined)), dim=2)


def write_fit_results(
    made: Fitting,
    out: Path,
    *,
    formats: Sequence[str],
    in_place: bool,
    keys: KeySettings,
) -> list[Path]:
    """Write clips, `comparison.mp4`, `fit.json`, `camera.json` and `report.html`, each atomically.

    Returns the files that were written.
    """
    out.mkdir(parents=True, exist_ok=True)
    provenance = {"generator": f"akd {__version__}", "video": made.source}
    written = write_clip_files(
        made.character, key_motions(made.character, made.motions(), keys, stay=in_place), out,
        formats=tuple(dict.fromkeys(("glb", *formats))), keys=keys, extras=provenance,
    )  # fmt: skip
    panels = [
        Panel(observation.frames, observation.masks, made.rendered(view))
        for view, observation in enumerate(made.observations)
    ]
    video = Video(torch.cat([_padded(p.comparison(), panels) for p in panels], 1), made.fps)
    written.append(video.write_mp4(out / "comparison.mp4"))
    for k, camera in enumerate(made.cameras()):
        name = "camera.json" if k == 0 else f"camera_{k + 1}.json"
        write_json(out / name, write_camera(camera))
        written.append(out / name)
    numbers = {
        "format": FORMAT, "asset": made.character.asset.path.name, **provenance,
        "fps": made.fps, "quality": made.result.quality.to_json(),
        "starts": dict(made.result.residuals),
        "notes": list(made.notes),
    }  # fmt: skip
    if made.grounding is not None:
        numbers["physics"] = made.grounding.result.summary()
    write_json(out / "fit.json", numbers)
    with tempfile.TemporaryDirectory() as folder:
        strip = video.write_strip(Path(folder) / "strip.png", count=4, stacked=True)
        write_text(out / "report.html", _page(made, provenance, out / "comparison.mp4", strip))
    return [*written, out / "fit.json", out / "report.html"]


def _page(made: Fitting, provenance: Mapping[str, str], comparison: Path, strip: Path) -> str:
    """The page as text."""
    character, quality, rig = made.character, made.result.quality, made.character.control_rig
    bad = quality.distrusted()
    facts = {
        "asset": character.asset.path.name,
        "frames": f"{len(quality.overlap)} at {made.fps:.3g} a second",
        **provenance,
    }
    rows = [
        pages.Row("silhouette overlap (IoU)", [f"{float(quality.overlap.mean()):.1%}"]),
        pages.Row("share of the mask explained", [f"{quality.explained:.1%}"]),
        pages.Row("outline distance, of height", [f"{float(quality.outline.mean()):.2%}"]),
        pages.Row(
            "colour difference, sRGB",
            ["not compared" if quality.colour is None else f"{quality.colour:.3f}"],
        ),
        pages.Row(
            "ambiguity between starts, of height",
            [f"{quality.ambiguity:.2%}"],
        ),
        pages.Row("rival direction of the camera, 1: as good", [f"{quality.rivalry:.2f}"]),
        pages.Row(
            "poses implausible, log-odds",
            ["not judged" if quality.implausible is None else f"{quality.implausible:.1f}"],
        ),
        pages.Row("score, 0 to 1", [f"{quality.score:.2f}"]),
        pages.Row("unreliable frames", [", ".join(map(str, bad)) or "none"]),
    ]
    starts = [pages.Row(name, [f"{value:.4f}"]) for name, value in made.result.residuals.items()]
    seconds = np.arange(len(quality.overlap)) / made.fps
    over_time = [
        line_chart({"IoU": quality.overlap.numpy()}, x=seconds, title="overlap", unit=""),
        line_chart(
            {"outlines": 100 * quality.outline.numpy()}, x=seconds, title="outline distance",
            unit="% height",
        ),
    ]  # fmt: skip
    feet = feet_chart(character, rig, made.final, title="feet on the ground")
    parts = [
        pages.header(made.source, above="akd fit", facts=facts),
        pages.notes([quality.verdict()], warn=quality.verdict().startswith("poor")),
        pages.notes(made.notes),
        pages.films(
            [pages.Film(comparison, "comparison", "video with mask, fit, difference")],
            fps=made.fps, charts=True, whole=True,
        ),
        pages.wide_image(strip, "Video with mask, fit and difference, four frames"),
        "<h2>Quality</h2>",
        pages.table(["value"], {"": rows}),
        *(["<h2>Starts</h2>", pages.table(["residual"], {"": starts})] if starts else []),
        pages.section("Quality over time", over_time),
        pages.section("Feet", [] if feet is None else [feet]),
        pages.section("Joint angles", angle_charts(rig, made.final)),
        pages.section("Root", root_charts(rig, made.final, height=character.height)),
        pages.section("Loss", loss_charts(made.result.history)),
    ]  # fmt: skip
    return pages.page(made.source, "\n".join(filter(None, parts)), scripts=("films.js",))


def _reduced(images: Float[Tensor, "T H W c"]) -> Float[Tensor, "T h w c"]:
    part = min(1.0, _SIDE / images.shape[1])
    size = (max(2, round(images.shape[1] * part)), max(2, round(images.shape[2] * part)))
    small = torch.nn.functional.interpolate(images.movedim(-1, 1), size, mode="area")
    return small.movedim(1, -1)


def _padded(images: Float[Tensor, "T H W 3"], panels: Sequence[Panel]) -> Float[Tensor, "T H V 3"]:
    """With black at the right, so that all views can stand below each other."""
    widths = [round(p.video.shape[2] * min(1.0, _SIDE / p.video.shape[1])) for p in panels]
    room = 3 * max(widths) - images.shape[2]
    return torch.nn.functional.pad(images, (0, 0, 0, max(0, room)))
