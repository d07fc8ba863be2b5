"""Atomic file writes and content hashes. No torch here.

Every write goes to a temporary file in the target's folder, made where it is missing, and that file
replaces the target once it is complete. If anything fails, the temporary file is removed and the
target keeps its old content. With `durable` the data and the new name are flushed to the disk.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

_SAMPLE = 1 << 20
"""Bytes hashed at either end of a file of weights: reading all of it would take minutes."""
_CHECKSUM = "checksum"
_LARGEST_JSON = 64 << 20
"""Bytes of a JSON file; its values take several times as much memory."""
_LONG_KEY = re.compile(
    r"""(?<![\w"'\\.-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}"""
)
_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.part(\..*)?")


class DamagedFile(ValueError):
    """A file that was cut short or changed since it was written, or that does not fit its use."""


@contextmanager
def replace_atomically(
    path: Path, *, durable: bool = False, previous: Path | None = None
) -> Iterator[Path]:
    """Yield an empty temporary file, of the same suffix, for libraries that write to a path.

    The old content is moved to `previous` if given. Raises `OSError` where `path` is a folder, a
    device or another special file.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "is not a regular file", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{secrets.token_hex(8)}.part{path.suffix}")  # see _TEMPORARY
    try:
        # Exclusive creation follows no symlink, and the mode follows the umask, unlike mkstemp's.
        temporary.open("xb").close()
        try:
            yield temporary
            if durable:
                _flush(temporary)
            if previous is not None and path.exists():
                path.replace(previous)
            temporary.replace(path)
            if durable:
                _flush(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        # The user knows the file by its final name. An error without a number has its own words.
        if error.errno is not None and error.filename in (None, str(temporary)):
            error.filename = str(path)
        raise


def remove_temporaries(folder: Path) -> None:
    """Remove what processes left in a folder that were killed while they wrote.

    For whoever holds its lock: the files of a process that still writes look the same.
    """
    for path in folder.rglob(".*.part*"):
        if _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)


@contextmanager
def write_atomically(
    path: Path, *, durable: bool = False, previous: Path | None = None
) -> Iterator[BinaryIO]:
    """Open a binary file whose content replaces that of `path` when the block ends."""
    with (
        replace_atomically(path, durable=durable, previous=previous) as temporary,
        temporary.open("wb") as file,
    ):
        yield file


def write_bytes(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write a file from memory."""
    with write_atomically(path, durable=durable) as file:
        file.write(data)


def write_text(path: Path, text: str, *, durable: bool = False) -> None:
    """Write UTF-8, and ? for the bytes of file names that are no UTF-8."""
    write_bytes(path, text.encode("utf-8", errors="replace"), durable=durable)


def write_json(path: Path, value: object, *, durable: bool = False) -> None:
    """Write indented JSON."""
    write_text(path, json.dumps(value, indent=2) + "\n", durable=durable)


def check_regular(path: Path) -> None:
    """Raise `DamagedFile` for a folder, a pipe or a device: some could be read for ever."""
    if path.exists() and not path.is_file():
        raise DamagedFile(f"{path}: must be a regular file")


def read_json(path: Path) -> Any:
    """Read a JSON file of at most 64 MiB. Raises `DamagedFile` where it is larger or broken."""
    check_regular(path)
    with path.open("rb") as file:
        data = file.read(_LARGEST_JSON + 1)
    if len(data) > _LARGEST_JSON:
        raise DamagedFile(f"{path}: must be at most {_LARGEST_JSON >> 20} MiB")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path}: cannot be read as JSON ({error})") from None


def parse_toml(text: str) -> dict[str, Any]:
    """TOML as a dictionary. Raises `ValueError` where it is broken.

    Python's parser takes quadratic time for a key of many names, which is refused.
    """
    if _LONG_KEY.search(text):
        raise ValueError("a key must have at most 100 names with dots between them")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a compressed npz file: the same bytes for the same arrays, whatever the time."""
    import numpy as np

    with write_atomically(path) as file, ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            about = ZipInfo(f"{name}.npy")  # dated 1980; np.savez_compressed writes the present
            about.compress_type = ZIP_DEFLATED
            with archive.open(about, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)


def read_arrays(
    path: Path, names: Iterable[str] | None = None, *, most: int = 1 << 30
) -> dict[str, np.ndarray]:
    """Read an npz file, or those of the named arrays that it holds, without pickle.

    Raises `DamagedFile` where it is broken, or larger than `most` bytes unpacked.
    """
    import numpy as np

    check_regular(path)
    arrays = {}
    try:
        with ZipFile(path) as archive:
            entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            chosen = [name for name in names or entries if name in entries]
            if sum(entries[name].file_size for name in chosen) > most:
                raise ValueError(f"must hold at most {most >> 20} MiB of arrays")
            for name in chosen:
                with archive.open(entries[name]) as entry:
                    array = np.lib.format.read_array(entry, allow_pickle=False)
                if array.dtype.kind not in "biufU":  # an empty one may still have items of a GB
                    raise ValueError(f"{name} must hold numbers or text, got {array.dtype}")
                arrays[name] = array
    except OSError:
        raise
    except Exception as error:  # zipfile, zlib and numpy raise many kinds on broken data
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise DamagedFile(f"{path}: cannot be read as npz: {reason}") from None
    return arrays


def write_tensors(
    path: Path,
    tensors: Mapping[str, Tensor],
    *,
    about: Mapping[str, str] | None = None,
    durable: bool = False,
    previous: Path | None = None,
) -> None:
    """Write a safetensors file; `about` is its metadata, to which a checksum is added."""
    from safetensors.torch import save

    # Copies, because safetensors refuses tensors that share memory.
    copies = {k: v.detach().to("cpu", copy=True).contiguous() for k, v in tensors.items()}
    metadata = {**(about or {}), _CHECKSUM: _tensors_hash(copies, about or {})}
    with write_atomically(path, durable=durable, previous=previous) as file:
        file.write(save(copies, metadata))


def read_tensors(
    path: Path, *, format: str | None = None
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read tensors and metadata that `write_tensors` wrote.

    Raises `DamagedFile` where the file is cut short or its checksum differs, or where its `format`
    is another one. Files of a format may be older than checksums, and go without.
    """
    from safetensors import SafetensorError, safe_open

    check_regular(path)
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise DamagedFile(f"{path}: is damaged ({error})") from None
    _check_format(path, about, format)
    checksum = about.pop(_CHECKSUM, None)
    if checksum is None and format is not None:
        return tensors, about
    if checksum != _tensors_hash(tensors, about):
        raise DamagedFile(f"{path}: is damaged (its checksum differs)")
    return tensors, about


def read_metadata(path: Path, *, format: str) -> dict[str, str]:
    """Read the metadata that `write_tensors` wrote, without the tensors.

    Raises `DamagedFile` where there is none, or where its `format` is another one.
    """
    from safetensors import SafetensorError, safe_open

    check_regular(path)
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
    except SafetensorError as error:
        raise DamagedFile(f"{path}: is damaged ({error})") from None
    _check_format(path, about, format)
    return about


def _check_format(path: Path, about: Mapping[str, str], format: str | None) -> None:
    if format is not None and about.get("format") != format:
        raise DamagedFile(f"{path}: must be of format {format}, got {about.get('format')}")


def write_checkpoint(
    path: Path, tensors: Mapping[str, Tensor], *, about: Mapping[str, str] | None = None
) -> None:
    """Write tensors to continue from, flushed to the disk, and keep the ones before."""
    write_tensors(path, tensors, about=about, durable=True, previous=_before(path))


def read_checkpoint(
    path: Path, *, say: Callable[[str], object] = print
) -> tuple[dict[str, Tensor], dict[str, str]] | None:
    """Read what `write_checkpoint` wrote, or the one before where that is damaged.

    `say` is told about damaged files. None where there is no file to continue from.
    """
    for one in (path, _before(path)):
        try:
            return read_tensors(one)
        except FileNotFoundError:
            continue
        except DamagedFile as error:
            say(str(error))
    return None


def remove_checkpoint(path: Path) -> None:
    """Remove a checkpoint and the one before it."""
    for one in (path, _before(path)):
        one.unlink(missing_ok=True)


def _before(path: Path) -> Path:
    return path.with_stem(f"{path.stem}.before")


@contextmanager
def checking_content(where: object) -> Iterator[None]:
    """Turn any error raised while a checkpoint's content is used into a `DamagedFile`.

    Its checksum says that it is as it was written, not that a job like this one wrote it.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as e:
        reason = " ".join(str(e).split())[:120]
        raise DamagedFile(
            f"{where}: holds values that cannot be used ({reason}); start over"
        ) from e


def _tensors_hash(tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> str:
    import torch

    digest = hashlib.sha256(json.dumps(dict(about), sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def list_files(folder: Path, suffixes: Collection[str], *, deep: bool = False) -> list[Path]:
    """Files of a folder, or of all folders in it, with one of the suffixes, by name.

    Hidden ones are left out: a process that was killed leaves its temporary files.
    """
    found = folder.rglob("*") if deep else folder.iterdir()
    return sorted(p for p in found if p.suffix.lower() in suffixes and not _is_hidden(p))


def _is_hidden(path: Path) -> bool:
    return path.name.startswith(".")


def bytes_hash(parts: Iterable[bytes]) -> str:
    """SHA-256 of the parts, one after the other."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 of a text in UTF-8."""
    return bytes_hash([text.encode("utf-8")])


def json_hash(value: Any) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return text_hash(json.dumps(value, sort_keys=True))


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sampled_hash(path: Path) -> str:
    """SHA-256 of a file's size and both ends: of one that is too large to be read for its hash."""
    return bytes_hash(_samples(path, ""))


def weights_hash(folder: Path, *, pattern: str = "*.safetensors") -> str:
    """SHA-256 of a folder of weights: the name, size and both ends of every file in it."""
    found = (path for path in folder.rglob(pattern) if path.is_file())
    files = sorted(path for path in found if not _is_hidden(path))
    return bytes_hash(
        part for path in files for part in _samples(path, path.relative_to(folder).as_posix())
    )


def _samples(path: Path, name: str) -> Iterator[bytes]:
    size = path.stat().st_size
    yield f"{name} {size}\n".encode()
    with path.open("rb") as file:
        yield file.read(_SAMPLE)
        file.seek(max(0, size - _SAMPLE))
        yield file.read(_SAMPLE)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
