"""Marks of the tests that start a Ray cluster."""

import pytest

RAY_MARKS = [
    pytest.mark.slow,
    # Ray leaves sockets and subprocesses to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
