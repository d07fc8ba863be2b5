"""`Camera`: pinhole cameras, one per frame.

The camera looks along its +z axis, x to the right and y downwards of the image (as OpenCV and
gsplat have it); the world is Y up, in metres. The centre of the top left pixel is (0.5, 0.5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math.resident import constant


@dataclass(frozen=True)
class Camera:
    """T pinhole cameras that make images of one size."""

    camera_from_world: Float[Tensor, "T 4 4"]
    """Rotation and translation (metres) that take the world to the camera's frame."""
    focal: Float[Tensor, "T 2"]
    """Focal lengths along x and y, pixels."""
    centre: Float[Tensor, "T 2"]
    """Where the optical axis meets the image, pixels from its top left corner."""
    width: int
    height: int
    fixed_rotation: bool = False
    """Whether the rotation depends on nothing that is optimised, so that no gradient is lost where
    only the camera's place is followed back."""

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise ValueError(
                f"a camera's image needs at least one pixel, got {self.width} x {self.height}"
            )
        frames = self.camera_from_world.shape[0]
        if self.focal.shape[0] != frames or self.centre.shape[0] != frames:
            raise ValueError(
                f"a camera needs one focal length and one centre per frame: {frames} poses, "
                f"{self.focal.shape[0]} focal lengths, {self.centre.shape[0]} centres"
            )

    def __len__(self) -> int:
        return self.camera_from_world.shape[0]

    def __getitem__(self, frames: slice | Tensor) -> Camera:
        """The cameras of some frames."""
        return Camera(
            self.camera_from_world[frames], self.focal[frames], self.centre[frames],
            self.width, self.height, self.fixed_rotation,
        )  # fmt: skip

    def expand(self, frames: int) -> Camera:
        """The cameras of this many frames; a single one serves all."""
        return Camera(
            self.camera_from_world.expand(frames, -1, -1), self.focal.expand(frames, -1),
            self.centre.expand(frames, -1), self.width, self.height, self.fixed_rotation,
        )  # fmt: skip

    @classmethod
    def look_at(
        cls,
        eye: Float[Tensor, "T 3"],
        target: Float[Tensor, "T 3"],
        *,
        width: int,
        height: int,
        field_of_view: float = math.radians(40.0),
        check: bool = True,
    ) -> Camera:
        """Cameras at `eye` (world, metres) that see `target` in the middle of the image.

        `field_of_view` is the vertical opening in radians. `check` refuses an eye at its target;
        on a GPU it waits for the device.
        """
        if not 0.0 < field_of_view < math.pi:
            raise ValueError(f"field_of_view must lie between 0 and pi, got {field_of_view}")
        view = target - eye
        distance = view.norm(dim=-1, keepdim=True)
        if check and not bool((distance > 1e-9).all()):
            raise ValueError("a camera cannot look at the point it stands on: eye equals target")
        z = view / distance
        upwards = constant((0.0, 1.0, 0.0), eye).expand_as(z)
        x = torch.linalg.cross(z, upwards)
        # Looking straight up or down, `up` says nothing: take the world's -z for the image's top.
        fallback = torch.linalg.cross(z, constant((0.0, 0.0, -1.0), eye).expand_as(z))
        x = torch.where(x.norm(dim=-1, keepdim=True) < 1e-6, fallback, x)
        x = x / x.norm(dim=-1, keepdim=True)
        y = torch.linalg.cross(z, x)
        rotation = torch.stack((x, y, z), dim=-2)
        translation = -(rotation @ eye[..., None])
        bottom = constant((0.0, 0.0, 0.0, 1.0), eye).expand(eye.shape[0], 1, 4)
        matrix = torch.cat((torch.cat((rotation, translation), -1), bottom), -2)
        pixels = 0.5 * height / math.tan(0.5 * field_of_view)
        frames = eye.shape[0]
        return cls(
            matrix,
            eye.new_full((frames, 2), pixels),
            constant((0.5 * width, 0.5 * height), eye).expand(frames, 2),
            width,
            height,
        )

    @property
    def rotation(self) -> Float[Tensor, "T 3 3"]:
        """From the world's axes to the camera's; without gradient where it is fixed."""
        rotation = self.camera_from_world[:, :3, :3]
        return rotation.detach() if self.fixed_rotation else rotation

    @property
    def eye(self) -> Float[Tensor, "T 3"]:
        """Where the cameras stand, world, metres."""
        translation = self.camera_from_world[:, :3, 3]
        return -(self.rotation.transpose(-1, -2) @ translation[..., None]).squeeze(-1)

    def rays(self) -> Float[Tensor, "T H W 3"]:
        """Unit directions in the world through every pixel's centre."""
        like = self.focal
        x = torch.arange(self.width, dtype=like.dtype, device=like.device) + 0.5
        y = torch.arange(self.height, dtype=like.dtype, device=like.device) + 0.5
        x = (x - self.centre[:, :1]) / self.focal[:, :1]
        y = (y - self.centre[:, 1:]) / self.focal[:, 1:]
        shape = (len(self), self.height, self.width)
        local = torch.stack(
            (x[:, None, :].expand(shape), y[:, :, None].expand(shape), x.new_ones(shape)), dim=-1
        )
        local = local / local.norm(dim=-1, keepdim=True)
        return torch.einsum("thwi,tij->thwj", local, self.camera_from_world[:, :3, :3])

    def scaled(self, factor: int) -> Camera:
        """The same view with `factor` times as many pixels along each side."""
        return Camera(
            self.camera_from_world, self.focal * factor, self.centre * factor,
            self.width * factor, self.height * factor, self.fixed_rotation,
        )  # fmt: skip

    @classmethod
    def join(cls, cameras: Sequence[Camera]) -> Camera:
        """Cameras of one image size, one after the other."""
        first = cameras[0]
        if any((c.width, c.height) != (first.width, first.height) for c in cameras):
            raise ValueError("cameras of different image sizes cannot be joined")
        return cls(
            torch.cat([c.camera_from_world for c in cameras]),
            torch.cat([c.focal for c in cameras]),
            torch.cat([c.centre for c in cameras]),
            first.width,
            first.height,
            all(c.fixed_rotation for c in cameras),
        )

    def to(self, device: torch.device | str) -> Camera:
        """Move to a device."""
        return Camera(
            self.camera_from_world.to(device), self.focal.to(device), self.centre.to(device),
            self.width, self.height, self.fixed_rotation,
        )  # fmt: skip

    def check(self) -> None:
        """Raise `ValueError` where a pose is not a rotation or a focal length is not positive."""
        rotation = self.camera_from_world[:, :3, :3].detach()
        if not bool(torch.isfinite(self.camera_from_world).all()):
            raise ValueError("camera_from_world must be finite, got NaN or infinity")
        unit = torch.eye(3, dtype=rotation.dtype, device=rotation.device)
        off = float((rotation @ rotation.transpose(-1, -2) - unit).abs().max())
        if off > 1e-3 or not bool((torch.linalg.det(rotation) > 0).all()):
            raise ValueError(
                f"camera_from_world must be a rotation and a translation; its 3x3 part misses "
                f"orthonormality by {off:.3g}"
            )
        if not bool((self.focal > 0).all()) or not bool(torch.isfinite(self.centre).all()):
            raise ValueError(f"focal lengths must be above zero, got {self.focal.min().item():.3g}")
