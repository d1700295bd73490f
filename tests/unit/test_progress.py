from __future__ import annotations

import io

import pytest
from rich.console import Console

from harness.progress import PlainProgress, TerminalProgress, for_stream, megabytes


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


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0.0 MB"), (120_286, "0.1 MB"), (9_940_000, "9.9 MB"), (10**7, "10 MB")]
)
def test_sizes_are_told_in_decimal_megabytes(size: int, text: str) -> None:
    assert megabytes(size) == text
