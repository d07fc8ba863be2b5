"""Video diffusion models behind one protocol, and classifier-free guidance."""

from akd.base.callable_room import make_callable

make_callable(__name__, "akd.api.priors", "prior")
