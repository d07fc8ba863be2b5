"""The container of PLY: a header that names elements and their properties, then their rows.

Read by hand rather than through a library because meshes of mixed polygons, which Blender writes
by default, and Gaussian clouds both come in it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer, Shaped

from akd.asset.asset import AssetError

_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4",
    "float": "f4", "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2",
    "int32": "i4", "uint32": "u4", "int64": "i8", "uint64": "u8", "float16": "f2",
    "float32": "f4", "float64": "f8",
}  # fmt: skip
_FORMATS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class Property:
    """A named value of every row of an element, or a list of values."""

    name: str
    dtype: np.dtype
    count_dtype: np.dtype | None = None
    """Type of the length that comes before a list; None for a single value."""

    @property
    def least_size(self) -> int:
        """Bytes that a row of it takes at least."""
        return (self.count_dtype or self.dtype).itemsize


@dataclass(frozen=True)
class Element:
    """A table of `count` rows."""

    name: str
    count: int
    properties: tuple[Property, ...]

    def names(self) -> set[str]:
        """The names of its properties."""
        return {p.name for p in self.properties}


@dataclass(frozen=True)
class Header:
    """What a PLY file says it holds."""

    format: str
    elements: tuple[Element, ...]
    comments: tuple[str, ...]
    size: int
    """Bytes up to the first row."""

    def element(self, name: str) -> Element | None:
        """The element of that name, if there is one."""
        return next((e for e in self.elements if e.name == name), None)


@dataclass(frozen=True)
class Lists:
    """Lists of different lengths, one after another."""

    counts: Integer[np.ndarray, "N"]
    values: Shaped[np.ndarray, "M"]


Columns = Mapping[str, np.ndarray | Lists]


def parse_header(data: memoryview) -> Header:
    """Read the header, having made sure that the rows it promises fit into the file."""
    start = bytes(data[:_LONGEST_HEADER])
    end = re.search(rb"(?:^|[\r\n])[ \t]*end_header[ \t]*(\r\n|\n|\r|$)", start)
    if not re.match(rb"ply[ \t]*[\r\n]", start) or end is None:
        raise AssetError("PLY must start with 'ply' and have a header that ends with 'end_header'")
    kind = None
    comments: list[str] = []
    elements: list[tuple[str, int, list[Property]]] = []
    for line in start[: end.start()].decode("utf-8", errors="replace").splitlines()[1:]:
        words = line.split()
        match words:
            case [] | ["obj_info", *_]:
                pass
            case ["comment", *_]:
                comments.append(line.strip()[len("comment") :].strip())
            case ["format", name, *_] if name in _FORMATS:
                kind = name
            case ["element", name, count] if _is_count(count):
                elements.append((name, int(count), []))
            case ["property", "list", count, of, name] if elements and count in _TYPES:
                order = _FORMATS[kind or "ascii"]
                count_type = np.dtype(order + _TYPES[count])
                if of not in _TYPES or count_type.kind not in "iu":
                    raise AssetError(f"PLY: a property must have a known type, got {line[:60]!r}")
                item = np.dtype(order + _TYPES[of])
                elements[-1][2].append(Property(name, item, count_type))
            case ["property", of, name] if elements and of in _TYPES:
                order = _FORMATS[kind or "ascii"]
                elements[-1][2].append(Property(name, np.dtype(order + _TYPES[of])))
            case _:
                raise AssetError(f"PLY: the header cannot have the line {line[:60]!r}")
    if kind is None:
        raise AssetError(f"PLY: the header must state a format of {', '.join(_FORMATS)}")
    header = Header(
        format=kind,
        elements=tuple(Element(name, count, tuple(p)) for name, count, p in elements),
        comments=tuple(comments),
        size=end.end(),
    )
    _check_sizes(header, len(data) - header.size)
    return header


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16


def _check_sizes(header: Header, size: int) -> None:
    """Refuse counts that the file is too short for, before anything is allocated for them."""
    for element in header.elements:
        names = [p.name for p in element.properties]
        if len(set(names)) < len(names):
            raise AssetError(f"PLY: the properties of element {element.name!r} repeat a name")
        if header.format == "ascii":
            least = 2 * len(names)  # a digit and a space
        else:
            least = sum(p.least_size for p in element.properties)
        if element.count * least > size + 1:
            raise AssetError(
                f"PLY: element {element.name!r} must fit into the file, got {element.count} rows "
                f"of at least {least} bytes where {size} are left"
            )
        size -= element.count * least


def read_elements(header: Header, data: memoryview) -> dict[str, Columns]:
    """Return the columns of every element: arrays of its rows, or `Lists`."""
    if header.format == "ascii":
        rows = _numbers(bytes(data[header.size :]))
    else:
        rows = np.frombuffer(data, dtype=np.uint8, offset=header.size)
    columns: dict[str, Columns] = {}
    place = 0
    for element in header.elements:
        table = _Table(element, rows, is_ascii=header.format == "ascii")
        columns[element.name], place = table.read(place)
    return columns


def _numbers(data: bytes) -> Shaped[np.ndarray, "N"]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(data.decode("ascii"), sep=" ", dtype=np.float64)
        except (DeprecationWarning, ValueError):
            raise AssetError("PLY: the rows must be numbers, got something else") from None


class _Table:
    """Reads the rows of one element: out of bytes, or out of numbers where the file is ASCII."""

    def __init__(self, element: Element, rows: np.ndarray, *, is_ascii: bool) -> None:
        self.element = element
        self.rows = rows
        self.is_ascii = is_ascii

    def read(self, place: int) -> tuple[Columns, int]:
        """The columns, and where the next element begins."""
        if self.element.count == 0 or not self.element.properties:
            return {}, place
        return self._read_uniform(place) or self._read_one_by_one(place)

    def _size(self, dtype: np.dtype) -> int:
        """Units of `rows` that a value takes."""
        return 1 if self.is_ascii else dtype.itemsize

    def _cast(self, values: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Numbers of an ASCII file as the type that the header states."""
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            if not ((values >= limits.min) & (values <= limits.max)).all():
                raise AssetError(f"PLY: values must fit into {dtype.name}, got some that do not")
        with np.errstate(over="ignore"):
            return values.astype(dtype)

    def _read_count(self, place: int, dtype: np.dtype) -> int:
        size = self._size(dtype)
        if place + size > len(self.rows):
            raise self._too_short()
        if self.is_ascii:
            value = float(self.rows[place])
            count = int(value) if value.is_integer() else -1
        else:
            order = "big" if dtype.str[0] == ">" else "little"
            raw = self.rows[place : place + size].tobytes()
            count = int.from_bytes(raw, order, signed=dtype.kind == "i")
        if count < 0:
            raise AssetError(f"PLY: a list in element {self.element.name!r} has no usable length")
        return count

    def _too_short(self) -> AssetError:
        return AssetError(
            f"PLY: element {self.element.name!r} must have {self.element.count} rows, "
            "the file ends before"
        )

    def _read_uniform(self, place: int) -> tuple[Columns, int] | None:
        """The columns as views of the file, where every row is as long as the first; else None."""
        at, fields = place, []
        for prop in self.element.properties:
            length = None
            if prop.count_dtype is not None:
                length = self._read_count(at, prop.count_dtype)
                fields.append((prop.count_dtype, at - place, 1))
                at += self._size(prop.count_dtype)
            fields.append((prop.dtype, at - place, 1 if length is None else length))
            at += fields[-1][2] * self._size(prop.dtype)
        stride, rows = at - place, self.element.count
        if place + stride * rows > len(self.rows):
            if all(p.count_dtype is None for p in self.element.properties):
                raise self._too_short()
            return None
        if self.is_ascii:
            block = self.rows[place : place + stride * rows].reshape(rows, stride)
            parts = [block[:, start : start + length] for _, start, length in fields]
        else:
            layout = np.dtype(
                {
                    "names": [f"{i}" for i in range(len(fields))],
                    "formats": [(dtype, (length,)) for dtype, _, length in fields],
                    "offsets": [start for _, start, _ in fields],
                    "itemsize": stride,
                }
            )
            table = np.frombuffer(self.rows, layout, rows, place)
            parts = [table[f"{i}"] for i in range(len(fields))]
        columns: dict[str, np.ndarray | Lists] = {}
        remaining = iter(parts)
        for prop in self.element.properties:
            lengths = None if prop.count_dtype is None else next(remaining)[:, 0]
            if lengths is not None and (lengths != lengths[0]).any():
                return None
            values = next(remaining).reshape(-1)
            if self.is_ascii:
                values = self._cast(values, prop.dtype)
            columns[prop.name] = (
                values if lengths is None else Lists(lengths.astype(np.int64), values)
            )
        return columns, place + stride * rows

    def _read_one_by_one(self, place: int) -> tuple[Columns, int]:
        """The columns, row by row: lists of different lengths leave no other way."""
        properties = self.element.properties
        sizes = [self._size(p.dtype) for p in properties]
        starts: list[list[int]] = [[] for _ in properties]
        counts: list[list[int]] = [[] for _ in properties]
        for _ in range(self.element.count):
            for index, prop in enumerate(properties):
                length = 1
                if prop.count_dtype is not None:
                    length = self._read_count(place, prop.count_dtype)
                    place += self._size(prop.count_dtype)
                starts[index].append(place)
                counts[index].append(length)
                place += length * sizes[index]
            if place > len(self.rows):
                raise self._too_short()
        columns: dict[str, np.ndarray | Lists] = {}
        for index, prop in enumerate(properties):
            lengths = np.array(counts[index])
            step = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            at = np.repeat(np.array(starts[index]), lengths) + step * sizes[index]
            if self.is_ascii:
                values = self._cast(self.rows[at], prop.dtype)
            else:
                values = self.rows[at[:, None] + np.arange(sizes[index])].reshape(-1)
                values = values.view(prop.dtype)
            columns[prop.name] = values if prop.count_dtype is None else Lists(lengths, values)
        return columns, place
