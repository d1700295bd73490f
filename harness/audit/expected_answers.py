"""Answers that somebody gives beside a table: what a reader must show of it, version by version.

`<table>.yaml` says what the table is and how it is opened, `<table>.expected.json` has its versions
with columns and rows, and questions about them. Values stand there in a form of their own,
in which rows are compared, in any order.
"""

import datetime
import decimal
import json
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.core import yaml_reader
from harness.core.errors import UsageProblem
from harness.formats.files.column_parts import ARRAY, MAP, STRUCT, ColumnPart, walk
from harness.formats.files.variant import TYPE_KEY, VALUE_KEY
from harness.model.canonical import Value

ANSWERS: Final = ".expected.json"
REFUSE: Final = "refuse"
_MOMENTS: Final = {
    "iceberg": frozenset({"timestamptz", "timestamptz_ns"}),
    "delta": frozenset({"timestamp"}),
    "hudi": frozenset({"timestamp-micros", "timestamp-millis"}),
}
"""Each format's words for what is counted in UTC."""
_DELTA_WORDS: Final = {"int": "integer", "bytes": "binary", "timestamp-micros": "timestamp"}
"""What Delta calls types of Avro, in which Hudi has them."""
_NANOSECONDS: Final = ("timestamp_ns", "timestamptz_ns")
"""Whose values are texts where they are finer than microseconds."""
_OF_VARIANTS: Final = _MOMENTS["iceberg"]
_MOST: Final = 1 << 20
"""Bytes of what is said of a table."""


@dataclass(frozen=True, slots=True)
class ExpectedVersion:
    """What must come out of one version of a table."""

    name: str
    at: Mapping[str, Any]
    """`metadata` and `snapshot`, `version`, `instant` or `changes_from` and `to`; `latest_…` where
    nothing is asked of the past."""
    refuse: bool
    """Whether a reader must not answer."""
    columns: tuple[tuple[str, str, int | None], ...]
    """Names, types in the format's words, and Iceberg's field ids."""
    rows: tuple[str, ...]
    """Each as JSON, sorted."""
    count: int

    @property
    def past(self) -> str:
        """The snapshot, version or instant that is asked for; empty for the newest."""
        asked = (self.at.get(word) for word in ("snapshot", "version", "instant"))
        return next((str(value) for value in asked if value is not None), "")


@dataclass(frozen=True, slots=True)
class TableWithAnswers:
    name: str
    format: str
    folder: Path
    metadata: str
    """Its metadata file, relative to the folder, where it must be named."""
    roots: Mapping[str, str]
    """The prefixes of recorded paths, each with the folder that they stand for."""
    versions: tuple[ExpectedVersion, ...]
    questions: tuple[Mapping[str, Any], ...]

    def version(self, name: str) -> ExpectedVersion:
        return next(version for version in self.versions if version.name == name)


def tables(folder: Path) -> Iterator[TableWithAnswers]:
    """Yield every table below a folder that has answers beside it; raises UsageProblem."""
    for path in sorted(folder.rglob(f"*{ANSWERS}")):
        yield read(path)


def read(path: Path) -> TableWithAnswers:
    """Read a table's answers and what is said of it; raises UsageProblem."""
    stem = path.name.removesuffix(ANSWERS)
    folder, about = path.parent / stem, path.parent / f"{stem}.yaml"
    notes = yaml_reader.parse(yaml_reader.read(about, _MOST), str(about), _MOST).data
    roots = (notes.get("location") or {}).get("roots") or {}
    try:
        answers = json.loads(path.read_text(encoding="utf-8"))
        versions = {version["name"]: version for version in answers["versions"]}
        return TableWithAnswers(
            notes["table"],
            notes["format"],
            folder,
            (notes.get("open_with") or {}).get("metadata", ""),
            {root: str(folder) for root in roots.values() if " " not in root.partition("/")[0]},
            tuple(_version(version, versions) for version in versions.values()),
            tuple(answers.get("questions", ())),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise UsageProblem(f"{path}: these are no answers of a table: {problem!r}") from problem


def _version(data: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]]) -> ExpectedVersion:
    names = [column["name"] for column in data.get("columns", ())]
    rows = data.get("rows", ())
    if taken := data.get("rows_from"):
        source = others[taken["version"]]
        there = [column["name"] for column in source["columns"]]
        at = [there.index(name) for name in names]
        lost = [name in taken["null"] for name in names]
        rows = [
            [None if null else row[index] for index, null in zip(at, lost, strict=True)]
            for row in source["rows"]
        ]
    columns = tuple((c["name"], c["type"], c.get("id")) for c in data.get("columns", ()))
    return ExpectedVersion(
        data["name"],
        data.get("at") or {},
        data.get("answer") == REFUSE,
        columns,
        tuple(sorted(_text(row, [column[1] for column in columns]) for row in rows)),
        data.get("count", len(rows)),
    )


def columns_of(
    columns: Sequence[ColumnPart], format_: str
) -> tuple[tuple[str, str, int | None], ...]:
    """Return columns in the form in which they are expected: those of Hudi in Delta's words."""
    ids = format_ == "iceberg"
    return tuple(
        (part.name, _type_text(part, format_), int(part.id) if ids else None) for part in columns
    )


def _type_text(part: ColumnPart, format_: str) -> str:
    inside = [_type_text(inner, format_) for inner in part.parts]
    if part.type == STRUCT:
        pairs = zip(part.parts, inside, strict=True)
        return f"struct<{', '.join(f'{inner.name}: {text}' for inner, text in pairs)}>"
    if format_ == "iceberg":
        word = "list" if part.type == ARRAY else part.type
    else:
        word = _DELTA_WORDS.get(part.type, part.type).replace(", ", ",")
    return f"{word}<{', '.join(inside)}>" if inside else word


def row_texts(
    columns: Sequence[ColumnPart], rows: Sequence[Sequence[Value]], format_: str
) -> tuple[str, ...]:
    """Return rows of canonical values in the form in which rows are expected, sorted.

    `columns`: with the types that the format has for them.
    """
    moments = _MOMENTS[format_]
    types = [" ".join(inner.type for _, inner in walk([part])) for part in columns]
    forms = (
        [_form(v, part, moments) for v, part in zip(row, columns, strict=True)] for row in rows
    )
    return tuple(sorted(_text(form, types) for form in forms))


def _form(value: Value, part: ColumnPart, moments: frozenset[str]) -> Any:  # noqa: ANN401 - JSON
    if value is None:
        return None
    match part.type:
        case "struct":
            return {p.name: _form(value.get(p.name), p, moments) for p in part.parts}
        case "array":
            return [_form(element, part.parts[0], moments) for element in value]
        case "map":
            return [
                [_form(side, of, moments) for side, of in zip(pair, part.parts, strict=True)]
                for pair in value.pairs
            ]
        case "variant":
            return _of_variant(value)
    return _plain(value, part.type, moments)


def _of_variant(value: Mapping[str, Value]) -> Mapping[str, Any]:
    type_, inner = value[TYPE_KEY], value[VALUE_KEY]
    form: Any = _plain(inner, type_, _OF_VARIANTS)
    if isinstance(inner, dict):
        form = {name: _of_variant(part) for name, part in inner.items()}
    elif isinstance(inner, tuple):
        form = [_of_variant(part) for part in inner]
    return {TYPE_KEY: type_, VALUE_KEY: form}


def _plain(value: Value, type_: str, moments: frozenset[str]) -> Any:  # noqa: ANN401 - JSON
    zone = "+00:00" if type_ in moments else ""
    match value:
        case float() if not math.isfinite(value):
            return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
        case decimal.Decimal():
            return f"{value:f}"
        case datetime.datetime():
            return value.isoformat(timespec="microseconds") + zone
        case str() if type_ in _NANOSECONDS:
            return value.replace(" ", "T") + zone
        case datetime.date():
            return value.isoformat()
        case bytes():
            return value.hex()
    return value


def _text(row: Sequence[Any], types: Sequence[str]) -> str:
    typed = zip(row, types, strict=True)
    values = [_without_order(value) if MAP in type_ else value for value, type_ in typed]
    return json.dumps(values, sort_keys=True, ensure_ascii=False)


def _without_order(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a value with the pairs of its maps sorted; pairs in lists look like them."""
    if isinstance(value, dict):
        return {name: _without_order(part) for name, part in value.items()}
    if not isinstance(value, list):
        return value
    parts = [_without_order(part) for part in value]
    pairs = all(isinstance(part, list) and len(part) == 2 for part in parts)  # noqa: PLR2004
    return sorted(parts, key=json.dumps) if pairs else parts


def holds(where: Sequence[Any] | None, row: Mapping[str, Any]) -> bool | None:
    """Return what a condition of a question is of a row in that form; None for unknown, as in SQL.

    >>> holds(["not", ["=", "a", 1]], {"a": None}), holds(["in", "a", [1, 2]], {"a": 2})
    (None, True)
    """
    if where is None:
        return True
    test, *parts = where
    match test:
        case "and" | "or":
            known = [holds(part, row) for part in parts]
            decides = test == "or"
            return decides if decides in known else None if None in known else not decides
        case "not":
            inner = holds(parts[0], row)
            return None if inner is None else not inner
        case "is null" | "is not null":
            return (_at(row, parts[0]) is None) is (test == "is null")
    value, other = _at(row, parts[0]), parts[1]
    if value is None or other is None:
        return None
    if test == "in":
        return value in other
    return bool(_TESTS[test](value, other))


_TESTS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _at(row: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 - JSON
    head, *rest = path.split(".")
    value = row[head]
    for name in rest:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def wrong_questions(
    table: TableWithAnswers, version: str, names: Sequence[str], rows: Sequence[str]
) -> tuple[str, ...]:
    """Return the questions of a version that its rows, in that form, answer otherwise."""
    there = [dict(zip(names, json.loads(row), strict=True)) for row in rows]
    wrong = []
    for question in table.questions:
        if question["of"] == version:
            taken = [row for row in there if holds(question.get("where"), row)]
            if len(taken) != question["count"] or not _as_expected(question, names, taken):
                wrong.append(f"{question.get('select')} where {question.get('sql')}")
    return tuple(wrong)


def _as_expected(
    question: Mapping[str, Any], names: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> bool:
    if "rows" not in question:
        return True
    select = question["select"]
    paths = names if select == "*" else select
    shown = sorted(json.dumps([_at(row, path) for path in paths]) for row in rows)
    return shown == sorted(map(json.dumps, question["rows"]))
