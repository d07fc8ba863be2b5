"""Constants of the rasterizers: cut-offs, blur and margins. See docs/rendering.md.

They are gsplat's, so that a cloud fitted elsewhere looks the same here. The reference
implementation and the Warp kernels read them from this one place.
"""

LOW_PASS = 0.3
"""Pixels squared added to both variances of a projected Gaussian: none is thinner than a pixel."""
ALPHA_MIN = 1.0 / 255.0
"""A contribution weaker than this is not drawn."""
ALPHA_MAX = 0.999
"""No Gaussian hides what is behind it completely."""
STOP = 1.0e-4
"""A Gaussian that would leave no more transmittance than this is not drawn, nor any behind it."""
NEAR = 0.01
"""Metres in front of the camera; a centre nearer than this is not drawn."""
FAR = 1.0e10
"""Metres; a centre farther than this is not drawn."""
WIDEST = 1.0e4
"""A Gaussian wider than this many times its distance is not drawn: its gradients would overflow."""
MARGIN = 0.3
"""The perspective is linearised inside the image plus this part of its half size on each side;
for a centre farther out, at the nearest such direction."""
FARTHEST = 1.0e6
"""Pixels. A Gaussian centred farther off the image, or wider than this, is not drawn."""
