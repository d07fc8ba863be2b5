"""The full-size path on one GPU: `animate`'s own distillation, CogVideoX-5B's size, random weights.

    python -m benchmarks.full_size Fox.glb --device cuda            about four minutes on an H200
    python -m benchmarks.full_size Fox.glb --device cpu --small     the same code, kilobytes

Render the character (49 x 480 x 720), encode, ask the network with and without words, follow the
gradient back through encoder, renderer, skinning and control rig, step: 20 iterations of
`akd.distill.loop.distil` for each preset, time and memory by part. Published weights are not needed
and were not run: no claim is made here about the motion. The text encoder is left out: it runs once
before the loop, and its embedding of the prompt is kept.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import akd
from akd.api.request import make_request
from akd.api.search import begin, fit, sample, set_stage, spawn, starting_point
from akd.distill.loop import distil
from akd.distill.settings import DistillSettings
from akd.presets import find_preset
from akd.prior.choose import choose_device
from akd.prior.large.load import prepare_autoencoder, prepare_network
from akd.prior.large.prior import PriorDiffusers
from akd.prior.large.settings import FAST, LEAN, LargeSettings
from akd.prior.large.text import Embedding
from benchmarks.prior import COGVIDEOX_5B, Model, build, prior_of, say, tiny

GIB = 2**30
RENDER, ENCODE, PREDICT, REST = "rig, render", "encode", "predict, guided pair", "losses"
BACK_ENCODE, BACK_RENDER = "back through the encoder", "back through render and rig, step"
PARTS = (RENDER, ENCODE, PREDICT, REST, BACK_ENCODE, BACK_RENDER)


class Watch(akd.Observer):
    """Seconds and peak memory of every iteration by part; the device is waited for at every cut."""

    def __init__(self, name: str, device: torch.device) -> None:
        self.name, self.device = name, device
        self.seconds: list[dict[str, float]] = []
        self.peaks: list[dict[str, float]] = []
        self.running, self._began = "", 0.0

    def switch(self, part: str) -> None:
        """End the part that runs and begin another."""
        on_gpu = self.device.type == "cuda"
        if on_gpu:
            torch.cuda.synchronize(self.device)
        now = time.perf_counter()
        if self.running:
            row, peaks = self.seconds[-1], self.peaks[-1]
            row[self.running] = row.get(self.running, 0.0) + now - self._began
            peak = torch.cuda.max_memory_allocated(self.device) / GIB if on_gpu else 0.0
            peaks[self.running] = max(peaks.get(self.running, 0.0), peak)
        if on_gpu:
            torch.cuda.reset_peak_memory_stats(self.device)
        self.running, self._began = part, time.perf_counter()

    def begin(self, phase: str) -> None:
        """The first iteration begins."""
        del phase
        self._begin_iteration()

    def step(self, iteration: int, iterations: int, values: Mapping[str, float]) -> None:
        """An iteration ends, and the next one begins."""
        self.switch("")
        took = sum(self.seconds[-1].values())
        if iteration in (1, 2) or iteration % 5 == 0:
            told = ", ".join(f"{key} {value:.3g}" for key, value in values.items())
            say(f"{self.name}: iteration {iteration} of {iterations} took {took:.3f} s; {told}")
        if iteration < iterations:
            self._begin_iteration()

    def _begin_iteration(self) -> None:
        self.seconds.append({})
        self.peaks.append({})
        self.switch(RENDER)


class PriorWatched(PriorDiffusers):
    """The prior with a watch, and with words made up: there is no text encoder."""

    watch: Watch | None = None
    words: list[Embedding]

    def embeddings(self, prompt: str) -> list[Embedding]:
        del prompt
        return self.words

    def encode(self, video: Tensor) -> Tensor:
        if self.watch is None or not video.requires_grad:
            return super().encode(video)
        watch = self.watch
        video.register_hook(lambda _: watch.switch(BACK_RENDER))
        watch.switch(ENCODE)
        latents = super().encode(video)
        latents.register_hook(lambda _: watch.switch(BACK_ENCODE))
        watch.switch(REST)
        return latents

    def predict(self, latents: Tensor, t: Tensor, conditions: Any) -> Tensor:
        if self.watch is None or self.watch.running == PREDICT:
            return super().predict(latents, t, conditions)
        self.watch.switch(PREDICT)
        result = super().predict(latents, t, conditions)
        self.watch.switch(REST)
        return result


def make_prior(model: Model, network: Any, vae: Any, settings: LargeSettings) -> PriorWatched:
    plain = prior_of(model, network, vae, settings)
    prior = PriorWatched(plain.name, plain.family, plain.folder, device=plain.device)
    generator = torch.Generator().manual_seed(0)
    words = torch.randn(2, model.tokens, model.width, generator=generator)
    words = words.to(prior.device, prior.dtype)
    mask = torch.ones(model.tokens, dtype=torch.bool, device=prior.device)
    prior.words = [Embedding(text, mask) for text in words]
    return prior


def run_preset(
    asset: Path, name: str, held: str, prior: PriorWatched, iterations: int, prompt: str
) -> None:
    """Distil and print the table of its parts."""
    whole = find_preset(name)
    settings = replace(
        whole, iterations=iterations, checkpoint_every=iterations,
        warm_start=replace(whole.warm_start, samples=0),
    )  # fmt: skip
    request = make_request(akd.load(asset), prompt, prior=prior, preset=settings, physics=False)
    prior.watch = None
    began = time.perf_counter()
    stage = set_stage(request, prior)
    say(f"{name}: stage with {settings.splats} splats in {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    start = request.parametrization.begin(starting_point(request, prior), stage)
    posed = start.pose(stage)
    video = stage.show(posed.transforms)
    video.square().mean().backward()
    look_at(video.detach(), name)
    del video, posed
    say(f"{name}: first rendering, with compilation: {time.perf_counter() - began:.1f} s")
    prior.watch = watch = Watch(name, prior.device)
    videos, generator = sample(stage, prior, request, watch)
    [found] = fit(stage, prior, request, videos, observer=watch)
    distil(
        stage, prior, request.asked, [found], request.settings, losses=request.losses,
        generators=spawn(generator, 1), observer=watch,
    )  # fmt: skip
    start = begin(stage, prior, request)
    prior.watch = None
    moved = [
        float((new - old).detach().abs().max())
        for new, old in zip(found.tensors(), start.tensors(), strict=True)
    ]
    say(f"{name}: largest change of each tensor: {', '.join(f'{m:.3f}' for m in moved)}")
    print_table(name, held, whole, watch, prior)


def look_at(video: Tensor, name: str) -> None:
    """Say what the first video holds, so that an empty image does not pass for a fox."""
    middle = video[len(video) // 2]
    spread = float(middle.std())
    apart = float((video[0] - video[-1]).abs().mean())
    say(
        f"{name}: video {tuple(video.shape)}, mean {float(video.mean()):.3f}, spread "
        f"{spread:.3f}, first and last frame apart by {apart:.4f}"
    )


def print_table(
    name: str, held: str, settings: DistillSettings, watch: Watch, prior: PriorWatched
) -> None:
    """Medians over the iterations after the first two, which compile."""
    skip = 2 if len(watch.seconds) > 4 else 0
    rows, peaks = watch.seconds[skip:], watch.peaks[skip:]
    middle = {part: statistics.median(row.get(part, 0.0) for row in rows) for part in PARTS}
    whole = statistics.median(sum(row.values()) for row in rows)
    most = {part: max(row.get(part, 0.0) for row in peaks) for part in PARTS}
    size = f"{prior.frames} x {prior.height} x {prior.width}"
    lines = [
        f"Preset `{name}`, prior held `{held}`, {size}, {settings.splats} splats, guidance "
        f"{settings.score.guidance:g}, {settings.score.samples} noise sample(s) a step; median of "
        f"{len(rows)} iterations",
        "",
        "| part | seconds | share | peak GiB |",
        "| --- | --- | --- | --- |",
    ]
    for part in PARTS:
        share = 100.0 * middle[part] / max(whole, 1e-9)
        lines.append(f"| {part} | {middle[part]:.3f} | {share:.0f} % | {most[part]:.1f} |")
    lines.append(f"| **one iteration** | **{whole:.3f}** | | **{max(most.values()):.1f}** |")
    first = sum(watch.seconds[0].values())
    total = sum(sum(row.values()) for row in watch.seconds)
    count = len(watch.seconds)
    tail = f"First iteration, with compilation: {first:.1f} s; all {count}: {total:.1f} s."
    if settings.iterations > count:
        hours = whole * settings.iterations / 3600.0
        tail += f" The preset's {settings.iterations} iterations would take {hours:.1f} h."
    if watch.device.type == "cuda":
        free, has = torch.cuda.mem_get_info(watch.device)
        held_now = torch.cuda.memory_reserved(watch.device) / GIB
        tail += f" Device in use: {(has - free) / GIB:.1f} GiB, {held_now:.1f} of it PyTorch's."
    print("\n".join(["", *lines, "", tail, ""]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("asset", type=Path, help="a rigged glTF or GLB, such as Khronos' Fox")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="small networks, to try the script")
    parser.add_argument("--presets", default="paper,fast")
    parser.add_argument("--held", default="fast,lean",
                        help="lean comes last and runs `fast` alone, 5 iterations")  # fmt: skip
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--prompt", default="a fox walking")
    options = parser.parse_args()
    device = choose_device(options.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    say(f"torch {torch.__version__}, {name}")
    for limit in ("recompile_limit", "cache_size_limit"):
        if hasattr(torch._dynamo.config, limit):
            setattr(torch._dynamo.config, limit, 64)
    model = tiny(COGVIDEOX_5B) if options.small else COGVIDEOX_5B
    network = build(model.network, model.network_config, device)
    vae = build(model.vae, model.vae_config, device)
    say(f"{model.name}: {sum(p.numel() for p in network.parameters()) / 1e9:.2f} thousand million")
    compiled = device.type == "cuda"
    for held, chosen in (("fast", FAST), ("lean", LEAN)):
        if held not in options.held.split(","):
            continue
        settings = replace(chosen, compile=compiled)
        prepare_autoencoder(vae, settings)
        prepare_network(network, settings, device)
        gc.collect()
        if device.type == "cuda":
            torch.cuda.empty_cache()
        prior = make_prior(model, network, vae, settings)
        presets = options.presets.split(",") if held == "fast" else ["fast"]
        for preset in presets:
            count = options.iterations if held == "fast" else min(5, options.iterations)
            try:
                run_preset(options.asset, preset, held, prior, count, options.prompt)
            except Exception:
                say(f"{preset}, {held}, failed:\n{traceback.format_exc()}")
            gc.collect()
            if device.type == "cuda":
                torch.cuda.empty_cache()
    say("done")


if __name__ == "__main__":
    main()
