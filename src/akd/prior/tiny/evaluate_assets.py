"""Evaluates the tiny prior on artists' characters, of the measuring side of `splits.toml`.

It is shown an image of each and asked for actions that fit its body; recognisers B and C name what
came out. How far they can be trusted on such bodies is measured on their true clips.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.base.files import write_json
from akd.metrics.recognise.recogniser import Recogniser
from akd.prior.sample import sample_videos
from akd.prior.tiny.artists import artist_actor, certain, find_files
from akd.prior.tiny.evaluate import Evaluation
from akd.prior.tiny.film import film_actor, view_bounds
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.reference_image import reference_image_of
from akd.prior.tiny.settings import CameraSettings, PoolSettings
from akd.prior.tiny.sheet import write_rows
from akd.prior.tiny.vocabulary import NONE, Words
from akd.rig.character import Character, load_character
from akd.scene.follow import random_view

ASKED = {
    4: ("walk", "trot", "gallop", "stand", "eat", "attack"),
    2: ("walk", "run", "stand", "jump", "punch", "dance"),
}
"""Actions that bodies are asked for, by number of legs."""
PROMPTS_EACH = 2
MOST_OF_A_FOLDER = 4
_BATCH = 8


@dataclass(frozen=True)
class Subject:
    """A character that was chosen."""

    path: Path
    """In the folder of assets."""
    character: Character

    @property
    def legs(self) -> int:
        """Two or four."""
        return len(self.character.anatomy.legs)


def choose_subjects(folder: Path, count: int) -> list[Subject]:
    """Rigged characters of the measuring side, by a rule that does not depend on their scores.

    Half of them have four legs, half two, as far as there are. The first folders of the paths take
    turns, each in the order of its paths; at most `MOST_OF_A_FOLDER` come from one folder, and the
    same file in several encodings counts once.
    """
    wanted = {4: count // 2, 2: count - count // 2}
    chosen: list[Subject] = []
    spare: list[Subject] = []
    held: Counter[Path] = Counter()
    for path in _in_turns(folder):
        if held[path.parent] == MOST_OF_A_FOLDER:
            continue
        character = _usable(folder / path)
        if character is None:
            continue
        subject = Subject(path, character)
        if not wanted[subject.legs]:
            spare.append(subject)
            continue
        wanted[subject.legs] -= 1
        held[path.parent] += 1
        chosen.append(subject)
        if not any(wanted.values()):
            break
    chosen += spare[: count - len(chosen)]
    return sorted(chosen, key=lambda subject: (-subject.legs, subject.path))


def _in_turns(folder: Path) -> Iterator[Path]:
    """Paths in the folder, one of each first folder in turn, an encoding of each file only."""
    makers: dict[str, dict[str, Path]] = defaultdict(dict)
    for file in find_files(folder, training=False):
        path = file.relative_to(folder)
        makers[path.parts[0]].setdefault(path.stem.lower(), path)
    queues = [list(paths.values()) for _, paths in sorted(makers.items())]
    for turn in range(max((len(queue) for queue in queues), default=0)):
        yield from (queue[turn] for queue in queues if turn < len(queue))


def _usable(file: Path) -> Character | None:
    try:
        asset = read_asset(file)
        if not asset.skins:
            return None
        character = load_character(asset)
        if len(character.anatomy.legs) not in ASKED:
            return None
    except (AssetError, ValueError):
        return None
    return None if character.mesh is None else character


@dataclass(frozen=True)
class AssetEvaluation:
    """Samples for each subject, and what recognisers say of them and of true clips."""

    subjects: tuple[str, ...]
    """Paths in the folder of assets, one a sample."""
    samples: Evaluation
    true_asked: tuple[str, ...]
    true_said: dict[str, tuple[str, ...]]
    """By recogniser."""

    def report(self) -> dict:
        """Scores as plain numbers; `true_clips` is how far each recogniser can be trusted here."""
        scores = self.samples.report()
        scores["subjects"] = list(dict.fromkeys(self.subjects))
        scores["samples"] = [
            {
                "subject": subject,
                "asked": self.samples.asked[k],
                "said": {name: said[k] for name, said in self.samples.said.items()},
            }
            for k, subject in enumerate(self.subjects)
        ]
        scores["true_clips"] = {}
        for name, answers in self.true_said.items():
            pairs = list(zip(self.true_asked, answers, strict=True))
            wrong = Counter(f"{asked} seen as {said}" for asked, said in pairs if asked != said)
            scores["true_clips"][name] = {
                "videos": len(pairs),
                "all": sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
                "mistakes": dict(wrong.most_common()),
            }
        return scores

    def write(self, folder: Path, **settings: float) -> dict:
        """Write `evaluation-assets.json` and `evaluation-assets.png`: one row per subject.

        A row is the image that the prior was shown, then every other frame of its samples.
        Returns the content of the JSON file: the report, and the settings that are given.
        """
        about = {**self.report(), **settings}
        write_json(folder / "evaluation-assets.json", about)
        one = self.samples
        captions = []
        for k in range(0, len(self.subjects), PROMPTS_EACH):
            asked, said = (x[k : k + PROMPTS_EACH] for x in (one.asked, one.said["b"]))
            told = ", ".join(f"{a} / {s}" for a, s in zip(asked, said, strict=True))
            captions.append(f"{Path(self.subjects[k]).stem}: {told}")
        videos = one.videos[:, ::2].unflatten(0, (-1, PROMPTS_EACH)).flatten(1, 2)
        write_rows(
            folder / "evaluation-assets.png", one.reference_images[::PROMPTS_EACH], videos,
            captions=captions, every=1,
        )  # fmt: skip
        return about


def evaluate_assets(
    prior: PriorTiny,
    recognisers: dict[str, Recogniser],
    folder: Path,
    *,
    count: int = 20,
    steps: int = 24,
    scale: float = 3.0,
    seed: int = 0,
    true_views: int = 2,
) -> AssetEvaluation:
    """Ask for two actions of each of `count` characters in a folder; let recognisers name them.

    The prior gets the word of the action and an image of the character in its neutral pose from
    a random side: not what the character is, nothing of its clips. Raises `ValueError` where no
    character of the folder will do.
    """
    subjects = choose_subjects(folder, count)
    if not subjects:
        raise ValueError(
            f"{folder}: holds no rigged character with two or four legs and a surface on the "
            f"measuring side of splits.toml"
        )
    generator = torch.Generator().manual_seed(seed)
    tiny, bounds = prior.network.settings, view_bounds(CameraSettings())
    turns: Counter[int] = Counter()
    conditions, reference_images, asked = [], [], []
    for subject in subjects:
        view = random_view(generator, bounds)
        image = reference_image_of(subject.character, tiny, view=view).to(prior.device)
        for _ in range(PROMPTS_EACH):
            action = ASKED[subject.legs][turns[subject.legs] % len(ASKED[subject.legs])]
            turns[subject.legs] += 1
            asked.append(action)
            reference_images.append(image)
            conditions.append(prior.condition_of(Words(action=action), reference_image=image))
    made = torch.cat(
        [
            sample_videos(
                prior, conditions[k : k + _BATCH], generator=generator, steps=steps, scale=scale
            )
            for k in range(0, len(conditions), _BATCH)
        ]
    )
    paths = [subject.path.as_posix() for subject in subjects for _ in range(PROMPTS_EACH)]
    samples = Evaluation(
        tuple(f"{Path(path).stem} {action}" for path, action in zip(paths, asked, strict=True)),
        tuple(asked), {name: tuple(one.names(made)) for name, one in recognisers.items()},
        torch.stack(reference_images), made,
    )  # fmt: skip
    true_asked: list[str] = []
    said: dict[str, list[str]] = {name: [] for name in recognisers}
    for subject in subjects:
        videos, names = _true_clips(folder / subject.path, prior, true_views, generator)
        if names:
            true_asked += names
            for name, recogniser in recognisers.items():
                said[name] += recogniser.names(videos.to(prior.device))
    answers = {name: tuple(names) for name, names in said.items()}
    return AssetEvaluation(tuple(paths), samples, tuple(true_asked), answers)


def _true_clips(
    file: Path, prior: PriorTiny, views: int, generator: torch.Generator
) -> tuple[Float[Tensor, "K T H W 3"], list[str]]:
    """Videos of the clips of a file whose names say for certain what is done, and the actions."""
    tiny = prior.network.settings
    actor = artist_actor(file, PoolSettings())
    actor = None if actor is None else certain(actor)
    if actor is None or not actor.actions:
        return torch.zeros(0, tiny.frames, tiny.height, tiny.width, 3), []
    clips = [k for k in range(len(actor.actions)) for _ in range(views)]
    footage = film_actor(
        actor, len(clips), generator=generator, tiny=tiny, cameras=CameraSettings(), vary=False,
        clips=clips,
    )  # fmt: skip
    assert NONE not in footage.labels
    return footage.videos.float() / 255.0, list(footage.labels)
