"""The run-time checker of annotations: beartype, with an int allowed where a float is, as PEP 484
says.

A function is checked on its first `CALLS` calls in every test: a loop that calls it ten thousand
times with the same shapes would else spend nearly all of its time on checks.
"""

import inspect
import sys
from collections import Counter
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from beartype import BeartypeConf, beartype

CALLS = 50
_made: Counter[Callable[..., Any]] = Counter()
_resting: list[FunctionType] = []
_checked = beartype(conf=BeartypeConf(is_pep484_tower=True))


def check(function: FunctionType) -> Callable[..., Any]:
    """The decorator that jaxtyping puts on signatures, not on the functions themselves."""
    # It takes its time, so most are made at the first call. Names in the annotations of an inner
    # function are found now or never.
    checked = _checked(function) if "<locals>" in function.__qualname__ else None

    @wraps(function)
    def check_first(*args: Any, **kwargs: Any) -> None:
        nonlocal checked
        if _made[function] < CALLS:
            _made[function] += 1
            if _made[function] == CALLS:
                _rest(function)
            checked = checked or _checked(function)
            checked(*args, **kwargs)

    return check_first


def start_again() -> None:
    """Check the next calls of every function."""
    _made.clear()
    for function in _resting:
        vars(function).pop("__no_type_check__", None)
    _resting.clear()


def _rest(signature: FunctionType) -> None:
    """Let jaxtyping pass the function of a signature by: binding arguments to names on every call
    takes longer than most functions do. One that no name leads to is bound as before."""
    found: Any = sys.modules.get(signature.__module__)
    for name in signature.__qualname__.split("."):
        found = inspect.getattr_static(found, name, None)
    if isinstance(found, property):
        found = found.fget
    function = inspect.unwrap(getattr(found, "func", found))  # `func` of a cached property
    if isinstance(function, FunctionType):
        vars(function)["__no_type_check__"] = True
        _resting.append(function)
