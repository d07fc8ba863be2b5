"""The surface of a file: colours from its textures, parts that are not visible left out."""

import io

import numpy as np
import pytest
from PIL import Image

from akd.asset.read import read_asset
from akd.rig.character import load_character
from tests.asset.gltf_builder import GltfBuilder

RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
WRAPS = {"repeat": 10497, "clamp": 33071, "mirror": 33648}


def textured(data: bytes, wrap: int) -> GltfBuilder:
    """A triangle whose texture coordinates lie outside of the image."""
    made = GltfBuilder()
    image = made.add("images", bufferView=made.view(data), mimeType="image/png")
    sampler = made.add("samplers", wrapS=wrap, wrapT=wrap)
    texture = made.add("textures", source=image, sampler=sampler)
    base = {"baseColorTexture": {"index": texture}}
    material = made.add("materials", pbrMetallicRoughness=base)
    uv = made.accessor([[1.25, 0.5], [-0.25, 0.5], [2.25, 0.5]])
    made.show(made.triangle(attributes={"TEXCOORD_0": uv}, material=material))
    return made


def colours(made: GltfBuilder, tmp_path) -> list[tuple[float, ...]]:
    mesh = load_character(read_asset(made.write(tmp_path / "a.glb"))).mesh
    assert mesh is not None
    return [tuple(row) for row in mesh.colours.tolist()]


@pytest.mark.parametrize(
    ("wrap", "expected"),
    [
        ("repeat", [RED, BLUE, RED]),
        ("clamp", [BLUE, RED, BLUE]),
        ("mirror", [BLUE, RED, RED]),
    ],
)
def test_textures_are_wrapped(tmp_path, wrap, expected):
    pixels = np.array([[(255, 0, 0), (0, 0, 255)]], np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    assert colours(textured(stream.getvalue(), WRAPS[wrap]), tmp_path) == expected


def test_a_damaged_texture_leaves_the_base_colour(tmp_path):
    stream = io.BytesIO()
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(stream, "PNG")
    damaged = stream.getvalue()[:60]  # its header is there, its pixels are not
    assert colours(textured(damaged, WRAPS["repeat"]), tmp_path) == [(1.0, 1.0, 1.0)] * 3
