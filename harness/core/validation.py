"""Data of a file as the dataclasses it stands for, and pydantic's complaints in people's words."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from itertools import groupby
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from harness.core.problems import MOST, Problems, one_of
from harness.core.yaml_reader import Document, KeyPath

Made = TypeVar("Made")

_WORDS: Final = {
    "string_type": "text (quote it)",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list [ … ]",
    "tuple_type": "a list [ … ]",
    "dict_type": "a mapping { … }",
    "dataclass_type": "a mapping { … }",
}


def make(
    kind: type[Made], data: object, document: Document, at: KeyPath, problems: Problems, what: str
) -> Made | None:
    """Make an object of the data at a place; note what is wrong and give None.

    Extra keys are wrong, and no value is turned into another type; `what` names the thing.
    """
    of_class: Any = kind
    try:
        # The strict JSON mode takes lists for tuples and text for enumerations, and nothing else.
        made: Made = _adapter(of_class).validate_json(json.dumps(data), strict=True, extra="forbid")
    except ValidationError as wrong:
        errors = wrong.errors(include_url=False)[:MOST]
    else:
        return made
    for place, found in groupby(errors, lambda error: _place(document, at, error)):
        _note(kind, place, list(found), document, at, problems, what)
    return None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a class, and mypy has no word for it
    return TypeAdapter(kind)


def keys_of(kind: type) -> tuple[str, ...]:
    """Return the keys that a mapping for a dataclass may have."""
    return tuple(field.name for field in dataclasses.fields(kind))


def _place(document: Document, at: KeyPath, error: ErrorDetails) -> KeyPath:
    # Behind the last key of the file, pydantic names the branches of a union.
    return document.known((*at, *error["loc"]))


def _note(
    kind: type,
    place: KeyPath,
    errors: list[ErrorDetails],
    document: Document,
    at: KeyPath,
    problems: Problems,
    what: str,
) -> None:
    inner = ".".join(str(each) for each in place[len(at) :])
    label = f"{what}: {inner}" if inner else what
    line = document.line(place)
    for error in errors:
        name = str(error["loc"][-1]) if error["loc"] else ""
        if error["type"] == "missing":
            problems.add(line, f"{label}: '{name}' is missing; keys: {', '.join(keys_of(kind))}")
        elif error["type"] == "unexpected_keyword_argument":
            problems.add(line, f"{what} has no '{name}'; {one_of(name, keys_of(kind))}")
        elif error["type"] not in _WORDS:
            problems.add(line, f"{label}: {_own_words(error)}")
    wanted = [_WORDS[each["type"]] for each in errors if each["type"] in _WORDS]
    if wanted:
        allowed = " or ".join(dict.fromkeys(wanted))
        problems.add(line, f"{label}: {_shown(errors[0]['input'])} is given; allowed: {allowed}")


def _own_words(error: ErrorDetails) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return f"{_shown(error['input'])}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def _shown(value: Any) -> str:  # noqa: ANN401 - a file holds anything
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"  # noqa: PLR2004
