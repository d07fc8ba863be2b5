"""`Renderer`: posed Gaussians and a camera to images. Bring your own, or take one of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud
from akd.splat.render import Rasterizer, Rendering, render_skinned


@runtime_checkable
class Renderer(Protocol):
    """Renders a cloud that bones move; gradients must reach the bones' transforms."""

    def render(
        self,
        cloud: SplatCloud,
        world_from_mesh: Float[Tensor, "T B 4 4"],
        camera: Camera,
        *,
        colours: Float[Tensor, "C N 3"] | None = None,
        ground: float | None = None,
        check: bool = True,
    ) -> Rendering:
        """Render every frame.

        Args:
            cloud: Gaussians in mesh space, with the bones they are bound to.
            world_from_mesh: Transforms of the bones, metres. One frame serves all cameras.
            camera: One camera per frame, or one for all.
            colours: sRGB in place of the cloud's own: one layer, or one per frame.
            ground: Gaussians whose centre is below this height are hidden; None: none are.
            check: Refuse values that cannot be rendered, such as NaN.

        Returns:
            Colours over black [T, H, W, 3], sRGB 0..1, and transmittance [T, H, W].
        """
        ...


@dataclass(frozen=True)
class SplatRenderer:
    """The renderers of this package: Warp kernels, gsplat, or the plain torch reference."""

    rasterizer: Rasterizer = "warp"
    threads: int | None = None
    """CPU threads of the Warp rasterizer; None: one for each core that this process may use."""

    def render(
        self,
        cloud: SplatCloud,
        world_from_mesh: Float[Tensor, "T B 4 4"],
        camera: Camera,
        *,
        colours: Float[Tensor, "C N 3"] | None = None,
        ground: float | None = None,
        check: bool = True,
    ) -> Rendering:
        """See `Renderer.render`."""
        return render_skinned(
            cloud, world_from_mesh, camera, colours=colours, ground=ground,
            rasterizer=self.rasterizer, threads=self.threads, check=check,
        )  # fmt: skip
