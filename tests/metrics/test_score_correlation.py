"""The rank correlation that `benchmarks/score.py` reports."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from benchmarks.score import correlation


def test_one_group_is_spearmans_coefficient():
    clips = np.random.default_rng(0).random((20, 2)).round(1)  # with ties
    expected = spearmanr(*clips.T).statistic
    assert correlation([tuple(c) for c in clips], [""] * 20) == pytest.approx(expected)


def test_clips_are_ranked_inside_their_own_group():
    """A group of low scores and high probabilities turns the plain coefficient round."""
    walk = [(0.1 * k, 0.8 + 0.01 * k) for k in range(5)]
    trot = [(0.6 + 0.01 * k, 0.1 * k) for k in range(5)]
    groups = ["walk"] * 5 + ["trot"] * 5
    assert correlation(walk + trot, [""] * 10) < 0.0
    assert correlation(walk + trot, groups) == pytest.approx(1.0)
