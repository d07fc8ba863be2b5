"""Thresholds of `akd pose harvest`: fits to videos of true clips, whose poses are known.

    python -m benchmarks.harvest_filters --bodies fox man trex --actions walk -o out/filters

Each clip of the training side of the zoo is filmed as the prior sees it and fitted as a sampled
video is. A row has the photometric difference, what recogniser A says of the clip and of its fit,
and how far the fitted joints are from the true ones. Rows go to OUT/rows.jsonl; a run that was
stopped goes on.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from akd.api.poses import zoo_character
from akd.api.request import make_request
from akd.api.search import set_stage
from akd.base.files import weights_hash
from akd.batch.harvest_fit import HarvestSettings, fit_poses
from akd.fit.regressor.regressor import MotionRegressor, load_regressor
from akd.metrics.recognise.recogniser import find_recogniser
from akd.metrics.selection import video_score
from akd.motion.actions import ACTIONS
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import find_clip
from akd.motion.feet import leg_length
from akd.posespace.body import kinematics
from akd.posespace.codec import PoseCodec
from akd.posespace.ground import grounded
from akd.prior.choose import choose_prior
from akd.prior.protocol import VideoPrior, for_body
from akd.prior.source import PriorSource
from akd.rig.character import Character
from akd.rig.control import ControlPose
from benchmarks.rows import append_row, read_rows

SEED = 7000
"""Of creatures of the zoo's training side that no training has cast."""
CYCLES = 4
"""Of a clip: as long as a video of the prior, or longer."""
ANCHOR = HarvestSettings().warm_start.anchor
THRESHOLDS = (0.004, 0.006, 0.008, 0.01, 0.012, 0.015, 0.02)


def measure(
    character: Character,
    action: str,
    prior: VideoPrior,
    weights: Path | None,
    iterations: int,
    regressor: MotionRegressor | None = None,
    search: bool = True,
    anchor: float = ANCHOR,
) -> dict[str, Any]:
    """Film the clip of an action, fit to the film, and compare."""
    rig = character.control_rig
    prior = for_body(prior, leg_length(character, rig))
    species = character.asset.path.stem
    request = make_request(
        character, f"a {species} {ACTIONS[action].participle}", prior=prior, physics=False
    )
    stage, codec = set_stage(request, prior), PoseCodec.of(character)
    clip = motion_from_clip(character, find_clip(character, action))
    times = clip.times[0] + torch.arange(prior.frames) / prior.fps
    pose = rig.from_pose(clip.sample(times.clamp_max(float(clip.times[-1]))).pose)
    path = pose.translation - pose.translation.new_tensor((0.0, stage.lift, 0.0))
    seen = ControlPose(path, pose.root_rotation, pose.angles)
    with torch.no_grad():
        video = stage.show(stage.transforms(seen))
    judge = video_score(
        find_recogniser("a", weights), request.action, style=prior.style,
        size=(prior.frames, prior.height, prior.width),
    )  # fmt: skip
    settings = HarvestSettings(videos=1, iterations=iterations, search=search)
    settings = replace(settings, warm_start=replace(settings.warm_start, anchor=anchor))
    (fit,) = fit_poses(video[None], [request], stage, prior, codec, settings, regressor=regressor)
    body = codec.body.expand(prior.frames)
    true = grounded(codec.body, codec.encode(pose), fps=prior.fps)
    apart = (kinematics(body, fit.states)[0] - kinematics(body, true)[0]).norm(dim=-1).mean()
    return {
        "difference": fit.difference,
        "fit": 1.0 if judge is None else float(judge(fit.shown[None])[0]),
        "true": 1.0 if judge is None else float(judge(video[None])[0]),
        "error": float(apart) * codec.size / character.height,
    }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """How many fits each threshold of the difference keeps, and how far their joints are off."""
    lines = ["| difference at most | fits kept | mean error, % of height | largest |",
             "| --- | --- | --- | --- |"]  # fmt: skip
    for most in THRESHOLDS:
        errors = [100.0 * row["error"] for row in rows if row["difference"] <= most]
        if errors:
            mean = sum(errors) / len(errors)
            lines.append(
                f"| {most} | {len(errors)} of {len(rows)} | {mean:.1f} | {max(errors):.1f} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bodies", nargs="+", default=["fox", "man", "horse", "trex"])
    parser.add_argument("--actions", nargs="+", default=["walk", "jump"])
    parser.add_argument("--iterations", type=int, default=HarvestSettings.iterations)
    parser.add_argument("--weights", type=Path, help="folder of a prior that does not ship")
    parser.add_argument("--regressor", type=Path, help="weights that give fits their start")
    parser.add_argument("--no-search", action="store_true", help="with the regressor alone")
    parser.add_argument(
        "--anchor", type=float, default=ANCHOR, help="to the regressor's angles"
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-o", "--out", type=Path, default=Path("out/filters"))
    options = parser.parse_args()
    prior = choose_prior(PriorSource("tiny", options.weights), device=options.device)
    regressor = None
    if options.regressor is not None:
        regressor = load_regressor(options.regressor, device=options.device)
    path, made_by = options.out / "rows.jsonl", ""
    if options.weights is not None:
        made_by = weights_hash(options.weights)[:8]
    done = {row["key"]: row for row in read_rows(path)}
    rows = []
    for species in options.bodies:
        character = None
        for action in options.actions:
            start = (
                ""
                if regressor is None
                else (f"regressor{' alone' * options.no_search} {options.anchor:g}")
            )
            key = f"{species} {SEED} {action} {options.iterations} {made_by} {start}".strip()
            if key not in done:
                character = character or zoo_character(species, SEED, styles=1, cycles=CYCLES)
                if all(clip.name != action for clip in character.asset.clips):
                    continue
                found = measure(
                    character,
                    action,
                    prior,
                    options.weights,
                    options.iterations,
                    regressor,
                    search=not options.no_search,
                    anchor=options.anchor,
                )
                done[key] = {"key": key, **found}
                append_row(path, done[key])
            rows.append(done[key])
            numbers = "  ".join(f"{k} {v:.4f}" for k, v in done[key].items() if k != "key")
            print(f"{key}: {numbers}", flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
