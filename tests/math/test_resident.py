"""Constants that stay on a device: made once, and again where their source was written to."""

import torch

from akd.math.resident import constant, resident


def test_a_constant_is_made_once_for_each_dtype() -> None:
    single, double = torch.zeros(1), torch.zeros(1, dtype=torch.float64)
    assert constant((1.0, 2.0), single) is constant((1.0, 2.0), single)
    assert constant((1.0, 2.0), double).dtype == torch.float64
    assert constant((1.0, 2.0), double).tolist() == [1.0, 2.0]


def test_a_copy_is_kept_until_its_source_changes() -> None:
    source, device = torch.tensor([0.5, 1.5]), torch.device("cpu")
    assert resident(source, device) is source
    copy = resident(source, device, torch.float64)
    assert resident(source, device, torch.float64) is copy
    source[0] = 2.0
    assert resident(source, device, torch.float64).tolist() == [2.0, 1.5]
