"""Processors whose matrix instructions are announced and do not work."""

import os
import signal

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


@pytest.mark.parametrize(
    ("number", "works", "kept"),
    [(signal.SIGILL, False, True), (signal.SIGKILL, True, False), (signal.SIGABRT, True, False)],
)
def test_a_probe_that_dies_of_something_else_says_nothing(
    tmp_path, monkeypatch, number, works, kept
):
    """Memory may be short where many jobs start at once: they would compute with other numbers."""
    monkeypatch.setenv("AKD_CACHE", str(tmp_path))
    monkeypatch.setattr(processor, "_PROBE", f"import os; os.kill(os.getpid(), {int(number)})")
    assert processor._amx_works() == works
    assert (tmp_path / "amx.json").exists() == kept
    monkeypatch.setattr(processor, "_PROBE", "pass")
    assert processor._amx_works() == (works or not kept)
