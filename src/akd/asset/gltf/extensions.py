"""Required extensions: which akd may ignore, and which it may not."""

from __future__ import annotations

from akd.asset.gltf.fields import Fields, GltfError, clean_text, shown
from akd.asset.gltf.problems import ProblemLog

_READ = {
    "EXT_texture_webp",
    "KHR_draco_mesh_compression",
    "KHR_mesh_quantization",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_unlit",
    "KHR_texture_transform",
}
_ONLY_LOOKS = {
    "KHR_animation_pointer",
    "KHR_lights_punctual",
    "KHR_texture_basisu",
    "MSFT_texture_dds",
    "EXT_lights_image_based",
    "EXT_texture_avif",
    "KHR_xmp",
    "KHR_xmp_json_ld",
}
"""Without these a character looks different, but its shape and joints are what they are."""


def check_required(root: Fields, problems: ProblemLog) -> None:
    """Refuse a file that cannot be understood without an extension that akd does not know."""
    for name in root.items("extensionsRequired"):
        if not isinstance(name, str):
            raise root.refuse("extensionsRequired", "must be a list of strings", name)
        if name in _READ:
            continue
        if name in _ONLY_LOOKS or name.startswith("KHR_materials_"):
            problems.note("file", f"requires {clean_text(name)}", "kept in the file, not shown")
            continue
        known = "compressed meshes of this kind" if "meshopt" in name else "the extension"
        rule = "must be extensions that akd knows"
        raise GltfError("extensionsRequired", f"{rule}, got {shown(name)}: export without {known}")
