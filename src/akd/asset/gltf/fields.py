"""`Fields`: validated access to a JSON object that knows its path in the file."""

from __future__ import annotations

import re
import reprlib
from dataclasses import dataclass
from typing import Any, Final

from akd.asset.asset import AssetError

_REQUIRED: Final = object()
_FLOAT32_MAX: Final = 3.4028234e38
MAX_THINGS: Final = 50_000
"""Of nodes, meshes and the like: a character has thousands at most, a million takes minutes."""
_UNPRINTABLE: Final = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
"""Control characters, line separators, bidirectional overrides and surrogates."""
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60
_short.maxlist = _short.maxdict = 4
_short.maxlevel = 2


class GltfError(AssetError):
    """A place in the file that breaks a rule. Whoever reads the file puts its name in front."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.where = where
        self.what = what


def shown(value: object) -> str:
    """Return a value as messages show it: on a single line, abbreviated."""
    return "null" if value is None else _short.repr(value)


def clean_text(text: str) -> str:
    """Return text that is safe to print: no escape sequences, line breaks or lone surrogates."""
    return text if text.isprintable() else _UNPRINTABLE.sub("?", text)


def as_integer(value: object) -> int | None:
    """Return an integer where JSON holds one (2.0 is one, true is not), else None."""
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return None


def as_number(value: object) -> float | None:
    """Return a number where JSON holds one that a 32-bit float can hold, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) <= _FLOAT32_MAX else None


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object and where it is. A field of the wrong type raises a one-line `AssetError`."""

    values: dict[str, Any]
    where: str
    """The place in the file, such as `mesh 0, part 1`."""

    def has(self, key: str) -> bool:
        """Whether the field is there at all."""
        return key in self.values

    def place(self, key: str) -> str:
        """Where a field is, for messages."""
        return f"{self.where}, {clean_text(key)}" if self.where else clean_text(key)

    def refuse(self, key: str, rule: str, value: object) -> GltfError:
        """Make the error for a field that breaks a rule."""
        return GltfError(self.place(key), f"{rule}, got {shown(value)}")

    def _get(self, key: str, default: Any, rule: str) -> Any:
        if key in self.values:
            return self.values[key]
        if default is _REQUIRED:
            raise GltfError(self.place(key), f"{rule}, got nothing")
        return default

    def integer(self, key: str, default: Any = _REQUIRED, *, minimum: int = 0) -> int:
        """Return an integer of at least `minimum`."""
        rule = f"must be an integer of at least {minimum}"
        value = self._get(key, default, rule)
        number = as_integer(value)
        if number is None or number < minimum:
            raise self.refuse(key, rule, value)
        return number

    def index(self, key: str, length: int, kind: str) -> int | None:
        """Return an index into the file's `length` things of a kind; None where absent."""
        if key not in self.values:
            return None
        return self._index(key, self.values[key], length, kind)

    def indices(self, key: str, length: int, kind: str) -> list[int]:
        """Return a list of such indices; empty where the field is absent."""
        return [self._index(key, value, length, kind) for value in self.items(key)]

    def _index(self, key: str, value: object, length: int, kind: str) -> int:
        number = as_integer(value)
        if number is None or not 0 <= number < length:
            raise self.refuse(key, f"must be the index of one of the file's {length} {kind}", value)
        return number

    def number(self, key: str, default: Any = _REQUIRED) -> float:
        """Return a finite number."""
        rule = "must be a finite 32-bit number"
        value = self._get(key, default, rule)
        number = as_number(value)
        if number is None:
            raise self.refuse(key, rule, value)
        return number

    def numbers(self, key: str, count: int | None, default: Any = _REQUIRED) -> tuple[float, ...]:
        """Return a list of `count` (None: any number of) finite numbers."""
        rule = f"must be a list of {'' if count is None else f'{count} '}finite 32-bit numbers"
        value = self._get(key, default, rule)
        if value is default:
            return value
        if not isinstance(value, list) or (count is not None and len(value) != count):
            raise self.refuse(key, rule, value)
        numbers = tuple(as_number(v) for v in value)
        if any(n is None for n in numbers):
            raise self.refuse(key, rule, value)
        return numbers  # pyright: ignore[reportReturnType]

    def text(self, key: str, default: Any = _REQUIRED) -> str:
        """Return a string."""
        rule = "must be a string"
        value = self._get(key, default, rule)
        if not isinstance(value, str):
            raise self.refuse(key, rule, value)
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.refuse(key, "must be true or false", value)
        return value

    def items(self, key: str) -> list[Any]:
        """Return a list; empty where the field is absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.refuse(key, "must be a list", value)
        return value

    def object(self, key: str) -> Fields:
        """Return an object inside this one; an empty one where the field is absent."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.refuse(key, "must be an object", value)
        return Fields(value, self.place(key))

    def objects(self, key: str, kind: str, *, limit: int = MAX_THINGS) -> list[Fields]:
        """Return a list of objects, placed as `mesh 0`, `mesh 1`; empty where absent."""
        values = self.items(key)
        if len(values) > limit:
            raise GltfError(self.place(key), f"must be at most {limit}, got {len(values)}")
        objects: list[Fields] = []
        for i, value in enumerate(values):
            where = self.place(f"{kind} {i}")
            if not isinstance(value, dict):
                raise GltfError(where, f"must be an object, got {shown(value)}")
            objects.append(Fields(value, where))
        return objects

    def extension(self, name: str) -> Fields | None:
        """Return an extension's object, or None where it is absent."""
        extensions = self.object("extensions")
        return extensions.object(name) if extensions.has(name) else None

    def name(self, default: str = "") -> str:
        """Return the object's own name, whatever it may be, as printable text."""
        value = self.values.get("name", default)
        return clean_text(value) if isinstance(value, str) else default
