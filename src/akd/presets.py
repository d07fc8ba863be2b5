"""Presets: named sets of distillation's settings. No torch here.

What the paper and its supplement give is in `paper`; docs/distill.md says which values they leave
open and what was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_type_hints

from akd.distill.settings import DistillSettings, ScoreSettings
from akd.fit.settings import LossSettings, WarmStartSettings
from akd.motion.settings import Cycle, per_frame
from akd.physics.settings import TrackingSettings

_COGVIDEOX_LATENTS = 13 * 16 * 60 * 90
"""Numbers in the latents of 49 frames of 480 x 720: what a sum over them is in means."""
_GUIDANCE = 100.0
_UNIT = _COGVIDEOX_LATENTS * _GUIDANCE
"""The paper's weights go with a gradient that is summed over the latents, as is usual, and guided a
hundredfold. Ours is the mean, over the guidance. Adam does not see a common factor."""

_TINY_VARIANCE = 0.1
"""Of the tiny prior's latents, on the zoo's fox, man and trex; that of large priors' latents is 1.
How much the score pulls grows with the square of what a unit of the latents is."""

TINY = DistillSettings()
"""For the tiny prior: warm start, few parameters, a minute or two on two cores."""

PAPER = DistillSettings(
    iterations=10_000,
    learning_rate=0.005,
    splats=20_000,
    camera_jitter=0.0,
    checkpoint_every=50,
    parametrization=per_frame(bounded=False),
    score=ScoreSettings(guidance=_GUIDANCE, t_min=0.02, t_max=0.98, t_max_final=0.5),
    losses=LossSettings(
        score=1.0, smooth=2e5 / _UNIT, ground=1e7 / _UNIT, rest=0.0, support=0.0, skate=0.0
    ),
    warm_start=WarmStartSettings(samples=0),
)
"""What the supplement gives: noise times in [0.02, 0.98 -> 0.5], guidance 100, 10,000 iterations,
weights 2e5 and 1e7 (see `_UNIT`), one value per frame, no limits, no cycles, no warm start, and no
losses but the score's, smoothness and the ground."""

FAST = DistillSettings(
    iterations=600,
    learning_rate=0.02,
    splats=20_000,
    camera_jitter=0.15,
    checkpoint_every=10,
    parametrization=Cycle(),
    score=ScoreSettings(guidance=30.0, t_min=0.05, t_max=0.95, t_max_final=0.5),
    losses=LossSettings(score=_TINY_VARIANCE * LossSettings().score),
    warm_start=WarmStartSettings(samples=0),
)
"""For large priors: few parameters within limits, a gait as a cycle, so that far fewer iterations
do. All losses balance as for the tiny prior."""

TRACKING = TrackingSettings(iterations=100)
"""Physics of `akd.animate`: half the iterations of `akd.ground`, because its targets are already
smooth, and the search before it takes most of the time."""

PRESETS: dict[str, DistillSettings] = {"tiny": TINY, "paper": PAPER, "fast": FAST}


def find_preset(name: str) -> DistillSettings:
    """A preset by name. Raises `ValueError` for a name that there is not."""
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}; got {name!r}")
    return PRESETS[name]


def with_values(settings: DistillSettings, values: Sequence[str]) -> DistillSettings:
    """Settings with single ones changed: `score.guidance=50`, `warm_start.samples=0`.

    Raises `ValueError` for a name that there is not or a value of another kind.
    """
    for text in values:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--set takes name=value, such as score.guidance=50; got {text!r}")
        settings = _changed(settings, name.strip(), name.strip().split("."), value.strip())
    return settings


def _changed(settings: Any, whole: str, path: Sequence[str], value: str) -> Any:
    known = [field.name for field in fields(settings)]
    if path[0] not in known:
        raise ValueError(f"--set {whole}: there is no such setting; there are {', '.join(known)}")
    now = getattr(settings, path[0])
    if is_dataclass(now) and len(path) > 1:
        return replace(settings, **{path[0]: _changed(now, whole, path[1:], value)})
    if is_dataclass(now) or len(path) > 1:
        raise ValueError(f"--set {whole}: must name one setting, such as score.guidance")
    kind = get_type_hints(type(settings))[path[0]]
    return replace(settings, **{path[0]: _parsed(whole, value, kind)})


def _parsed(name: str, value: str, kind: Any) -> object:
    """A value of the kind that the setting has."""
    kinds = getattr(kind, "__args__", (kind,))
    if type(None) in kinds and value.lower() == "none":
        return None
    if bool in kinds and value.lower() in ("true", "false"):
        return value.lower() == "true"
    for number in (int, float):
        if number in kinds:
            try:
                return number(value)
            except ValueError:
                continue
    if str in kinds:
        return value
    wanted = " or ".join(k.__name__.replace("NoneType", "none") for k in kinds)
    raise ValueError(f"--set {name}: must be {wanted}, got {value!r}")
