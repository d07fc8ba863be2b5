"""Images: every kind of pixel comes out as RGBA, and a broken one as one line."""

import io

import numpy as np
import pytest
from PIL import Image as Pillow

from akd.asset.asset import AssetError, Image
from akd.asset.image import MAX_PIXELS, decode_image, image_size, sniff_mime_type
from tests.asset.gltf_builder import forged_png


def encode(array: np.ndarray, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    Pillow.fromarray(array).save(stream, kind, **options)
    return stream.getvalue()


def decode(data: bytes) -> np.ndarray:
    return decode_image(Image("fur", "", data))


RGBA = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4) * 10


@pytest.mark.parametrize(("kind", "options"), [("PNG", {}), ("WEBP", {"lossless": True})])
def test_rgba_is_kept_to_the_bit(kind: str, options: dict) -> None:
    opaque = RGBA.copy()
    opaque[..., 3] = 255
    for pixels in (RGBA, opaque):
        data = encode(pixels, kind, **options, **({"exact": True} if kind == "WEBP" else {}))
        np.testing.assert_array_equal(decode(data), pixels)
        assert image_size(data) == (3, 2)


def test_other_kinds_of_pixel_become_rgba() -> None:
    grey = np.array([[0, 100], [200, 255]], np.uint8)
    expected = np.stack((grey, grey, grey, np.full_like(grey, 255)), axis=-1)
    np.testing.assert_array_equal(decode(encode(grey, "PNG")), expected)
    deep = grey.astype(np.uint16) * 257
    np.testing.assert_array_equal(decode(encode(deep, "PNG")), expected)
    jpeg = decode(encode(np.full((8, 8, 3), 120, np.uint8), "JPEG"))
    assert jpeg.shape == (8, 8, 4)
    assert np.abs(jpeg[..., :3].astype(int) - 120).max() <= 2
    palette = Pillow.fromarray(expected).convert("P")
    palette.info["transparency"] = 0
    stream = io.BytesIO()
    palette.save(stream, "PNG", transparency=0)
    assert decode(stream.getvalue()).shape == (2, 2, 4)


@pytest.mark.parametrize(
    ("kind", "mime_type"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp"), ("GIF", "image/gif"),
     ("BMP", "image/bmp")],
)  # fmt: skip
def test_the_first_bytes_tell_the_kind(kind: str, mime_type: str) -> None:
    assert sniff_mime_type(encode(np.zeros((2, 2, 3), np.uint8), kind)) == mime_type
    assert sniff_mime_type(memoryview(b"nothing known")) is None
    assert sniff_mime_type(b"") is None


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "cannot be read as an image: of no known kind"),
        (b"not a picture", "cannot be read as an image: of no known kind"),
        (forged_png(100_000, 100_000), f"must have 1 to {MAX_PIXELS} pixels, got far more"),
        (forged_png(9000, 9000), f"must have 1 to {MAX_PIXELS} pixels, got 9000 x 9000"),
        (forged_png(0, 4), "cannot be read as an image: of no known kind"),
    ],
)
def test_a_picture_that_cannot_be_opened(data: bytes, line: str) -> None:
    with pytest.raises(AssetError) as caught:
        image_size(data)
    assert str(caught.value) == line
    with pytest.raises(AssetError) as caught:
        decode(data)
    assert str(caught.value) == f"image 'fur': {line}"


def test_pixels_that_break_off_are_one_line() -> None:
    whole = encode(np.random.default_rng(0).integers(0, 255, (40, 40, 3), np.uint8), "PNG")
    for data in (whole[:500], forged_png(50, 50)):
        assert image_size(data)
        with pytest.raises(AssetError, match=r"^image 'fur': cannot be decoded: "):
            decode(data)


def test_any_single_bad_byte_is_pixels_or_one_line() -> None:
    for kind in ("PNG", "JPEG", "WEBP"):
        whole = bytearray(encode(np.full((6, 6, 3), 77, np.uint8), kind))
        for at in range(0, len(whole), 3):
            broken = whole.copy()
            broken[at] ^= 0x5A
            try:
                outcome = decode(bytes(broken)).shape[2]
            except AssetError as error:
                outcome = str(error)
            assert outcome == 4 or "\n" not in str(outcome)
