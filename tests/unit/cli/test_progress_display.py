from __future__ import annotations

import io
import json
import re
import threading
from dataclasses import dataclass

import pytest
from rich.console import Console

from harness.cli.output import (
    JsonProgress,
    PlainProgress,
    TerminalProgress,
    for_stream,
)
from harness.core.records import VerdictKind


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines_say_what_starts_and_what_is_done() -> None:
    out = io.StringIO()
    progress = PlainProgress(out)
    progress.start("fetch a.tar.gz", 821_000_000)
    progress.advance(821_000_000)
    progress.note("by the way")
    progress.done()
    lines = ["fetch a.tar.gz: 821 MB", "by the way", "fetch a.tar.gz: done"]
    assert out.getvalue().splitlines() == lines


def test_plain_lines_tell_a_count_at_every_quarter() -> None:
    out = io.StringIO()
    with PlainProgress(out).count("ask", 8) as count:
        for _ in range(8):
            count.advance()
    assert out.getvalue().splitlines() == [
        "ask: 0 of 8",
        "ask: 2 of 8, 6 left",
        "ask: 4 of 8, 4 left",
        "ask: 6 of 8, 2 left",
        "ask: done",
    ]


def test_after_a_minute_plain_lines_tell_every_count_that_runs_once_one_of_them_moves() -> None:
    out, clock = io.StringIO(), Clock()
    progress = PlainProgress(out, clock)
    asked, written = progress.count("ask", 50_000), progress.count("write", 397)
    written.advance()
    for amount in (2_000, 600):
        clock.now += 59.9
        asked.count_result("a", "answered", amount)
    clock.now += 1
    asked.count_result("b", "refused", 9)
    clock.now += 60
    assert len(out.getvalue().splitlines()) == 3, "a line a minute, and none where nothing moves"
    written.end()
    asked.count_result("b", "refused")
    assert out.getvalue().splitlines()[2:] == [
        "ask: 2,600 of 50,000, 47,400 left (a): 2,600 answered; write: 1 of 397, 396 left",
        "write: done",
        "ask: 2,610 of 50,000, 47,390 left (b): 2,600 answered, 10 refused",
    ]


def test_the_time_before_a_count_begins_is_none_of_its_minute() -> None:
    out, clock = io.StringIO(), Clock()
    progress = PlainProgress(out, clock)
    clock.now += 600
    progress.count("ask", 100).advance()
    assert out.getvalue().splitlines() == ["ask: 0 of 100"]


def test_of_a_count_that_is_given_up_no_end_is_told() -> None:
    out = io.StringIO()
    for progress in (PlainProgress(out), JsonProgress(out)):
        with pytest.raises(KeyError), progress.count("ask", 8):
            raise KeyError
    assert "done" not in out.getvalue()


def test_a_terminal_shows_the_task_and_the_notes_as_they_are() -> None:
    out = io.StringIO()
    progress = on_terminal(out)
    progress.start("fetch [bold]a", 2_000_000)
    progress.note("note [red]x")
    progress.advance(2_000_000)
    progress.done()
    assert "fetch [bold]a" in out.getvalue()
    assert "note [red]x" in out.getvalue()
    assert "2.0/2.0 MB" in out.getvalue()


def test_a_terminal_may_be_told_about_bytes_with_no_task_running() -> None:
    out = io.StringIO()
    progress = TerminalProgress(Console(file=out))
    progress.advance(1)
    progress.done()
    assert out.getvalue() == ""


def test_a_bar_is_for_terminals_only() -> None:
    assert isinstance(for_stream(io.StringIO()), PlainProgress)
    assert isinstance(for_stream(Terminal()), TerminalProgress)


def test_plain_lines_tell_what_was_found_so_far_and_who_is_asked() -> None:
    out = io.StringIO()
    with PlainProgress(out).count("ask", 4) as count:
        for by, what in (("a", "answered"), ("a", "refused"), ("b", "answered"), ("", "reused")):
            count.count_result(by, what)
    assert out.getvalue().splitlines() == [
        "ask: 0 of 4",
        "ask: 1 of 4, 3 left (a): 1 answered",
        "ask: 2 of 4, 2 left (a): 1 answered, 1 refused",
        "ask: 3 of 4, 1 left (b): 2 answered, 1 refused",
        "ask: done: 2 answered, 1 refused, 1 reused",
    ]


def test_plain_lines_tell_how_many_are_wrong_so_far() -> None:
    out = io.StringIO()
    with PlainProgress(out).count("ask", 4) as count:
        for kind in ("refused", "correct", "wrong", "wrong"):
            count.judge([kind])
            count.count_result("a", "answered")
    assert out.getvalue().splitlines()[1:] == [
        "ask: 1 of 4, 3 left (a): 1 answered",  # none has rows: that none is wrong says nothing
        "ask: 2 of 4, 2 left (a): 2 answered; 0 wrong",
        "ask: 3 of 4, 1 left (a): 3 answered; 1 wrong",
        "ask: done: 4 answered; 2 wrong",
    ]


def test_what_is_judged_is_told_within_the_minute_though_no_answer_comes() -> None:
    out, clock = io.StringIO(), Clock()
    asked = PlainProgress(out, clock).count("ask", 50_000)
    asked.count_result("a", "answered")
    clock.now += 60
    asked.judge(["wrong"])
    last = out.getvalue().splitlines()[-1]
    assert last == "ask: 1 of 50,000, 49,999 left (a): 1 answered; 1 wrong"


def test_plain_lines_of_a_count_do_not_name_who_was_asked_in_the_one_before() -> None:
    out = io.StringIO()
    progress = PlainProgress(out)
    with progress.count("ask", 1) as count:
        count.count_result("a", "answered")
    progress.count("write", 2).advance()
    assert out.getvalue().splitlines()[-1] == "write: 1 of 2, 1 left"


def test_a_terminal_shows_what_was_found_beside_the_bar() -> None:
    out = io.StringIO()
    with on_terminal(out).count("ask", 2) as count:
        count.count_result("trino-476", "refused")
    assert "ask: 1 of 2, 1 left (trino-476): 1 refused" in out.getvalue()


def test_a_terminal_shows_how_many_are_wrong_also_when_nothing_more_comes() -> None:
    out = io.StringIO()
    with on_terminal(out).count("ask", 2) as count:
        count.count_result("trino-476", "answered", 2)
        count.judge(["wrong", "correct"])
    assert "2 of 2, 0 left (trino-476): 2 answered; 1 wrong" in " ".join(out.getvalue().split())


def test_a_terminal_shows_all_that_runs_at_once_each_in_its_figures() -> None:
    out = io.StringIO()
    progress = on_terminal(out)
    with progress.count("ask", 2_000) as asked, progress.count("write", 7) as written:
        written.advance()
        asked.count_result("a", "answered", 500)
        progress.start("fetch a", 2_000_000)
        progress.advance(1_000_000)
        progress.done()
    last = out.getvalue()[out.getvalue().rindex("ask: ") :]
    assert "ask: 500 of 2,000, 1,500 left (a): 500 answered" in last
    assert "write: 1 of 7, 6 left" in last
    assert "1.0/2.0 MB" in last
    assert len(re.findall(r"\d:\d\d:\d\d", last)) == 2, "the time that both counts took"


def test_on_a_narrow_terminal_no_word_is_cut_off() -> None:
    out = io.StringIO()
    with on_terminal(out, width=60).count("ask cells", 52_826) as count:
        count.count_result("spark-3.5.8-hudi-1.0.2", "answered", 20_123)
        count.count_result("spark-3.5.8-hudi-1.0.2", "refused", 6_000)
    words = out.getvalue()[out.getvalue().rindex("ask cells: ") :].split()
    assert {"26,123", "26,703", "left", "20,123", "answered,", "6,000", "refused"} <= {*words}


def on_terminal(out: io.StringIO, width: int = 120) -> TerminalProgress:
    return TerminalProgress(Console(file=out, force_terminal=True, width=width, color_system=None))


def test_a_program_is_told_in_json_one_object_a_line() -> None:
    out = io.StringIO()
    progress = JsonProgress(out)
    with progress.count("ask", 2) as count:
        progress.note("by the way")
        count.count_result("a", "answered")
        count.judge([VerdictKind.WRONG])
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    counted = {"task": "ask", "by": "a", "done": 1, "total": 2, "left": 1, "found": {"answered": 1}}
    assert events == [
        {"event": "start", "task": "ask", "total": 2, "unit": "things"},
        {"event": "note", "text": "by the way"},
        {"event": "progress", **counted, "judged": {}},
        {"event": "done", **counted, "judged": {"wrong": 1}},
    ]


def test_after_a_minute_a_program_is_told_of_every_count_that_runs() -> None:
    out, clock = io.StringIO(), Clock()
    progress = JsonProgress(out, clock)
    asked, _ = progress.count("ask", 50_000), progress.count("write", 397)
    asked.count_result("a", "answered")
    clock.now += 60
    asked.count_result("a", "answered")
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    request = [(event["task"], event["done"], event["left"]) for event in events[2:]]
    assert request == [("ask", 2, 49_998), ("write", 0, 397)]


def test_of_many_bytes_a_program_is_told_every_hundredth_only() -> None:
    out = io.StringIO()
    progress = JsonProgress(out)
    progress.start("fetch", 100_000)
    for _ in range(1000):
        progress.advance(100)
    events = [json.loads(line)["event"] for line in out.getvalue().splitlines()]
    assert events == ["start", *["progress"] * 100]


def test_nobody_comes_between_a_line_and_who_has_the_last_word() -> None:
    out = io.StringIO()
    other = threading.Thread(target=JsonProgress(out).note, args=("late",))
    with JsonProgress.speaking:
        other.start()
        JsonProgress(out).tell("end", status=130)
        assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == ["end"]
    other.join(30)
    assert len(out.getvalue().splitlines()) == 2
