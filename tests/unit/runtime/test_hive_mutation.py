import json
import sys
from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.artifacts.fetch import Installation
from harness.core.records import Refusal
from harness.runtime import hive_launcher
from harness.runtime.hive_mutation import PROGRAM, MutationProgram, needed
from harness.runtime.process import ProcessProblem

WRITES = "import json, sys; json.dump({reply}, open(sys.argv[-1], 'w'))"


@pytest.fixture
def program(tmp_path: Path) -> MutationProgram:
    tool = Installation(distributions.load("hive-mutation-3.1.3"), Path("java"), None, ())
    return MutationProgram(tool, "thrift://x", tmp_path)


def replies(monkeypatch: pytest.MonkeyPatch, text: str) -> list[tuple[str, ...]]:
    """Let a program of Python stand for the one of Groovy; return what that is started with."""
    started = list[tuple[str, ...]]()

    def command(_: Installation, __: Path, main: tuple[str, ...]) -> tuple[str, ...]:
        started.append(main)
        return (sys.executable, "-c", text, *main)

    monkeypatch.setattr(hive_launcher, "command", command)
    return started


def test_a_batch_is_sent_with_the_metastore(
    program: MutationProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = replies(monkeypatch, WRITES.format(reply={"write_id": 1}))
    assert program.run({"rows": []}, 60) is None
    ((main, script, request, _),) = started
    assert (main, script) == ("groovy.ui.GroovyMain", str(PROGRAM))
    assert json.loads(Path(request).read_text()) == {"rows": [], "metastore": "thrift://x"}


def test_what_was_thrown_is_reported_with_its_innermost_cause(
    program: MutationProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer, inner = {"kind": "a.Outer", "message": "x"}, {"kind": "a.Inner", "message": "y"}
    replies(monkeypatch, WRITES.format(reply={"error": [outer, inner]}))
    assert program.run({}, 60) == Refusal("a.Outer", "x", cause="a.Inner: y")
    replies(monkeypatch, WRITES.format(reply={"error": [outer]}))
    assert program.run({}, 60) == Refusal("a.Outer", "x")


def test_a_program_that_dies_says_nothing(
    program: MutationProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies(monkeypatch, "print('no class')")
    with pytest.raises(ProcessProblem, match="no class"):
        program.run({}, 60)


def test_writers_name_the_distribution_of_the_library() -> None:
    names = ("hive-3.1.3", "spark-3.5.8", "hive-4.0.1", "hive-3.1.3")
    writers = [distributions.load(name) for name in names]
    assert needed(writers) == ("hive-mutation-3.1.3",)
    assert PROGRAM.is_file()
