"""From a pipeline's folder to its family."""

from __future__ import annotations

from akd.prior.large.errors import PriorError
from akd.prior.large.families.animatediff import FamilyAnimateDiff
from akd.prior.large.families.base import Family
from akd.prior.large.families.cogvideox import FamilyCogVideoX
from akd.prior.large.families.ltx import FamilyLtx
from akd.prior.large.families.wan import FamilyWan
from akd.prior.large.folder import PipelineFolder


def choose_family(folder: PipelineFolder) -> type[Family]:
    """The family whose pipeline wrote the folder."""
    match folder.pipeline:
        case (
            "CogVideoXPipeline" | "CogVideoXImageToVideoPipeline" | "CogVideoXVideoToVideoPipeline"
        ):
            return FamilyCogVideoX
        case "WanPipeline" | "WanImageToVideoPipeline":
            return FamilyWan
        case "LTXPipeline" | "LTXImageToVideoPipeline" | "LTXConditionPipeline":
            return FamilyLtx
        case "AnimateDiffPipeline":
            return FamilyAnimateDiff
        case "StableDiffusionPipeline" if folder.adapter is not None:
            return FamilyAnimateDiff
        case other:
            raise PriorError(
                f"{folder.path}: pipeline {other} is not known; CogVideoX, Wan, LTX-Video and "
                f"AnimateDiff are"
            )
