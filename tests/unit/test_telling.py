from __future__ import annotations

import io
import json
import threading

from rich.console import Console

from harness.telling import JsonProgress, PlainProgress, TerminalProgress, for_stream


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
    progress = PlainProgress(out)
    progress.count("ask", 8)
    for _ in range(8):
        progress.advance(1)
    progress.done()
    assert out.getvalue().splitlines() == [
        *("ask: 0 of 8", "ask: 2 of 8", "ask: 4 of 8", "ask: 6 of 8", "ask: done")
    ]


def test_a_terminal_shows_the_task_and_the_notes_as_they_are() -> None:
    out = io.StringIO()
    progress = TerminalProgress(Console(file=out, force_terminal=True, width=120))
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
    progress = PlainProgress(out)
    progress.count("ask", 4)
    for by, what in (("a", "answered"), ("a", "refused"), ("b", "answered"), ("b", "silent")):
        progress.found(by, what)
    progress.done()
    assert out.getvalue().splitlines() == [
        "ask: 0 of 4",
        "ask: 1 of 4 (a): 1 answered",
        "ask: 2 of 4 (a): 1 answered, 1 refused",
        "ask: 3 of 4 (b): 2 answered, 1 refused",
        "ask: done: 2 answered, 1 refused, 1 silent",
    ]


def test_plain_lines_of_a_count_do_not_name_who_was_asked_in_the_one_before() -> None:
    out = io.StringIO()
    progress = PlainProgress(out)
    progress.count("ask", 1)
    progress.found("a", "answered")
    progress.done()
    progress.count("write", 2)
    progress.advance(1)
    assert out.getvalue().splitlines()[-1] == "write: 1 of 2"


def test_a_terminal_shows_what_was_found_beside_the_bar() -> None:
    out = io.StringIO()
    progress = TerminalProgress(Console(file=out, force_terminal=True, width=120))
    progress.count("ask", 2)
    progress.found("trino-476", "refused")
    progress.done()
    assert "ask (trino-476): 1 refused" in out.getvalue()


def test_a_program_is_told_in_json_one_object_a_line() -> None:
    out = io.StringIO()
    progress = JsonProgress(out)
    progress.count("ask", 2)
    progress.note("by the way")
    progress.found("a", "answered")
    progress.done()
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    counted = {"task": "ask", "by": "a", "done": 1, "total": 2, "found": {"answered": 1}}
    assert events == [
        {"event": "start", "task": "ask", "total": 2, "unit": "things"},
        {"event": "note", "text": "by the way"},
        {"event": "progress", **counted},
        {"event": "done", **counted},
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
        JsonProgress(out).tell("end", status=130)
        assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == ["end"]
    other.join(30)
    assert len(out.getvalue().splitlines()) == 2
