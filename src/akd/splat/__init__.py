"""Gaussian splats: sampled from a mesh, bound to a rig, rasterized."""

from akd.base.callable_room import make_callable

make_callable(__name__, "akd.api.measuring", "splat")
