"""A pipeline's folder as diffusers writes it: what is in it, and whether it can be used."""

from __future__ import annotations

import importlib
import json
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from akd.prior.large.errors import PriorError

LIBRARIES = ("diffusers", "transformers")


@dataclass(frozen=True)
class PipelineFolder:
    """A folder with a model_index.json."""

    path: Path
    index: dict[str, Any]
    adapter: Path | None = None
    """A motion adapter kept elsewhere, for AnimateDiff."""

    @property
    def pipeline(self) -> str:
        """Class of the pipeline, such as `WanPipeline`."""
        return str(self.index.get("_class_name"))

    def has(self, part: str) -> bool:
        """Whether the pipeline has such a part."""
        entry = self.index.get(part)
        return isinstance(entry, list) and len(entry) == 2 and entry[1] is not None

    def class_name(self, part: str) -> str:
        """Class of a part; code that does not come with diffusers or transformers is refused."""
        if not self.has(part):
            raise PriorError(f"{self.path}: model_index.json names no {part}")
        library, name = self.index[part]
        if library not in LIBRARIES:
            raise PriorError(
                f"{self.path}: {part} must come from diffusers or transformers, got {library!r}"
            )
        return str(name)

    def config(self, part: str) -> dict[str, Any]:
        """The config.json of a part."""
        path = self.path / part / "config.json"
        if not path.is_file():
            raise PriorError(f"{self.path}: there is no {part}/config.json in it")
        return json.loads(path.read_text())

    def weights(self, part: str) -> list[Path]:
        """Weight files of a part, all of them there; only safetensors are read."""
        folder = self.path / part
        shards = sorted(folder.glob("*.safetensors.index.json"))
        if shards:
            names = set(json.loads(shards[0].read_text())["weight_map"].values())
            files = [folder / name for name in sorted(names)]
        else:
            files = sorted(folder.glob("*.safetensors"))
        missing = [file.name for file in files if not file.exists()]
        if missing:
            raise PriorError(f"{self.path}: {part} is not complete, {missing[0]} is missing")
        if not files:
            raise PriorError(
                f"{self.path}: there are no weights (*.safetensors) in {part}; other formats can "
                f"run code and are not read"
            )
        return files

    def parameters(self, part: str) -> int:
        """How many numbers the weights of a part hold, read off the files' headers."""
        return sum(count_parameters(file) for file in self.weights(part))


def open_folder(path: Path) -> PipelineFolder:
    """Read a pipeline's folder."""
    index = path / "model_index.json"
    if not path.is_dir():
        raise PriorError(f"{path}: there is no such folder")
    if not index.is_file():
        raise PriorError(f"{path}: there is no model_index.json in it, so it is not a pipeline")
    try:
        content = json.loads(index.read_text())
    except json.JSONDecodeError as error:
        raise PriorError(f"{index}: is not JSON ({error})") from None
    return PipelineFolder(path, content)


def find_class(library: str, name: str, where: str) -> Any:
    """A class of diffusers or transformers. `where` is named in errors."""
    try:
        module = importlib.import_module(library)
    except ImportError:
        raise PriorError(
            f"{where}: large priors need {library}, which is not installed: pip install "
            f"diffusers transformers accelerate sentencepiece"
        ) from None
    kind = getattr(module, name, None)
    if kind is None:
        raise PriorError(f"{where}: {library} {module.__version__} has no {name}")
    return kind


def header(file: Path) -> dict[str, Any]:
    """The header of a safetensors file: name to type, shape and place."""
    with file.open("rb") as stream:
        start = stream.read(8)
        size = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 2 <= size <= min(file.stat().st_size - 8, 100_000_000):
            raise PriorError(f"{file}: is not a safetensors file")
        return json.loads(stream.read(size))


def count_parameters(file: Path) -> int:
    """Numbers in a safetensors file."""
    return sum(math.prod(entry["shape"]) for entry in entries(file))


def entries(file: Path) -> Iterator[dict[str, Any]]:
    """Tensors in a safetensors file."""
    for name, entry in header(file).items():
        if name != "__metadata__":
            yield entry
