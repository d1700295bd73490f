import io
import json
import re
import threading
from dataclasses import dataclass

import pytest
from rich.console import Console

from harness.cli.output import JsonProgress, PlainProgress, TerminalProgress
from harness.core.records import VerdictKind


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_plain_lines_say_what_starts_and_what_is_done() -> None:
    out = io.StringIO()
    progress = PlainProgress(out)
    progress.start("fetch a.tar.gz", 821_000_000)
    progress.advance(821_000_000)
    progress.note("by the way")
    progress.done()
    lines = ["fetch a.tar.gz: 821 MB", "by the way", "fetch a.tar.gz: done"]
    assert out.getvalue().splitlines() == lines


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


def test_of_a_count_that_is_given_up_no_end_is_reported() -> None:
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


def test_plain_lines_tell_how_many_are_wrong_so_far() -> None:
    out = io.StringIO()
    with PlainProgress(out).count("ask", 4) as count:
        for kind in ("refused", "correct", "wrong", "wrong"):
            count.judge([kind])
            count.count_result("a", "answered")
    assert out.getvalue().splitlines()[1:] == [
        "ask: 1 of 4, 3 left (a): 1 answered",  # none has rows: that none is wrong says nothing
        "ask: 2 of 4, 2 left (a): 2 answered; 0 wrong in all",
        "ask: 3 of 4, 1 left (a): 3 answered; 1 wrong in all",
        "ask: done: 4 answered; 2 wrong in all",
    ]


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


def on_terminal(out: io.StringIO) -> TerminalProgress:
    return TerminalProgress(Console(file=out, force_terminal=True, width=120, color_system=None))


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
        JsonProgress(out).send("end", status=130)
        assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == ["end"]
    other.join(30)
    assert len(out.getvalue().splitlines()) == 2
