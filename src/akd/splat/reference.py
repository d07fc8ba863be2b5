"""The definition of a splatted image, in plain torch: every Gaussian at every pixel.

Slow and simple, in any floating-point type, differentiated by autograd. `akd.splat.rasterize` must
agree with it; the tests hold them together.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.splat import rules
from akd.splat.raster_call import RasterCall


def project_reference(
    phi: Float[Tensor, "N 3 4"],
    means: Float[Tensor, "N 3"],
    covariances: Float[Tensor, "N 3 3"],
    intrinsics: Float[Tensor, "4"],
    width: int,
    height: int,
) -> tuple[Float[Tensor, "N 2"], Float[Tensor, "N 2 2"], Float[Tensor, "N 3"]]:
    """Centres (pixels), 2D covariances with the low-pass (pixels squared) and camera-frame centres.

    `phi` takes each Gaussian from its mesh to the camera's frame; `intrinsics` are fx, fy, cx, cy.
    """
    fx, fy, cx, cy = intrinsics.unbind()
    seen = (phi[..., :3] @ means[..., None]).squeeze(-1) + phi[..., 3]
    x, y, z = seen.unbind(-1)
    # What lies behind the camera is dropped later; a safe depth keeps its gradient finite.
    z = torch.where(z < rules.NEAR, torch.ones_like(z), z)
    # The linearisation is only trusted near the image (see rules.MARGIN).
    margin_x, margin_y = rules.MARGIN * 0.5 * width / fx, rules.MARGIN * 0.5 * height / fy
    u = (x / z).clamp(-(cx / fx + margin_x), (width - cx) / fx + margin_x)
    v = (y / z).clamp(-(cy / fy + margin_y), (height - cy) / fy + margin_y)
    zero = torch.zeros_like(x)
    rows = (fx / z, zero, -fx * u / z, zero, fy / z, -fy * v / z)
    jacobian = torch.stack(rows, dim=-1).unflatten(-1, (2, 3))
    linear = jacobian @ phi[..., :3]
    low_pass = rules.LOW_PASS * torch.eye(2, dtype=means.dtype, device=means.device)
    flat = linear @ covariances @ linear.transpose(-1, -2) + low_pass
    centres = torch.stack((fx * x / z + cx, fy * y / z + cy), dim=-1)
    return centres, flat, seen


def is_drawn(
    centres: Float[Tensor, "N 2"],
    flat: Float[Tensor, "N 2 2"],
    seen: Float[Tensor, "N 3"],
    wide: Float[Tensor, "N"],
    opacities: Float[Tensor, "N"],
    ground: Float[Tensor, "4"] | None,
) -> Tensor:
    """Which Gaussians are drawn at all: before the camera, strong enough, above the ground.

    `wide` is the sum of a Gaussian's three variances, metres squared.
    """
    far = rules.FARTHEST
    depth = seen[:, 2]
    keep = (depth >= rules.NEAR) & (depth <= rules.FAR) & (opacities >= rules.ALPHA_MIN)
    keep &= wide < (rules.WIDEST * depth) ** 2
    keep &= (centres.abs() < far).all(-1) & (flat.diagonal(dim1=-2, dim2=-1) < far * far).all(-1)
    if ground is not None:
        keep &= seen @ ground[:3] + ground[3] >= 0
    return keep


def rasterize_reference(
    call: RasterCall,
) -> tuple[Float[Tensor, "T H W 3"], Float[Tensor, "T H W"]]:
    """Colour of the splats over black, and their transmittance."""
    means, covariances, opacities = call.means, call.shapes(), call.opacities
    width, height, grounds = call.width, call.height, call.grounds
    images, transmittances = [], []
    ys = torch.arange(height, dtype=means.dtype, device=means.device) + 0.5
    xs = torch.arange(width, dtype=means.dtype, device=means.device) + 0.5
    pixels = torch.cartesian_prod(ys, xs)
    for t in range(call.frames):
        phi = (call.weights[..., None, None] * call.camera_from_mesh[t][call.bones]).sum(1)
        centres, flat, seen = project_reference(
            phi, means, covariances, call.intrinsics[t], width, height
        )
        ground = None if grounds is None else grounds[t]
        wide = (phi[..., :3] @ covariances @ phi[..., :3].mT).diagonal(dim1=-2, dim2=-1).sum(-1)
        strengths = opacities
        if call.antialias:
            low_pass = rules.LOW_PASS * torch.eye(2, dtype=means.dtype, device=means.device)
            kept = torch.linalg.det(flat - low_pass) / torch.linalg.det(flat)
            # (The root has no slope at zero; nothing that weak is drawn.)
            strengths = opacities * kept.clamp_min(1e-9).sqrt()
        keep = is_drawn(centres, flat, seen, wide, strengths, ground).nonzero().squeeze(-1)
        order = keep[torch.argsort(seen[keep, 2].detach(), stable=True)]
        conic = torch.linalg.inv(flat[order])
        dx = pixels[:, 1:] - centres[order, 0]
        dy = pixels[:, :1] - centres[order, 1]
        distance = conic[:, 0, 0] * dx * dx + conic[:, 1, 1] * dy * dy
        distance = distance + 2.0 * conic[:, 0, 1] * dx * dy
        alpha = strengths[order] * torch.exp(-0.5 * distance)
        alpha = torch.where(alpha < rules.ALPHA_MIN, 0.0, alpha.clamp(max=rules.ALPHA_MAX))
        alpha = alpha * (torch.cumprod(1.0 - alpha, dim=1) > rules.STOP)
        left = torch.cumprod(1.0 - alpha, dim=1)
        left = torch.cat((torch.ones_like(pixels[:, :1]), left), dim=1)
        colour = call.colours[t if len(call.colours) > 1 else 0][order]
        images.append(((alpha * left[:, :-1]) @ colour).unflatten(0, (height, width)))
        transmittances.append(left[:, -1].unflatten(0, (height, width)))
    return torch.stack(images), torch.stack(transmittances)
