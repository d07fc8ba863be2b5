"""`read_asset`: any supported file. The format is detected by content first, then by suffix."""

from __future__ import annotations

from pathlib import Path

from akd.asset.asset import Asset, AssetError

FORMATS = "glTF, VRM, FBX, USD, .blend, OBJ, PLY, STL, OFF or BVH"
"""What `read_asset` reads, for messages and help."""
_HEAD_BYTES = 4096
_PACKED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08\x00")
"""How a compressed .blend file begins: zstd, formerly gzip."""
_USD = (".usd", ".usda", ".usdc", ".usdz")


def read_asset(path: Path | str) -> Asset:
    """Read a file: glTF, VRM, FBX, USD, .blend, OBJ, PLY (triangles, Gaussians), STL, OFF or BVH.

    Raises `AssetError`, which names the file, the rule and the value, where the file
    cannot be used. What is odd about it but can be lived with is in `Asset.problems`.
    """
    path = Path(path)
    match find_format(path):
        case "glb" | "gltf":
            from akd.asset.gltf.reader import read
        case "obj":
            from akd.asset.obj import read
        case "ply":
            from akd.asset.ply import read
        case "splat-ply":
            from akd.asset.splat_ply import read
        case "stl":
            from akd.asset.stl import read
        case "off":
            from akd.asset.off import read
        case "bvh":
            from akd.asset.bvh import read
        case "blend":
            from akd.asset.blend import read
        case "fbx" | "usd" as format:
            from akd.asset import isolated

            return isolated.read(path, format)
        case ".blend":
            raise AssetError(f"{path}: is not a Blender file: it must begin with BLENDER")
        case other:
            raise AssetError(f"{path}: must be one of {FORMATS}, got {other!r}")
    return read(path)


def find_format(path: Path) -> str:
    """Return the format by the first bytes where they tell, else by the suffix."""
    head = _read_head(path)
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    suffix = path.suffix.lower()
    match text:
        case _ if head[:4] == b"glTF":
            return "glb"
        case _ if head.startswith(b"Kaydara FBX Binary") or text.startswith(b"; FBX"):
            return "fbx"
        case _ if head.startswith(b"PXR-USDC") or text.startswith(b"#usda"):
            return "usd"
        case _ if head.startswith(b"BLENDER") or (head[:4] in _PACKED and suffix == ".blend"):
            return "blend"
        case _ if text[:1] == b"{":
            return "gltf"
        case _ if text[:4] in (b"ply\n", b"ply\r"):
            header = head.partition(b"end_header")[0]
            return "splat-ply" if b" f_dc_0" in header and b" opacity" in header else "ply"
        case _ if text.startswith(b"HIERARCHY"):
            return "bvh"
        case _ if text.split(maxsplit=1)[:1] in ([b"OFF"], [b"COFF"], [b"NOFF"]):
            return "off"
        case _ if suffix != ".obj" and _is_stl(head, path):
            return "stl"
    match suffix:
        case ".glb" | ".gltf" | ".obj" | ".ply" | ".stl" | ".off" | ".bvh":
            return suffix[1:]
        case ".vrm":
            return "glb"
        case ".fbx":
            return "fbx"
        case _ if suffix in _USD:
            return "usd"
        case ".spz" | ".sog":
            return "splat-ply"
    return suffix or "no suffix"


def _read_head(path: Path) -> bytes:
    if not path.exists():
        raise AssetError(f"{path}: file does not exist")
    if not path.is_file():
        raise AssetError(f"{path}: must be a regular file")
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError as error:
        raise AssetError(f"{path}: file cannot be opened: {error.strerror}") from error


def _is_stl(head: bytes, path: Path) -> bool:
    if head.startswith(b"solid"):
        return True
    if len(head) < 84:
        return False
    return path.stat().st_size == 84 + 50 * int.from_bytes(head[80:84], "little")
