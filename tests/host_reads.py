"""`HostReads`: what a CUDA graph forbids, seen on the CPU."""

import traceback
from pathlib import Path
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class HostReads(TorchDispatchMode):
    """Operators whose result the host must wait for, with the line that asked for them."""

    WAITS = ("_local_scalar_dense", "item", "is_nonzero", "nonzero", "equal", "masked_select")

    def __init__(self) -> None:
        super().__init__()
        self.operators, self.found = 0, []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.operators += 1
        if func.name().removeprefix("aten::") in self.WAITS:
            ours = [f for f in traceback.extract_stack() if "/src/akd/" in f.filename]
            line = f"{Path(ours[-1].filename).name}: {ours[-1].line}" if ours else "a test's"
            self.found.append(f"{func.name()} in {line}")
        return func(*args, **(kwargs or {}))
