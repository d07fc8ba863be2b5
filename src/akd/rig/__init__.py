"""Skeletons, skins, poses, and what joints are to a body."""

from akd.base.callable_room import make_callable

make_callable(__name__, "akd.api.rigging", "rig")
