import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akd.asset.gltf.influences import pack_influences


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(
    st.integers(1, 13),
    st.integers(1, 300),
    st.integers(0, 2**32 - 1),
    st.sampled_from(("any", "tiny", "zeros")),
)
def test_sums_are_exactly_one(influences: int, bones: int, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    given_bones = rng.integers(0, bones, (20, influences))
    given_weights = rng.random((20, influences)) + 1e-3
    if kind == "tiny":
        given_weights **= 20
    if kind == "zeros":
        given_weights[:, 1:] *= rng.random((20, influences - 1)) < 0.5
    packed_bones, packed = pack_influences(given_bones, given_weights)
    assert packed_bones.shape == packed.shape
    assert packed.shape[1] % 4 == 0
    assert packed.dtype == np.float32
    # In 32 bits, one after another, from either end.
    for columns in (packed.T, packed.T[::-1]):
        total = np.zeros(20, np.float32)
        for column in columns:
            total = total + column
        assert (total == 1).all()
    assert (np.diff(packed, axis=1) <= 0).all()
    assert (packed_bones[packed == 0] == 0).all()
    for vertex in range(20):
        used = packed_bones[vertex][packed[vertex] > 0]
        assert len(set(used.tolist())) == len(used)
        expected = np.zeros(bones)
        np.add.at(expected, given_bones[vertex], given_weights[vertex])
        found = np.zeros(bones)
        np.add.at(found, packed_bones[vertex], packed[vertex])
        np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-6)


def test_no_more_sets_than_needed() -> None:
    weights = np.zeros((2, 9))
    weights[0, 8] = 1.0
    weights[1, 2:7] = 0.2
    bones, packed = pack_influences(np.tile(np.arange(9), (2, 1)), weights)
    assert packed.shape == (2, 8)
    assert bones[0].tolist() == [8, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (((0.0, 0.0),), "weights must not all be zero, got that at vertex 0"),
        (((1.0, -0.1),), "weights must be finite and not negative"),
        (((1.0, np.nan),), "weights must be finite and not negative"),
    ],
)
def test_unusable_weights_are_refused(weights, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pack_influences(np.array(((0, 1),)), np.array(weights))
