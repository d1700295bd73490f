"""`tools/record.py`, tried on a recorded run: what it keeps, what it leaves out, what it says."""

import importlib
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from harness.core.records import Answer, Outcome, OutcomeKind, Part, StateRecord
from harness.model.file_facts import FileFact, FileKind
from harness.run import load_run
from tests.builders import recorded_lines, recordings, replay, tidy_records
from tests.builders.recordings import Recorded

HERE: Final = Path(__file__).parent
RUN: Final = HERE / "findings_a5"
Tool = Callable[..., str]


@pytest.fixture(scope="module")
def recorded() -> tuple[Recorded, ...]:
    return tuple(replay.recorded_from(load_run.load(RUN)))


@pytest.fixture
def module() -> ModuleType:
    return importlib.import_module("tools.record")


@pytest.fixture
def tool(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Tool:
    """Return a function that calls the tool and gives what it prints."""

    def call(*arguments: str | Path) -> str:
        monkeypatch.setattr(sys, "argv", ["record.py", *map(str, arguments)])
        assert module.main() == 0
        return capsys.readouterr().out

    return call


def by_id(recorded: tuple[Recorded, ...]) -> dict[str, Recorded]:
    return {record.variant.id: record for record in recorded}


def test_what_is_recorded_is_read_again(recorded: tuple[Recorded, ...], tmp_path: Path) -> None:
    recordings.write(tmp_path, recorded)
    assert by_id(recordings.read_all(tmp_path)) == by_id(recorded)


def test_a_run_of_another_hour_with_other_file_groups_is_recorded_the_same(
    recorded: tuple[Recorded, ...],
) -> None:
    old = load_run.load(RUN)
    text = "\n".join(map(str, (name for state in old.states for name in state.files)))
    other = str.maketrans("0123456789abcdef", "fedcba9876543210")
    names = {uuid: uuid.translate(other) for uuid in tidy_records.UUID.findall(text)}
    instants = {instant for state in old.states for instant in tidy_records.instants_of(state)}
    changed = tidy_records.Names(names | {instant: f"2029{instant[4:]}" for instant in instants})
    states = tuple(tidy_records.state(state, changed) for state in old.states)
    assert states != old.states
    assert tuple(replay.recorded_from(replace(old, states=states))) == recorded


def test_what_hudi_adds_to_each_row_is_recorded_without_its_hour_and_machine() -> None:
    old = load_run.load(RUN)
    variant, fact = next((state.variant, state.files[0]) for state in old.states if state.files)
    names = tidy_records.names_of([state for state in old.states if state.variant == variant])
    rows = ((fact.instant, f"{fact.instant}_0_1", "r1", 5, None, fact.path),)
    answer = replace(next(iter(old.answers.values())), rows=rows, refusal=None)
    [[instant, number, key, five, nothing, path]] = tidy_records.answer(answer, names).rows
    assert (key, five, nothing) == ("r1", 5, None)
    assert (instant, number) == (tidy_records.instant(1), f"{tidy_records.instant(1)}_0_1")
    assert path == f"{tidy_records.group(1)}-0_0-0-0_{tidy_records.instant(1)}.parquet"


def test_an_engine_s_own_text_follows_its_row_and_is_of_no_one_machine() -> None:
    old = load_run.load(RUN)
    variant, fact = next((state.variant, state.files[0]) for state in old.states if state.files)
    names = tidy_records.names_of([state for state in old.states if state.variant == variant])
    raw = ((0, 1, f'{{"in":"{fact.path}"}}'), (1, 1, "first"))
    rows = (("b", 2), ("a", 1))
    part = Part("n", "select", rows=rows, raw=raw)
    result = tidy_records.answer(Answer("", "select", rows=rows, raw=raw, parts=(part,)), names)
    path = f"{tidy_records.group(1)}-0_0-0-0_{tidy_records.instant(1)}.parquet"
    both: tuple[Answer | Part, ...] = (result, *result.parts)
    for witness in both:
        assert witness.rows == (("a", 1), ("b", 2))
        assert witness.raw == ((0, 1, "first"), (1, 1, f'{{"in":"{path}"}}'))


def test_a_snapshot_that_tells_no_time_and_a_file_with_its_task_are_named_anew() -> None:
    snapshot, file = "2040152093803931603", "67e55044-10b1-426f-9247-bb680e5fe0c8-0-00001.parquet"
    path = f"data/00000-553-{file}"
    fact = FileFact(path, FileKind.BASE, path, snapshot, (("id", "string"),), ("1",))
    state = StateRecord("v", Outcome(1, OutcomeKind.APPLIED, snapshot), "", (fact,))
    tidied = tidy_records.state(state, tidy_records.names_of((state,)))
    called = f"data/00000-0-{tidy_records.group(1)}-0-00001.parquet"
    assert tidied.outcome.instant == tidied.files[0].instant == tidy_records.instant(1)
    assert tidied.files[0].path == tidied.files[0].file_group == called


def test_an_error_names_no_folder_no_port_and_no_attempt() -> None:
    file = "67e55044-10b1-426f-9247-bb680e5fe0c8-0_0-22-33_20261122001035078.parquet"
    message = f"Can not read block -1 in file file:/tmp/a/b/{file}, asked by localhost:43211"
    fact = FileFact(file, FileKind.BASE, file[:38], "20261122001035078", ())
    names = tidy_records.names_of((StateRecord("v", Outcome(1, OutcomeKind.APPLIED), "", (fact,)),))
    called = f"{tidy_records.group(1)}-0_0-0-0_{tidy_records.instant(1)}.parquet"
    assert (
        names.message(message)
        == f"Can not read block -1 in file file:/{called}, asked by localhost:0"
    )


def test_a_changed_verdict_is_shown_with_what_it_was_and_equal_cells_together(
    recorded: tuple[Recorded, ...],
) -> None:
    verdicts = recorded[0].verdicts
    wrong = [cell for cell, verdict in verdicts.items() if verdict["verdict"] == "wrong"]
    right = {"verdict": "correct", "reproduces": ["by id"]}
    now = {**verdicts, **dict.fromkeys(wrong, right)}
    lines = replay.differences(verdicts, now)
    assert {line for line in lines if not line.startswith(" ")} == {
        verdict.case for verdict in wrong
    }
    assert "  after:  correct; as by id" in lines
    was = [line for line in lines if line.startswith("  before: ")]
    assert 0 < len(was) <= len(wrong)
    assert all("wrong; " in line and " by " in line for line in was)
    assert any("instead of" in line for line in lines)


def test_the_tool_says_what_is_new_and_then_that_nothing_is(tool: Tool, tmp_path: Path) -> None:
    first = tool(RUN, tmp_path)
    assert ": new, " in first
    assert tool(RUN, tmp_path).splitlines() == first.splitlines()[-1:]
    assert tool("--accept", tmp_path).splitlines() == first.splitlines()[-1:]


def test_the_tool_accepts_the_verdicts_of_today_and_says_which_changed(
    tool: Tool, recorded: tuple[Recorded, ...], tmp_path: Path
) -> None:
    cell, verdict = next(iter(recorded[0].verdicts.items()))
    spoilt = {**recorded[0].verdicts, cell: {"verdict": "unknown", "because": "a test"}}
    recordings.write(tmp_path, (replace(recorded[0], verdicts=spoilt),))
    lines = tool("--accept", tmp_path).splitlines()
    assert lines[0] == cell.case
    assert lines[1] == "  before: unknown; because a test"
    assert lines[2] == f"  after:  {replay.headline(verdict)}"
    assert by_id(recordings.read_all(tmp_path)) == by_id((recorded[0],))


def test_a_recording_takes_the_place_of_the_old_one_and_of_nothing_else(
    recorded: tuple[Recorded, ...], tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    recordings.write(tmp_path, recorded)
    recordings.write(tmp_path, recorded[:1])
    assert by_id(recordings.read_all(tmp_path)) == by_id(recorded[:1])
    assert (tmp_path / "mine.txt").exists()


def test_a_large_recording_is_compressed_and_accepted_as_it_is(
    tool: Tool, recorded: tuple[Recorded, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "READABLE", 0)
    cell = next(iter(recorded[0].verdicts))
    spoilt = {**recorded[0].verdicts, cell: {"verdict": "unknown", "because": "a test"}}
    recordings.write(tmp_path, (replace(recorded[0], verdicts=spoilt), *recorded[1:]))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.suffix for path in before} == {recorded_lines.COMPRESSED}
    tool("--accept", tmp_path)
    assert by_id(recordings.read_all(tmp_path)) == by_id(recorded)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert before.keys() == after.keys()
    changed = {path.name for path, data in after.items() if data != before[path]}
    assert changed == {f"{recordings.VERDICTS}{recorded_lines.COMPRESSED}"}


def test_a_nan_that_is_answered_again_is_no_other_answer(
    module: ModuleType, recorded: tuple[Recorded, ...], tmp_path: Path
) -> None:
    cell, answer = next((c, a) for c, a in recorded[0].answers.items() if a and a.rows)
    rows = tuple(tuple(float("nan") for _ in row) for row in answer.rows)
    odd = replace(recorded[0], answers={**recorded[0].answers, cell: replace(answer, rows=rows)})
    recordings.write(tmp_path, (odd,))
    again = by_id(recordings.read_all(tmp_path))
    assert again != by_id((odd,))
    assert list(module.changes(by_id((odd,)), again)) == []
    first = next(module.changes(by_id(recorded[:1]), again))
    assert first == f"{cell.case}: another answer"


def test_nothing_is_accepted_where_nothing_is_recorded(tool: Tool, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        tool("--accept", tmp_path)


def test_what_older_records_lack_of_tables_is_taken_from_a_run_that_wrote_them_anew(
    tool: Tool, recorded: tuple[Recorded, ...], tmp_path: Path
) -> None:
    old = tuple(replace(state, files=()) for state in recorded[0].states)
    recordings.write(tmp_path, (replace(recorded[0], states=old), *recorded[1:]))
    lines = tool("--states", RUN, tmp_path).splitlines()
    assert f"{recorded[0].variant.id}: step 1: files" in lines
    assert by_id(recordings.read_all(tmp_path)) == by_id(recorded)


def test_a_recording_stays_where_a_table_that_was_written_anew_is_another_one(
    tool: Tool, recorded: tuple[Recorded, ...], tmp_path: Path
) -> None:
    old = tuple(replace(state, table_version="1") for state in recorded[0].states)
    other = replace(recorded[0], states=old)
    recordings.write(tmp_path, (other,))
    first = tool("--states", RUN, tmp_path).splitlines()[0]
    assert first == (
        f"{other.variant.id}: stays, step 0: what was recorded of it is not the same now"
    )
    assert by_id(recordings.read_all(tmp_path)) == by_id((other,))
