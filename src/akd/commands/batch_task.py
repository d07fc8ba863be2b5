"""`animate_task`: a job of `akd batch` is an `akd animate` in the job's own folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from akd.engine.job import Workspace

_PREVIEW_HEIGHT = 72
_PREVIEW_FRAMES = 5


def animate_task(arguments: Mapping[str, Any], place: Workspace) -> dict[str, Any]:
    """Animate, going on from the checkpoints in the folder; returns what the page shows.

    Raises:
        Refused: The asset, the prompt or an option cannot be used, on any node.
    """
    import torch

    from akd.asset.asset import AssetError
    from akd.commands.animate import Animate
    from akd.commands.errors import ResultFailed, UsageError
    from akd.commands.resume import checked_options
    from akd.engine.call import Refused

    torch.set_num_threads(arguments["threads"])
    # Results without a run are of an attempt that was stopped while it removed its checkpoints.
    anew = not (place.folder / "run" / "run.json").exists()
    given = {"file": str(place.files["asset"]), "prompt": arguments["prompt"]}
    try:
        options = checked_options("job", {**arguments["options"], **given})
        Animate(out=place.folder, overwrite=anew, **options).run()
    except ResultFailed as error:
        print(error)  # the files are written, and the verdict is in the metrics
    except (AssetError, UsageError) as error:
        raise Refused(str(error)) from error
    metrics = json.loads((place.folder / "metrics.json").read_text("utf-8"))
    best = metrics["best"]
    video = place.folder / ("grounded.mp4" if best == "grounded" else "video.mp4")
    _write_preview(video, place.folder / "preview.png")
    # Checkpoints are of no use any more, and are most of the bytes.
    shutil.rmtree(place.folder / "run")
    return {
        "best": best,
        "score": metrics[best]["score"],
        "verdict": metrics[best]["verdict"],
    }


def _write_preview(video: Path, path: Path) -> None:
    """A strip of a few small frames."""
    import torch

    from akd.scene.video import Video

    found = Video.read(video)
    step = max(1, found.frames.shape[1] // _PREVIEW_HEIGHT)
    frames = torch.nn.functional.avg_pool2d(found.frames.permute(0, 3, 1, 2), step)
    Video(frames.permute(0, 2, 3, 1), found.fps).write_strip(path, count=_PREVIEW_FRAMES)
