"""`Harness`: bytes in, a value or one of the documented errors out.

Anything else that is raised is a finding, as are ten seconds or 1.5 GiB.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LARGEST_SEED = 32_768
"""Bytes of a file to start from: small inputs are mutated faster."""
FOLDER = Path(tempfile.mkdtemp(prefix="akd-fuzz-"))
"""Where inputs lie while they are parsed."""

MODULES = {
    "assets": (
        "gltf", "glb", "obj", "ply", "stl", "off", "bvh", "fbx", "usd", "character", "image",
        "roles", "joints",
    ),
    "fit_inputs": ("video", "camera", "tracks", "depth", "normals", "mask", "points"),
    "records": (
        "run", "jobs", "outcome", "checkpoint", "poses", "splats", "cloud", "view", "votes",
        "scores", "prior_weights", "regressor_weights", "recogniser_weights", "pose_weights",
    ),
}  # fmt: skip
"""Parsers by the module of their harnesses."""


NEEDS = {"fbx": "ufbx", "usd": "pxr", "video": "av"}
"""Modules without which a parser is left out."""


@dataclass(frozen=True)
class Harness:
    """A parser, and the files that it starts from."""

    parse: Callable[[bytes], object]
    suffixes: tuple[str, ...] = ()
    """Of files of the robustness collection."""
    seeds: tuple[bytes, ...] = ()
    companions: tuple[str, ...] = ()
    """Suffixes of files of the collection that inputs refer to by name."""
    inputs_a_process: int = -1
    """After so many a new process begins, for libraries that keep what they parsed."""

    def gather(self, assets: Path, corpus: Path) -> None:
        """Write the seeds to `corpus`, and place companions beside the inputs."""
        corpus.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(self.seeds):
            (corpus / f"seed-{number}").write_bytes(seed)
        for number, path in enumerate(sorted(assets.rglob("*"))):
            suffix = path.suffix.lower()
            if suffix in self.suffixes and path.stat().st_size <= LARGEST_SEED:
                (corpus / f"file-{number}").write_bytes(path.read_bytes())
            if suffix in self.companions and not (FOLDER / path.name).exists():
                shutil.copyfile(path, FOLDER / path.name)


def file_parser(
    name: str, read: Callable[[Path], object], *errors: type[Exception], named: bool = True
) -> Callable[[bytes], None]:
    """A parser of bytes from one of a file: `errors` are one line, which begins with the path."""

    def parse(data: bytes) -> None:
        path = FOLDER / name
        path.write_bytes(data)
        try:
            read(path)
        except errors as error:
            message = str(error)
            assert message.startswith(str(path)) or not named, message
            assert "\n" not in message, message

    return parse
