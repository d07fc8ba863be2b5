"""Materials and images: what is painted, and what happens where it cannot be."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from akd.asset.asset import Asset
from akd.asset.image import decode_image
from akd.asset.read import read_asset
from tests.asset.gltf_builder import GltfBuilder, forged_png, png

UV = np.array([[0.0, 0.0], [1.0, 0.0], [0.25, 0.5]])


def read(builder: GltfBuilder, tmp_path: Path) -> Asset:
    builder.json.setdefault("scenes", [{"nodes": [0]}])
    return read_asset(builder.write(tmp_path / "a.glb"))


def told(asset: Asset) -> list[tuple[str, str, str]]:
    return [(problem.where, problem.what, problem.action) for problem in asset.problems]


def textured(info: dict[str, Any] | None = None, **sampler: Any) -> GltfBuilder:
    """A triangle with two sets of texture coordinates and an image."""
    builder = GltfBuilder()
    builder.add("images", bufferView=builder.view(png(3, 2, (10, 20, 30, 40))), name="fur")
    builder.add("samplers", **sampler)
    builder.add("textures", source=0, sampler=0)
    info = {"index": 0, **(info or {})}
    builder.add("materials", pbrMetallicRoughness={"baseColorTexture": info})
    attributes = {"TEXCOORD_0": builder.accessor(UV), "TEXCOORD_1": builder.accessor(UV + 5)}
    builder.show(builder.triangle(attributes=attributes, material=0))
    return builder


def uv_of(builder: GltfBuilder, tmp_path: Path) -> np.ndarray:
    asset = read(builder, tmp_path)
    assert asset.problems == ()
    uv = asset.meshes[0].parts[0].uv
    assert uv is not None
    return uv


def test_factors_and_flags(tmp_path: Path) -> None:
    builder = GltfBuilder()
    builder.show(builder.triangle(material=1))
    builder.add("materials")
    pbr = {"baseColorFactor": [0.1, 0.2, 0.3, 2.0]}
    builder.add(
        "materials", name="leaf", pbrMetallicRoughness=pbr, alphaMode="MASK", doubleSided=True
    )
    builder.add("materials", alphaMode="MASK", alphaCutoff=0.25)
    plain, leaf, cut = read(builder, tmp_path).materials
    assert plain.base_colour == (1.0, 1.0, 1.0, 1.0)
    assert (plain.double_sided, plain.alpha_cutoff, plain.image) == (False, None, None)
    assert leaf.base_colour == (0.1, 0.2, 0.3, 1.0)
    assert (leaf.name, leaf.double_sided, leaf.alpha_cutoff) == ("leaf", True, 0.5)
    assert cut.alpha_cutoff == 0.25


def test_the_picture_is_decoded_when_it_is_looked_at(tmp_path: Path) -> None:
    asset = read(textured(), tmp_path)
    (material,) = asset.materials
    assert material.image == 0
    image = asset.images[0]
    assert (image.name, image.mime_type) == ("fur", "image/png")
    pixels = decode_image(image)
    assert pixels.shape == (2, 3, 4)
    assert (pixels == (10, 20, 30, 40)).all()


@pytest.mark.parametrize(
    ("sampler", "wrap"),
    [
        ({}, ("repeat", "repeat")),
        ({"wrapS": 33071, "wrapT": 33648}, ("clamp", "mirror")),
        ({"wrapT": 33071}, ("repeat", "clamp")),
    ],
)
def test_wrap_modes(tmp_path: Path, sampler, wrap) -> None:
    assert read(textured(**sampler), tmp_path).materials[0].wrap == wrap


def test_texture_coordinate_sets(tmp_path: Path) -> None:
    np.testing.assert_allclose(uv_of(textured(), tmp_path), UV)
    np.testing.assert_allclose(uv_of(textured({"texCoord": 1}), tmp_path), UV + 5)
    override = {"extensions": {"KHR_texture_transform": {"texCoord": 1}}}
    np.testing.assert_allclose(uv_of(textured(override), tmp_path), UV + 5)


def test_texture_transform(tmp_path: Path) -> None:
    def transformed(**values: Any) -> np.ndarray:
        info = {"extensions": {"KHR_texture_transform": values}}
        return uv_of(textured(info), tmp_path)

    np.testing.assert_allclose(transformed(offset=[0.5, -1]), UV + np.array((0.5, -1)), atol=1e-6)
    np.testing.assert_allclose(transformed(scale=[2, 3]), UV * (2, 3), atol=1e-6)
    # A quarter turn, counter-clockwise to the eye: from right (u) to up, which is minus v.
    turned = transformed(rotation=np.pi / 2)
    np.testing.assert_allclose(turned, np.stack((UV[:, 1], -UV[:, 0]), axis=1), atol=1e-6)
    # Scale first, then turn, then shift.
    everything = transformed(rotation=np.pi / 2, scale=[2, 3], offset=[10, 20])
    expected = np.stack((3 * UV[:, 1] + 10, -2 * UV[:, 0] + 20), axis=1)
    np.testing.assert_allclose(everything, expected, atol=1e-5)


def test_specular_glossiness_gives_its_diffuse_colour(tmp_path: Path) -> None:
    builder = textured()
    gloss = {"diffuseFactor": [0.5, 0.25, 0.125, 1.0], "diffuseTexture": {"index": 0}}
    builder.json["materials"] = [{"extensions": {"KHR_materials_pbrSpecularGlossiness": gloss}}]
    (material,) = read(builder, tmp_path).materials
    assert material.base_colour == (0.5, 0.25, 0.125, 1.0)
    assert material.image == 0


def test_webp_comes_before_its_fallback(tmp_path: Path) -> None:
    builder = textured()
    stream = io.BytesIO()
    Pillow.new("RGB", (4, 4), (0, 255, 0)).save(stream, "WEBP", lossless=True)
    builder.add("images", bufferView=builder.view(stream.getvalue()))
    builder.json["textures"][0]["extensions"] = {"EXT_texture_webp": {"source": 1}}
    asset = read(builder, tmp_path)
    assert asset.materials[0].image == 1
    assert asset.images[1].mime_type == "image/webp"
    assert decode_image(asset.images[1])[0, 0].tolist() == [0, 255, 0, 255]


OUT = "the image is left out"
PLAIN = "its base colour is shown without a texture"


@pytest.mark.parametrize(
    ("image", "what"),
    [
        ({"uri": "gone.png"}, "file 'gone.png' does not exist"),
        ({"uri": "/a.png"}, "URI must be relative and stay in the asset's folder, got '/a.png'"),
        ({"uri": "data:image/png;base64,AAAA"},
         r"must be PNG, JPEG or WebP, got b'\x00\x00\x00'"),
        ({"bufferView": 0}, "must be PNG, JPEG or WebP, got image/ktx2"),
        ({"bufferView": 1}, "cannot be read as an image: of no known kind"),
        ({"bufferView": 2}, "must have 1 to 67108864 pixels, got 50000 x 2000"),
    ],
)  # fmt: skip
def test_a_picture_that_cannot_be_had_is_a_problem_and_no_more(tmp_path, image, what) -> None:
    builder = GltfBuilder()
    builder.view(b"\xabKTX 20\xbb\r\n\x1a\n" + bytes(80))
    builder.view(b"\x89PNG\r\n\x1a\n" + bytes(10))
    builder.view(forged_png(50000, 2000))
    builder.add("images", **image)
    builder.add("textures", source=0)
    builder.add("materials", pbrMetallicRoughness={"baseColorTexture": {"index": 0}})
    builder.show(builder.triangle(material=0))
    asset = read(builder, tmp_path)
    assert told(asset) == [
        ("image 0", what, OUT),
        ("texture 0", "its image 0 is missing or cannot be read", PLAIN),
    ]
    assert asset.materials[0].image is None
    assert bytes(asset.images[0].data) == b""


@pytest.mark.parametrize(
    ("change", "told_of"),
    [
        ({"textures": [{}]},
         ("texture 0", "must have a PNG, JPEG or WebP source, got nothing", PLAIN)),
        ({"textures": [{"extensions": {"KHR_texture_basisu": {"source": 0}}}]},
         ("texture 0", "must have a PNG, JPEG or WebP source, got KHR_texture_basisu", PLAIN)),
        ({"textures": []},
         ("material 0, pbrMetallicRoughness, baseColorTexture, index",
          "must be the index of one of the file's 0 textures, got 0", PLAIN)),
        ({"samplers": [{"wrapS": 7}]},
         ("sampler 0, wrapS", "must be one of 10497, 33071, 33648, got 7", PLAIN)),
        ({"materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 2]}}]},
         ("material 0, pbrMetallicRoughness, baseColorFactor",
          "must be a list of 4 finite 32-bit numbers, got [1, 2]", "the default look is taken")),
        ({"materials": ["red"]},
         ("materials", "1 are no objects, the first 'red'", "those are taken as empty")),
        ({"materials": []},
         ("mesh 0, part 0, material", "must be the index of one of the file's 0 materials, got 0",
          "the default material is taken")),
    ],
)  # fmt: skip
def test_a_material_that_cannot_be_understood_keeps_its_defaults(tmp_path, change, told_of) -> None:
    builder = textured()
    builder.json.update(change)
    asset = read(builder, tmp_path)
    assert told(asset) == [told_of]
    for material in asset.materials:
        assert material.image is None
        assert material.base_colour == (1.0, 1.0, 1.0, 1.0)


def test_a_texture_without_coordinates_is_not_shown(tmp_path: Path) -> None:
    asset = read(textured({"texCoord": 7}), tmp_path)
    assert asset.meshes[0].parts[0].uv is None
    assert told(asset) == [
        ("mesh 0, part 0", "its material wants TEXCOORD_7, which it has not",
         "its texture is not shown"),
    ]  # fmt: skip


def test_pictures_in_files_beside_the_asset(tmp_path: Path) -> None:
    (tmp_path / "Textures").mkdir()
    (tmp_path / "Textures" / "a b.png").write_bytes(png())
    builder = textured()
    for uri in ("Textures/a%20b.png", "Textures\\a b.png"):
        builder.json["images"] = [{"uri": uri}]
        asset = read(builder, tmp_path)
        assert asset.problems == ()
        assert decode_image(asset.images[0]).shape == (2, 2, 4)


@pytest.mark.parametrize("extension", ["KHR_materials_unlit", "KHR_materials_clearcoat"])
def test_how_light_falls_is_ignored_even_where_required(tmp_path: Path, extension: str) -> None:
    builder = textured()
    builder.json["extensionsRequired"] = [extension]
    assert read(builder, tmp_path).materials[0].image == 0
