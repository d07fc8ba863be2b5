"""Marks of the tests that start a Ray cluster, and how they start it."""

import os
import warnings

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

_STORE = 100 << 20
"""Bytes of a node's object store."""


def start_head(**resources):
    """A cluster of a head node."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.cluster_utils import Cluster

        node = {"object_store_memory": _STORE, **resources}
        return _patiently(lambda: Cluster(initialize_head=True, head_node_args=node))


def add_node(cluster, **resources):
    """One more node of a cluster."""
    return _patiently(lambda: cluster.add_node(object_store_memory=_STORE, **resources))


def _patiently(start):
    """Ray gives a node half a minute to start, which is short on a busy machine."""
    for _ in range(3):
        try:
            return start()
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    return start()
