"""How far what the network sees is from the truth: by body, by body part, by body plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.regressor.network import RegressorNetwork
from akd.fit.regressor.truth import true_motion
from akd.motion.retargeting.body_parts import BODY_PARTS, BodyPart
from akd.prior.tiny.actor import Actor
from akd.prior.tiny.film import film_actor
from akd.prior.tiny.settings import CameraSettings, TinySettings


@dataclass(frozen=True)
class BodyErrors:
    """Sums over the videos of one body, by `BODY_PARTS`."""

    species: str
    plan: str
    seen: Float[Tensor, "P"]
    """Angles between seen and true rotations, degrees."""
    neutral: Float[Tensor, "P"]
    """Angles between the neutral pose and the true rotations."""
    stated: Float[Tensor, "P"]
    """Angles by which the network expects to be off."""
    frames: Float[Tensor, "P"]
    """How many frames each sum is over."""
    place: float
    """Mean error of the root's place, body heights."""


@dataclass(frozen=True)
class Angles:
    """Mean angles, degrees."""

    seen: float
    neutral: float
    stated: float


def mean_angles(
    bodies: Iterable[BodyErrors], wanted: Callable[[BodyPart], bool] = lambda part: True
) -> Angles | None:
    """Means over the wanted parts of bodies, each frame of a part alike; None without any."""
    chosen = torch.tensor([wanted(part) for part in BODY_PARTS])
    sums = [
        torch.stack((body.seen, body.neutral, body.stated, body.frames))[:, chosen].sum(-1)
        for body in bodies
    ]
    seen, neutral, stated, frames = sum(sums, torch.zeros(4, dtype=torch.float64)).tolist()
    return Angles(seen / frames, neutral / frames, stated / frames) if frames else None


def summary(bodies: Sequence[BodyErrors]) -> dict[str, float]:
    """Mean angles overall and by body part, that of the neutral pose, and the root's place."""
    overall = mean_angles(bodies)
    if overall is None:
        return {}
    scores = {
        "all": overall.seen,
        "neutral pose": overall.neutral,
        "root place": sum(body.place for body in bodies) / len(bodies),
    }
    for name in dict.fromkeys(_name(part) for part in BODY_PARTS):
        own = mean_angles(bodies, lambda part, name=name: _name(part) == name)
        if own is not None:
            scores[name] = own.seen
    return scores


def _name(part: BodyPart) -> str:
    return " ".join(word for word in (part.limb or "", part.part) if word)


@torch.no_grad()
def measure_errors(
    network: RegressorNetwork,
    actors: Sequence[Actor],
    tiny: TinySettings,
    cameras: CameraSettings,
    *,
    device: torch.device,
    each: int = 16,
) -> list[BodyErrors]:
    """Show the network `each` rendered videos of each actor, in the same order every time."""
    generator = torch.Generator().manual_seed(7)
    network = network.eval().to(device)
    found = []
    for actor in actors:
        footage = film_actor(
            actor.to(device), each, generator=generator, tiny=tiny, cameras=cameras, vary=False
        )  # fmt: skip
        truth = true_motion(footage)
        motion = network(
            footage.videos.to(device).float() / 255.0,
            footage.reference_images.to(device).float() / 255.0,
            truth.views.to(device), truth.present.to(device),
        )  # fmt: skip
        true = truth.rotations.to(device)
        weight = truth.present[:, None].double().cpu()

        def total(angles: Tensor, weight: Tensor = weight) -> Tensor:
            return (angles.rad2deg().double().cpu() * weight).sum((0, 1))

        off = motion.shift.cpu() - truth.shift.cpu()
        found.append(
            BodyErrors(
                actor.species,
                actor.plan,
                total(_angle(motion.rotations, true)),
                total(_angle(torch.eye(3, device=device), true)),
                total(motion.expected_angles),
                weight.expand(-1, true.shape[1], -1).sum((0, 1)),
                float(off.norm(dim=-1).mean()),
            )
        )
    return found


def _angle(
    first: Float[Tensor, "*#b 3 3"], second: Float[Tensor, "*#b 3 3"]
) -> Float[Tensor, "*_"]:
    """Angle between two rotations, radians."""
    trace = (first.mT @ second).diagonal(dim1=-2, dim2=-1).sum(-1)
    return (0.5 * (trace - 1.0)).clamp(-1.0, 1.0).acos()
