"""`tools/record.py`, tried on a recorded run: what it keeps, what it leaves out, what it says."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from harness import run
from tests.recorded import replay, store, tidy
from tests.recorded.store import Recorded

HERE: Final = Path(__file__).parent
RUN: Final = HERE / "findings_a5"
TOOLS: Final = HERE.parents[1] / "tools"
Tool = Callable[..., str]


@pytest.fixture(scope="module")
def recorded() -> tuple[Recorded, ...]:
    return tuple(replay.recorded_from(run.load(RUN)))


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tool:
    """Give a function that calls the tool and gives what it prints."""
    monkeypatch.syspath_prepend(TOOLS)
    record = importlib.import_module("record")

    def call(*arguments: str | Path) -> str:
        monkeypatch.setattr(sys, "argv", ["record.py", *map(str, arguments)])
        assert record.main() == 0
        return capsys.readouterr().out

    return call


def by_id(recorded: tuple[Recorded, ...]) -> dict[str, Recorded]:
    return {each.variant.id: each for each in recorded}


def test_what_is_recorded_is_read_again(recorded: tuple[Recorded, ...], tmp_path: Path) -> None:
    replay.write(tmp_path, recorded)
    assert by_id(store.read_all(tmp_path)) == by_id(recorded)


def test_a_run_of_another_hour_with_other_file_groups_is_recorded_alike(
    recorded: tuple[Recorded, ...],
) -> None:
    old = run.load(RUN)
    text = "\n".join(map(str, (name for each in old.states for name in each.files)))
    other = str.maketrans("0123456789abcdef", "fedcba9876543210")
    names = {each: each.translate(other) for each in tidy.UUID.findall(text)}
    instants = {each for state in old.states for each in tidy.instants_of(state)}
    changed = tidy.Names(names | {each: f"2029{each[4:]}" for each in instants})
    states = tuple(tidy.state(each, changed) for each in old.states)
    assert states != old.states
    assert tuple(replay.recorded_from(replace(old, states=states))) == recorded


def test_a_changed_verdict_is_shown_with_what_it_was_and_all_cells_alike_together(
    recorded: tuple[Recorded, ...],
) -> None:
    verdicts = recorded[0].verdicts
    wrong = [cell for cell, said in verdicts.items() if said["verdict"] == "wrong"]
    right = {"verdict": "correct", "reproduces": ["by id"]}
    now = {**verdicts, **dict.fromkeys(wrong, right)}
    lines = replay.differences(verdicts, now)
    assert {line for line in lines if not line.startswith(" ")} == {each.case for each in wrong}
    assert "  after:  correct; as by id" in lines
    was = [line for line in lines if line.startswith("  before: ")]
    assert 0 < len(was) <= len(wrong)
    assert all("wrong; " in line and " by " in line for line in was)
    assert any("instead of" in line for line in lines)


def test_a_place_read_otherwise_is_shown_though_the_verdict_is_named_alike(
    recorded: tuple[Recorded, ...],
) -> None:
    cell, said = next((c, s) for c, s in recorded[0].verdicts.items() if s.get("findings"))
    finding = said["findings"][0]
    places = [each | {"raw": "something else"} for each in finding["places"]]
    other = {**said, "findings": [finding | {"places": places}, *said["findings"][1:]]}
    lines = replay.differences({cell: said}, {cell: other})
    assert lines[1].removeprefix("  before: ") == lines[2].removeprefix("  after:  ")
    assert any("+" in line and "something else" in line for line in lines[3:])


def test_the_tool_says_what_is_new_and_then_that_nothing_is(tool: Tool, tmp_path: Path) -> None:
    first = tool(RUN, tmp_path)
    assert ": new, " in first
    assert tool(RUN, tmp_path).splitlines() == first.splitlines()[-1:]
    assert tool("--accept", tmp_path).splitlines() == first.splitlines()[-1:]


def test_the_tool_accepts_the_verdicts_of_today_and_says_which_changed(
    tool: Tool, recorded: tuple[Recorded, ...], tmp_path: Path
) -> None:
    cell, said = next(iter(recorded[0].verdicts.items()))
    spoilt = {**recorded[0].verdicts, cell: {"verdict": "unknown", "because": "a test"}}
    replay.write(tmp_path, (replace(recorded[0], verdicts=spoilt),))
    lines = tool("--accept", tmp_path).splitlines()
    assert lines[0] == cell.case
    assert lines[1] == "  before: unknown; because a test"
    assert lines[2] == f"  after:  {replay.headline(said)}"
    assert by_id(store.read_all(tmp_path)) == by_id((recorded[0],))


def test_a_recording_takes_the_place_of_the_old_one_and_of_nothing_else(
    recorded: tuple[Recorded, ...], tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    replay.write(tmp_path, recorded)
    replay.write(tmp_path, recorded[:1])
    assert by_id(store.read_all(tmp_path)) == by_id(recorded[:1])
    assert (tmp_path / "mine.txt").exists()


def test_nothing_is_accepted_where_nothing_is_recorded(tool: Tool, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        tool("--accept", tmp_path)
