"""`akd prior`: the video models that motion is distilled from, and the tiny one's training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

from akd.commands.prior_evaluate import PriorEvaluate
from akd.commands.prior_sample import PriorSample
from akd.commands.prior_train import PriorTrain, PriorTrainRecogniser, PriorTrainRegressor


@dataclass(frozen=True)
class PriorList:
    """List the available video models.

    Example: akd prior list
    """

    def run(self) -> None:
        """Print a line for each."""
        from akd.motion.actions import MANNER_LABELS
        from akd.prior.tiny.bodies import PLANS, actions_of
        from akd.prior.tiny.load import has_weights, read_about, shipped_weights
        from akd.prior.tiny.vocabulary import CREATURES

        if has_weights(shipped_weights()):
            tiny, tokens = read_about(shipped_weights())
            print(
                f"tiny    {tiny.frames} x {tiny.height} x {tiny.width}, a frame lasts "
                f"{tiny.frame_time:g} sqrt(leg length / g), style roles, Apache-2.0, ships with akd"
            )
            known = {f"{plan} actions": actions_of(plan, tokens) for plan in PLANS}
            known |= {"manners": list(MANNER_LABELS), "creatures": list(CREATURES)}
            for name, words in known.items():
                listed = [word.replace("_", " ") for word in words if word in tokens]
                print(f"        {name}: {', '.join(listed)}")
        else:
            print("tiny    its weights are missing; `akd prior train` makes some")
        from akd.prior.large.catalogue import lines

        for line in lines():
            print(line)


@dataclass(frozen=True)
class Prior:
    """The video models that motion is distilled from.

    Example: akd prior list
    """

    do: (
        Annotated[PriorList, tyro.conf.subcommand("list")]
        | Annotated[PriorSample, tyro.conf.subcommand("sample")]
        | Annotated[PriorTrain, tyro.conf.subcommand("train")]
        | Annotated[PriorTrainRecogniser, tyro.conf.subcommand("train-recogniser")]
        | Annotated[PriorTrainRegressor, tyro.conf.subcommand("train-regressor")]
        | Annotated[PriorEvaluate, tyro.conf.subcommand("evaluate")]
    )

    def run(self) -> None:
        """Run the command within the command."""
        self.do.run()
