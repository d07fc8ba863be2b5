"""The motion regressor on bodies that it never saw: one or two files of weights, by group.

    python -m benchmarks.regressor old=OLD.safetensors new=NEW.safetensors --assets ASSETS \
        --device cuda --workers 15 -o out/regressor

Bodies of the measuring side, creatures of the zoo and the first artists' files by name, are filmed
doing what they do. A row is the mean angle between seen and true rotations in degrees, beside that
of the neutral pose and, in brackets, the angle by which the network expects to be off. Without
files of weights, those that ship are measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from akd.base.files import file_hash, write_json
from akd.fit.regressor.errors import Angles, BodyErrors, mean_angles, measure_errors
from akd.fit.regressor.regressor import MotionRegressor, find_regressor, load_regressor
from akd.motion.retargeting.body_parts import BodyPart
from akd.prior.tiny.casting import cast_artists, collect_actors
from akd.prior.tiny.evaluate import measuring_actors
from akd.prior.tiny.recorded import Recordings
from akd.prior.tiny.settings import CameraSettings, PoolSettings, TinySettings
from akd.rig.roles.role import LimbKind

_LIMBS: dict[str, tuple[LimbKind | None, ...]] = {
    "legs": (LimbKind.LEG, LimbKind.FORE, LimbKind.HIND, LimbKind.MID),
    "arms": (LimbKind.ARM,),
    "wings and fins": (LimbKind.WING, LimbKind.FIN),
    "trunk, neck, head and tail": (None,),
}
Sides = dict[str, list[BodyErrors]]
"""Errors of bodies, by `zoo` and `artists`."""


def groups(sides: Sides) -> dict[str, Angles]:
    """Mean angles by group: each side as a whole, by limb, and by body plan."""

    def on(limbs: Sequence[LimbKind | None]) -> Callable[[BodyPart], bool]:
        return lambda part: part.limb in limbs

    found: dict[str, Angles | None] = {}
    for side, bodies in sides.items():
        found[f"{side}, all"] = mean_angles(bodies)
        for name, limbs in _LIMBS.items():
            found[f"{side}, {name}"] = mean_angles(bodies, on(limbs))
        for plan in sorted({body.plan for body in bodies}):
            own = [body for body in bodies if body.plan == plan]
            found[f"{side}, {len(own)} x {plan}"] = mean_angles(own)
    return {name: angles for name, angles in found.items() if angles is not None}


def table(measured: dict[str, dict[str, Angles]]) -> str:
    """A row for each group, a column for each file of weights."""
    lines = [
        f"| degrees | neutral pose | {' | '.join(measured)} |",
        "| --- " * (2 + len(measured)) + "|",
    ]
    first = next(iter(measured.values()))
    for name, angles in first.items():
        cells = [f"{own[name].seen:.1f} ({own[name].stated:.1f})" for own in measured.values()]
        lines.append(f"| {name} | {angles.neutral:.1f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def named(argument: str) -> tuple[str, Path]:
    """NAME=FILE, or a file that is named after its folder."""
    name, _, path = argument.rpartition("=")
    return name or Path(path).parent.name, Path(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("weights", nargs="*", type=named, help="NAME=FILE")
    parser.add_argument("--assets", type=Path, help="folder of rigged characters")
    parser.add_argument("--unseen", type=int, default=24, help="bodies of each side")
    parser.add_argument("--each", type=int, default=16, help="videos of each body")
    parser.add_argument("--splats", type=int, default=PoolSettings.splats)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=0, help="processes that build the bodies")
    parser.add_argument("-o", "--out", type=Path, default=Path("out/regressor"))
    options = parser.parse_args()
    device = torch.device(options.device)
    regressors: dict[str, MotionRegressor] = {
        name: load_regressor(path, device=device) for name, path in options.weights
    }
    if not regressors:
        shipped = find_regressor(device=device)
        if shipped is None:
            parser.error("there are no weights: give NAME=FILE")
        regressors["shipped"] = shipped

    pool, cache = PoolSettings(splats=options.splats), options.out / "actors"
    actors = {"zoo": measuring_actors(options.unseen, pool, cache, workers=options.workers)}
    if options.assets is not None:
        cast = cast_artists(Recordings(options.assets), pool, training=False)[: options.unseen]
        found = collect_actors(cast, pool, cache, workers=options.workers)
        actors["artists"] = sorted(found, key=lambda actor: actor.species)
    measured = {}
    for name, regressor in regressors.items():
        see = regressor.settings
        tiny = TinySettings(frames=see.frames, width=see.size, height=see.size)
        measured[name] = groups(
            {
                side: measure_errors(
                    regressor.network, some, tiny, CameraSettings(), device=device,
                    each=options.each,
                )
                for side, some in actors.items()
            }
        )  # fmt: skip
    print(table(measured))
    report = {
        "unseen": options.unseen,
        "each": options.each,
        "bodies": {side: [one.species for one in some] for side, some in actors.items()},
        "weights": {name: file_hash(path) for name, path in options.weights},
        "degrees": {
            name: {group: vars(angles) for group, angles in own.items()}
            for name, own in measured.items()
        },
    }
    write_json(options.out / "regressor.json", report)
    print(options.out / "regressor.json")


if __name__ == "__main__":
    main()
