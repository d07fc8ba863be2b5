"""Processors whose matrix instructions are announced and do not work."""

import os

import pytest

from akd.base import processor


@pytest.fixture
def avoid(monkeypatch: pytest.MonkeyPatch):
    """What is announced, what works and what the switch says, to what is decided."""

    def decide(announced: bool, works: bool, switch: str | None) -> tuple[bool, str | None]:
        monkeypatch.setattr(processor, "_announces_amx", lambda: announced)
        monkeypatch.setattr(processor, "_amx_works", lambda: works)
        if switch is None:
            monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
        else:
            monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", switch)
        return processor.avoid_broken_amx.__wrapped__(), os.environ.get("ONEDNN_MAX_CPU_ISA")

    return decide


@pytest.mark.parametrize(
    ("announced", "works", "switch", "wanted"),
    [
        (False, False, None, (False, None)),
        (True, True, None, (False, None)),
        (True, False, None, (True, "AVX512_CORE_FP16")),
        # A process that such a process started finds the switch set, and decides alike.
        (True, False, "AVX512_CORE_FP16", (True, "AVX512_CORE_FP16")),
        (True, True, "AVX512_CORE_AMX", (False, "AVX512_CORE_AMX")),
    ],
)
def test_broken_matrix_instructions_are_left_alone(avoid, announced, works, switch, wanted):
    assert avoid(announced, works, switch) == wanted
