"""The keys of an animation sampler: in order, finite, rotations as unit quaternions."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from akd.asset.asset import Interpolation
from akd.asset.gltf.fields import Fields, GltfError
from akd.asset.gltf.problems import ProblemLog

_UNIT_TOLERANCE = 1e-2


def read_interpolation(sampler: Fields) -> Interpolation:
    """Return how a sampler goes from key to key."""
    mode = sampler.text("interpolation", "LINEAR")
    match mode:
        case "STEP" | "LINEAR" | "CUBICSPLINE":
            return mode
    raise sampler.refuse("interpolation", "must be STEP, LINEAR or CUBICSPLINE", mode)


def make_keys(
    times: Float[np.ndarray, "K"],
    values: Float[np.ndarray, "n c"],
    *,
    path: str,
    components: int,
    interpolation: Interpolation,
    sampler: Fields,
    problems: ProblemLog,
) -> tuple[Float[np.ndarray, "k"], Float[np.ndarray, "k *C"]]:
    """Return times in seconds and values as a `Track` holds them; rotations come out wxyz.

    Keys that cannot be used are left out and reported; a `GltfError` says that none can.
    """
    shape = (len(times), components)
    if interpolation == "CUBICSPLINE":
        shape = (len(times), 3, components)
    wanted = int(np.prod(shape))
    if values.size != wanted or values.shape[1] not in (1, components):
        rule = f"must hold {wanted} numbers for {len(times)} keys"
        raise sampler.refuse("output", rule, values.size)
    times, values = _usable(times, values.reshape(shape), sampler.where, problems)
    if path == "rotation":
        values = _to_wxyz(values, interpolation, sampler.where, problems)
    values.flags.writeable = False
    return times, values


def _usable(
    times: np.ndarray, values: np.ndarray, where: str, problems: ProblemLog
) -> tuple[np.ndarray, np.ndarray]:
    """Times that increase, from zero or later, and finite values at each of them."""
    if not len(times):
        raise GltfError(where, "must have at least one key, got none")
    # One sum tells whether all are finite: nearly always, and ten times sooner than one by one.
    with np.errstate(invalid="ignore"):
        total = values.sum(dtype=np.float64)
    if not (np.isfinite(total) and _increase_from_zero(times)):
        times, values = _sort_out(times, values, where, problems)
    return times, values


def _increase_from_zero(times: np.ndarray) -> bool:
    if not (times[0] >= 0.0 and times[-1] < np.inf):
        return False
    return bool((times[1:] > times[:-1]).all())


def _sort_out(
    times: np.ndarray, values: np.ndarray, where: str, problems: ProblemLog
) -> tuple[np.ndarray, np.ndarray]:
    good = np.isfinite(times) & (times >= 0.0)
    good &= np.isfinite(values.reshape(len(times), -1)).all(axis=1)
    if not good.all():
        what = f"{int((~good).sum())} of {len(times)} keys are negative in time or not finite"
        problems.warn(where, what, "those keys are left out")
        times, values = times[good], values[good]
    if not len(times):
        raise GltfError(where, "must have at least one usable key, got none")
    if not (np.diff(times) > 0.0).all():
        action = "keys are put in order, the last of equals kept"
        problems.warn(where, "its times do not increase", action)
        order = np.argsort(times, kind="stable")
        order = order[np.append(np.diff(times[order]) > 0.0, True)]
        times, values = times[order], values[order]
    return times, values


def _to_wxyz(
    values: np.ndarray, interpolation: Interpolation, where: str, problems: ProblemLog
) -> np.ndarray:
    """From xyzw, as the file has them, to unit quaternions; tangents only change their order."""
    values = values[..., (3, 0, 1, 2)]
    keys = values[:, 1] if interpolation == "CUBICSPLINE" else values
    length = np.sqrt(np.einsum("kc,kc->k", keys, keys, dtype=np.float64))[:, None]
    zero = length[:, 0] < 1e-6
    if zero.any():
        what = f"{int(zero.sum())} of {len(keys)} rotations have no length"
        problems.warn(where, what, "taken as no rotation")
        keys[zero], length[zero] = (1.0, 0.0, 0.0, 0.0), 1.0
    off = float(np.abs(length - 1.0).max(initial=0.0))
    if off > _UNIT_TOLERANCE:
        what = f"its rotations are up to {off:.3g} from unit length"
        problems.warn(where, what, "they are normalised")
    keys[:] = keys / length
    return values
