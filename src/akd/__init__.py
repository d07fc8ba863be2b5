"""Animate any rigged 3D character from a sentence.

fox = akd.load("fox.glb")
clip = akd.animate(fox, "a fox walking")
clip.save("out/")
"""

from importlib import import_module

from akd.base.version import __version__

TYPE_CHECKING = False  # `typing` takes longer to import than all else here: see akd.cli

if TYPE_CHECKING:
    from akd.api.animation import Animation
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
    from akd.pipeline import animate
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

_NAMES = {
    "akd.api.animation": "Animation",
    "akd.api.converting": "convert",
    "akd.api.creating": "create",
    "akd.api.evaluating": "Evaluation evaluate",
    "akd.api.filming": "film",
    "akd.api.fitting": "Fitting",
    "akd.api.grounding": "Grounding ground",
    "akd.api.loading": "load",
    "akd.api.measuring": "measure",
    "akd.api.posing": "keyframes poses",
    "akd.api.retargeting": "Retargeted retarget",
    "akd.api.rigging": "Rigging",
    "akd.api.sampling": "Sampled sample",
    "akd.api.skinning": "Skinning skin",
    "akd.api.view_images": "make_views",
    "akd.base.observer": "Observer Observers",
    "akd.batch.many": "Job animate_many",
    "akd.distill.run_folder": "RunFolder",
    "akd.fit.losses": "LossState LossTerm",
    "akd.motion.direction": "Direction",
    "akd.motion.motion": "Motion",
    "akd.motion.parametrization": "MotionParameters Parametrization",
    "akd.motion.settings": "Cycle Spline per_frame",
    "akd.pipeline": "animate",
    "akd.posespace.keyframes": "Keyframes",
    "akd.posespace.space": "PoseSpace",
    "akd.prior.protocol": "Condition VideoPrior",
    "akd.report.describe": "describe",
    "akd.rig.character": "Character",
    "akd.splat.renderer": "Renderer SplatRenderer",
}
"""Public names by the module that defines them, which is imported when one is first asked for."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
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
    from akd.base.processor import avoid_broken_amx

    avoid_broken_amx()  # before torch computes anything: it decides once what the processor can do
    if name in _MODULES:
        return import_module(_MODULES[name])
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
