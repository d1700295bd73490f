"""YAML text as plain data, with the line of every place in it.

Strict and safe: nothing is constructed; anchors, aliases, tags, merge keys, directives and keys
that stand twice are refused. Scalars are those of the core schema of YAML 1.2: `yes`, `012:30` and
dates are text, `true`, `7`, `1.5` and `null` are not.
"""

from __future__ import annotations

import decimal
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.tokens import (
    AliasToken,
    AnchorToken,
    BlockEndToken,
    BlockMappingStartToken,
    BlockSequenceStartToken,
    DirectiveToken,
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    TagToken,
    Token,
)

from harness.core.problems import Problems

MAX_BYTES: Final = 1 << 18
"""Fifty times the longest scenario that is shipped; the parser takes a few seconds for it."""
MAX_DEPTH: Final = 40
MAX_DIGITS: Final = 100

Place = tuple[str | int, ...]
"""Where something stands: keys and list positions from the root."""

_REFUSED: Final[Mapping[type[Token], str]] = {
    AnchorToken: "an anchor (&)",
    AliasToken: "an alias (*)",
    TagToken: "a tag (!)",
    DirectiveToken: "a directive (%)",
}
_OPEN: Final = (
    BlockMappingStartToken,
    BlockSequenceStartToken,
    FlowMappingStartToken,
    FlowSequenceStartToken,
)
_CLOSE: Final = (BlockEndToken, FlowMappingEndToken, FlowSequenceEndToken)
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)")


@dataclass(frozen=True, slots=True)
class Document:
    """The data of a file, and the line of each place."""

    path: str
    data: Any
    """None, bool, int, float, str, list and dict."""
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int:
        """Return the line of a place, or of the nearest one around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def known(self, place: Place) -> Place:
        """Return the longest beginning of a place that the file has."""
        while place and place not in self.lines:
            place = place[:-1]
        return place


def read(path: Path, most: int = MAX_BYTES, kind: str = "a YAML file") -> str:
    """Read a file's text, at most so many bytes; no pipe or device is waited for.

    `kind`: what the file is to be, for people.

    Raises:
        ScenarioProblem: it is no file, cannot be read, is too long or no UTF-8.

    """
    problems = Problems(str(path))
    try:
        # Asked first: opening a pipe waits for somebody to write to it.
        if not stat.S_ISREG(path.stat().st_mode):
            problems.stop(1, f"this is not a file; give {kind}")
        with path.open("rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            problems.stop(1, f"the file is longer than {most} bytes; make it several")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = data[: wrong.start].count(b"\n") + 1
        problems.stop(line, "not UTF-8; save the file as UTF-8")
    except OSError as wrong:
        problems.stop(1, f"the file cannot be read: {wrong.strerror}")
    except ValueError as wrong:  # a path that no file system can hold
        problems.stop(1, f"the file cannot be read: {wrong}")


def parse(text: str, path: str) -> Document:
    """Return the data of a YAML text.

    Raises:
        ScenarioProblem: it is no YAML, or more than plain data; every such place is named.

    """
    problems = Problems(path)
    if len(text) > MAX_BYTES:
        problems.stop(1, f"the text is longer than {MAX_BYTES} characters; make it several files")
    try:
        _check_tokens(text, problems)
        problems.raise_if_any()
        node = _yaml().compose(text)
    except (YAMLError, OverflowError, ValueError) as wrong:
        _stop(wrong, text, problems)
    builder = _Builder(problems)
    data = builder.build(node, ()) if node is not None else None
    problems.raise_if_any()
    return Document(path, data, builder.lines)


def _stop(wrong: Exception, text: str, problems: Problems) -> NoReturn:
    match wrong:
        case MarkedYAMLError():
            mark = wrong.problem_mark or wrong.context_mark
            problems.stop(mark.line + 1 if mark else 1, f"not YAML: {wrong.problem}")
        case ReaderError():
            line = text.count("\n", 0, wrong.position) + 1
            problems.stop(line, f"not YAML: unacceptable character #x{wrong.character:04x}")
        case YAMLError():
            problems.stop(1, f"not YAML: {' '.join(str(wrong).split())}")
    # The parser calls chr() for what stands behind a backslash and U.
    problems.stop(1, f"not YAML: an escape stands for no character ({wrong})")


def _yaml() -> YAML:
    return YAML(typ="safe", pure=True)


def _check_tokens(text: str, problems: Problems) -> None:
    depth = 0
    for token in _yaml().scan(text):
        line = token.start_mark.line + 1
        if type(token) in _REFUSED:
            what = _REFUSED[type(token)]
            problems.add(line, f"{what} has no place here; write the data out, quote text with it")
        depth += isinstance(token, _OPEN) - isinstance(token, _CLOSE)
        if depth > MAX_DEPTH:
            problems.stop(line, f"nested deeper than {MAX_DEPTH} levels")


class _Builder:
    """Makes data of nodes, and remembers the lines."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.lines: dict[Place, int] = {}

    def build(self, node: Node, place: Place) -> Any:  # noqa: ANN401 - YAML holds anything
        self.lines.setdefault(place, node.start_mark.line + 1)
        match node:
            case MappingNode():
                return dict(self._pairs(node, place))
            case SequenceNode():
                return [self.build(each, (*place, at)) for at, each in enumerate(node.value)]
        return self._scalar(node)

    def _pairs(self, node: MappingNode, place: Place) -> Iterator[tuple[str, Any]]:
        seen: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, ScalarNode):
                self.problems.add(line, "a key is text, not a list or mapping")
                continue
            if _kind(key) == "merge":
                self.problems.add(line, "a merge key (<<) has no place here; write the data out")
            name = self._text(key)
            if name in seen:
                self.problems.add(line, f"the key '{name}' stands twice; give it once")
            seen.add(name)
            self.lines[*place, name] = line
            yield name, self.build(value, (*place, name))

    def _scalar(self, node: Node) -> bool | int | float | str | None:
        text: str = node.value
        kind = _kind(node)
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind not in {"int", "float"}:
            return self._text(node)
        if len(text) > MAX_DIGITS:
            self.problems.add(node.start_mark.line + 1, f"a number has at most {MAX_DIGITS} digits")
            return text
        number = _number(text)
        if isinstance(number, float) and not _kept(text, number):
            told = f"{text} is read as {number}; quote it to keep every digit"
            self.problems.add(node.start_mark.line + 1, told)
        return number

    def _text(self, node: Node) -> str:
        r"""Return a scalar's text; what JSON writes as a pair of `\\u` is one character."""
        text: str = node.value
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            told = "\\ud800 to \\udfff are halves of characters; write the character itself"
            self.problems.add(node.start_mark.line + 1, told)
            return ""


def _kind(node: Node) -> str:
    return str(node.tag).rpartition(":")[2]


def _number(text: str) -> int | float | str:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if named := _NOT_FINITE.fullmatch(text):
        return float(named[1] + named[2])
    return text


def _kept(text: str, number: float) -> bool:
    """Return whether a floating number is the one that was written."""
    if _NOT_FINITE.fullmatch(text):
        return True
    try:
        return decimal.Decimal(text) == decimal.Decimal(repr(number))
    except decimal.InvalidOperation:  # an exponent that no number has
        return False
