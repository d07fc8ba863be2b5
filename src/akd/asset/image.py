"""Encoded images: what kind they are, whether they can be read, and their pixels."""

from __future__ import annotations

import io
import warnings

import numpy as np
from jaxtyping import UInt8

from akd.asset.asset import AssetError, Image

MAX_PIXELS = 8192 * 8192
"""An image of a few kilobytes can claim to be of any size; this one takes 256 MiB as RGBA."""

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TGA", "TIFF")


def sniff_mime_type(data: bytes | memoryview) -> str | None:
    """Return the image's type from its first bytes, or None where they are of no known kind."""
    head = bytes(data[:16])
    match head:
        case _ if head.startswith(b"\x89PNG\r\n\x1a\n"):
            return "image/png"
        case _ if head.startswith(b"\xff\xd8\xff"):
            return "image/jpeg"
        case _ if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
            return "image/webp"
        case _ if head.startswith(b"\xabKTX 20\xbb"):
            return "image/ktx2"
        case _ if head.startswith(b"DDS "):
            return "image/vnd-ms.dds"
        case _ if head.startswith((b"GIF87a", b"GIF89a")):
            return "image/gif"
        case _ if head.startswith(b"BM"):
            return "image/bmp"
    return None


def image_size(data: bytes | memoryview) -> tuple[int, int]:
    """Return width and height in pixels from the header alone, or raise a one-line `AssetError`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _open(data).size


def decode_image(image: Image) -> UInt8[np.ndarray, "H W 4"]:
    """Return the pixels as RGBA, rows from the top. Raises `AssetError` if they are broken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            picture = _open(image.data)
            picture.load()
            if picture.mode.startswith(("I", "F")):
                pixels = _from_deep_grey(np.asarray(picture))
            else:
                pixels = np.asarray(picture if picture.mode == "RGBA" else picture.convert("RGBA"))
        except AssetError as error:
            raise AssetError(f"image {image.name!r}: {error}") from None
        except Exception as error:  # Pillow's decoders raise many kinds on broken data.
            raise AssetError(f"image {image.name!r}: cannot be decoded: {_line(error)}") from error
    return pixels


def _open(data: bytes | memoryview):  # Pillow is imported only when it is needed
    from PIL import Image as Pillow

    try:
        picture = Pillow.open(io.BytesIO(data), formats=_FORMATS)
    except Pillow.DecompressionBombError:
        raise AssetError(f"must have 1 to {MAX_PIXELS} pixels, got far more") from None
    except Exception as error:
        raise AssetError(f"cannot be read as an image: {_line(error)}") from error
    width, height = picture.size
    if not 0 < width * height <= MAX_PIXELS:
        raise AssetError(f"must have 1 to {MAX_PIXELS} pixels, got {width} x {height}")
    return picture


def _from_deep_grey(values: np.ndarray) -> UInt8[np.ndarray, "H W 4"]:
    """Sixteen-bit grey, which Pillow would clip rather than scale."""
    deepest = 1.0 if values.dtype.kind == "f" else 65535.0
    grey = np.clip(values.astype(np.float32) / deepest, 0.0, 1.0)
    pixels = np.empty((*values.shape, 4), np.uint8)
    pixels[..., :3] = np.rint(grey * 255.0).astype(np.uint8)[..., None]
    pixels[..., 3] = 255
    return pixels


def _line(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    # Pillow names the address of the stream it was given.
    return "of no known kind" if "<_io.BytesIO" in text else text
