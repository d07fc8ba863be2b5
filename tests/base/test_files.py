"""Writes are atomic: a failure leaves the old file and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from safetensors import safe_open

from akd.base import files


@pytest.mark.parametrize("durable", [False, True])
def test_a_write_replaces_the_file_and_leaves_nothing_else(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "new" / "folder" / "a.txt"
    files.write_text(path, "first", durable=durable)
    files.write_text(path, "grün", durable=durable)
    assert path.read_text("utf-8") == "grün"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("durable", [False, True])
def test_a_failure_leaves_the_old_file_and_no_temporary(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def fail() -> None:
        with files.write_atomically(path, durable=durable) as file:
            file.write(b"half of the new")
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_target_keeps_its_content_until_the_end(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(b"old")
    with files.replace_atomically(path) as temporary:
        temporary.write_bytes(b"new")
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".mp4")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_a_symlink_at_the_temporary_name_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "known")
    trap = tmp_path / ".known.part.txt"
    trap.symlink_to(victim)
    with pytest.raises(FileExistsError):
        files.write_text(tmp_path / "a.txt", "text")
    assert victim.read_bytes() == b"precious"
    assert trap.is_symlink(), "what was there before is not ours to remove"
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_permissions_follow_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        files.write_bytes(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~umask


def test_arrays_and_tensors_come_back(tmp_path: Path) -> None:
    shared = torch.arange(6.0).reshape(2, 3)
    tensors = {"a": shared, "b": shared.T.requires_grad_()}
    files.write_tensors(tmp_path / "t.safetensors", tensors, about={"format": "1"})
    with safe_open(tmp_path / "t.safetensors", "pt") as file:
        assert (file.metadata() or {})["format"] == "1"
        for name, value in tensors.items():
            assert torch.equal(file.get_tensor(name), value)
    files.write_arrays(tmp_path / "a.npz", {"a": shared.detach().numpy()})
    with np.load(tmp_path / "a.npz") as arrays:
        assert np.array_equal(arrays["a"], shared.detach().numpy())


def test_arrays_are_the_same_bytes_at_any_time(tmp_path: Path) -> None:
    arrays = {"a": np.arange(1000.0), "name": np.array("fox")}
    files.write_arrays(tmp_path / "a.npz", arrays)
    with ZipFile(tmp_path / "a.npz") as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
    with np.load(tmp_path / "a.npz") as found:
        assert {k: v.tolist() for k, v in found.items()} == {
            k: v.tolist() for k, v in arrays.items()
        }


def test_tensors_carry_a_checksum(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    tensors = {"a": torch.arange(4.0), "b": torch.ones(2, dtype=torch.int64)}
    files.write_tensors(path, tensors, about={"format": "1"})
    with safe_open(path, "pt") as file:
        assert len((file.metadata() or {})["checksum"]) == 64
    found, about = files.read_tensors(path)
    assert about == {"format": "1"}
    assert all(torch.equal(found[k], v) for k, v in tensors.items())
    data = path.read_bytes()
    for changed in (data[:-1] + bytes([data[-1] ^ 1]), data.replace(b'"1"', b'"2"'), data[:-3]):
        path.write_bytes(changed)
        with pytest.raises(files.DamagedFile, match="is damaged"):
            files.read_tensors(path)


def test_a_damaged_checkpoint_gives_way_to_the_one_before(tmp_path: Path) -> None:
    path, said = tmp_path / "state.safetensors", []
    assert files.read_checkpoint(path, say=said.append) is None
    for number in (1.0, 2.0):
        files.write_checkpoint(path, {"x": torch.tensor(number)}, about={"n": str(number)})
    path.write_bytes(path.read_bytes()[:-1])
    kept = files.read_checkpoint(path, say=said.append)
    assert kept is not None
    assert (float(kept[0]["x"]), kept[1]) == (1.0, {"n": "1.0"})
    assert len(said) == 1
    files.remove_checkpoint(path)
    assert list(tmp_path.iterdir()) == []


def test_unusable_content_is_one_line() -> None:
    with (
        pytest.raises(files.DamagedFile, match=r"^state: holds .* \(two lines\); start over$"),
        files.checking_content("state"),
    ):
        raise RuntimeError("two\n lines")


def test_hashes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    # The SHA-256 of "abc" as FIPS 180-2 gives it.
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert files.file_hash(tmp_path / "a") == files.text_hash("abc") == abc
    assert files.bytes_hash([b"a", b"bc"]) == abc
    assert files.json_hash({"a": 1, "b": 2}) == files.json_hash({"b": 2, "a": 1})


def test_the_hash_of_weights_sees_names_sizes_and_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    seen = set()
    for content in (bytes(3 << 20), bytes((3 << 20) - 1), b"x" + bytes((3 << 20) - 1),
                    bytes((3 << 20) - 1) + b"x"):  # fmt: skip
        path.write_bytes(content)
        seen.add(files.weights_hash(tmp_path))
    path.rename(tmp_path / "b.safetensors")
    seen.add(files.weights_hash(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    assert files.weights_hash(tmp_path) in seen
    seen.add(files.weights_hash(tmp_path, pattern="*"))
    assert len(seen) == 6


def test_what_a_killed_process_leaves_is_no_file_of_a_folder(tmp_path: Path) -> None:
    for name in ("b.PNG", "a.png", "a.txt", "deep/c.png"):
        files.write_text(tmp_path / name, name)
    before = files.weights_hash(tmp_path, pattern="*")
    with files.write_atomically(tmp_path / "d.png"):
        assert [p.name for p in files.list_files(tmp_path, (".png",))] == ["a.png", "b.PNG"]
        deep = files.list_files(tmp_path, (".png",), deep=True)
        assert [p.name for p in deep] == ["a.png", "b.PNG", "c.png"]
        assert files.weights_hash(tmp_path, pattern="*") == before


def test_arrays_come_back_within_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    files.write_arrays(path, {"ones": np.ones(1000), "name": np.array("fox")})
    found = files.read_arrays(path, ("ones", "missing"))
    assert list(found) == ["ones"]
    np.testing.assert_array_equal(found["ones"], np.ones(1000))
    with pytest.raises(files.DamagedFile, match="must hold at most 0 MiB of arrays"):
        files.read_arrays(path, most=1000)  # it is packed to a tenth of that


@pytest.mark.parametrize("spoil", ["cut", "text", "pickle", "npy", "shape", "void"])
def test_broken_arrays_are_one_line(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "a.npz"
    files.write_arrays(path, {"ones": np.ones(1000)})
    data = path.read_bytes()
    match spoil:
        case "cut":
            path.write_bytes(data[:-30])
        case "text":
            path.write_text("no archive")
        case "pickle":
            np.savez(path, ones=np.array([{}], dtype=object))
        case "void":
            np.savez(path, ones=np.empty(0, "V1000000000"))
        case "npy":
            with path.open("wb") as file:
                np.save(file, np.ones(3))
        case "shape":
            with ZipFile(path, "w") as archive:
                header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,)}"
                text = header.ljust(117).encode() + b"\n"
                archive.writestr("ones.npy", b"\x93NUMPY\1\0" + bytes((118, 0)) + text)
    with pytest.raises(files.DamagedFile) as caught:
        files.read_arrays(path)
    assert str(caught.value).startswith(f"{path}: cannot be read as npz: ")
    assert "\n" not in str(caught.value)


def test_json_is_read_within_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    files.write_json(path, {"a": [1, 2]})
    assert files.read_json(path) == {"a": [1, 2]}
    for broken in (b"{", b"\xff\xfe", b"[" * 100_000):
        path.write_bytes(broken)
        with pytest.raises(files.DamagedFile, match="cannot be read as JSON"):
            files.read_json(path)
    monkeypatch.setattr(files, "_LARGEST_JSON", 1 << 20)
    path.write_bytes(b"1" * ((1 << 20) + 1))
    with pytest.raises(files.DamagedFile, match="must be at most 1 MiB"):
        files.read_json(path)


@pytest.mark.parametrize("name", ["a", '"a"', "'a'", '"\\""', "a "])
def test_toml_with_long_keys_is_refused_at_once(name: str) -> None:
    began = time.process_time()
    for text in (".".join([name] * 100_000) + " = 1", f"[[{'.'.join([name] * 101)}]]"):
        with pytest.raises(ValueError, match="at most 100 names"):
            files.parse_toml(text)
    assert time.process_time() - began < 1.0
    assert files.parse_toml(f"a.b = '{'c.' * 90}'\nx = {[0.5] * 1000}")["a"] == {"b": "c." * 90}
    for broken in ("x = " + "9" * 5000, "x = " + "[" * 100_000, "x ="):
        with pytest.raises(ValueError, match=r".+"):
            files.parse_toml(broken)


def test_names_that_are_no_utf8_are_written_with_question_marks(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a.html", "f\udcff\u00fcchs")
    assert (tmp_path / "a.html").read_text("utf-8") == "f?\u00fcchs"


def test_no_flipped_bit_of_a_checkpoint_goes_unnoticed(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    draw = torch.Generator().manual_seed(0)
    first, second = ({"weights": torch.randn(40, generator=draw)} for _ in range(2))
    files.write_checkpoint(path, first, about={"step": "1"})
    files.write_checkpoint(path, second, about={"step": "2"})
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 7):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        said: list[str] = []
        kept = files.read_checkpoint(path, say=said.append)
        assert kept is not None
        tensors, about = kept
        expected = first if about["step"] == "1" else second
        assert torch.equal(tensors["weights"], expected["weights"])
        assert len(said) == (about["step"] == "1")
    for length in range(0, len(whole), 11):
        path.write_bytes(whole[:length])
        kept = files.read_checkpoint(path, say=lambda _: None)
        assert kept is not None
        assert kept[1] == {"step": "1"}
