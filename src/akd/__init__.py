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
    from akd.api.converting import convert
    from akd.api.creating import create
    from akd.api.creatures import zoo
    from akd.api.evaluating import Evaluation, evaluate
    from akd.api.exporting import export
    from akd.api.filming import film
    from akd.api.fitting import Fitting, fit
    from akd.api.grounding import Grounding, ground
    from akd.api.loading import load
    from akd.api.measuring import measure, splat
    from akd.api.posing import keyframes, poses
    from akd.api.priors import prior
    from akd.api.retargeting import Retargeted, retarget
    from akd.api.rigging import Rigging, rig
    from akd.api.sampling import Sampled, sample
    from akd.api.skinning import Skinning, skin
    from akd.api.view_images import make_views
    from akd.base.observer import Observer, Observers
    from akd.batch.many import Job, animate_many
    from akd.distill.run_folder import RunFolder
    from akd.fit import losses
    from akd.fit.losses import LossState, LossTerm
    from akd.motion.direction import Direction
    from akd.motion.motion import Motion
    from akd.motion.parametrization import MotionParameters, Parametrization
    from akd.motion.settings import Cycle, Spline, per_frame
    from akd.pipeline import Animation, animate
    from akd.posespace.keyframes import Keyframes
    from akd.posespace.space import PoseSpace
    from akd.prior.protocol import Condition, VideoPrior
    from akd.report.describe import describe
    from akd.rig.character import Character
    from akd.splat.renderer import Renderer, SplatRenderer

__all__ = [
    "Animation",
    "Character",
    "Condition",
    "Cycle",
    "Direction",
    "Evaluation",
    "Fitting",
    "Grounding",
    "Job",
    "Keyframes",
    "LossState",
    "LossTerm",
    "Motion",
    "MotionParameters",
    "Observer",
    "Observers",
    "Parametrization",
    "PoseSpace",
    "Renderer",
    "Retargeted",
    "Rigging",
    "RunFolder",
    "Sampled",
    "Skinning",
    "SplatRenderer",
    "Spline",
    "VideoPrior",
    "__version__",
    "animate",
    "animate_many",
    "convert",
    "create",
    "describe",
    "evaluate",
    "export",
    "film",
    "fit",
    "ground",
    "keyframes",
    "load",
    "losses",
    "make_views",
    "measure",
    "per_frame",
    "poses",
    "prior",
    "retarget",
    "rig",
    "sample",
    "skin",
    "splat",
    "zoo",
]

_HOMES = {
    "Animation": "akd.pipeline",
    "Character": "akd.rig.character",
    "Condition": "akd.prior.protocol",
    "Cycle": "akd.motion.settings",
    "Direction": "akd.motion.direction",
    "Evaluation": "akd.api.evaluating",
    "Fitting": "akd.api.fitting",
    "Grounding": "akd.api.grounding",
    "Job": "akd.batch.many",
    "Keyframes": "akd.posespace.keyframes",
    "LossState": "akd.fit.losses",
    "LossTerm": "akd.fit.losses",
    "Motion": "akd.motion.motion",
    "MotionParameters": "akd.motion.parametrization",
    "Observer": "akd.base.observer",
    "Observers": "akd.base.observer",
    "Parametrization": "akd.motion.parametrization",
    "PoseSpace": "akd.posespace.space",
    "Renderer": "akd.splat.renderer",
    "Retargeted": "akd.api.retargeting",
    "Rigging": "akd.api.rigging",
    "RunFolder": "akd.distill.run_folder",
    "Sampled": "akd.api.sampling",
    "Skinning": "akd.api.skinning",
    "SplatRenderer": "akd.splat.renderer",
    "Spline": "akd.motion.settings",
    "VideoPrior": "akd.prior.protocol",
    "animate": "akd.pipeline",
    "animate_many": "akd.batch.many",
    "convert": "akd.api.converting",
    "create": "akd.api.creating",
    "describe": "akd.report.describe",
    "evaluate": "akd.api.evaluating",
    "film": "akd.api.filming",
    "ground": "akd.api.grounding",
    "keyframes": "akd.api.posing",
    "load": "akd.api.loading",
    "make_views": "akd.api.view_images",
    "measure": "akd.api.measuring",
    "per_frame": "akd.motion.settings",
    "poses": "akd.api.posing",
    "retarget": "akd.api.retargeting",
    "sample": "akd.api.sampling",
    "skin": "akd.api.skinning",
}
"""Where each public name is defined: it is imported, and torch with it, when first asked for."""
_MODULES = {
    "export": "akd.export",
    "fit": "akd.fit",
    "losses": "akd.fit.losses",
    "prior": "akd.prior",
    "rig": "akd.rig",
    "splat": "akd.splat",
    "zoo": "akd.zoo",
}
"""Public names that are modules. All but `losses` are packages that can be called."""


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
