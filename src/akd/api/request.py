"""`Request`: what `animate` was asked for, checked and resolved before any long work."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from akd.api.animatable import animatable, doubts
from akd.api.clips import check_fps
from akd.asset.asset import Asset
from akd.base.files import bytes_hash, file_hash, json_hash, weights_hash
from akd.distill.settings import DistillSettings
from akd.fit.losses import LossTerm, default
from akd.fit.regressor.regressor import regressor_hash
from akd.metrics.recognise.recogniser import recogniser_hash
from akd.metrics.recognise.settings import REPORTING
from akd.motion.actions import Action, action_label, read_sentence
from akd.motion.key_poses import KeyPoses
from akd.motion.motion import Motion
from akd.motion.parametrization import Parametrization
from akd.physics.settings import TrackingSettings
from akd.presets import TRACKING, find_preset
from akd.prior.choose import check_prior, choose_device, choose_prior, is_tiny, prompt_for
from akd.prior.protocol import VideoPrior
from akd.prior.source import PriorSource
from akd.prior.tiny.bodies import check_body
from akd.prior.tiny.load import known_tokens
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.vocabulary import ignored_words, read_prompt
from akd.rig.character import Character
from akd.rig.limits import BodyPlan

_LONGEST_PROMPT = 1000


@dataclass(frozen=True)
class Request:
    """Everything that decides the result of `animate`."""

    character: Character
    prompt: str
    """The user's words, with single spaces: the clip's name."""
    asked: str
    """The text that the prior is given."""
    action: str | None
    """What recognisers call the action, where they know it."""
    notes: tuple[str, ...]
    """For the user to check before the long work: assumed height, limbs in doubt, ignored words."""
    prior: VideoPrior | PriorSource
    settings: DistillSettings
    physics: TrackingSettings | None
    parametrization: Parametrization
    losses: Sequence[LossTerm]
    steering: bool
    """Whether recogniser A helps choose among samples and finalists."""
    seed: int
    fps: float | None
    weights: Path | None
    device: str | torch.device
    keys: KeyPoses | None = None
    """Poses to meet, by second of the prior's video; later ones are left to direction."""
    before: Motion | None = None
    """Motion that this one continues."""

    def quick(self) -> Request:
        """The same for a preview: a fit to the first sample, no distillation, no physics.

        Raises:
            ValueError: The preset samples no videos to fit to.
        """
        warm_start = self.settings.warm_start
        if not warm_start.samples:
            raise ValueError("quick needs a preset that samples videos, such as tiny")
        settings = replace(self.settings, iterations=0, warm_start=replace(warm_start, samples=1))
        return replace(self, settings=settings, physics=None)

    @property
    def regresses(self) -> bool:
        """Whether a fit may begin with what the motion regressor sees."""
        return self.settings.warm_start.regressor and self.settings.warm_start.samples > 0

    @property
    def place(self) -> torch.device:
        """Where the prior runs; there, motions are filmed for recognisers and reports."""
        if not isinstance(self.prior, PriorSource):
            return self.prior.device
        return choose_device(self.device)

    def load_prior(self) -> VideoPrior:
        """The video model, its weights read."""
        if not isinstance(self.prior, PriorSource):
            return self.prior
        from akd.base.cache import cache_folder

        cache = cache_folder() / "embeddings"
        return choose_prior(self.prior, device=self.device, cache=cache)

    def job(self) -> dict[str, Any]:
        """What decides the result, as JSON values: another job must not continue this one."""
        source = self.prior
        if isinstance(source, PriorSource):
            plan = check_prior(source, device=self.device)
            folder = plan if isinstance(plan, Path) else plan.folder.path
            name = "tiny" if isinstance(plan, Path) else str(source.name)
            prior = {"name": name, "hash": weights_hash(folder)}
        else:
            prior = {"name": source.name}
        return {
            "asset": {"hash": _asset_hash(self.character.asset)},
            "height": self.character.height,
            "roles": {"hash": json_hash([str(role) for role in self.character.control_rig.roles])},
            "prompt": self.prompt,
            "asked": self.asked,
            "prior": prior,
            "seed": self.seed,
            "fps": self.fps,
            "settings": asdict(self.settings),
            "parametrization": repr(self.parametrization),
            "losses": {term.name: term.weight for term in self.losses},
            "physics": None if self.physics is None else asdict(self.physics),
            # A chooses what is kept, B and C are in metrics.json: other weights, another job.
            "regressor": {"hash": regressor_hash(self.weights) if self.regresses else None},
            "steering": {"hash": recogniser_hash("a", self.weights) if self.steering else None},
            "reporting": {
                name: {"hash": recogniser_hash(name, self.weights)} for name in REPORTING
            },
        }


def _asset_hash(asset: Asset) -> str:
    """Of the file, or of the document of a character that was made without one."""
    if asset.path.is_file() or asset.document is None:
        return file_hash(asset.path)
    text = json.dumps(asset.document.json, sort_keys=True)
    return bytes_hash([text.encode("utf-8"), *map(bytes, asset.document.buffers)])


def check_prompt(prompt: str) -> None:
    """Raise `ValueError` for a prompt that cannot be used, whatever the prior."""
    if not prompt.strip():
        raise ValueError("the prompt is empty: say what the character does")
    if len(prompt) > _LONGEST_PROMPT:
        raise ValueError(
            f"the prompt must be at most {_LONGEST_PROMPT} characters, got {len(prompt)}"
        )
    if any("\ud800" <= letter <= "\udfff" for letter in prompt):  # bytes that are not UTF-8
        raise ValueError("the prompt must be valid UTF-8")


def make_request(
    character: Character | str | Path,
    prompt: str,
    *,
    prior: VideoPrior | PriorSource | str | Path = "tiny",
    preset: DistillSettings | str | None = None,
    physics: TrackingSettings | bool = True,
    parametrization: Parametrization | None = None,
    losses: Sequence[LossTerm] | None = None,
    steering: bool = True,
    seed: int = 0,
    fps: float | None = None,
    weights: str | Path | None = None,
    device: str | torch.device = "auto",
    template: str = "auto",
) -> Request:
    """Check what was asked for, and fill in the defaults. See `akd.animate` for the arguments."""
    check_prompt(prompt)
    plain = " ".join(prompt.split())
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed must be from 0 to 2^63 - 1, got {seed}")
    check_fps(fps)
    weights = None if weights is None else Path(weights)
    source = PriorSource(prior, weights) if isinstance(prior, str | Path) else prior
    named = isinstance(source, PriorSource)
    tiny = is_tiny(source.name) if named else isinstance(source, PriorTiny)
    if not isinstance(preset, DistillSettings):
        preset = find_preset(preset or ("tiny" if tiny else "fast"))
    asked = prompt_for(source.name, prompt, weights=source.weights) if named else plain
    tokens = source.tokens if isinstance(source, PriorTiny) else None
    if named and isinstance(plan := check_prior(source, device=device), Path):
        tokens = known_tokens(plan)
    character = animatable(character, template=template)
    notes = [*character.notes, *doubts(character)]
    action = action_label(plain)
    if tokens is not None:
        if warning := check_body(character.anatomy, action, tokens):
            notes.append(warning)
        if ignored := ignored_words(plain, tokens):
            words = read_prompt(plain, tokens).within(tokens)
            notes.append(f"the prior takes the prompt as {str(words)!r}; it ignores: "
                         f"{', '.join(ignored)}")  # fmt: skip
    gait = read_sentence(plain).gait
    if not character.anatomy.legs and (gait is None or gait.needs_feet):
        notes.append("no feet were found: it starts without root motion, and feet are not measured")
    if physics and (reason := _not_simulated(character, gait)):
        physics = False
        notes.append(f"physics is skipped: {reason}")
    if physics is True:
        physics = TRACKING
    return Request(
        character=character,
        prompt=plain,
        asked=asked,
        action=action,
        notes=tuple(notes),
        prior=source,
        settings=preset,
        physics=physics or None,
        parametrization=parametrization or preset.parametrization,
        losses=default(preset.losses) if losses is None else tuple(losses),
        steering=steering,
        seed=seed,
        fps=fps,
        weights=weights,
        device=device,
    )


def _not_simulated(character: Character, gait: Action | None) -> str | None:
    """Why a simulation of rigid bodies on the ground would not help; None where it does."""
    if gait is not None and gait.medium != "ground":
        return f"the simulator has no {gait.medium} to carry a body"
    if BodyPlan.of(character.control_rig.roles).undulates:
        return (
            "slithering depends on friction that is lower along the body than across it, which the "
            "simulator does not have"
        )
    return None
