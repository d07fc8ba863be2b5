"""Large models by name: where they are, what they may be used for, how large they are.

No torch is imported here: `akd prior list` reads this table. Sizes are those of the weights in
bfloat16, from the models' published configurations; downloads also hold the text encoder.
"""

from __future__ import annotations

from dataclasses import dataclass

from akd.prior.large.errors import PriorError


@dataclass(frozen=True)
class Entry:
    """One published model."""

    name: str
    hub: str
    """Repository on the Hugging Face hub."""
    family: str
    licence: str
    commercial: bool
    """Whether the licence lets anybody use it commercially without asking."""
    frames: int
    height: int
    width: int
    fps: float
    network: float
    """Parameters of the network, thousand millions."""
    encoder: float
    """Parameters of the text encoder, thousand millions."""
    vae: float
    """Parameters of the autoencoder, thousand millions."""
    reference_image: str = "no"
    """Whether a reference image is taken: `no`, `may` or `must`."""
    predicts: str = "flow"
    """Prediction type of the network: `v`, `epsilon` or `flow`."""
    adapter: str | None = None
    """A second repository with motion modules."""

    @property
    def weights_gib(self) -> float:
        """GiB of network and autoencoder in bfloat16: what stays in memory."""
        return (self.network + self.vae) * 2e9 / 2**30

    @property
    def download_gib(self) -> float:
        """GiB on disk with all parts in bfloat16; a repository in float32 takes twice that."""
        return (self.network + self.encoder + self.vae) * 2e9 / 2**30


COGVIDEOX = "CogVideoX licence (not for commercial use without registration)"
LTX = "LTX-Video open weights licence (commercial use has conditions)"

ENTRIES = (
    Entry("cogvideox-2b", "zai-org/CogVideoX-2b", "CogVideoX", "Apache-2.0", True,
          49, 480, 720, 8.0, 1.69, 4.76, 0.22, predicts="v"),
    Entry("cogvideox-5b", "zai-org/CogVideoX-5b", "CogVideoX", COGVIDEOX, False,
          49, 480, 720, 8.0, 5.57, 4.76, 0.22, predicts="v"),
    Entry("cogvideox-5b-i2v", "zai-org/CogVideoX-5b-I2V", "CogVideoX", COGVIDEOX, False,
          49, 480, 720, 8.0, 5.57, 4.76, 0.22, reference_image="must", predicts="v"),
    Entry("wan2.1-t2v-1.3b", "Wan-AI/Wan2.1-T2V-1.3B-Diffusers", "Wan", "Apache-2.0", True,
          81, 480, 832, 16.0, 1.42, 5.68, 0.13),
    Entry("wan2.1-t2v-14b", "Wan-AI/Wan2.1-T2V-14B-Diffusers", "Wan", "Apache-2.0", True,
          81, 480, 832, 16.0, 14.29, 5.68, 0.13),
    Entry("wan2.2-ti2v-5b", "Wan-AI/Wan2.2-TI2V-5B-Diffusers", "Wan", "Apache-2.0", True,
          121, 704, 1280, 24.0, 5.00, 5.68, 0.70, reference_image="may"),
    Entry("wan2.2-t2v-a14b", "Wan-AI/Wan2.2-T2V-A14B-Diffusers", "Wan", "Apache-2.0", True,
          81, 480, 832, 16.0, 28.58, 5.68, 0.13),
    Entry("ltx-video", "Lightricks/LTX-Video", "LTX-Video", LTX, False,
          161, 512, 704, 25.0, 1.92, 4.76, 0.42),
    Entry("animatediff", "stable-diffusion-v1-5/stable-diffusion-v1-5", "AnimateDiff",
          "CreativeML OpenRAIL-M (base), Apache-2.0 (motion modules)", True,
          16, 512, 512, 8.0, 1.31, 0.12, 0.08, predicts="epsilon",
          adapter="guoyww/animatediff-motion-adapter-v1-5-3"),
)  # fmt: skip


def find(name: str) -> Entry:
    """The model with this name or hub id."""
    for entry in ENTRIES:
        if name.lower() in (entry.name, entry.hub.lower()):
            return entry
    known = ", ".join(entry.name for entry in ENTRIES)
    raise PriorError(f"prior {name!r} is not known: it must be tiny, a folder, or one of {known}")


def rows() -> list[tuple[str, ...]]:
    """The table of `akd prior list`, its heading first."""
    heading = ("name", "licence", "commercial", "frames x height x width", "fps", "image",
               "predicts", "GiB held", "GiB download", "hub")  # fmt: skip
    table: list[tuple[str, ...]] = [heading]
    table += [
        (
            entry.name,
            entry.licence,
            "yes" if entry.commercial else "no",
            f"{entry.frames} x {entry.height} x {entry.width}",
            f"{entry.fps:g}",
            entry.reference_image,
            entry.predicts,
            f"{entry.weights_gib:.1f}",
            f"{entry.download_gib:.1f}",
            entry.hub if entry.adapter is None else f"{entry.hub} + {entry.adapter}",
        )
        for entry in ENTRIES
    ]
    return table


def lines() -> list[str]:
    """The same table as aligned text."""
    table = rows()
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
