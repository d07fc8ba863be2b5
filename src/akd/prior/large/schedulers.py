"""Noise schedules of diffusers' schedulers, with time from 0 (clean) to 1 (noise) for all of them.

A model with numbered steps gets the nearest one. For a flow-matching model t is sigma itself; the
shift in its scheduler only chooses which times a sampler visits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from torch import Tensor

from akd.prior.estimate import Prediction
from akd.prior.large.errors import PriorError
from akd.prior.large.folder import find_class

NUMBERED = {
    "epsilon": Prediction.EPSILON,
    "v_prediction": Prediction.V,
    "sample": Prediction.SAMPLE,
}


@dataclass(frozen=True)
class Schedule:
    """alpha(t), sigma(t), the network's time argument, and its type of prediction."""

    prediction: Prediction
    steps: int
    """Number of steps, or the time argument of a flow-matching network at t = 1."""
    alphas: Float[Tensor, "steps"] | None = None
    """alpha of each numbered step; None where time is continuous and alpha = 1 - t."""

    def index(self, t: Float[Tensor, "B"]) -> Tensor:
        """Numbers of the nearest steps."""
        return (t.double() * (self.steps - 1)).round().long().clamp(0, self.steps - 1)

    def signal(self, t: Float[Tensor, "B"]) -> tuple[Float[Tensor, "B"], Float[Tensor, "B"]]:
        """alpha(t) and sigma(t)."""
        if self.alphas is None:
            return 1.0 - t, t.clone()
        alpha = self.alphas.to(t.device)[self.index(t)]
        return alpha.to(t.dtype), (1.0 - alpha * alpha).clamp_min(0.0).sqrt().to(t.dtype)

    def model_time(self, t: Float[Tensor, "B"]) -> Tensor:
        """The time as the network was taught it: a step's number, or sigma times `steps`."""
        if self.alphas is None:
            return t * self.steps
        return self.index(t)


def read_schedule(folder: Path) -> Schedule:
    """The schedule in a pipeline's folder `scheduler`."""
    name = scheduler_name(folder)
    kind = find_class("diffusers", name, str(folder))
    try:
        scheduler = kind.from_pretrained(folder, subfolder="scheduler")
    except (OSError, NotImplementedError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PriorError(
            f"{folder}: scheduler {name} cannot be made of its config ({reason})"
        ) from error
    return schedule_of(scheduler, str(folder))


def scheduler_name(folder: Path) -> str:
    """Class of the scheduler in a pipeline's folder."""
    import json

    path = folder / "scheduler" / "scheduler_config.json"
    if not path.is_file():
        raise PriorError(f"{folder}: there is no scheduler/scheduler_config.json in it")
    return str(json.loads(path.read_text()).get("_class_name"))


def schedule_of(scheduler: Any, where: str) -> Schedule:
    """The schedule of one of diffusers' scheduler objects. `where` is named in errors."""
    config, name = scheduler.config, type(scheduler).__name__
    steps = int(config.get("num_train_timesteps", 1000))
    kind = config.get("prediction_type")
    flow = name.startswith("FlowMatch") or config.get("use_flow_sigmas", False)
    if flow and not config.get("invert_sigmas", False) and kind in (None, "flow_prediction"):
        return Schedule(Prediction.FLOW, steps)
    alphas = getattr(scheduler, "alphas_cumprod", None)
    if flow or alphas is None or kind not in NUMBERED:
        raise PriorError(
            f"{where}: scheduler {name} with prediction_type {kind!r} does not fit; it must have "
            f"numbered steps and predict epsilon, v_prediction or sample, or be flow matching"
        )
    schedule = Schedule(NUMBERED[kind], len(alphas), alphas.detach().double().sqrt())
    if schedule.prediction is Prediction.EPSILON and float(alphas.min()) <= 0.0:
        raise PriorError(
            f"{where}: scheduler {name} ends in pure noise (alpha 0), where a model that predicts "
            f"epsilon says nothing; rescale_betas_zero_snr must be false"
        )
    return schedule
