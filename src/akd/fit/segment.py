"""Masks by a segmentation model of the SAM 2 class, from a local folder of transformers."""

from __future__ import annotations

from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.masks import FoundMasks


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
        from transformers import Sam2VideoModel, Sam2VideoProcessor
    except ImportError:
        raise ValueError("segmentation needs transformers: pip install 'akd[large]'") from None
    try:
        model = Sam2VideoModel.from_pretrained(folder, local_files_only=True, use_safetensors=True)
        processor = Sam2VideoProcessor.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        said = " ".join(str(error).split())[:160]
        raise ValueError(f"{folder}: holds no SAM 2 video model: {said}") from None
    model = model.to(torch.device(device)).eval()  # pyright: ignore[reportArgumentType]
    height, width = frames.shape[1:3]
    images = [(255.0 * frame).round().byte().numpy() for frame in frames]
    session = processor.init_video_session(video=images, inference_device=device)
    at = [[[[point[0] * width, point[1] * height]]]]
    processor.add_inputs_to_inference_session(
        inference_session=session, frame_idx=0, obj_ids=1, input_points=at, input_labels=[[[1]]]
    )
    masks, sure = [], []
    for found in model.propagate_in_video_iterator(session, start_frame_idx=0):
        logits = processor.post_process_masks(
            [found.pred_masks], original_sizes=[[height, width]], binarize=False
        )[0]
        mask = logits[0, 0].float().sigmoid().cpu()
        masks.append(mask)
        inside = mask > 0.5
        sure.append(float(mask[inside].mean()) if bool(inside.any()) else 0.0)
    return FoundMasks(torch.stack(masks), "SAM 2 model", min(sure))
