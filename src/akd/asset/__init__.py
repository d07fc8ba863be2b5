"""Reading files: records in the file's own units, and a list of problems."""

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
