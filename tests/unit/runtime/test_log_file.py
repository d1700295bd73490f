from __future__ import annotations

from pathlib import Path

from harness.runtime.process import log_since, log_size, log_tail


def test_the_tail_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(20_000)))
    assert log_tail(log, 2) == "line 19998\nline 19999"


def test_all_of_a_log_since_then_is_told_also_what_is_no_text(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"one, tw\xff")
    assert log_since(log, len("one, ")) == "tw\N{REPLACEMENT CHARACTER}"
    assert log_since(log, log_size(log)) == ""


def test_a_log_that_is_no_longer_there_is_empty(tmp_path: Path) -> None:
    gone = tmp_path / "log"
    assert (log_tail(gone, 2), log_size(gone), log_since(gone, 0)) == ("", 0, "")
