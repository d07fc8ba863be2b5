"""References of a broken file to things it does not have.

Lists of a document grow when something is added to it, and an index past the end of a list would
come to mean the first thing added. Such an index is moved on, so that what was broken stays so and
nothing new is mistaken for old.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from akd.asset.gltf.fields import as_integer

_PATHS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "accessors": (
        ("animations", "*", "samplers", "*", "input"),
        ("animations", "*", "samplers", "*", "output"),
        ("meshes", "*", "primitives", "*", "indices"),
        ("meshes", "*", "primitives", "*", "attributes", "*"),
        ("meshes", "*", "primitives", "*", "targets", "*", "*"),
        ("skins", "*", "inverseBindMatrices"),
    ),
    "bufferViews": (
        ("accessors", "*", "bufferView"),
        ("accessors", "*", "sparse", "indices", "bufferView"),
        ("accessors", "*", "sparse", "values", "bufferView"),
        ("images", "*", "bufferView"),
        ("meshes", "*", "primitives", "*", "extensions", "*", "bufferView"),
    ),
    "buffers": (
        ("bufferViews", "*", "buffer"),
        ("bufferViews", "*", "extensions", "*", "buffer"),
    ),
}


def listed(root: Mapping[str, Any], kind: str) -> list[Any]:
    """A copy of a top-level list; empty where the file has none or something else in its place."""
    value = root.get(kind)
    return list(value) if isinstance(value, list) else []


def make_room(root: dict[str, Any], kind: str, added: int) -> dict[str, Any]:
    """Return the JSON with references past the end of the list `kind` moved on by `added`.

    Call it before the list grows. What does not change is shared with the JSON given.
    """
    count = len(listed(root, kind))

    def move(value: Any) -> Any:
        index = as_integer(value)
        return index + added if index is not None and index >= count else value

    for path in _PATHS[kind]:
        root = _change(root, path, move)
    return root


def _change(value: Any, path: tuple[str, ...], change: Callable[[Any], Any]) -> Any:
    """The value with `change` applied at every place that `path` leads to; `*` means each."""
    if not path:
        return change(value)
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value) if path[0] == "*" else [path[0]] if path[0] in value else []
    elif isinstance(value, list) and path[0] == "*":
        keys = list(range(len(value)))
    result = value
    for key in keys:
        changed = _change(value[key], path[1:], change)
        if changed is not value[key]:
            if result is value:
                result = value.copy()
            result[key] = changed
    return result
