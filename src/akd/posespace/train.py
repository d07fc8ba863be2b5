"""Training of the pose model on a `PoseSet`.

Needs torch, numpy and safetensors only. The random numbers of a step follow from the seed and the
number of the step, so that a run that was stopped and resumed sees the same poses.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.files import file_hash, weights_hash, write_json
from akd.base.process_group import ProcessGroup
from akd.math.learner import Descent, Learner, linear_weights
from akd.posespace.augment import augmented
from akd.posespace.body import PoseBody, bone_ends, kinematics, mirrored
from akd.posespace.dataset import PoseSet, load_poses, merge_poses
from akd.posespace.diffusion import T_MAX, signal_and_noise
from akd.posespace.model import save_model
from akd.posespace.network import PoseNetwork
from akd.posespace.perturb import spoil
from akd.posespace.settings import HEIGHT_UNIT, PoseNetworkSettings, PoseTrainSettings

_KNOWN = 5e-3
"""Tokens below this noise level are given, not asked for."""
_RIGHT, _WRONG = 0.1, 0.8
"""Changes of a spoilt joint below which it is still right, and above which it is wrong: 2 and 16
degrees."""


class PoseSampler:
    """Draws batches from a set: few bodies, several poses of each.

    Sources are drawn equally often, artists' rigs `artists` times as often. Within one, a body is
    drawn in proportion to the square root of its poses, divided by that of the number of bodies in
    its family, so that neither a long clip nor a large family dominates.
    """

    def __init__(self, poses: PoseSet, *, device: torch.device, artists: float = 1.0) -> None:
        order = poses.body_of.argsort(stable=True)
        self.states = poses.states[order].to(device)
        self.bodies = poses.bodies.to(device)
        counts = torch.bincount(poses.body_of, minlength=len(poses.records))
        self.counts = counts.to(device)
        self.first = (counts.cumsum(0) - counts).to(device)
        families = Counter(record.family for record in poses.records)
        shares = torch.tensor([families[record.family] ** 0.5 for record in poses.records])
        weights = counts.double().sqrt() / shares
        sources = sorted({record.source for record in poses.records})
        source_of = torch.tensor([sources.index(record.source) for record in poses.records])
        totals = torch.zeros(len(sources), dtype=weights.dtype).index_add(0, source_of, weights)
        often = torch.tensor([artists if source == "assets" else 1.0 for source in sources])
        self.weights = ((often / totals)[source_of] * weights).to(device)

    def draw(
        self, bodies: int, each: int, generator: torch.Generator
    ) -> tuple[PoseBody, Float[Tensor, "B J 3"]]:
        """`bodies` bodies and `each` states of every one of them; half of them are mirrored."""
        chosen = torch.multinomial(self.weights, bodies, replacement=True, generator=generator)
        device = self.states.device
        place = torch.rand(bodies, each, generator=generator, device=device)
        rows = (place * self.counts[chosen, None]).long() + self.first[chosen, None]
        body, states = self.bodies[chosen], self.states[rows.flatten()]
        index = torch.arange(bodies, device=device).repeat_interleave(each)
        flip = torch.rand(len(states), generator=generator, device=device) < 0.5
        other = mirrored(body[index], states)
        return body, torch.where(flip[:, None, None], other, states)


def draw_levels(
    count: int, tokens: int, same: float, generator: torch.Generator, device: torch.device
) -> Float[Tensor, "B J"]:
    """Noise levels of the tokens of each pose.

    A share `same` of the poses has one level; half of the others have an independent level for each
    token; in the rest a random part of the tokens is known and the others share a level.
    """

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, device=device)

    level = T_MAX * uniform(count, 1).clamp_min(0.01).expand(count, tokens)
    own = T_MAX * uniform(count, tokens)
    known = uniform(count, tokens) < uniform(count, 1)
    partly = torch.where(known, torch.zeros_like(level), level)
    kind = uniform(count, 1)
    mixed = torch.where(kind < 0.5 * (1.0 + same), own, partly)
    return torch.where(kind < same, level, mixed)


class PoseTrainer(Learner[PoseNetwork]):
    """Teaches the network to find the clean pose, and to tell it from a spoilt one."""

    def __init__(
        self, network: PoseNetworkSettings, settings: PoseTrainSettings, *,
        device: torch.device, seed: int, group: ProcessGroup | None = None,
    ) -> None:  # fmt: skip
        torch.manual_seed(seed)
        made = PoseNetwork(network)
        descent = Descent(
            settings.learning_rate, settings.warm_up, settings.weight_decay, settings.ema,
            betas=(0.9, 0.98),
        )  # fmt: skip
        matrices = linear_weights(made.blocks)
        super().__init__(made, descent, device=device, group=group, matrices=matrices)
        self.settings, self.seed = settings, seed
        self.generator = torch.Generator(device)

    def loss(self, body: PoseBody, states: Float[Tensor, "B J 3"]) -> Tensor:
        """Error of v, of the joints' positions in the clean estimate, and of the judge.

        Takes the batch of all processes; the loss is over this one's part of it, and its mean over
        processes is the loss of the batch.
        """
        s, draw, device = self.settings, self.generator, self.device
        count, each = len(body.present), len(states) // len(body.present)
        bodies, rows = self.group.part(count), self.group.part(len(states))
        body, states = augmented(body, states, s, draw)
        t = draw_levels(len(states), body.tokens, s.same_level, draw, device)
        noise = torch.randn(states.shape, generator=draw, device=device)
        present = body.present.repeat_interleave(each, dim=0)
        # Counted over the whole batch, so that the mean over processes divides by the same.
        share = 1.0 / self.group.size
        asked_count = share * (present & (t > _KNOWN)).sum()
        present_count = share * present.sum()
        some = self.group.size * max(1, round(s.judged * count / self.group.size))
        judged = self._judge_loss(body[:some], states[: some * each])
        body, states, t, noise = body[bodies], states[rows], t[rows], noise[rows]
        alpha, sigma = (x[..., None] for x in signal_and_noise(t))
        noisy = alpha * states + sigma * noise
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            given = self.network.describe(body).repeat(each)
            velocity = self.network(noisy, t, given)
        asked = (given.body.present & (t > _KNOWN))[..., None]
        error = (velocity - (alpha * noise - sigma * states)).square() * asked
        clean = alpha * noisy - sigma * velocity
        far = (self._reached(given.body, clean) - self._reached(given.body, states)).square()
        far = alpha.square() * far * given.body.present[..., None] / HEIGHT_UNIT**2
        total = error.sum() / (3 * asked_count)
        total = total + s.position_weight * far.sum() / (6 * present_count)
        return total + s.judge_weight * judged

    def _judge_loss(self, body: PoseBody, states: Float[Tensor, "B J 3"]) -> Tensor:
        """Cross-entropy of joints and of poses, half of them spoilt; over this process's part."""
        draw, device = self.generator, self.device
        each = len(states) // len(body.present)
        every = body[torch.arange(len(body.present), device=device).repeat_interleave(each)]
        half = torch.rand(len(states), generator=draw, device=device) < 0.5
        shown = torch.where(half[:, None, None], spoil(every, states, draw), states)
        change = (shown - states).norm(dim=-1)
        # A joint with a very small error counts neither as right nor as wrong.
        wrong, sure = change > _WRONG, (change > _WRONG) | (change < _RIGHT)
        spoilt = wrong.any(-1)
        clear = spoilt | (change < _RIGHT).all(-1)
        counted = sure & every.present
        joints = counted.sum() / self.group.size
        rows = self.group.part(len(states))
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            given = self.network.describe(body[self.group.part(len(body.present))]).repeat(each)
            tokens, poses = self.network.judge(shown[rows], given)
        entropy = torch.nn.functional.binary_cross_entropy_with_logits
        return entropy(
            tokens, wrong[rows].to(tokens), weight=counted[rows].to(tokens), reduction="sum"
        ) / joints + entropy(poses, spoilt[rows].to(poses), weight=clear[rows].to(poses))

    @staticmethod
    def _reached(body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B J 6"]:
        places, turned = kinematics(body, states)
        return torch.cat((places, bone_ends(body, places, turned)), dim=-1)

    def step(self, sampler: PoseSampler, *, part: float) -> None:
        """One step; `part` of the whole training is over, 0..1."""
        s = self.settings
        self.generator.manual_seed((self.seed << 32) + self.progress.step)
        bodies = self.group.size * (s.batch // s.poses_each)
        body, states = sampler.draw(bodies, s.poses_each, self.generator)
        self.descend(self.loss(body, states), part=part)


def train(
    poses: Sequence[Path],
    out: Path,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    device: torch.device | str = "cpu",
    seed: int = 0,
    network: PoseNetworkSettings | None = None,
    settings: PoseTrainSettings | None = None,
    say: Callable[[str], None] = print,
) -> PoseNetwork:
    """Train on a pose file and return the averaged network.

    Processes that `accelerate launch` starts train together; the first of them writes.

    Args:
        poses: Files of `save_poses`, or folders of them; at least one.
        out: Folder for `pose.safetensors` (weights), `state.safetensors` (to resume: the same call
            goes on from it) and `training.json`.
        minutes: Length of the whole training in time.
        steps: Length in steps; the run is then deterministic. Whichever ends first counts.
        device: Where to train; bfloat16 on a GPU.
        seed: Of weights and batches.
        network: Size of the network.
        settings: Of the optimisation; `batch` is that of each process.
        say: Takes lines about progress.

    Raises:
        ValueError: Neither `minutes` nor `steps` is given, or a file holds no pose set.
    """
    if minutes is None and steps is None:
        raise ValueError("minutes or steps must be given, got neither")
    if not poses:
        raise ValueError("poses must name at least one file, got none")
    settings = settings or PoseTrainSettings()
    group, device = ProcessGroup.join(torch.device(device))
    say = say if group.leads else _say_nothing
    data = merge_poses([load_poses(path) for path in poses])
    sampler = PoseSampler(data, device=device, artists=settings.artists)
    trainer = PoseTrainer(
        network or PoseNetworkSettings(), settings, device=device, seed=seed, group=group
    )
    state, progress = out / "state.safetensors", trainer.progress
    if trainer.restore(state):
        progress = trainer.progress
        say(f"resuming at step {progress.step}, {progress.seconds:.0f} s")
    size = sum(p.numel() for p in trainer.network.parameters())
    say(f"{size / 1e6:.2f} M weights, {len(data)} poses of {len(data.records)} bodies, {device}")
    record: dict[str, object] = {
        "poses": len(data), "bodies": len(data.records),
        "pose_files": [weights_hash(p) if p.is_dir() else file_hash(p) for p in poses],
        "sources": dict(Counter(r.source for r in data.records)), "seed": seed,
        "settings": asdict(settings), "weights": size, "torch": torch.__version__,
        "processes": group.size,
    }  # fmt: skip

    def save() -> None:
        if not group.leads:
            return
        trainer.save(state)
        done = record | {"progress": asdict(progress)}
        save_model(trainer.average, out / "pose.safetensors", training=done)
        write_json(out / "training.json", done)

    before, started = progress.seconds, time.perf_counter()
    saved, told = started, started - 60.0
    while True:
        now = time.perf_counter()
        progress.seconds = group.leader(before + now - started, device)
        part = max(
            0.0 if minutes is None else progress.seconds / (60.0 * minutes),
            0.0 if steps is None else progress.step / steps,
        )
        if part >= 1.0:
            break
        trainer.step(sampler, part=part)
        if now - told >= 10.0:
            say(f"[{progress.seconds:6.0f} s] step {progress.step}  loss {progress.loss:.4f}")
            told = now
        if now - saved >= settings.checkpoint_seconds:
            save()
            saved = now
    save()
    say(f"{out / 'pose.safetensors'}: {progress.step} steps, loss {progress.loss:.4f}")
    return trainer.average.eval()


def _say_nothing(line: str) -> None:
    """For all processes but the first."""
