"""A baseline as text: lines that stay keep their wording and comments, others are written out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.core import yaml_writer
from harness.core.records import FindingKind
from harness.core.yaml_writer import block
from harness.judge.baseline.known import STEP, Known


def dump(text: str, old: Sequence[Known], remaining: Sequence[Known], new: Sequence[Known]) -> str:
    """Return the text with the lines that are kept, in their own words, and then the new ones."""
    head, words = _words(text, old)
    lines = [words.get(line.line) or written(line) for line in remaining]
    lines += [written(line) for line in new]
    return "".join([head, *lines]) if lines else ""


def _words(text: str, old: Sequence[Known]) -> tuple[str, dict[int, str]]:
    """Return what stands before the first line, and the words of each by the number it begins at.

    A comment belongs to what comes after it. A list in brackets has no words of its own.
    """
    whole = text if text.endswith("\n") else f"{text}\n"
    rows = whole.splitlines(keepends=True)
    starts = [line.line for line in old]
    if not all(rows[start - 1].startswith("- ") for start in starts):
        return "", {}
    begins = [_with_comment(rows, start) for start in starts]
    parts = zip(begins, [*begins[1:], len(rows)], strict=False)
    words = ["".join(rows[begin:end]) for begin, end in parts]
    return "".join(rows[: begins[0]]) if begins else "", dict(zip(starts, words, strict=True))


def _with_comment(rows: Sequence[str], start: int) -> int:
    at = start - 1
    while at and rows[at - 1].startswith("#"):
        at -= 1
    return at


def written(line: Known) -> str:
    """Write a line out, as `parse` reads it."""
    kinds = [kind.value for kind in FindingKind if kind in line.expect.kinds]
    expect: dict[str, Any] = {
        "refused": line.expect.refused,
        "finding": kinds[0] if len(kinds) == 1 else kinds,
        "columns": sorted(line.expect.columns),
    }
    form: dict[str, Any] = {
        "when": {name: _value(name, value) for name, value in line.when},
        "expect": {name: value for name, value in expect.items() if value},
        "support": line.support.value,
        "because": line.because,
    }
    form |= {"issue": line.issue} if line.issue else {}
    form |= {"until": line.until.isoformat()} if line.until else {}
    return yaml_writer.written(block([block(form)]), offset=0)


def _value(name: str, value: str) -> object:
    if name == STEP and value.isdecimal():
        return int(value)
    return value == "true" if value in {"true", "false"} else value
