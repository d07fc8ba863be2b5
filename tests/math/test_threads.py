import threading

import pytest
import torch

from akd.math.threads import map_threads, torch_threads


def test_items_run_at_once_and_share_torchs_threads():
    both = threading.Barrier(2, timeout=30)

    def work(item: int) -> tuple[int, int]:
        both.wait()  # passes only if the other item runs at the same time
        # Too large for one thread by torch's rules, so that the thread's setting is in use.
        float(torch.ones(200, 200).matmul(torch.ones(200, 200)).sum())
        return item, torch.get_num_threads()

    with torch_threads(4):
        assert map_threads(work, [7, 8]) == [(7, 2), (8, 2)]
        assert torch.get_num_threads() == 4


def test_an_error_of_an_item_is_raised_and_the_threads_are_given_back():
    with torch_threads(2):
        with pytest.raises(ZeroDivisionError):
            map_threads(lambda item: 1 // item, [1, 0])
        assert torch.get_num_threads() == 2
