"""The recognisers where their weights are there: A chooses among samples, B only reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akd.metrics.recognise.recogniser import Recogniser
    from akd.metrics.recognise.settings import Name


def find_recogniser(name: Name, weights: Path | None) -> Recogniser | None:
    """A recogniser from the folder of weights, else from the package; None where there is none."""
    from akd.metrics.recognise.recogniser import load_recogniser

    path = _file_of(name, weights)
    return None if path is None else load_recogniser(name, path.parent)


def recogniser_hash(name: Name, weights: Path | None) -> str | None:
    """SHA-256 of the weights that `find_recogniser` would take; None where there are none."""
    from akd.base.files import file_hash

    path = _file_of(name, weights)
    return None if path is None else file_hash(path)


def _file_of(name: Name, weights: Path | None) -> Path | None:
    from akd.metrics.recognise.recogniser import has_recogniser, shipped_recognisers

    for folder in (weights, shipped_recognisers()):
        if folder is not None and has_recogniser(name, folder):
            return folder / f"recogniser-{name}.safetensors"
    return None
