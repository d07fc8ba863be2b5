"""A clock of the day that goes backwards."""

import time
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

import akd.distill.run_folder
import akd.engine.folder


def set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time of day be an hour earlier each time that anybody asks for it."""
    hours, now = count(1), datetime.now(UTC)

    class Backwards(datetime):
        @classmethod
        def now(cls, tz=None):
            return now - timedelta(hours=next(hours))

    for module in (akd.distill.run_folder, akd.engine.folder):
        monkeypatch.setattr(module, "datetime", Backwards)
    monkeypatch.setattr(time, "time", lambda: Backwards.now().timestamp())
    monkeypatch.setattr(time, "time_ns", lambda: int(1e9 * Backwards.now().timestamp()))
