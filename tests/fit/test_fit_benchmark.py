"""What the benchmark of `akd fit` measures: headings, and the order of its clips."""

import math

import pytest
import torch

from akd.math import quaternion
from benchmarks.fit import in_turns, turn_about
from benchmarks.fit_clips import specs
from benchmarks.fit_tables import BIPEDS


@pytest.mark.parametrize("degrees", [-20.0, 0.0, 12.0, 170.0])
def test_a_wrong_heading_is_measured_whatever_is_wrong_beside_it(degrees):
    draw = torch.Generator().manual_seed(0)
    true = torch.randn(5, 7, 3, generator=draw)
    up = torch.nn.functional.normalize(torch.tensor((0.1, -0.9, 0.3)), dim=0)
    back = quaternion.from_rotation_vector(math.radians(-degrees) * up)
    found = quaternion.rotate(back, true) + 0.3 * up
    assert math.degrees(turn_about(up, found, true)) == pytest.approx(degrees, abs=1e-3)


def test_half_of_the_clips_have_each_character_and_as_many_of_each_kind():
    ordered = in_turns(specs(24))
    half = ordered[:12]
    assert len({spec.species for spec in half}) == 12
    for few in (half, half[:8]):
        assert sum(spec.travels for spec in few) == len(few) // 2
        assert sum(spec.style.value == "textured" for spec in few) == len(few) // 2
    assert 4 <= sum(spec.species in BIPEDS for spec in half) <= 8
    assert sorted(ordered, key=lambda spec: spec.number) == specs(24)
