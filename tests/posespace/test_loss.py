"""The pose model as a loss term."""

import pytest
import torch

from akd.fit.losses import LossState
from akd.motion.parametrization import pose_together
from akd.posespace.loss import pose_prior
from akd.posespace.model import save_model
from akd.posespace.network import PoseNetwork
from tests.distill.fox import fox_stage, standing
from tests.posespace.conftest import SMALL


def test_a_loss_for_each_candidate_that_follows_from_seed_and_progress(fox, tmp_path):
    torch.manual_seed(0)
    save_model(PoseNetwork(SMALL), tmp_path / "pose.safetensors", training={})
    stage = fox_stage(fox, splats=50)
    candidates = [standing(fox), standing(fox)]
    with torch.no_grad():
        candidates[1].angles.add_(0.3)

    def values(progress, seed=0):
        posed = pose_together(candidates, stage)
        state = LossState(stage, candidates[0], posed, torch.zeros(2, 8, 4, 4, 3), progress)
        return pose_prior(0.5, tmp_path / "pose.safetensors", seed=seed).function(state)

    found = values(0.1)
    assert found.shape == (2,)
    found.sum().backward()
    slopes = [candidate.angles.grad for candidate in candidates]
    assert all(slope is not None and bool(slope.isfinite().all()) for slope in slopes)
    assert float(slopes[1].abs().max()) > 0.0
    assert torch.equal(values(0.1), found)
    assert not torch.equal(values(0.2), found)
    assert not torch.equal(values(0.1, seed=7), found)


def test_missing_weights_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no pose model"):
        pose_prior(1.0, tmp_path / "none.safetensors")
