"""Motion parameters fitted to videos."""

from akd.base.callable_room import make_callable

make_callable(__name__, "akd.api.fitting", "fit")
