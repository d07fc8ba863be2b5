"""A Gaussian cloud on a skeleton: weights from the mesh around it, and a file that keeps both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float

from akd.asset.asset import AssetError, SplatRecord
from akd.base.files import read_arrays, write_arrays
from akd.math import quaternion
from akd.math.srgb import to_linear
from akd.rig.mesh import SkinnedMesh
from akd.rig.skinning.transfer import transfer_weights
from akd.rig.units import FileUnits
from akd.splat.cloud import SplatCloud

_FIELDS = ("means", "scales", "rotations", "opacities", "sh", "bones", "weights")


def cloud_in_metres(record: SplatRecord, units: FileUnits) -> SplatCloud:
    """A cloud read from a file, in metres with Y up, on one bone.

    Where the axes have to be turned, colours that depend on the view keep only their constant part.
    """
    cloud = SplatCloud.from_record(record, metres=units.metres_per_unit)
    if units.up == "y":
        return cloud
    means = units.points_in(torch.from_numpy(record.means.copy()).float())
    # The turn of the axes, read off from what it does to them.
    axes = units.points_in(torch.eye(3)).T / units.metres_per_unit
    turn = quaternion.from_matrix(axes)
    rotations = quaternion.multiply(turn, cloud.rotations)
    return replace(cloud, means=means, rotations=rotations, sh=cloud.sh[:, :1])


def bind_cloud(cloud: SplatCloud, mesh: SkinnedMesh, *, influences: int = 4) -> SplatCloud:
    """The cloud on the bones of a mesh that lies around it, in the same bind space, metres.

    Each Gaussian takes the weights of the nearest place on the surface, and not of the nearest
    bone: what is near to another limb's bone still goes with its own skin.
    """
    bones, weights = transfer_weights(
        cloud.means.double().numpy(force=True),
        mesh.vertices.double().numpy(force=True),
        mesh.faces.numpy(force=True),
        mesh.skin.bones.numpy(force=True),
        mesh.skin.weights.double().numpy(force=True),
        influences=influences,
    )
    return replace(
        cloud, bones=torch.from_numpy(bones), weights=torch.from_numpy(weights).to(cloud.weights)
    )


def colours_from_cloud(
    points: Float[np.ndarray, "V 3"], cloud: SplatCloud
) -> Float[np.ndarray, "V 3"]:
    """Linear RGB of points on a cloud: of the nearest Gaussian that is not haze."""
    from scipy.spatial import KDTree

    seen = (cloud.opacities > 0.1).nonzero()[:, 0] if len(cloud) else torch.zeros(0).long()
    if not len(seen):
        return np.ones((len(points), 3))
    nearest = KDTree(cloud.means[seen].double().numpy()).query(points)[1]
    colours = to_linear(cloud.flat_colours().clamp(0.0, 1.0))[seen]
    return colours[torch.from_numpy(np.asarray(nearest))].double().numpy()


def write_bound_cloud(cloud: SplatCloud, path: Path, *, joints: Sequence[str]) -> Path:
    """Write a bound cloud as .npz; `joints` are the names of the bones, in order."""
    cloud.check()
    arrays = {name: getattr(cloud, name).numpy(force=True) for name in _FIELDS}
    arrays |= {"antialias": np.array(cloud.antialias), "joints": np.array(list(joints))}
    write_arrays(path, arrays)
    return path


def read_bound_cloud(path: Path) -> tuple[SplatCloud, tuple[str, ...]]:
    """A cloud that `write_bound_cloud` wrote, and the names of its bones."""
    try:
        given = read_arrays(path)
        arrays = {name: torch.from_numpy(given[name]) for name in _FIELDS}
        cloud = SplatCloud(**arrays, antialias=bool(given["antialias"]))
        cloud.check()
        return cloud, tuple(map(str, given["joints"]))
    except (LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:160]
        raise AssetError(f"{path}: must be a bound cloud that `akd rig` wrote: {reason}") from None
