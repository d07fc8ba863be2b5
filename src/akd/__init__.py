"""Animate any rigged 3D character from a sentence.

fox = akd.load("fox.glb")
clip = akd.animate(fox, "a fox walking")
clip.save("out/")
"""

from importlib import import_module
from typing import TYPE_CHECKING

from akd.base.processor import avoid_broken_amx
from akd.base.version import __version__

if TYPE_CHECKING:
    from akd.api.filming import film
    from akd.api.grounding import Grounding, ground
    from akd.api.loading import load
    from akd.api.measuring import measure, splat
    from akd.api.priors import prior
    from akd.api.retargeting import Retargeted, retarget
    from akd.api.rigging import Rigging, rig
    from akd.base.observer import Observer, Observers
    from akd.batch import Job, animate_many
    from akd.fit import losses
    from akd.fit.losses import LossState, LossTerm
    from akd.motion.motion import Motion
    from akd.motion.parametrization import MotionParameters, Parametrization
    from akd.motion.settings import Cycle, Spline, per_frame
    from akd.pipeline import Animation, animate
    from akd.prior.protocol import Condition, VideoPrior
    from akd.rig.character import Character
    from akd.splat.renderer import Renderer, SplatRenderer

__all__ = [
    "Animation",
    "Character",
    "Condition",
    "Cycle",
    "Grounding",
    "Job",
    "LossState",
    "LossTerm",
    "Motion",
    "MotionParameters",
    "Observer",
    "Observers",
    "Parametrization",
    "Renderer",
    "Retargeted",
    "Rigging",
    "SplatRenderer",
    "Spline",
    "VideoPrior",
    "__version__",
    "animate",
    "animate_many",
    "film",
    "ground",
    "load",
    "losses",
    "measure",
    "per_frame",
    "prior",
    "retarget",
    "rig",
    "splat",
]

_HOMES = {
    "Animation": "akd.pipeline",
    "Character": "akd.rig.character",
    "Condition": "akd.prior.protocol",
    "Cycle": "akd.motion.settings",
    "Grounding": "akd.api.grounding",
    "Job": "akd.batch",
    "LossState": "akd.fit.losses",
    "LossTerm": "akd.fit.losses",
    "Motion": "akd.motion.motion",
    "MotionParameters": "akd.motion.parametrization",
    "Observer": "akd.base.observer",
    "Observers": "akd.base.observer",
    "Parametrization": "akd.motion.parametrization",
    "Renderer": "akd.splat.renderer",
    "Retargeted": "akd.api.retargeting",
    "Rigging": "akd.api.rigging",
    "Spline": "akd.motion.settings",
    "SplatRenderer": "akd.splat.renderer",
    "VideoPrior": "akd.prior.protocol",
    "animate": "akd.pipeline",
    "animate_many": "akd.batch",
    "film": "akd.api.filming",
    "ground": "akd.api.grounding",
    "load": "akd.api.loading",
    "measure": "akd.api.measuring",
    "per_frame": "akd.motion.settings",
    "retarget": "akd.api.retargeting",
}
"""Where each public name is defined: it is imported, and torch with it, when first asked for."""
_MODULES = {
    "losses": "akd.fit.losses",
    "prior": "akd.prior",
    "rig": "akd.rig",
    "splat": "akd.splat",
}
"""Public names that are modules. The last three are packages that can be called like functions."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in _HOMES and name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    avoid_broken_amx()  # before torch computes anything: it decides once what the processor can do
    if name in _MODULES:
        return import_module(_MODULES[name])
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
