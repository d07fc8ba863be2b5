"""Worker processes that end with the process that started them, even where that one is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.connection import wait


def end_with_parent(*, grace: float = 0.0) -> None:
    """Watch the parent, in a process that `multiprocessing` started, and end when it has died.

    Args:
        grace: Seconds to stop in as at Ctrl-C, so that running work can keep its state.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        if grace:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(grace)
        os._exit(1)

    threading.Thread(target=watch, name="parent watch", daemon=True).start()
