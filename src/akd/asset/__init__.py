"""Files in: their records, in the file's own units, and what is odd about them."""

from akd.asset.asset import (
    Asset,
    AssetError,
    ClipRecord,
    Image,
    Material,
    Mesh,
    MeshPart,
    Node,
    Problem,
    SkinRecord,
    SplatRecord,
    Track,
)
from akd.asset.read import read_asset

__all__ = [
    "Asset",
    "AssetError",
    "ClipRecord",
    "Image",
    "Material",
    "Mesh",
    "MeshPart",
    "Node",
    "Problem",
    "SkinRecord",
    "SplatRecord",
    "Track",
    "read_asset",
]
