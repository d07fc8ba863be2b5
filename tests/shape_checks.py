"""The run-time checker of annotations: beartype, with an int allowed where a float is, as PEP 484
says.

A function is checked on its first `CALLS` calls in every test: a loop that calls it ten thousand
times with the same shapes would else spend nearly all of its time on checks.
"""

from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

from beartype import BeartypeConf, beartype

CALLS = 50
_made: Counter[Callable[..., Any]] = Counter()
_checked = beartype(conf=BeartypeConf(is_pep484_tower=True))


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """The decorator that jaxtyping puts on signatures, not on the functions themselves."""
    checked = _checked(function)

    @wraps(function)
    def check_first(*args: Any, **kwargs: Any) -> None:
        if _made[function] < CALLS:
            _made[function] += 1
            checked(*args, **kwargs)

    return check_first


def start_again() -> None:
    """Check the next calls of every function."""
    _made.clear()
