"""Settings of a scene: no torch here, so that a command line can show them at once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Colour = tuple[float, float, float]


class SceneStyle(StrEnum):
    """What the splats look like."""

    TEXTURED = "textured"
    """The asset's own colours."""
    ROLES = "roles"
    """Every splat in the colour of its bone's role, shaded by normal and depth."""


@dataclass(frozen=True)
class GroundSettings:
    """A checkerboard at y = 0 that fades into the background. Colours are sRGB, 0..1."""

    light: Colour = (0.78, 0.78, 0.76)
    dark: Colour = (0.48, 0.49, 0.50)
    background: Colour = (0.86, 0.89, 0.93)
    """Colour of rays that do not meet the ground."""
    square: float = 0.35
    """Side of a square, in body heights."""
    fade: float = 12.0
    """Body heights after which the ground has faded by 63 %; zero or less: it does not fade."""


@dataclass(frozen=True)
class ShadowSettings:
    """s(P) = 1 - strength exp(-decay d(P)): how dark the ground is under the asset.

    The supplement of the paper gives the formula and no values; these are ours.
    """

    strength: float = 0.6
    """s_max: the fraction of light that is blocked where the asset touches the ground."""
    decay: float = 1.5
    """beta, per body height of distance between ground and asset."""
    cells: int = 96
    """Cells along each side of the map that holds the shadow."""
    blur: float = 1.2
    """Softness of the edge, in cells."""
    differentiable: bool = False
    """Whether the shadow's gradient goes to the bones."""
    most_splats: int = 4000
    """The shadow is cast by at most this many splats, evenly taken."""


@dataclass(frozen=True)
class SceneSettings:
    """Everything around the asset."""

    style: SceneStyle = SceneStyle.TEXTURED
    ground: GroundSettings | None = GroundSettings()
    """None: only the background colour below."""
    shadow: ShadowSettings | None = ShadowSettings()
    plain_background: Colour = (0.5, 0.5, 0.5)
    """The background where there is no ground."""
    relief: float = 0.3
    """Style `textured`: how much darker a surface is that faces away from the light above the
    camera. 0 shows the texture as it is."""
    hide_below_ground: bool = True
    """Splats whose centre is under the ground are switched off."""
