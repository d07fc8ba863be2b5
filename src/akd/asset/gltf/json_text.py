"""Untrusted JSON: depth, size, repeated keys and non-finite numbers are checked."""

from __future__ import annotations

import json
import math
from typing import Any

from akd.asset.gltf.fields import GltfError, shown
from akd.asset.gltf.problems import ProblemLog

_MAX_DEPTH = 200
_MAX_VALUES = 4_000_000
"""Python needs up to some 200 bytes a value; real files have far fewer than this."""
_TOO_DEEP = f"must be nested at most {_MAX_DEPTH} deep, got more"


def parse_json(data: memoryview, problems: ProblemLog) -> dict[str, Any]:
    """Return the JSON object that `data` holds, or raise a one-line `GltfError`."""
    reader = _Leniently(problems)
    try:
        root = json.loads(
            _decode(data, problems),
            object_pairs_hook=reader.object,
            parse_constant=reader.constant,
            parse_float=reader.float,
        )
    except RecursionError:
        raise GltfError("JSON", _TOO_DEEP) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise GltfError("JSON", f"is not valid: {error.msg} at {place}") from None
    except ValueError as error:
        # Python will not read an integer of thousands of digits.
        raise GltfError("JSON", f"is not valid: {str(error).splitlines()[0]}") from None
    if not isinstance(root, dict):
        raise GltfError("JSON", f"must be an object, got {shown(root)}")
    _check_depth(root)
    return root


def _decode(data: memoryview, problems: ProblemLog) -> str:
    raw = bytes(data)
    values = raw.count(b",") + raw.count(b"[") + raw.count(b"{")
    if values > _MAX_VALUES:
        raise GltfError("JSON", f"must hold at most {_MAX_VALUES} values, got about {values}")
    if raw.startswith(b"\xef\xbb\xbf"):
        problems.note("JSON", "starts with a byte-order mark", "the mark is skipped")
    if raw.endswith(b"\0"):
        problems.note("JSON", "is padded with zeros instead of spaces", "they are skipped")
        raw = raw.rstrip(b"\0")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GltfError("JSON", f"must be UTF-8, got a bad byte at {error.start}") from None


class _Leniently:
    """What to do with JSON that the standard forbids or leaves open."""

    def __init__(self, problems: ProblemLog) -> None:
        self._problems = problems

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            what = f"{len(pairs) - len(result)} keys repeat another of the same object"
            self._problems.warn("JSON", what, "the last one counts")
        return result

    def constant(self, text: str) -> None:
        self._problems.warn("JSON", f"holds {text}, which JSON has not", "it is read as null")

    def float(self, text: str) -> float | None:
        number = float(text)
        if math.isinf(number):
            self._problems.warn("JSON", f"holds {shown(text)}, too large", "it is read as null")
            return None
        return number


def _check_depth(root: dict[str, Any]) -> None:
    """Whoever walks or writes this document later may do so by recursion."""
    level: list[Any] = [root]
    depth = 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise GltfError("JSON", _TOO_DEEP)
        inner: list[Any] = []
        for container in level:
            values = container.values() if isinstance(container, dict) else container
            inner += [v for v in values if type(v) in (dict, list)]
        level = inner
