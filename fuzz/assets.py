"""Harnesses of asset files, images and the files that correct a rig. No torch but for roles."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from functools import partial

from akd.asset.asset import AssetError, Budget, Image
from akd.asset.gltf.problems import ProblemLog
from akd.asset.image import decode_image
from akd.asset.isolated import READERS, read_made, write_made
from akd.asset.read import read_asset
from fuzz.harness import FOLDER, Harness, file_parser
from tests.asset.fbx_text import fbx_text
from tests.asset.gltf_builder import pack_glb, sample
from tests.asset.usd_text import USD_TEXT

_BVH = (
    b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition "
    b"Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 1\n"
    b"Frame Time: 0.1\n0 0 0 0 0 0\n"
)
importlib.import_module("trimesh")  # readers would, with the first input that needs it
_BUFFER_MARK = b"\0BIN\0"


def _asset(suffix: str, *seeds: bytes, companions: tuple[str, ...] = ()) -> Harness:
    parse = file_parser(f"a{suffix}", read_asset, AssetError)
    return Harness(parse, (suffix,), seeds, companions)


def _isolated(format: str, seed: str, *suffixes: str) -> Harness:
    """What the reader's own process does, here, where its coverage can guide."""

    def parse(data: bytes) -> None:
        path, problems = FOLDER / f"a.{format}", ProblemLog()
        path.write_bytes(data)
        try:
            reader = importlib.import_module(READERS[format][0])
            write_made(reader.read_records(path, problems, Budget()), problems, FOLDER)
            read_made(FOLDER, path, format)
        except AssetError:
            pass

    return Harness(parse, suffixes, (seed.encode(),), inputs_a_process=50_000)


def _character() -> Harness:
    """What commands do with a file after reading it: rig, description, clips and writers.

    An input is a GLB, or its JSON and its buffer with a mark between them, so that a byte more or
    less leaves a sound container.
    """
    from tests.asset.use import use

    parse_file = file_parser("a.glb", lambda path: use(read_asset(path)), AssetError)

    def parse(data: bytes) -> None:
        text, mark, buffer = data.partition(_BUFFER_MARK)
        parse_file(pack_glb(text, buffer) if mark else data)

    made = sample()
    made.json["buffers"] = [{"byteLength": len(made.data)}]
    seed = json.dumps(made.json).encode() + _BUFFER_MARK + bytes(made.data)
    return Harness(parse, (".glb",), (seed,))


def _image() -> Harness:
    def parse(data: bytes) -> None:
        try:
            decode_image(Image("image", "image/png", data))
        except AssetError as error:
            assert "\n" not in str(error), error

    return Harness(parse, (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp"))


def _roles() -> Harness:
    from akd.rig.role_file import read_role_file

    seed = b'a = "left hind foot"\n"Tail.001" = "tail 2"\n[t]\nb = [1, 2]\n'
    return Harness(file_parser("a.toml", read_role_file, AssetError), seeds=(seed,))


def _joints() -> Harness:
    from akd.rig.autorig.joint_file import read_joint_file

    seed = b'{"left_fore_foot": [0.08, 0.15, 0.29], "head": [1, 2, 3e5]}'
    return Harness(file_parser("a.json", read_joint_file, AssetError), seeds=(seed,))


HARNESSES: dict[str, Callable[[], Harness]] = {
    "gltf": partial(_asset, ".gltf", companions=(".bin", ".png", ".jpg")),
    "glb": partial(_asset, ".glb"),
    "obj": partial(_asset, ".obj", companions=(".mtl", ".png", ".jpg")),
    "ply": partial(_asset, ".ply"),
    "stl": partial(_asset, ".stl"),
    "off": partial(_asset, ".off"),
    "bvh": partial(_asset, ".bvh", _BVH),
    "fbx": partial(_isolated, "fbx", fbx_text(), ".fbx"),
    "usd": partial(_isolated, "usd", USD_TEXT, ".usd", ".usda", ".usdc"),
    "character": _character,
    "image": _image,
    "roles": _roles,
    "joints": _joints,
}
