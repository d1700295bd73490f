"""Data of a file as the dataclasses it stands for, and pydantic's complaints in people's words."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from itertools import groupby
from typing import Any, Final, TypeVar, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from harness.core.errors import MOST
from harness.core.problems import one_of
from harness.core.yaml_reader import MAX_BYTES, Document, KeyPath, parse

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


def read_form(
    kind: type[T], text: str, path: str, what: str, most: int = MAX_BYTES
) -> tuple[T, Document]:
    """Return the object that a YAML text stands for, and the text's lines.

    `what` names the object in messages; `most`: so many characters the text may have.

    Raises ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.
    """
    document = parse(text, path, most)
    form = make(kind, document.data, document, (), what)
    document.problems.raise_if_any()
    if form is None:  # not reached: without an object there is a problem
        raise AssertionError(path)
    return form, document


def make(kind: type[T], data: object, document: Document, at: KeyPath, what: str) -> T | None:
    """Make an object of the data at a place; note what is wrong and give None.

    Extra keys are wrong, and no value is turned into another type; `what` names the thing.
    """
    of_class: Any = kind
    try:
        # The strict JSON mode takes lists for tuples and text for enumerations, and nothing else.
        made: T = _adapter(of_class).validate_json(json.dumps(data), strict=True, extra="forbid")
    except ValidationError as wrong:
        errors = wrong.errors(include_url=False)[:MOST]
    else:
        return made
    for place, found in groupby(errors, lambda error: _place(document, at, error)):
        _note(kind, place, list(found), document, at, what)
    return None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a class, and mypy has no word for it
    return TypeAdapter(kind)


def _place(document: Document, at: KeyPath, error: ErrorDetails) -> KeyPath:
    # Behind the last key of the file, pydantic names the branches of a union.
    return document.known((*at, *error["loc"]))


def _note(
    kind: object,
    place: KeyPath,
    errors: list[ErrorDetails],
    document: Document,
    at: KeyPath,
    what: str,
) -> None:
    inside = place[len(at) :]
    label = _label(what, inside)
    for error in errors:
        name = str(error["loc"][-1]) if error["loc"] else ""
        if error["type"] == "missing":
            keys = _keys(kind, inside)
            document.note(place, f"{label}: '{name}' is missing; keys: {', '.join(keys)}")
        elif error["type"] == "unexpected_keyword_argument":
            holder, keys = _label(what, inside[:-1]), _keys(kind, inside[:-1])
            document.note(place, f"{holder} has no '{name}'; {one_of(name, keys)}")
        elif error["type"] not in _WORDS:
            document.note(place, f"{label}: {_own_words(error)}")
    wanted = [_WORDS[each["type"]] for each in errors if each["type"] in _WORDS]
    if wanted:
        allowed = " or ".join(dict.fromkeys(wanted))
        document.note(place, f"{label}: {_shown(errors[0]['input'])} is given; allowed: {allowed}")


def _label(what: str, inside: KeyPath) -> str:
    return f"{what}: {'.'.join(map(str, inside))}" if inside else what


def _keys(kind: Any, inside: KeyPath) -> tuple[str, ...]:  # noqa: ANN401 - any type there is
    """Return the keys that a mapping inside of a kind may have."""
    for key in inside:
        if dataclasses.is_dataclass(kind):
            kind = get_type_hints(kind)[str(key)]
        # The last one is what a list or mapping holds: `tuple[X, ...]`, `dict[str, X]`.
        elif held := [each for each in get_args(kind) if each is not ...]:
            kind = held[-1]
    kind = next(filter(dataclasses.is_dataclass, (kind, *get_args(kind))))
    return tuple(field.name.rstrip("_") for field in dataclasses.fields(kind))


def _own_words(error: ErrorDetails) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return f"{_shown(error['input'])}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def _shown(value: Any) -> str:  # noqa: ANN401 - a file holds anything
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"  # noqa: PLR2004
