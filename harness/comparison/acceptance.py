"""The causes of worse answers that a user accepts, and the files that list them. Pure."""

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.comparison.cell_pairs import CellPair, VerdictChange
from harness.comparison.regressions import NEW_WRITER, Regression, regression
from harness.core import reviewed_lines, yaml_writer
from harness.core.records import FindingKind, Responsible
from harness.core.reviewed_lines import TODO, ReviewedLine
from harness.core.texts import printable
from harness.core.yaml_reader import Document, KeyPath, make
from harness.core.yaml_writer import block
from harness.run import causes
from harness.run.causes import OR, CauseKey
from harness.run.load_run import Run

WRITER: Final = "writer"
"""Stands for an engine where a writer refuses a step."""
_INCONCLUSIVE: Final = (VerdictChange.UNKNOWN, VerdictChange.NEW, VerdictChange.GONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance(ReviewedLine):
    engine: str
    operation: str
    finding: FindingKind | None = None
    refusal: str = ""
    """What the error means, where there is no finding."""
    scenarios: tuple[str, ...] = ()
    """Those that it is about; all, where there are none."""
    party: Responsible | None = None
    """Whose doing it is; anybody's, where that is not said."""

    def is_about(self, key: CauseKey) -> bool:
        symptom = key.symptom
        return (
            self.party in {None, symptom.responsible}
            and self.engine == (key.engine or WRITER)
            and self.operation == key.operation
            and self.finding is key.finding
            and (self.finding is not None or self.refusal == symptom.what)
        )

    def covers(self, scenario: str) -> bool:
        return not self.scenarios or scenario in self.scenarios

    def __str__(self) -> str:
        what = self.finding or f"refusal ({self.refusal})"
        since = f" since {self.operation}" if self.operation else ""
        return f"{self.engine}: {what}{since}"


@dataclass(frozen=True, slots=True)
class AcceptedCause:
    cause: Regression
    by: Acceptance


@dataclass(frozen=True, slots=True)
class AcceptedCauses:
    causes: tuple[AcceptedCause, ...] = ()
    gone: tuple[Acceptance, ...] = ()
    """Lines that no longer occur: their scenarios were asked, and nothing is worse so."""
    unreviewed: tuple[Acceptance, ...] = ()
    expired: tuple[Acceptance, ...] = ()


NOTHING_ACCEPTED: Final = AcceptedCauses()


def accept(
    regressions: Iterable[Regression],
    pairs: Sequence[CellPair],
    lines: Iterable[Acceptance],
    new: Run,
    today: datetime.date,
) -> tuple[tuple[Regression, ...], AcceptedCauses]:
    """Return the causes that nobody has accepted, and what became of the lines.

    The first line that is about a pair accepts it; the others of its cause remain.
    """
    lines = tuple(lines)
    valid = [line for line in lines if line.counts(today)]
    left, accepted = list[Regression](), list[AcceptedCause]()
    for cause in regressions:
        rest = list(cause.pairs)
        for line in (line for line in valid if line.is_about(cause.key)):
            covered = [pair for pair in rest if line.covers(pair.either.scenario)]
            if covered:
                accepted.append(AcceptedCause(regression(cause.key, covered, new), line))
            rest = [pair for pair in rest if not line.covers(pair.either.scenario)]
        if rest:
            unchanged = len(rest) == len(cause.pairs)
            left.append(cause if unchanged else regression(cause.key, rest, new))
    unused = [line for line in valid if line not in {cause.by for cause in accepted}]
    tested = set(_tested(pairs, new))

    def is_tested(line: Acceptance) -> bool:
        operations = line.operation.split(OR)
        return any(
            engine == line.engine
            and line.covers(scenario)
            and (operation in operations or not line.operation)
            for engine, scenario, operation in tested
        )

    return tuple(left), AcceptedCauses(
        causes=tuple(accepted),
        gone=tuple(line for line in unused if is_tested(line)),
        unreviewed=tuple(line for line in lines if not line.reviewed),
        expired=tuple(line for line in lines if line not in valid),
    )


def _tested(pairs: Iterable[CellPair], new: Run) -> Iterator[tuple[str, str, str]]:
    """Yield whom both sides could have shown worse, in which scenario, after which operation.

    A writer is tested by the steps of the table that some reader was asked about.
    """
    asked = {
        (
            new.info.reader(pair.new.reader).distribution,
            pair.new.variant,
            pair.new.step,
            pair.old is not None and pair.old.variant != pair.new.variant,
        )
        for pair in pairs
        if pair.new is not None and pair.change not in _INCONCLUSIVE
    }
    for distribution, variant, number, other_table in asked:
        info = new.info.variant(variant)
        operations = {info.step(step).operation for step in range(number + 1)}
        for operation in operations | ({NEW_WRITER} if other_table else set()):
            yield causes.engine(distribution), info.scenario, operation
            yield WRITER, info.scenario, operation


FILE: Final = "accept.yaml"
HEAD: Final = (
    "# What gets worse, by its causes. Keep the lines of what you accept, replace each TODO by\n"
    "# the reason, and ask again with: --accept accept.yaml\n"
)
UNEXPLAINED: Final = "# Left out: {}; what nobody can explain cannot be accepted\n"


def parse(text: str, path: str) -> tuple[Acceptance, ...]:
    """Read a file of accepted causes; an empty one has none. Raises ScenarioProblem."""
    document, lines = reviewed_lines.read(text, path, "engine", _acceptance)
    seen = dict[Acceptance, Acceptance]()
    for line in lines:
        about = replace(line, because="", until=None)
        first = seen.setdefault(about, line)
        if first is not line and first.until is None:  # then it never accepts anything
            problem = f"the line at {first.location} is about the same; keep one of them"
            document.problems.add(line.line, problem)
    document.problems.raise_if_any()
    return lines


def _acceptance(data: object, at: KeyPath, document: Document) -> Acceptance | None:
    line = make(Acceptance, data, document, at, "a line")
    if line is None:
        return None
    if bool(line.finding) == bool(line.refusal):
        document.note(at, "a line is about a finding or a refusal; give one of the two")
    if line.finding is FindingKind.UNEXPLAINED:
        reason = "nobody knows what is unexplained; find out what it is (harness explain)"
        document.note((*at, "finding"), f"finding: {reason}")
    return line


def dump(causes: Iterable[Regression], accepted: Iterable[Acceptance] = ()) -> str:
    """Return a file that accepts causes once somebody has said why; lines stay as they are."""
    lines = [*dict.fromkeys(accepted), *map(_line, causes)]
    unknown = [line for line in lines if line.finding is FindingKind.UNEXPLAINED]
    left_out = (UNEXPLAINED.format(printable(str(line))) for line in unknown)
    forms = (_form(line) for line in lines if line not in unknown)
    written = (yaml_writer.written(block([block(form)]), offset=0) for form in forms)
    return "".join([HEAD, *left_out, *written])


def _line(cause: Regression) -> Acceptance:
    key, finding = cause.key, cause.key.finding
    return Acceptance(
        engine=key.engine or WRITER,
        operation=key.operation,
        finding=finding,
        refusal="" if finding else key.symptom.what,
        scenarios=cause.scenarios,
        party=key.symptom.responsible,
        because=TODO,
    )


def _form(line: Acceptance) -> dict[str, object]:
    form = {
        "engine": line.engine,
        "finding": line.finding and line.finding.value,
        "refusal": line.refusal,
        "party": line.party and line.party.value,
        "operation": line.operation,
        "scenarios": list(line.scenarios),
        "because": line.because,
        "until": line.until and line.until.isoformat(),
    }
    return {name: value for name, value in form.items() if value or name == "operation"}
