"""docs/security.md names tests that exist, and the source does what it says."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
SOURCE = sorted((ROOT / "src").rglob("*.py"))
BANNED = {
    "eval", "exec", "os.system", "os.popen", "torch.load", "pickle.load", "pickle.loads",
    "marshal.loads", "yaml.load",
}  # fmt: skip


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_named_tests_exist(file: str, test: str) -> None:
    assert re.search(rf"^def {test}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE)


def test_many_tests_are_named() -> None:
    assert len(NAMED) > 20
    table = PAGE.partition("## Not trusted")[2].partition("\n## ")[0]
    statements = [line for line in table.splitlines() if line.startswith("| ")]
    assert all("::" in line or line.startswith(("| what", "| ---")) for line in statements)


@pytest.mark.slow
def test_the_source_runs_no_foreign_code() -> None:
    # `batch.many` pickles what goes to its own child processes and back, and reads nothing else.
    for path in (path for path in SOURCE if path.parts[-2:] != ("batch", "many.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert not names & {"pickle", "marshal", "shelve"}, path
            if not isinstance(node, ast.Call):
                continue
            assert ast.unparse(node.func) not in BANNED, f"{path}:{node.lineno}"
            for keyword in node.keywords:
                is_true = isinstance(keyword.value, ast.Constant) and keyword.value.value is True
                name = keyword.arg
                assert not (name in ("shell", "trust_remote_code", "allow_pickle") and is_true), (
                    f"{path}:{node.lineno}"
                )


@pytest.mark.slow
def test_no_duration_depends_on_the_time_of_day() -> None:
    # A clock that is set back would give negative durations and waits without end: they are taken
    # from `time.monotonic` and `time.perf_counter`. The date is written to logs alone.
    dated = {"run_folder.py", "folder.py"}
    for path in SOURCE:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                assert name not in ("time.time", "time.time_ns", "os.utime"), path
                assert name != "datetime.now" or path.name in dated, path
