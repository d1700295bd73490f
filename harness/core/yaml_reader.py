"""YAML text as plain data, with the line of every place in it.

Strict and safe: anchors, aliases, tags, merge keys, directives and keys that stand twice are
refused. Scalars are those of the core schema of YAML 1.2: `yes`, `012:30` and dates are text.
"""

import dataclasses
import decimal
import json
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby, takewhile
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, NoReturn, TypeVar, get_args, get_type_hints

from pydantic import BeforeValidator, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML, events
from ruamel.yaml.error import YAMLError
from ruamel.yaml.reader import ReaderError

from harness.core.errors import MOST
from harness.core.problems import Problems, one_of

MAX_BYTES: Final = 1 << 18
"""Fifty times the longest scenario that is shipped; the parser takes a few seconds for it."""
COLON: Final = '; text with a colon in it wants quotes, such as "struct<a: int>"'
MAX_DEPTH: Final = 40
MAX_DIGITS: Final = 100

KeyPath = tuple[str | int, ...]

NullText = Annotated[str, BeforeValidator(lambda given: "null" if given is None else given)]
"""A text that may be `null`, which YAML takes for no value where it has no quotes."""

Scalar = bool | int | float | str | None

_CORE_SCHEMA: Final[Mapping[str, Callable[[str], Scalar]]] = {
    "|~|null|Null|NULL": lambda _: None,
    "true|True|TRUE": lambda _: True,
    "false|False|FALSE": lambda _: False,
    "[-+]?[0-9]+": int,
    "0o[0-7]+|0x[0-9a-fA-F]+": lambda text: int(text, 0),
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?": float,
    r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)": lambda text: float(text.replace(".", "")),
}


@dataclass(frozen=True, slots=True)
class Document:
    """The data of a file, the line of each place, and what is found wrong with it."""

    data: Any
    """None, bool, int, float, str, list and dict."""
    lines: Mapping[KeyPath, int]
    problems: Problems

    @property
    def path(self) -> str:
        return self.problems.path

    def note(self, at: KeyPath, text: str) -> None:
        self.problems.add(self.line(at), text)

    def line(self, at: KeyPath) -> int:
        return self.lines.get(self.nearest(at), 1)

    def nearest(self, at: KeyPath) -> KeyPath:
        """Return the longest beginning of a place that the file has."""
        while at and at not in self.lines:
            at = at[:-1]
        return at


def read(path: Path, most: int = MAX_BYTES, kind: str = "a YAML file") -> str:
    """Return the text of a file of at most `most` bytes; no pipe or device is waited for."""
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


def parse(text: str, path: str, most: int = MAX_BYTES) -> Document:
    """Return the data of a YAML text; ScenarioProblem: it is more than plain data, by line."""
    problems = Problems(path)
    if len(text) > most:
        problems.stop(1, f"the text is longer than {most} characters; make it several files")
    builder = _Builder(text, problems)
    try:
        data = builder.document()
    except (YAMLError, OverflowError, ValueError) as wrong:
        _stop(wrong, text, problems)
    problems.raise_if_any()
    return Document(data, builder.lines, problems)


def _stop(wrong: Exception, text: str, problems: Problems) -> NoReturn:
    if mark := getattr(wrong, "problem_mark", None) or getattr(wrong, "context_mark", None):
        message = str(getattr(wrong, "problem", wrong))
        about_colon = message.startswith("mapping values") or message.endswith("got ':'")
        problems.stop(mark.line + 1, f"not YAML: {message}{COLON if about_colon else ''}")
    if isinstance(wrong, ReaderError):
        line = text.count("\n", 0, wrong.position) + 1
        problems.stop(line, f"not YAML: unacceptable character #x{wrong.character:04x}")
    if isinstance(wrong, YAMLError):
        problems.stop(1, f"not YAML: {' '.join(str(wrong).split())}")
    # The parser calls chr() for what stands behind a backslash and U.
    problems.stop(1, f"not YAML: an escape stands for no character ({wrong})")


class _Builder:
    """Makes data of the parser's events, and remembers the lines."""

    def __init__(self, text: str, problems: Problems) -> None:
        self._text, self._problems = text, problems
        self._events: Iterator[events.Event] = YAML(typ="safe", pure=True).parse(text)
        self.lines: dict[KeyPath, int] = {}

    def document(self) -> Any:  # noqa: ANN401 - YAML holds anything
        next(self._events)  # the stream begins
        begin = next(self._events)
        if isinstance(begin, events.StreamEndEvent):
            return None
        before = self._text[: begin.start_mark.index]
        if directive := re.search("^%", before, re.MULTILINE):
            self._refuse(before.count("\n", 0, directive.start()) + 1, "a directive (%)")
        data = self._node(next(self._events), ())
        next(self._events)  # the document ends
        if not isinstance(after := next(self._events), events.StreamEndEvent):
            message = "a second document (---) has no place here; make it a file of its own"
            self._problems.stop(_line(after), message)
        return data

    def _node(self, event: events.Event, at: KeyPath) -> Any:  # noqa: ANN401
        self.lines.setdefault(at, _line(event))
        self._check_plain(event)
        if isinstance(event, events.AliasEvent):
            return None
        if isinstance(event, events.ScalarEvent):
            return self._scalar(event)
        if len(at) == MAX_DEPTH:
            self._problems.stop(_line(event), f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, events.SequenceStartEvent):
            return [self._node(entry, (*at, index)) for index, entry in enumerate(self._inside())]
        return dict(self._pairs(at))

    def _inside(self) -> Iterator[events.Event]:
        """Yield the events of a collection up to its end; its nodes take their own on the way."""
        return takewhile(
            lambda event: not isinstance(event, events.CollectionEndEvent), self._events
        )

    def _pairs(self, at: KeyPath) -> Iterator[tuple[str, Any]]:
        seen: set[str] = set()
        cut = ""
        for key in self._inside():
            line = _line(key)
            if not isinstance(key, events.ScalarEvent):
                self._problems.add(line, "a key is text, not a list or mapping")
                self._node(key, (*at, ""))
                self._node(next(self._events), (*at, ""))
                continue
            self._check_plain(key)
            name = self._decoded(key)
            if name == "<<" and key.implicit[0]:
                self._refuse(line, "a merge key (<<)")
            if name in seen:
                self._problems.add(line, f"the key '{name}' stands twice; give it once")
            seen.add(name)
            self.lines[*at, name] = line
            value = self._node(next(self._events), (*at, name))
            cut = self._cut(cut, name, value, line)
            yield name, value

    def _cut(self, before: str, name: str, value: object, line: int) -> str:
        """Note a text that a comma cut in two, as `{a: decimal(10, 2)}`; return one that may be.

        `before`: what the last call returned; only inside of braces can it be cut.
        """
        if not (before and value is None):
            return value if isinstance(value, str) and _unclosed(value) else ""
        whole = f"{before}, {name}"
        if _unclosed(whole):
            return whole
        self._problems.add(line, f'{whole} is cut at its comma; put it in quotes: "{whole}"')
        return ""

    def _check_plain(self, event: events.Event) -> None:
        if isinstance(event, events.AliasEvent):
            self._refuse(_line(event), "an alias (*)")
        elif isinstance(event, events.NodeEvent) and event.anchor is not None:
            self._refuse(_line(event), "an anchor (&)")
        if getattr(event, "ctag", None) is not None:
            self._refuse(_line(event), "a tag (!)")

    def _refuse(self, line: int, what: str) -> None:
        message = f"{what} has no place here; write the data out, quote text with it"
        self._problems.add(line, message)

    def _scalar(self, event: events.ScalarEvent) -> Scalar:
        text: str = event.value
        forms = _CORE_SCHEMA.items() if event.implicit[0] else ()
        make = next((make for form, make in forms if re.fullmatch(form, text)), None)
        if make is None:
            return self._decoded(event)
        if len(text) > MAX_DIGITS:
            self._problems.add(_line(event), f"a number has at most {MAX_DIGITS} digits")
            return text
        value = make(text)
        if make is float and not _exact(text, value):
            message = f"{text} is read as {value}; quote it to keep every digit"
            self._problems.add(_line(event), message)
        return value

    def _decoded(self, event: events.ScalarEvent) -> str:
        r"""Return a scalar's text; what JSON writes as a pair of `\u` is one character."""
        text: str = event.value
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            message = "\\ud800 to \\udfff are halves of characters; write the character itself"
            self._problems.add(_line(event), message)
            return ""


def _unclosed(text: str) -> bool:
    return any(text.count(left) > text.count(right) for left, right in ("()", "<>"))


def _line(event: events.Event) -> int:
    return int(event.start_mark.line) + 1


def _exact(text: str, number: Scalar) -> bool:
    try:
        return decimal.Decimal(text) == decimal.Decimal(repr(number))
    except decimal.InvalidOperation:  # an exponent that no number has
        return False


T = TypeVar("T")
"""A dataclass, or a list or mapping of such, with the keys of a file."""

_WORDS: Final = {
    "string_type": "text (quote it)",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list [ … ]",
    "tuple_type": "a list [ … ]",
    "dict_type": "a mapping { … }",
    "dataclass_type": "a mapping { … }",
}


def load_yaml(
    kind: type[T], text: str, path: str, what: str, most: int = MAX_BYTES
) -> tuple[T, Document]:
    """Return the object, called `what` in messages, that a YAML text stands for, and its lines."""
    document = parse(text, path, most)
    return made(kind, document.data, document, what), document


def made(kind: type[T], data: object, document: Document, what: str) -> T:
    """Return the object that the data of a whole document stand for, as `load_yaml` does."""
    form = make(kind, data, document, (), what)
    document.problems.raise_if_any()
    if form is None:  # not reached: without an object there is a problem
        raise AssertionError(document.path)
    return form


def make(kind: type[T], data: object, document: Document, at: KeyPath, what: str) -> T | None:
    """Make an object of the data at a place, strictly; note what is wrong and return None."""
    of_class: Any = kind
    try:
        # The strict JSON mode takes lists for tuples and text for enumerations, and nothing else.
        made: T = _adapter(of_class).validate_json(json.dumps(data), strict=True, extra="forbid")
    except ValidationError as wrong:
        errors = wrong.errors(include_url=False)[:MOST]
    else:
        return made
    # Behind the last key of the file, pydantic names the branches of a union.
    for path, result in groupby(errors, lambda error: document.nearest((*at, *error["loc"]))):
        _note(kind, path, list(result), document, at, what)
    return None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a class, and mypy has no word for it
    return TypeAdapter(kind)


def _note(
    kind: object,
    key_path: KeyPath,
    errors: list[ErrorDetails],
    document: Document,
    at: KeyPath,
    what: str,
) -> None:
    inside = key_path[len(at) :]
    label = _label(what, inside)
    for error in errors:
        name = str(error["loc"][-1]) if error["loc"] else ""
        if error["type"] == "missing":
            keys = _keys(kind, inside)
            document.note(key_path, f"{label}: '{name}' is missing; keys: {', '.join(keys)}")
        elif error["type"] == "unexpected_keyword_argument":
            holder, keys = _label(what, inside[:-1]), _keys(kind, inside[:-1])
            document.note(key_path, f"{holder} has no '{name}'; {one_of(name, keys)}")
        elif error["type"] not in _WORDS:
            shown = f"{_shown(error['input'])}: {error['msg'][:1].lower()}{error['msg'][1:]}"
            of_ours = error["type"] == "value_error"
            document.note(key_path, f"{label}: {error['ctx']['error'] if of_ours else shown}")
    needed = [_WORDS[entry["type"]] for entry in errors if entry["type"] in _WORDS]
    if needed:
        allowed = " or ".join(dict.fromkeys(needed))
        document.note(
            key_path, f"{label}: {_shown(errors[0]['input'])} is given; allowed: {allowed}"
        )


def _label(what: str, inside: KeyPath) -> str:
    return f"{what}: {'.'.join(map(str, inside))}" if inside else what


def _keys(kind: Any, inside: KeyPath) -> tuple[str, ...]:  # noqa: ANN401 - any type there is
    for key in inside:
        if dataclasses.is_dataclass(kind):
            kind = get_type_hints(kind)[str(key)]
        # The last one is what a list or mapping holds: `tuple[X, ...]`, `dict[str, X] | None`.
        elif present := [entry for entry in get_args(kind) if entry not in {..., NoneType}]:
            kind = present[-1]
    kind = next(filter(dataclasses.is_dataclass, (kind, *get_args(kind))))
    return tuple(field.name.rstrip("_") for field in dataclasses.fields(kind) if field.init)


def _shown(value: Any) -> str:  # noqa: ANN401 - a file holds anything
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"  # noqa: PLR2004
