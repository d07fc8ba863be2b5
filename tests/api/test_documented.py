"""What a user calls says what it takes, returns and raises."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import akd

OVERRIDES = ("Observers", "RunFolder", "Cycle", "Spline", "SplatRenderer")
"""Classes whose methods are documented by the class or protocol that they implement."""


def called() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions, and public methods of public classes."""
    for name in akd.__all__:
        found = getattr(akd, name)
        if not inspect.isclass(found):
            if callable(found):  # `akd.rig` is a package as well
                yield name, inspect.unwrap(found)
        elif name not in OVERRIDES:
            for key, member in vars(found).items():
                function = getattr(member, "__func__", member)
                if inspect.isfunction(function) and not key.startswith("_"):
                    yield f"{name}.{key}", inspect.unwrap(function)


def missing(function: Callable[..., Any]) -> list[str]:
    """Arguments and sections that the docstring lacks."""
    said = inspect.getdoc(function) or ""
    arguments = [n for n in inspect.signature(function).parameters if n not in ("self", "cls")]
    lacks = [n for n in arguments if not re.search(rf"^ +\**{n}: \S", said, re.MULTILINE)]
    body = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(body, ast.FunctionDef)
    returns = body.returns is not None and ast.unparse(body.returns) != "None"
    if returns and not re.search(r"^(Returns|Yields):$", said, re.MULTILINE):
        lacks.append("Returns")
    raises = any(isinstance(node, ast.Raise) for node in ast.walk(body))
    if raises and not re.search(r"^Raises:$", said, re.MULTILINE):
        lacks.append("Raises")
    return lacks


def test_arguments_results_and_errors_are_documented():
    found = dict(called())
    assert {"animate", "rig", "VideoPrior.predict", "Animation.save"} <= set(found)
    assert {name: missing(function) for name, function in found.items() if missing(function)} == {}
