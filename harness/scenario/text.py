"""YAML text as plain data, with the line of every place in it.

Strict and safe: nothing is constructed; anchors, aliases, tags, merge keys, directives and keys
that stand twice are refused. Scalars are those of the core schema of YAML 1.2: `yes`, `012:30` and
dates are text, `true`, `7`, `1.5` and `null` are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
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

from harness.scenario.problems import Problems

MAX_BYTES: Final = 1 << 20
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
        """Give the line of a place, or of the nearest one around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def known(self, place: Place) -> Place:
        """Give the longest beginning of a place that the file has."""
        while place and place not in self.lines:
            place = place[:-1]
        return place


def read(path: Path) -> str:
    """Read a file's text, at most `MAX_BYTES`.

    Raises:
        ScenarioProblem: it cannot be read, is too long or no UTF-8.

    """
    problems = Problems(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            problems.stop(1, f"the file is longer than {MAX_BYTES} bytes; make it several")
        return data.decode("utf-8-sig")
    except OSError as wrong:
        problems.stop(1, f"the file cannot be read: {wrong.strerror}")
    except UnicodeDecodeError as wrong:
        line = data[: wrong.start].count(b"\n") + 1
        problems.stop(line, "not UTF-8; save the file as UTF-8")


def parse(text: str, path: str) -> Document:
    """Give the data of a YAML text.

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
    except MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        problems.stop(mark.line + 1 if mark else 1, f"not YAML: {wrong.problem}")
    except YAMLError as wrong:
        problems.stop(1, f"not YAML: {' '.join(str(wrong).split())}")
    builder = _Builder(problems)
    data = builder.build(node, ()) if node is not None else None
    problems.raise_if_any()
    return Document(path, data, builder.lines)


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
            if key.value in seen:
                self.problems.add(line, f"the key '{key.value}' stands twice; give it once")
            seen.add(key.value)
            self.lines[*place, key.value] = line
            yield key.value, self.build(value, (*place, key.value))

    def _scalar(self, node: Node) -> bool | int | float | str | None:
        text: str = node.value
        kind = _kind(node)
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind not in {"int", "float"}:
            return text
        if len(text) > MAX_DIGITS:
            self.problems.add(node.start_mark.line + 1, f"a number has at most {MAX_DIGITS} digits")
            return text
        return _number(text)


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
