"""Processors that announce matrix instructions (Intel AMX) which their hypervisor does not run.

On such a virtual machine the first bfloat16 product kills the process with SIGILL. No torch here.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from akd.base.cache import cache_folder
from akd.base.files import write_json

_SWITCH = "ONEDNN_MAX_CPU_ISA"
_WITHOUT_AMX = "AVX512_CORE_FP16"
_PROBE = "import torch; a = torch.ones(256, 256, dtype=torch.bfloat16); print(float((a @ a)[0, 0]))"


@cache
def avoid_broken_amx() -> bool:
    """Tell torch to leave AMX alone where it does not work. Call before any bfloat16 product.

    A separate process tries one product, once a machine and torch version: the result is cached.
    Changes nothing on processors without AMX, or where `ONEDNN_MAX_CPU_ISA` is set, by the user or
    by the process that started this one.

    Returns:
        Whether the processor announces AMX and torch leaves it alone.
    """
    if not _announces_amx():
        return False
    if _SWITCH not in os.environ and not _amx_works():
        os.environ[_SWITCH] = _WITHOUT_AMX
    return "AMX" not in os.environ.get(_SWITCH, "AMX").upper()


def _announces_amx() -> bool:
    try:
        return " amx_tile" in Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return False


def _amx_works() -> bool:
    machine = f"{platform.node()} {platform.release()} torch {version('torch')}"
    known = cache_folder() / "amx.json"
    try:
        found = json.loads(known.read_text("utf-8"))
        if found["machine"] == machine:
            return bool(found["works"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    tried = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, check=False)
    if tried.returncode not in (0, -signal.SIGILL):
        # For lack of memory, or stopped: that says nothing of the processor, and to call it broken
        # would change what this machine computes from then on.
        return True
    works = tried.returncode == 0
    with suppress(OSError):  # a cache that cannot be written costs a second next time
        write_json(known, {"machine": machine, "works": works})
    return works
