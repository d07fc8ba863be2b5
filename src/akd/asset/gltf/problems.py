"""`ProblemLog`: what is odd about a file, collected while it is read."""

from __future__ import annotations

from akd.asset.asset import Problem, Severity
from akd.asset.gltf.fields import Fields, GltfError, shown

_KEPT = 500
"""A file broken in a million places is told of in this many."""


class ProblemLog:
    """Collects problems in the order they are found; past a few hundred it only counts them."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._left_out = 0

    def add(self, severity: Severity, where: str, what: str, action: str) -> None:
        """Record one problem: the place, what was found there, and what akd does about it."""
        if len(self._problems) < _KEPT:
            self._problems.append(Problem(severity, where, what, action))
        else:
            self._left_out += 1

    def note(self, where: str, what: str, action: str) -> None:
        """Record something unusual that costs nothing."""
        self.add("note", where, what, action)

    def warn(self, where: str, what: str, action: str) -> None:
        """Record something wrong that akd repairs or leaves out."""
        self.add("warning", where, what, action)

    def left_out(self, error: GltfError, action: str) -> None:
        """Record a broken place that akd can do without."""
        self.add("warning", error.where, error.what, action)

    def all(self) -> tuple[Problem, ...]:
        """Return every problem kept, and a last one that counts the rest."""
        if not self._left_out:
            return tuple(self._problems)
        rest = Problem("note", "file", f"{self._left_out} more problems", "each is treated alike")
        return (*self._problems, rest)


def objects_if_any(fields: Fields, key: str, kind: str, problems: ProblemLog) -> list[Fields]:
    """Return a list of objects that a file can do without: what is no object is an empty one."""
    try:
        values = fields.items(key)
    except GltfError as error:
        problems.left_out(error, "taken as an empty list")
        return []
    wrong = [i for i, value in enumerate(values) if not isinstance(value, dict)]
    if not wrong:
        return fields.objects(key, kind)
    what = f"{len(wrong)} are no objects, the first {shown(values[wrong[0]])}"
    problems.warn(fields.place(key), what, "those are taken as empty")
    mended = [value if isinstance(value, dict) else {} for value in values]
    return Fields({key: mended}, fields.where).objects(key, kind)
