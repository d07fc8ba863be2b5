"""Masks by a segmentation model of the SAM 2 class, from a local folder of transformers."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as nn
from jaxtyping import Float
from torch import Tensor

from akd.fit.masks import FoundMasks

_IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Mean and standard deviation of the colours that the model was trained with."""


@torch.no_grad()
def segment(
    frames: Float[Tensor, "T H W 3"],
    folder: Path,
    *,
    point: tuple[float, float] = (0.5, 0.5),
    device: torch.device | str = "cpu",
) -> FoundMasks:
    """Follow what is at a point of the first frame through the video.

    Args:
        frames: sRGB 0..1.
        folder: A SAM 2 video model as transformers saves it; nothing is downloaded.
        point: Where the character is in the first frame: shares of width and height.
        device: Where the model runs.

    Raises:
        ValueError: The folder holds no such model, or transformers is not installed.
    """
    try:
        # By name: the type checker would read all of transformers for two classes.
        transformers: Any = import_module("transformers")
    except ImportError:
        raise ValueError("segmentation needs transformers: pip install 'akd[large]'") from None
    try:
        model = transformers.Sam2VideoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        said = " ".join(str(error).split())[:160]
        raise ValueError(f"{folder}: holds no SAM 2 video model: {said}") from None
    model = model.to(torch.device(device)).eval()
    height, width = frames.shape[1:3]
    session = transformers.Sam2VideoInferenceSession(
        video_height=height, video_width=width, inference_device=device,
        video_storage_device=device, dtype=torch.float32,
    )  # fmt: skip
    size = model.config.image_size
    side = size if isinstance(size, int) else size[0]  # always square
    at = side * torch.tensor(point)
    session.add_point_inputs(
        session.obj_id_to_idx(1), 0,
        {"point_coords": at.view(1, 1, 1, 2), "point_labels": torch.ones(1, 1, 1).int()},
    )  # fmt: skip
    session.obj_with_new_inputs = [1]
    masks, sure = [], []
    for t, frame in enumerate(frames):
        found = model(inference_session=session, frame_idx=t, frame=_prepared(frame, side, device))
        # Frames of this size would fill the memory; the model looks at its own features of them.
        session.processed_frames = None
        logits = nn.interpolate(found.pred_masks.float(), (height, width), mode="bilinear")
        mask = logits[0, 0].sigmoid().cpu()
        masks.append(mask)
        inside = mask > 0.5
        sure.append(float(mask[inside].mean()) if bool(inside.any()) else 0.0)
    return FoundMasks(torch.stack(masks), "SAM 2 model", min(sure))


def _prepared(
    frame: Float[Tensor, "H W 3"], side: int, device: torch.device | str
) -> Float[Tensor, "1 3 side side"]:
    """A frame as SAM 2 takes it. Its processor in transformers would need torchvision."""
    mean, deviation = (torch.tensor(c)[:, None, None] for c in _IMAGENET)
    image = nn.interpolate(
        frame.movedim(-1, 0)[None], (side, side), mode="bilinear", antialias=True
    )
    return ((image - mean) / deviation).to(device)
