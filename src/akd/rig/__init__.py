"""Skeletons, skins, poses, joint roles and the control rig."""

from akd.base.callable_room import make_callable

make_callable(__name__, "akd.api.rigging", "rig")
