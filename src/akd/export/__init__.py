"""Writing motions: glTF, BVH, USD, FBX and MJCF."""

from akd.base.callable_room import make_callable

make_callable(__name__, "akd.api.exporting", "export")
