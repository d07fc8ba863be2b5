"""Marks of the tests that start a Ray cluster."""

import os

import pytest

# Ray lowers the priority of its workers by 15: beside other tests they would hardly run.
os.environ.setdefault("RAY_worker_niceness", "0")

RAY_MARKS = [
    pytest.mark.slow,
    # Ray leaves sockets and subprocesses to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
