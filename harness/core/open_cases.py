"""What the specification of a format and its engines leave open: declared as data, by format.

A line lies beside the format's code: `harness/formats/<folder>/open_cases.yaml`. It admits one
other answer beside the one that shows what was written, under a condition that is checked against
the table and the question (`harness.judge.admitted`). Whatever equals neither is wrong as ever.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import harness
from harness.core.yaml_reader import Document, load_yaml, read


class OpenCondition(StrEnum):
    """When an answer may be left open; each has one other answer that is admitted, an exact one."""

    TRUNCATED_VALUE_OVERFLOWS = "truncated-value-overflows"
    """A row lies under a partition value that `truncate` made by an overflow, and no value which
    that partition value stands for meets the question's condition on the column. Admitted: the
    rows of which this is so are left out, all of them."""
    PARTS_NEWER_THAN_FILE = "parts-newer-than-file"
    """Each part that a struct has today was added after the file was written, a Parquet file.
    Admitted: each such struct is NULL, to conditions too."""
    EMPTY_PARTITION_TEXT = "empty-partition-text"
    """The empty text was written to a partition column. Admitted: it is NULL, in every row, to
    conditions too."""
    UPDATED_ROW_ID = "updated-row-id"
    """A row was changed since it got an id. Admitted: the id that the table's files gave it then,
    in every such row."""
    NEGATIVE_ZERO = "negative-zero"
    """A condition is on a column of floats in which -0.0 stands. Admitted: conditions take -0.0 for
    less than 0.0, in every row; it is shown as it is."""


@dataclass(frozen=True, slots=True)
class OpenCase:
    """One line: what is left open, under which condition, by which paragraph."""

    name: str
    formats: tuple[str, ...]
    condition: OpenCondition
    what: str
    """What is left open, a sentence without its full stop."""
    specification: str
    """The paragraph that would have to settle it."""
    silent: str
    """What it says, and why that does not settle it."""
    seen: str
    """Which releases answer so, and which otherwise."""

    @property
    def text(self) -> str:
        return f"{self.name}: {self.what}. {self.specification}: {self.silent}"


def load(text: str, path: str, formats: Sequence[str] = ()) -> tuple[OpenCase, ...]:
    """Return the lines of a file; `formats`: those that there are, none for any.

    Raises ProblemsError: something is not as it must be; each problem says the line and what is
    allowed.
    """
    cases, document = load_yaml(tuple[OpenCase, ...], text, path, "open cases")
    names = [case.name for case in cases]
    for at, case in enumerate(cases):
        _check(case, document, at, formats)
        if case.name in names[:at]:
            document.note((at, "name"), f"'{case.name}' is there already; each name stands once")
    document.problems.raise_if_any()
    return cases


def _check(case: OpenCase, document: Document, at: int, formats: Sequence[str]) -> None:
    for key in ("name", "what", "specification", "silent", "seen"):
        if not getattr(case, key).strip():
            document.note((at, key), f"'{key}' is empty; it must say something")
    if not case.formats:
        document.note((at, "formats"), "no format is named; name one at least")
    for number, name in enumerate(case.formats):
        if formats and name not in formats:
            allowed = ", ".join(formats)
            document.note(
                (at, "formats", number), f"there is no format '{name}'; allowed: {allowed}"
            )


@cache
def of_format(name: str) -> tuple[OpenCase, ...]:
    return tuple(case for case in _every() if name in case.formats)


@cache
def _every() -> tuple[OpenCase, ...]:
    files = sorted((Path(harness.__file__).parent / "formats").glob("*/open_cases.yaml"))
    return tuple(case for file in files for case in load(read(file), str(file)))
