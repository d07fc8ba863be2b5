"""Blender files, exported as GLB by Blender itself. Scripts inside them are not run."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from akd.asset.asset import Asset, AssetError
from akd.asset.gltf.fields import clean_text
from akd.asset.gltf.reader import read as read_gltf
from akd.base.blender import BlenderFailed, has_blender, run_in_blender

_SCRIPT = """
import sys
import bpy
source, target = sys.argv[-2:]
bpy.ops.wm.open_mainfile(filepath=source, use_scripts=False)
bpy.ops.export_scene.gltf(
    filepath=target, export_format="GLB", export_animation_mode="ACTIONS", export_yup=True,
    export_apply=False, use_visible=True,
)
"""


def read(path: Path) -> Asset:
    """Read what a .blend file shows. Raises `AssetError` where Blender is missing or fails."""
    if not has_blender():
        raise AssetError(
            f"{path}: .blend files are read by Blender: put `blender` on the PATH (blender.org), "
            "or its path into AKD_BLENDER"
        )
    with tempfile.TemporaryDirectory(prefix="akd-") as folder:
        made = Path(folder) / "scene.glb"
        try:
            run_in_blender(_SCRIPT, path.absolute(), made)
        except BlenderFailed as error:
            raise AssetError(f"{path}: Blender cannot read it: {clean_text(str(error))}") from None
        if not made.exists():
            raise AssetError(f"{path}: Blender found nothing to export in it")
        asset = read_gltf(made)
    return replace(asset, path=path, format="blend")
