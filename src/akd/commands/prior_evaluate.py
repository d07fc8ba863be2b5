"""`akd prior evaluate`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from akd.commands.errors import SEEDS, UsageError, check_folders, check_ranges, usage_errors
from akd.commands.options import Device, Out, Seed
from akd.commands.prior_options import (
    SMOKE_POOL,
    Smoke,
    Unseen,
    Workers,
    count_workers,
    device_of,
)
from akd.prior.tiny.settings import PoolSettings

if TYPE_CHECKING:
    import torch

    from akd.metrics.recognise.recogniser import Recogniser
    from akd.prior.tiny.prior import PriorTiny


@dataclass(frozen=True)
class PriorEvaluate:
    """Evaluate the tiny prior: how often the recognisers name the requested action.

    Example: akd prior evaluate -o out/prior
    """

    out: Out = Path("out/prior")
    """Folder to write to. Weights and recognisers in it are used instead of the bundled ones."""
    assets: Path | None = None
    """Folder of rigged characters: evaluate on its measuring side (splits.toml) instead of on
    creatures of the zoo."""
    count: int = 20
    """With --assets: number of characters, two prompts each."""
    prompts: int = 400
    """Without --assets: number of prompts."""
    actors: Unseen = 48
    scale: float = 3.0
    """Guidance scale."""
    steps: int = 40
    """Denoising steps."""
    seed: Seed = 0
    device: Device = "auto"
    workers: Workers = None
    smoke: Smoke = False

    def run(self) -> None:
        """Sample, judge, write sheet, scores and card."""
        check_ranges(
            self, count=(1, 100_000), prompts=(1, 100_000), actors=(1, 10_000), steps=(1, 10_000),
            seed=SEEDS, workers=(0, 1000),
        )  # fmt: skip
        check_folders(assets=self.assets)
        from akd.metrics.recognise.recogniser import has_recogniser, load_recogniser
        from akd.prior.tiny.card import write_card
        from akd.prior.tiny.evaluate import evaluate, measuring_actors
        from akd.prior.tiny.load import has_weights

        device = device_of(self.device)
        own = self.out / "weights"
        prior = _tiny(own if has_weights(own) else None, device)
        recognisers = {}
        for name in ("a", "b", "c"):
            folder = own if has_recogniser(name, own) else None
            if has_recogniser(name, folder):
                recognisers[name] = load_recogniser(name, folder, device=device)
        if "b" not in recognisers:
            raise UsageError("there is no recogniser b; `akd prior train-recogniser b` makes one")
        if self.assets is not None:
            recognisers.pop("a", None)
            self._on_assets(self.assets, prior, recognisers)
            return
        pool, count, prompts, steps = PoolSettings(), self.actors, self.prompts, self.steps
        if self.smoke:
            pool, count, prompts, steps = SMOKE_POOL, 2, 4, 3
        actors = measuring_actors(
            count, pool, self.out / "actors", workers=min(count, count_workers(self.workers))
        )
        result = evaluate(
            prior,
            recognisers,
            actors,
            prompts=prompts,
            steps=steps,
            scale=self.scale,
            seed=self.seed,
        )
        about = result.write(self.out, scale=self.scale, steps=steps)
        for name in recognisers:
            print(f"recogniser {name}: {100.0 * result.accuracy(name):.1f} % as asked")
        print(json.dumps(about["b"]["by_action"]))
        print(json.dumps(about["b"]["mistakes"]))
        print(f"{write_card(self.out)}; {self.out / 'evaluation.png'}")

    def _on_assets(
        self, assets: Path, prior: PriorTiny, recognisers: dict[str, Recogniser]
    ) -> None:
        from akd.prior.tiny.card import asset_lines, write_card
        from akd.prior.tiny.evaluate_assets import evaluate_assets

        count, steps = (2, 2) if self.smoke else (self.count, self.steps)
        with usage_errors(prefix="--assets "):
            result = evaluate_assets(
                prior,
                recognisers,
                assets,
                count=count,
                steps=steps,
                scale=self.scale,
                seed=self.seed,
            )
        about = result.write(self.out, scale=self.scale, steps=steps)
        print("\n".join(asset_lines(about)))
        # The card is the whole story: it is written where the training has left its part.
        if (self.out / "training.json").is_file():
            print(write_card(self.out))
        print(f"{self.out / 'evaluation-assets.json'}; {self.out / 'evaluation-assets.png'}")


def _tiny(folder: Path | None, device: torch.device) -> PriorTiny:
    from akd.prior.tiny.load import has_weights, load_tiny, shipped_weights

    where = folder or shipped_weights()
    if not has_weights(where):
        raise UsageError(
            f"{where}: holds no weights of the tiny prior; `akd prior train` makes some"
        )
    return load_tiny(where, device=device)
