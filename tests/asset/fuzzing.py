"""Broken files made from good ones: what a reader does with them must be one of two things."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akd.asset.asset import Asset, AssetError

fuzz = settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@st.composite
def mutations(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes with a few places cut, overwritten, repeated or replaced by nasty values."""
    nasty = (b"\0", b"nan", b"inf", b"-1", b"999999999999", b"4294967295", b"{", b"}", b"\n",
             b"1e999", b"\xff\xff\xff\xff", b" ", b"#", b"/", b"..", b"f 1 2 9\n")  # fmt: skip
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(("cut", "flip", "insert", "replace", "repeat", "drop"))):
            case "cut":
                data = data[:at]
            case "flip":
                data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
            case "insert":
                data = data[:at] + draw(st.sampled_from(nasty)) + data[at:]
            case "replace":
                value = draw(st.sampled_from(nasty))
                data = data[:at] + value + data[at + len(value) :]
            case "repeat":
                data = data[:at] + data[max(at - 64, 0) : at] * 3 + data[at:]
            case "drop":
                data = data[:at] + data[at + draw(st.integers(1, 40)) :]
    return data


def check_fuzzed(read: Callable[[Path], Asset], path: Path, data: bytes) -> None:
    """A mutated file gives a sound asset or one `AssetError` line that names it; nothing else."""

    @fuzz
    @given(mutations(data))
    def check(mutated: bytes) -> None:
        path.write_bytes(mutated)
        try:
            asset = read(path)
        except AssetError as error:
            message = str(error)
            assert message.startswith(f"{path}: ")
            assert "\n" not in message
            return
        check_sound(asset)

    check()


def check_sound(asset: Asset) -> None:
    """Everything finite, every index in range."""
    for node in asset.nodes:
        assert node.mesh is None or 0 <= node.mesh < len(asset.meshes)
        assert np.isfinite(node.translation).all()
    for mesh in asset.meshes:
        for part in mesh.parts:
            assert len(part.faces)
            assert np.isfinite(part.positions).all()
            assert part.faces.max() < len(part.positions)
            assert part.material is None or part.material < len(asset.materials)
            for values in (part.uv, part.colours, part.normals):
                assert values is None or len(values) == len(part.positions)
                assert values is None or np.isfinite(values).all()
    for clip in asset.clips:
        for track in clip.tracks:
            assert len(track.times) == len(track.values)
            assert np.isfinite(track.values).all()
            assert (np.diff(track.times) > 0).all()
    if asset.splats is not None:
        assert np.isfinite(asset.splats.means).all()
        assert np.isfinite(asset.splats.sh).all()
