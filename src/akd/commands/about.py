"""What `akd`, `akd --help` and `akd --version` print."""

from __future__ import annotations

import importlib.util
import platform
import textwrap
from collections.abc import Mapping

from akd.base.blender import has_blender
from akd.base.version import __version__

ABOUT = "Animate any rigged 3D character from a sentence."
START = f"""{ABOUT} Three things to try first:

  akd demo -o out/demo                               see it at work on a built-in creature
  akd inspect fox.glb                                what akd understands of your character
  akd animate fox.glb "a fox walking" -o out/fox     animate it

`akd --help` lists all commands, `akd COMMAND --help` has an example of each."""
EXTRAS = {
    "draco": ("DracoPy",),
    "fbx": ("ufbx",),
    "large": ("diffusers", "transformers"),
    "newton": ("newton",),
    "poses": ("pyarrow",),
    "ray": ("ray",),
    "usd": ("pxr",),
    "view": ("viser",),
}
"""Optional parts of akd, and the modules that each needs."""


def help_text(commands: Mapping[str, type]) -> str:
    """The commands, each with the first sentence of its docstring, in lines of 80 letters."""
    lines = ["usage: akd COMMAND [OPTIONS]", "", ABOUT, ""]
    for name, command in commands.items():
        about = " ".join((command.__doc__ or "").split("\n\n")[0].split()).split(". ")[0]
        lines += textwrap.wrap(
            about.rstrip("."), 79, initial_indent=f"  {name:<10}", subsequent_indent=" " * 12
        )
    return "\n".join(
        (
            *lines,
            "",
            "  --help    this list; `akd COMMAND --help` has options and an example of each",
            "  --version version, devices, and extras found",
        )
    )


def version_text() -> str:
    """The version, what akd computes on, and which extras are installed."""
    found = [
        name for name, modules in EXTRAS.items() if all(map(importlib.util.find_spec, modules))
    ]
    missing = [name for name in EXTRAS if name not in found]
    return "\n".join(
        (
            f"akd {__version__}",
            f"python   {platform.python_version()}, {platform.system()} {platform.machine()}",
            f"devices  {', '.join(_devices())}",
            f"extras   {', '.join(found) or 'none'}",
            f"missing  {', '.join(missing) or 'none'}",
            f"blender  {'found' if has_blender() else 'not found'}",
        )
    )


def _devices() -> list[str]:
    import torch

    threads = torch.get_num_threads()
    names = [f"cpu ({threads} thread{'s' if threads > 1 else ''})"]
    if torch.cuda.is_available():
        names += [
            f"cuda:{i} ({torch.cuda.get_device_name(i)})" for i in range(torch.cuda.device_count())
        ]
    return names
