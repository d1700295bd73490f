"""Lines of a file in which somebody says what is known, why, and until when."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Final, TypeVar

from pydantic import BeforeValidator

from harness.core.yaml_reader import Document, KeyPath, parse

TODO: Final = "TODO"


def _day(given: object) -> datetime.date:
    try:
        return datetime.date.fromisoformat(str(given))
    except ValueError:
        raise ValueError(f"'{given}' is not a date; write 2031-12-24") from None


Day = Annotated[datetime.date, BeforeValidator(_day)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedLine:
    because: str
    until: Day | None = None
    """The last day on which the line counts."""
    path: str = field(default="", init=False)
    line: int = field(default=0, init=False)
    """Where it stands, if it was read."""

    @property
    def location(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def reviewed(self) -> bool:
        return not self.because.upper().startswith(TODO)

    def counts(self, today: datetime.date) -> bool:
        return self.until is None or today <= self.until


Line = TypeVar("Line", bound=ReviewedLine)


def placed(line: Line, path: str, number: int) -> Line:
    """Return a line that was just made, with where it stands: no key of a file says that."""
    object.__setattr__(line, "path", path)
    object.__setattr__(line, "line", number)
    return line


def read(
    text: str, path: str, example: str, made: Callable[[object, KeyPath, Document], Line | None]
) -> tuple[Document, tuple[Line, ...]]:
    """Read a file of lines; an empty one has none. What is wrong is noted in the document.

    `example`: how a line begins; `made` makes one of its data. Raises ScenarioProblem: it is no
    list.
    """
    document, lines = parse(text, path), list[Line]()
    if document.data is not None and not isinstance(document.data, list):
        document.problems.stop(1, f"this is a list of lines; write `- {example}: …` for each")
    for at, data in enumerate(document.data or ()):
        line = made(data, (at,), document)
        if line is not None:
            if not line.because.strip():
                document.note((at, "because"), "because is empty; say why")
            lines.append(placed(line, document.path, document.line((at,))))
    return document, tuple(lines)
