"""`Recogniser`: which action a small video shows."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import interpolate

from akd.base.files import checking_content, file_hash, read_tensors, write_tensors
from akd.base.weights import check_weights
from akd.metrics.recognise.network import ConvolutionNetwork, SequenceNetwork, build_network
from akd.metrics.recognise.settings import CLASSES, REPORTING, Name, RecogniserSettings

FORMAT = "akd-recogniser-2"


@dataclass(frozen=True)
class Recogniser:
    """A trained network that says how likely each of its classes is."""

    network: ConvolutionNetwork | SequenceNetwork
    classes: tuple[str, ...] = CLASSES

    @property
    def settings(self) -> RecogniserSettings:
        """What it looks at."""
        return self.network.settings

    @torch.no_grad()
    def __call__(self, videos: Float[Tensor, "B T H W 3"]) -> Float[Tensor, "B classes"]:
        """Probabilities of the classes for square videos (sRGB 0..1) in the style `roles`.

        They should be made at its frame rate by a camera that follows the character. Other sizes
        than its own are scaled. The probabilities are on the CPU, wherever the network is.
        """
        frames, height, width = videos.shape[1:4]
        if frames != self.settings.frames or height != width:
            raise ValueError(
                f"videos must have {self.settings.frames} square frames, got "
                f"{list(videos.shape[1:4])}"
            )
        first = next(self.network.parameters())
        logits = self.network.eval()(scaled(videos.clamp(0.0, 1.0).to(first), self.settings.size))
        return logits.float().softmax(-1).cpu()

    def names(self, videos: Float[Tensor, "B T H W 3"]) -> list[str]:
        """The likeliest class of each video."""
        return [self.classes[k] for k in self(videos).argmax(-1).tolist()]

    def to(self, device: torch.device | str) -> Recogniser:
        """Move to a device."""
        return Recogniser(self.network.to(device), self.classes)


def save_recogniser(recogniser: Recogniser, folder: Path) -> Path:
    """Write `recogniser-NAME.safetensors`, in half precision."""
    settings = recogniser.settings
    tensors = {n: v.to(torch.float16) for n, v in recogniser.network.state_dict().items()}
    about = {
        "format": FORMAT,
        "settings": json.dumps(asdict(settings)),
        "classes": json.dumps(recogniser.classes),
    }
    path = folder / f"recogniser-{settings.name}.safetensors"
    write_tensors(path, tensors, about=about)
    return path


def shipped_recognisers() -> Path:
    """The folder of the recognisers that come with the package."""
    return Path(str(resources.files("akd.metrics.recognise") / "weights"))


def has_recogniser(name: Name, folder: Path | None = None) -> bool:
    """Whether a trained recogniser lies in a folder, by default the package's own."""
    return ((folder or shipped_recognisers()) / f"recogniser-{name}.safetensors").is_file()


def find_recogniser(
    name: Name, weights: Path | None = None, *, device: torch.device | str = "cpu"
) -> Recogniser | None:
    """A recogniser from a folder of weights, else from the package; None where there is none."""
    path = _file_of(name, weights)
    return None if path is None else load_recogniser(name, path.parent, device=device)


def reporting_recognisers(
    weights: Path | None = None, *, device: torch.device | str = "cpu"
) -> dict[Name, Recogniser]:
    """Recognisers B and C, where they are found: they steer nothing."""
    found: dict[Name, Recogniser] = {}
    for name in REPORTING:
        if (recogniser := find_recogniser(name, weights, device=device)) is not None:
            found[name] = recogniser
    return found


def recogniser_hash(name: Name, weights: Path | None = None) -> str | None:
    """SHA-256 of the weights that `find_recogniser` would take; None where there are none."""
    path = _file_of(name, weights)
    return None if path is None else file_hash(path)


def _file_of(name: Name, weights: Path | None) -> Path | None:
    for folder in (weights, shipped_recognisers()):
        if folder is not None and has_recogniser(name, folder):
            return folder / f"recogniser-{name}.safetensors"
    return None


def load_recogniser(
    name: Name, folder: Path | None = None, *, device: torch.device | str = "cpu"
) -> Recogniser:
    """A trained recogniser, `a`, `b` or `c`, from a folder, by default the one that ships."""
    path = (folder or shipped_recognisers()) / f"recogniser-{name}.safetensors"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path}: there is no such recogniser; `akd prior train-recogniser {name}` makes one"
        )
    tensors, about = read_tensors(path, format=FORMAT)
    with checking_content(path):
        classes, values = tuple(json.loads(about["classes"])), json.loads(about["settings"])
        values.pop("fps", None)  # of files from before frames were in body time
        for key in ("azimuth", "elevation", "zoom", "channels"):
            values[key] = tuple(values[key])  # JSON has no tuples
        settings = RecogniserSettings(**values)
        check_weights(settings.least_weights, tensors)
        network = build_network(settings, len(classes))
        network.load_state_dict({name: value.float() for name, value in tensors.items()})
    return Recogniser(network.eval().to(device), classes)


def scaled(videos: Float[Tensor, "B T H W 3"], size: int) -> Float[Tensor, "B T S S 3"]:
    """Square videos scaled to `size` pixels a side, antialiased."""
    if videos.shape[2] == size:
        return videos
    flat = videos.flatten(0, 1).permute(0, 3, 1, 2)
    flat = interpolate(flat, (size, size), mode="bilinear", antialias=True)
    return flat.permute(0, 2, 3, 1).unflatten(0, videos.shape[:2])
