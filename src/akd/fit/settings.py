"""Settings of fitting to videos, and weights of the losses. No torch here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LossSettings:
    """Weights of the loss terms."""

    score: float = 500.0
    """Score distillation, a mean over the latents."""
    smooth: float = 0.02
    """Mean absolute second difference of the coordinates over time."""
    ground: float = 100.0
    """Depth below the ground, in body heights."""
    rest: float = 0.01
    """Pose regulariser: mean square of the joint angles, as fractions of their limits."""
    support: float = 10.0
    """Foot height: of stance feet above the ground, of swing feet below their clearance."""
    skate: float = 4.0
    """Distance that stance feet slide from frame to frame, in leg lengths."""


@dataclass(frozen=True)
class WarmStartSettings:
    """Sample a few videos first, fit the joints to the best ones, and refine from there."""

    samples: int = 4
    """Videos to sample; 0 starts from the neutral pose."""
    steps: int = 12
    """Denoising steps of a sample."""
    spacing: float = 1.5
    """Above 1 for more of these steps near the noise: see `akd.prior.sample.sample_latents`."""
    guidance: float = 3.0
    """Guidance scale of a sample."""
    trial: int = 50
    """Iterations of a fit to every sample, at half the resolution, after which the best are chosen;
    0: chosen before."""
    finalists: int = 2
    """Fits that are distilled; the best result is kept."""
    iterations: int = 50
    """Iterations of a second, slower fit to each finalist's sample."""
    learning_rate: float = 0.04
    weight: float = 200.0
    """Weight of the photometric difference."""
    phase_search: bool = True
    """Search each limb's phase in the video before its first fit."""
    regressor: bool = True
    """Start from the motion regressor's output, where it is installed and looks more like the video
    than the result of the search. For actions other than gaits, both starts are fitted for `trial`
    iterations, and the better fit continues."""
    anchor: float = 100.0
    """Weight of the mean square distance from the regressor's joint angles, radians, in fits of
    actions other than gaits that start from them. Each angle is weighted by its certainty: hidden
    limbs stay where they are expected, and motion blur is not explained by moving other limbs."""
    speed_from_feet: bool = True
    """While fitting, set the speed to that of the stance feet under the body."""


@dataclass(frozen=True)
class FitSettings:
    """How joints are fitted to a video."""

    size: int = 128
    """Longer side of the frames that are compared, pixels."""
    splats: int = 3000
    """Gaussians on the character's surface."""
    starts: int = 4
    """Starts that are tried: legs exchanged left and right, the camera in front or behind. Up to
    four more take their sides from a gait: see `gait_search`."""
    trial: int = 24
    """Iterations at half the size after which the better half of the starts is kept, until one is
    left."""
    iterations: int = 120
    """Iterations of the best start, the last third at the full size."""
    learning_rate: float = 0.02
    frames_per_knot: float = 1.5
    """Frames for each coefficient of a curve over time."""
    silhouette: float = 200.0
    """Weight of the silhouette's mean square difference, summed over a pyramid."""
    colour: float = 200.0
    """Weight of the colours' mean square difference, likewise; 0 compares silhouettes alone."""
    smooth: float = 0.1
    """Mean absolute second difference of the coordinates over time."""
    rest: float = 0.02
    """Pose regulariser: mean square of the joint angles, as fractions of their limits."""
    sagittal: float = 300.0
    """Regulariser of twist, abduction and the root's lean: mean square, radians."""
    evidence: float = 20.0
    """Weight of point tracks (distance in image heights), depth maps and normal maps."""
    limb_search: bool = True
    """Search each limb's angles frame by frame before the first iteration."""
    gait_search: bool = True
    """Half of the starts are gaits: limbs that swing in pairs, with one period. What the regressor
    reads takes the place of one of them. Where the gait says that limbs found frame by frame are
    exchanged in some frames, poses with its sides are tried as well."""
    regressor: bool = True
    """For videos in role colours, one of the starts is the motion regressor's output."""
    anchor: float = 30.0
    """Weight of the mean square distance from the regressor's joint angles, radians, in fits that
    start from them: angles that one view does not show stay near them."""
    solve_camera: bool = True
    """Refine focal length, direction and height of a camera that was not given."""
