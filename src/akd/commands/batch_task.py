"""The tasks of `akd batch`: an `akd animate` or an `akd retarget` in the job's own folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from akd.engine.job import Workspace
    from akd.scene.video import Video

KEYFRAME = "keyframe_"
"""What the files of keyframes are called among the files of a job, before their number."""
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
    from akd.scene.video import Video

    torch.set_num_threads(arguments["threads"])
    # Results without a run are of an attempt that was stopped while it removed its checkpoints.
    anew = not (place.folder / "run" / "run.json").exists()
    try:
        options = checked_options("job", with_files(arguments["options"], place.files))
        Animate(out=place.folder, overwrite=anew, **options).run()
    except ResultFailed as error:
        print(error)  # the files are written, and the verdict is in the metrics
    except (AssetError, UsageError) as error:
        raise Refused(str(error)) from error
    metrics = json.loads((place.folder / "metrics.json").read_text("utf-8"))
    best = metrics["best"]
    video = Video.read(place.folder / ("grounded.mp4" if best == "grounded" else "video.mp4"))
    _write_preview(video, place.folder / "preview.png")
    # Checkpoints are of no use any more, and are most of the bytes.
    shutil.rmtree(place.folder / "run")
    return {"best": best, **_shown(metrics[best]), "fails": metrics[best]["fails"]}


def retarget_task(arguments: Mapping[str, Any], place: Workspace) -> dict[str, Any]:
    """Retarget a clip to `motion.glb`, or `motion.bvh` for a BVH; returns what the page shows.

    Raises:
        Refused: A file, the clip or an option cannot be used, on any node.
    """
    import torch

    from akd.asset.asset import AssetError
    from akd.base.files import write_json
    from akd.commands.errors import UsageError
    from akd.commands.resume import checked_options
    from akd.commands.retarget import Retarget
    from akd.engine.call import Refused
    from akd.metrics.motion import measure
    from akd.scene.film import film_motion

    torch.set_num_threads(arguments["threads"])
    given = with_files(arguments["options"], place.files)
    suffix = ".bvh" if place.files["target"].suffix.lower() == ".bvh" else ".glb"
    if arguments["clip"] is not None:
        given["clip"] += f":{arguments['clip']}"
    try:
        options = checked_options("job", given, command=Retarget)
        command = Retarget(out=place.folder / f"motion{suffix}", **options)
        made = command.retargeted()
        made.save(command.out, keys=command.keys)
    except (AssetError, UsageError) as error:
        raise Refused(str(error)) from error
    target = made.character
    metrics = measure(target, target.control_rig, made.motion).to_json()
    about = {"clip": made.clip.name, "unmatched": list(made.unmatched), "motion": metrics}
    write_json(place.folder / "metrics.json", about)
    if target.mesh is not None:
        fps = _PREVIEW_FRAMES / max(made.motion.duration, 0.1)
        video = film_motion(target, made.motion, fps=fps, size=(128, _PREVIEW_HEIGHT))
        _write_preview(video, place.folder / "preview.png")
    return _shown(metrics)


def _shown(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of the metrics of a clip."""
    names = ("score", "verdict", "travel", "penetration")
    shown = {name: metrics[name] for name in names}
    return {**shown, "skate": max(metrics["skate"])} if metrics["skate"] else shown


def with_files(options: Mapping[str, Any], files: Mapping[str, Path]) -> dict[str, Any]:
    """The options of a job with those that are files, as they can be read on this node."""
    from akd.api.directing import with_keyframe_file

    options = dict(options)
    for name, path in files.items():
        if name.startswith(KEYFRAME):
            number, keyframes = int(name.removeprefix(KEYFRAME)), list(options["keyframe"])
            keyframes[number] = with_keyframe_file(keyframes[number], path)
            options["keyframe"] = keyframes
        else:
            options[name] = str(path)
    return options


def _write_preview(video: Video, path: Path) -> None:
    """A strip of a few small frames."""
    import torch

    step = max(1, video.frames.shape[1] // _PREVIEW_HEIGHT)
    whole = torch.from_numpy(video.bytes()).permute(0, 3, 1, 2).float() / 255.0
    frames = torch.nn.functional.avg_pool2d(whole, step)
    strip = type(video)(frames.permute(0, 2, 3, 1), video.fps)
    strip.write_strip(path, count=_PREVIEW_FRAMES)
