"""Weights of the tiny prior on disk: safetensors in half precision, in parts, with settings.

The parts stay below the size that hosts of code and of files usually accept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib import resources
from pathlib import Path

import torch
from torch import Tensor

from akd.base.files import checking_content, read_metadata, read_tensors, write_tensors
from akd.base.processor import avoid_broken_amx
from akd.base.weights import check_weights
from akd.prior.tiny.network import TinyNetwork
from akd.prior.tiny.prior import PriorTiny
from akd.prior.tiny.settings import TinySettings
from akd.prior.tiny.vocabulary import NONE, TOKENS

FORMAT = "akd-prior-tiny-2"
PART_BYTES = 15_000_000
PATTERN = "tiny-*.safetensors"


def shipped_weights() -> Path:
    """The folder of the weights that come with the package."""
    return Path(str(resources.files("akd.prior") / "weights"))


def save_tiny(network: TinyNetwork, folder: Path) -> list[Path]:
    """Write the weights in half precision as `tiny-1.safetensors` and so on."""
    about = {
        "format": FORMAT,
        "settings": json.dumps(asdict(network.settings)),
        "vocabulary": json.dumps(TOKENS),
    }
    parts: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, value in network.state_dict().items():
        half = value.to(torch.float16)
        if size + half.nbytes > PART_BYTES and parts[-1]:
            parts.append({})
            size = 0
        parts[-1][name] = half
        size += half.nbytes
    paths = []
    for number, tensors in enumerate(parts, start=1):
        path = folder / f"tiny-{number}.safetensors"
        write_tensors(path, tensors, about={**about, "parts": str(len(parts))})
        paths.append(path)
    return paths


def has_weights(folder: Path) -> bool:
    """Whether weights of the tiny prior lie in a folder."""
    return folder.is_dir() and any(folder.glob(PATTERN))


def quick_dtype(device: torch.device | str) -> torch.dtype:
    """bfloat16 where the machine multiplies it faster than float32, else float32."""
    if torch.device(device).type == "cuda":
        return torch.bfloat16
    if avoid_broken_amx():
        # AVX-512 multiplies bfloat16 on such processors at 0.6 times the rate of float32.
        return torch.float32
    supported = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
    return torch.bfloat16 if supported is not None and supported() else torch.float32


def read_about(folder: Path) -> tuple[TinySettings, tuple[str, ...]]:
    """Settings of the weights in a folder, and the words that they were trained with."""
    path = next(iter(sorted(folder.glob(PATTERN))), None)
    if path is None:
        raise FileNotFoundError(f"{folder}: holds no weights of the tiny prior ({PATTERN})")
    about = read_metadata(path, format=FORMAT)
    with checking_content(path):
        return _settings_of(about)


def _settings_of(about: Mapping[str, str]) -> tuple[TinySettings, tuple[str, ...]]:
    values = json.loads(about["settings"])
    values.pop("known_frames", None)  # true wherever it is stated
    tokens = json.loads(about["vocabulary"])
    if not isinstance(tokens, list) or NONE not in tokens:
        raise ValueError(f"vocabulary must be a list of words with {NONE}")
    return TinySettings(**values), tuple(tokens)


def known_tokens(folder: Path) -> tuple[str, ...]:
    """The words that the weights in a folder were trained with."""
    return read_about(folder)[1]


def load_network(folder: Path) -> tuple[TinyNetwork, tuple[str, ...]]:
    """The network in a folder, float32 on the CPU, and the words that it knows."""
    paths = sorted(folder.glob(PATTERN))
    if not paths:
        raise FileNotFoundError(f"{folder}: holds no weights of the tiny prior ({PATTERN})")
    tensors: dict[str, Tensor] = {}
    about: dict[str, str] = {}
    for path in paths:
        part, about = read_tensors(path, format=FORMAT)
        tensors |= part
    with checking_content(folder):
        if int(about["parts"]) != len(paths):
            raise ValueError(f"must hold {about['parts']} parts ({PATTERN}), got {len(paths)}")
        settings, tokens = _settings_of(about)
        check_weights(settings.least_weights, tensors)
        # Random numbers that are replaced at once; on the meta device they would be saved, but
        # drawing them there imports torch's decompositions, ten times as long.
        with torch.random.fork_rng(devices=[]):
            network = TinyNetwork(settings, len(tokens))
        network.load_state_dict({n: v.float() for n, v in tensors.items()}, assign=True)
    return network, tokens


def load_tiny(
    folder: Path | None = None,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype | None = None,
) -> PriorTiny:
    """The tiny prior from a folder, by default the one that ships; ready to use.

    `dtype` is what it computes in: by default bfloat16 where that is quick.
    """
    network, tokens = load_network(folder or shipped_weights())
    return PriorTiny(network.to(device, dtype or quick_dtype(device)), tokens=tokens)
