"""`SplatCloud`: Gaussians bound to the bones of a mesh."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.asset.asset import SplatRecord
from akd.math import quaternion
from akd.splat import harmonics


@dataclass(frozen=True)
class SplatCloud:
    """N Gaussians in the bind space of a mesh, and the bones that carry them.

    Colours are display colours (sRGB), as 3DGS has them: blending happens in that space.
    """

    means: Float[Tensor, "N 3"]
    """Centres, metres."""
    scales: Float[Tensor, "N 3"]
    """Standard deviations along the Gaussian's own axes, metres, above zero."""
    rotations: Float[Tensor, "N 4"]
    """Unit quaternions, wxyz: bind space from the Gaussian's own axes."""
    opacities: Float[Tensor, "N"]
    """0 to 1."""
    sh: Float[Tensor, "N D 3"]
    """Spherical-harmonic coefficients, the constant one first; D is 1, 4, 9 or 16."""
    bones: Int[Tensor, "N K"]
    """The bones that move each Gaussian: indices into the transforms given to `render_skinned`."""
    weights: Float[Tensor, "N K"]
    """How much; each row sums to one."""
    normals: Float[Tensor, "N 3"] | None = None
    """Unit surface normals in bind space, where the cloud lies on a surface."""
    antialias: bool = True
    """Whether opacities make up for the low-pass, so that the cloud looks alike at every size.
    Clouds of classic 3DGS, such as those read from PLY files, were made without."""

    def __len__(self) -> int:
        return self.means.shape[0]

    @property
    def degree(self) -> int:
        """Degree of the spherical harmonics."""
        return harmonics.degree_of(self.sh.shape[1])

    def factors(self) -> Float[Tensor, "N 3 3"]:
        """M with covariance M M^T: rotation times scales."""
        if self.rotations.requires_grad or self.scales.requires_grad:
            return self._make_factors()
        return self._fixed_factors

    @cached_property
    def _fixed_factors(self) -> Float[Tensor, "N 3 3"]:
        return self._make_factors()

    def _make_factors(self) -> Float[Tensor, "N 3 3"]:
        rotation = quaternion.to_matrix(quaternion.normalize(self.rotations))
        return rotation * self.scales[..., None, :]

    def covariances(self) -> Float[Tensor, "N 3 3"]:
        """Covariances in bind space, metres squared."""
        factors = self.factors()
        return factors @ factors.transpose(-1, -2)

    def flat_colours(self) -> Float[Tensor, "N 3"]:
        """The part of the colour that is the same from every side."""
        return (0.5 + harmonics.CONSTANT * self.sh[:, 0]).clamp_min(0.0)

    def _each(self, change: Callable[[Tensor], Tensor]) -> SplatCloud:
        normals = None if self.normals is None else change(self.normals)
        return SplatCloud(
            change(self.means), change(self.scales), change(self.rotations),
            change(self.opacities), change(self.sh), change(self.bones), change(self.weights),
            normals, self.antialias,
        )  # fmt: skip

    def __getitem__(self, splats: slice | Tensor) -> SplatCloud:
        """Some of the Gaussians."""
        return self._each(lambda values: values[splats])

    def to(self, device: torch.device | str) -> SplatCloud:
        """Move to a device."""
        return self._each(lambda values: values.to(device))

    def with_influences(self, most: int) -> SplatCloud:
        """The same cloud with at most `most` bones a splat, the strongest ones."""
        weights, order = self.weights.topk(min(most, self.weights.shape[1]), dim=1)
        return replace(
            self, bones=self.bones.gather(1, order), weights=weights / weights.sum(1, keepdim=True)
        )

    def check(self) -> None:
        """Raise `ValueError` naming the first rule that the cloud breaks."""
        if len(self) == 0:
            return
        for name in ("means", "scales", "rotations", "opacities", "sh", "weights"):
            bad = ~torch.isfinite(getattr(self, name)).reshape(len(self), -1).all(-1)
            if bool(bad.any()):
                raise ValueError(f"{name} must be finite: splat {int(bad.nonzero()[0])} is not")
        if not bool((self.scales > 0).all()):
            row = int((self.scales <= 0).any(-1).nonzero()[0])
            raise ValueError(
                f"scales must be above zero: splat {row} has {self.scales[row].tolist()}"
            )
        if not bool(((self.opacities >= 0) & (self.opacities <= 1)).all()):
            row = int(((self.opacities < 0) | (self.opacities > 1)).nonzero()[0])
            raise ValueError(
                f"opacities must lie in 0..1: splat {row} has {float(self.opacities[row]):.4g}"
            )
        short = self.rotations.norm(dim=-1) < 1e-6
        if bool(short.any()):
            raise ValueError(f"rotations must not be zero: splat {int(short.nonzero()[0])} is")

    @classmethod
    def from_record(cls, record: SplatRecord, *, metres: float = 1.0) -> SplatCloud:
        """A cloud read from a file, on one bone. `metres` is the length of one file unit."""
        means = torch.from_numpy(record.means.copy()).float() * metres
        return cls(
            means,
            torch.from_numpy(record.log_scales.copy()).float().exp() * metres,
            quaternion.normalize(torch.from_numpy(record.rotations.copy()).float()),
            torch.from_numpy(record.opacity_logits.copy()).float().sigmoid(),
            torch.from_numpy(record.sh.copy()).float(),
            torch.zeros(len(means), 1, dtype=torch.int64),
            torch.ones(len(means), 1),
            antialias=False,
        )
