"""KHR_draco_mesh_compression, through DracoPy where it is installed."""

from __future__ import annotations

import numpy as np

from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.fields import Fields, GltfError

_EXTENSION = "KHR_draco_mesh_compression"


def supply_draco(part: Fields, accessors: Accessors) -> None:
    """Decompress a primitive, if it is compressed, into the accessors that it names."""
    packed = part.extension(_EXTENSION)
    if packed is None:
        return
    try:
        import DracoPy
    except ImportError:
        if _has_fallback(part, accessors):
            return
        raise GltfError(part.where, f"is compressed with Draco, which needs DracoPy: pip install akd[draco]"
        ) from None
    view = packed.index("bufferView", accessors.view_count, "buffer views")
    if view is None:
        raise packed.refuse("bufferView", "must be there", None)
    data = accessors.view_bytes(view)
    try:
        mesh = DracoPy.decode(bytes(data))
    except Exception as error:  # DracoPy raises several kinds of its own.
        line = " ".join(str(error).split())
        raise GltfError(packed.where, f"cannot be decompressed: {line}") from error
    attributes, ids = part.object("attributes"), packed.object("attributes")
    decoded = {a["unique_id"]: np.asarray(a["data"]) for a in mesh.attributes}
    for name in ids.values:
        index = attributes.index(name, len(accessors), "accessors")
        identity = ids.integer(name)
        if index is None or identity not in decoded:
            raise ids.refuse(name, f"must be one of {sorted(decoded)}", identity)
        values = decoded[identity]
        accessors.supply(index, values.reshape(len(values), -1))
    index = part.index("indices", len(accessors), "accessors")
    faces = getattr(mesh, "faces", None)
    if index is not None and faces is not None:
        accessors.supply(index, np.asarray(faces).reshape(-1, 1))


def _has_fallback(part: Fields, accessors: Accessors) -> bool:
    """Whether the file also holds the primitive uncompressed."""
    index = part.object("attributes").index("POSITION", len(accessors), "accessors")
    return index is not None and accessors.has_data(index)
