"""Files of accepted causes: read strictly, and written for somebody to fill in. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from harness.comparison.accepted import WRITER, Acceptance
from harness.comparison.regressions import Regression
from harness.core import yaml_writer
from harness.core.errors import printable
from harness.core.records import FindingKind
from harness.core.responsible import Responsible
from harness.core.yaml_reader import Document, KeyPath, make
from harness.core.yaml_reader import parse as parse_yaml
from harness.core.yaml_writer import block
from harness.judge.baseline.known import TODO
from harness.judge.baseline.parse_known import until_of

FILE: Final = "accept.yaml"
HEAD: Final = (
    "# What gets worse, by its causes. Keep the lines of what you accept, replace each TODO by\n"
    "# the reason, and ask again with: --accept accept.yaml\n"
)
UNEXPLAINED: Final = "# Left out: {}; what nobody can explain cannot be accepted\n"


@dataclass(frozen=True, slots=True)
class _AcceptanceForm:
    """The keys of a line."""

    engine: str
    operation: str
    because: str
    finding: FindingKind | None = None
    refusal: str = ""
    party: Responsible | None = None
    scenarios: tuple[str, ...] = ()
    until: str = ""


def parse(text: str, path: str) -> tuple[Acceptance, ...]:
    """Read a file of accepted causes; an empty one has no lines.

    Raises:
        ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.

    """
    document = parse_yaml(text, path)
    if document.data is None:
        return ()
    if not isinstance(document.data, list):
        document.problems.stop(1, "accepted causes are a list; write `- engine: …` for each")
    forms = (_acceptance(data, (at,), document) for at, data in enumerate(document.data))
    lines = tuple(line for line in forms if line is not None)
    _check_twice(lines, document)
    document.problems.raise_if_any()
    return lines


def _acceptance(data: object, at: KeyPath, document: Document) -> Acceptance | None:
    form = make(_AcceptanceForm, data, document, at, "a line")
    if form is None:
        return None
    _check(form, at, document)
    return Acceptance(
        engine=form.engine,
        finding=form.finding,
        refusal=form.refusal,
        operation=form.operation,
        because=form.because,
        scenarios=form.scenarios,
        responsible=form.party,
        until=until_of(form.until, (*at, "until"), document),
        path=document.path,
        line=document.line(at),
    )


def _check(form: _AcceptanceForm, at: KeyPath, document: Document) -> None:
    if bool(form.finding) == bool(form.refusal):
        document.note(at, "a line is about a finding or a refusal; give one of the two")
    if form.finding is FindingKind.UNEXPLAINED:
        reason = "nobody knows what is unexplained; find out what it is (harness explain)"
        document.note((*at, "finding"), f"finding: {reason}")
    if not form.because.strip():
        document.note((*at, "because"), "because is empty; say why this is accepted")


def _check_twice(lines: Iterable[Acceptance], document: Document) -> None:
    """Note each line that can never be the first to accept anything."""
    seen = dict[tuple[object, ...], Acceptance]()
    for line in lines:
        key = (
            line.engine,
            line.finding,
            line.refusal,
            line.operation,
            line.responsible,
            line.scenarios,
        )
        first = seen.setdefault(key, line)
        if first is not line and first.until is None:
            problem = f"the line at {first.place} is about the same; keep one of them"
            document.problems.add(line.line, problem)


def dump(causes: Iterable[Regression], accepted: Iterable[Acceptance] = ()) -> str:
    """Return a file that accepts every cause once somebody has said why.

    Args:
        causes: those that nobody has accepted yet.
        accepted: the lines that accept others; they stay as they are.

    """
    lines = [*dict.fromkeys(accepted), *map(_line, causes)]
    unknown = [line for line in lines if line.finding is FindingKind.UNEXPLAINED]
    left_out = (UNEXPLAINED.format(printable(str(line))) for line in unknown)
    forms = (_form(line) for line in lines if line not in unknown)
    written = (yaml_writer.written(block([block(form)]), offset=0) for form in forms)
    return "".join([HEAD, *left_out, *written])


def _line(cause: Regression) -> Acceptance:
    key, finding = cause.key, cause.key.finding
    return Acceptance(
        key.engine or WRITER,
        finding,
        "" if finding else key.symptom.what,
        key.operation,
        TODO,
        cause.scenarios,
        key.symptom.responsible,
    )


def _form(line: Acceptance) -> dict[str, object]:
    form = {
        "engine": line.engine,
        "finding": line.finding and line.finding.value,
        "refusal": line.refusal,
        "party": line.responsible and line.responsible.value,
        "operation": line.operation,
        "scenarios": list(line.scenarios),
        "because": line.because,
        "until": line.until and line.until.isoformat(),
    }
    return {name: value for name, value in form.items() if value or name == "operation"}
