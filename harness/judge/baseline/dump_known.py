"""A baseline as text: lines that stay keep their wording and comments, others are written out."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from harness.core.records import FindingKind
from harness.judge.baseline.known import STEP, Known

_PLAIN: Final = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
_NOT_PLAIN: Final = re.compile(r"true|false|null|y|n|yes|no", re.IGNORECASE)
_WIDE: Final = 1 << 20
"""No line is ever folded."""


def dump(text: str, old: Sequence[Known], kept: Sequence[Known], new: Sequence[Known]) -> str:
    """Return the text with the lines that are kept, in their own words, and then the new ones."""
    head, words = _words(text, old)
    lines = [words.get(line.line) or written(line) for line in kept]
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
        "when": _flow({name: _value(name, value) for name, value in line.when}),
        "expect": _flow({name: value for name, value in expect.items() if value}),
        "support": line.support.value,
        "because": _quoted(line.because),
    }
    form |= {"issue": _quoted(line.issue)} if line.issue else {}
    form |= {"until": line.until.isoformat()} if line.until else {}
    text = io.StringIO()
    yaml = YAML(typ="rt", pure=True)
    yaml.width = _WIDE
    yaml.dump([CommentedMap(form)], text)
    return text.getvalue()


def _value(name: str, value: str) -> object:
    if name == STEP and value.isdecimal():
        return int(value)
    return value == "true" if value in {"true", "false"} else _quoted(value)


def _flow(pairs: Mapping[str, Any]) -> CommentedMap:
    found = CommentedMap({name: _items(value) for name, value in pairs.items()})
    found.fa.set_flow_style()
    return found


def _items(value: object) -> object:
    if not isinstance(value, list):
        return _quoted(value) if isinstance(value, str) else value
    found = CommentedSeq(map(_quoted, value))
    found.fa.set_flow_style()
    return found


def _quoted(text: str) -> object:
    if _PLAIN.fullmatch(text) and not _NOT_PLAIN.fullmatch(text):
        return text
    return DoubleQuotedScalarString(text)
