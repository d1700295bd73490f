"""The report for build servers: JUnit XML, a suite for each scenario and a test for each cell.

Each result says all in its text as well: GitLab shows no `message` (gitlab-org/gitlab-foss#53668).
"""

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import junitparser

from harness.core.atomic_write import atomic_write
from harness.core.grouping import grouped
from harness.core.records import HALF_DONE, Answer, Finding, OutcomeKind, Verdict, VerdictKind
from harness.core.texts import counted
from harness.reports import ci_site, html
from harness.reports.findings import FINDINGS, finding_text, findings_text, witness_text
from harness.reports.words import (
    NOT_WORDED,
    LoggedFailure,
    answered_text,
    log_text,
    mapping_text,
    refusal_text,
)
from harness.run import run_judge
from harness.run.causes import ScenarioLines
from harness.run.load_run import WRITE, NotableStep, Run

NAME: Final = "junit"
FILE: Final = "junit.xml"
KNOWN: Final = "known"
ANSWERED: Final = "answered"
CaseResult = junitparser.Failure | junitparser.Error | junitparser.Skipped
PLACES: Final = 20

MOST_TESTS: Final = 50_000
"""Of more cells than these, right answers are summed up: GitLab takes no larger files."""
_END: Final = b"</testsuites>\n"
DIGITS: Final = 3
"""Of seconds, as the schemas of JUnit files have them."""
_SECONDS: Final = "%Y-%m-%dT%H:%M:%S"
"""A moment as the schemas of JUnit files have it: without a zone."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class PlacedCase(junitparser.TestCase):
    file = junitparser.Attr()
    line = junitparser.IntAttr()


def write(run: Run, folder: Path) -> Path:
    path = folder / FILE
    with atomic_write(path) as part, part.open("wb") as out:
        out.writelines(_text(run))
    return path


def _text(run: Run) -> Iterator[bytes]:
    """Yield the text suite by suite: as one tree, a big run would fill the memory."""
    suite, head, tail = _Suites(run), b"", b""
    for scenario, things in grouped(_things(run)).items():
        declaration, root, rest = suite.text(scenario, things).split(b"\n", 2)
        yield b"" if head else b"%b\n%b\n" % (declaration, root)
        head, tail = root, _END
        yield rest.removesuffix(_END)
    yield tail or suite.text("", ())


Thing = Verdict | NotableStep | tuple[Verdict, ...]
"""What a test tells of: a cell, a step, or the right answers of a reader about a table."""


def _things(run: Run) -> Iterator[tuple[str, Thing]]:
    """Yield what tests tell of, each with its scenario."""
    many = len(run.verdicts) > MOST_TESTS
    late = set(run_judge.late(run))  # what tells of attempts is never summed up
    passed = filter(_passes, run.verdicts if many else ())
    summed = {verdict.case: verdict for verdict in passed if verdict.case not in late}
    tables = grouped(((verdict.variant, verdict.reader), verdict) for verdict in summed.values())
    yield from ((cells[0].scenario, tuple(cells)) for cells in tables.values())
    alone = (verdict for verdict in run.verdicts if verdict.case not in summed)
    wrong = (verdict for verdict in run.step_verdicts if verdict.verdict is VerdictKind.WRONG)
    yield from ((verdict.scenario, verdict) for verdict in chain(alone, wrong))
    for step in (*run.half_done_steps, *run.failed_steps):
        yield run.info.variant(step.variant).scenario, step


class _Suites:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._lines, self._site = ScenarioLines(run), ci_site.of(os.environ)

    def text(self, scenario: str, things: Iterable[Thing]) -> bytes:
        """Return a whole file that has the suite of a scenario alone; without tests it has none."""
        info = self._run.info
        xml = junitparser.JUnitXml(f"{info.profile} {info.id}")
        if tests := [self._case(thing) for thing in things]:
            suite = junitparser.TestSuite(_xml(scenario))
            suite.timestamp = info.started.strftime(_SECONDS)
            for name, value in (("profile", info.profile), ("harness", info.version)):
                suite.add_property(name, _xml(value))
            suite.add_testcases(tests)  # all at once: each addition counts all tests anew
            xml.add_testsuite(suite)
        # Not as its library indents, which makes a second tree, and a third of the text of that.
        ElementTree.indent(xml._elem, "\t")  # noqa: SLF001 - there is no other way to it
        out = io.BytesIO()
        xml.write(out)
        return out.getvalue() + b"\n"

    def _case(self, thing: Thing) -> junitparser.TestCase:
        match thing:
            case Verdict(view=view) if view == WRITE:
                return self._placed(_wrong_step(self._run, thing), (thing.variant, thing.step))
            case Verdict():
                more = not _passes(thing) or thing.case in self._run.attempted
                answer = self._run.answers.get(thing.case) if more else None
                return self._placed(_cell(thing, answer), (thing.variant, thing.step))
            case NotableStep():
                return self._placed(_step(self._run, thing), (thing.variant, thing.step.number))
        return _sum(thing)

    def _placed(self, case: PlacedCase, at: tuple[str, int]) -> PlacedCase:
        """Say where a test did not pass; the schema of Jenkins' xUnit plugin has no place."""
        if self._site.shows_lines and case.result:
            location = self._lines.of(*at)
            if location and (path := self._site.path(location)):
                case.file, case.line = _xml(path), location.line
        return case


def _passes(verdict: Verdict) -> bool:
    return verdict.verdict is VerdictKind.CORRECT and not verdict.disclaimed


def _sum(right: Sequence[Verdict]) -> PlacedCase:
    name = f"{counted(len(right), 'right answer')} by {right[0].reader}"
    seconds = round(sum(verdict.seconds for verdict in right), DIGITS)
    return PlacedCase(_xml(name), _xml(right[0].variant), seconds)


def _cell(verdict: Verdict, answer: Answer | None) -> PlacedCase:
    name = verdict.case.removeprefix(f"{verdict.variant}/")
    case = PlacedCase(_xml(name), _xml(verdict.variant), round(verdict.seconds, DIGITS))
    result: CaseResult | None = junitparser.Failure(NOT_WORDED, str(verdict.verdict))
    with LoggedFailure(verdict.case):
        result = _result(verdict, answer)
    if result is not None:
        case.result = [result]
    if answer and answer.attempts:
        tries = "\n".join(attempt.what for attempt in answer.attempts)
        case.system_out = _xml(f"attempts without an answer:\n{tries}")
    return case


def _result(verdict: Verdict, answer: Answer | None) -> CaseResult | None:
    match verdict.verdict:
        case _ if _passes(verdict):
            return None
        case VerdictKind.UNSUPPORTED | VerdictKind.OPEN as kind:
            return _with_text(junitparser.Skipped(_xml(f"{kind}: {verdict.because}")))
        case VerdictKind.UNKNOWN:
            error = junitparser.Error(_xml(verdict.because or "unknown"), "unknown")
            return _with_text(error, _xml(log_text(answer)))
    failure = junitparser.Failure(_heading(verdict, answer), _kind(verdict))
    lines = (*_known(verdict), *_evidence(verdict, answer), f"In full: {html.FILE}")
    failure.text = _xml("\n".join(lines))
    return failure


def _with_text(result: CaseResult, more: str = "") -> CaseResult:
    result.text = "\n".join(filter(None, (result.message, more)))
    return result


def _kind(verdict: Verdict) -> str:
    if verdict.disclaimed or verdict.known:
        return ANSWERED if verdict.disclaimed else KNOWN
    wrong = verdict.findings and verdict.verdict is VerdictKind.WRONG
    return str(verdict.findings[0].kind if wrong else verdict.verdict)


def _known(verdict: Verdict) -> Iterator[str]:
    if verdict.known:
        yield f"known: {verdict.known}"
    if parts := answered_text(verdict):
        yield parts


def _heading(verdict: Verdict, answer: Answer | None) -> str:
    parts = [*_known(verdict)]
    if answer and answer.refusal:
        parts.append(f"refused: {answer.refusal.kind} {answer.refusal.code}".rstrip())
    names = (
        [FINDINGS[finding.kind].label, ", ".join(finding.columns)] for finding in verdict.findings
    )
    return _xml("; ".join([*parts, *(": ".join(filter(None, name)) for name in names)]))


def _evidence(verdict: Verdict, answer: Answer | None) -> Iterator[str]:
    # One witness for each finding: of a big run, build servers cannot read more. They have to be
    # in the text, for some show nothing else.
    yield from _refused(verdict, answer)
    for finding in verdict.findings:
        file = f"; read from {finding.witness.file}" if finding.witness.file else ""
        yield f"{_found(finding)}{file}"
    if verdict.reproduces:
        yield mapping_text(verdict.reproduces, verdict.claimed)
    yield f"SQL: {verdict.sql}"


def message(verdict: Verdict, answer: Answer | None) -> str:
    """Return in one line what is wrong with an answer: what is known, the refusal, the findings."""
    with LoggedFailure(verdict.case):
        known = [f"known: {verdict.known}"] if verdict.known else []
        parts = (*known, *_refused(verdict, answer), *map(_found, verdict.findings))
        return _xml("; ".join(parts))
    return NOT_WORDED


def _refused(verdict: Verdict, answer: Answer | None) -> Iterator[str]:
    if answer and answer.refusal:
        meaning = f" ({verdict.because})" if verdict.because else ""
        yield f"refused: {refusal_text(answer.refusal)}{meaning}"


def _found(finding: Finding) -> str:
    return f"{FINDINGS[finding.kind].label}: {finding_text(finding)}"


def details(verdict: Verdict, answer: Answer | None) -> str:
    with LoggedFailure(verdict.case):
        lines = [line for finding in verdict.findings for line in _witnesses(finding)]
        if verdict.reproduces:
            lines.append(mapping_text(verdict.reproduces, verdict.claimed))
        if refusal := answer and answer.refusal:
            lines += [f"{refusal.kind} {refusal.code}".rstrip(), refusal.message]
            lines += [f"cause: {refusal.cause}"] if refusal.cause else []
        return "\n".join([*lines, f"SQL: {verdict.sql}"])
    return NOT_WORDED


def _witnesses(finding: Finding) -> Iterator[str]:
    label = FINDINGS[finding.kind].label
    for witness in finding.witnesses[:PLACES]:
        file = f"; read from {witness.file}" if witness.file else ""
        yield f"{label}: {witness_text(finding.kind, witness)}{file}"
    if (left := len(finding.witnesses) - PLACES) > 0:
        yield f"… and {left} more"


def _step(run: Run, step: NotableStep) -> PlacedCase:
    outcome = step.outcome
    name = f"s{step.step.number}/{WRITE}: {step.step.text}"
    case = PlacedCase(_xml(name), _xml(step.variant), round(outcome.seconds, DIGITS))
    judged = run.verdict_of_step.get((step.variant, outcome.step))
    known = judged.known if judged else ""
    why = refusal_text(outcome.refusal) if outcome.refusal else outcome.because
    why = f"{HALF_DONE}: {why}" if outcome.half_done else why
    match outcome.kind:
        case OutcomeKind.SKIPPED:
            case.result = [_with_text(junitparser.Skipped(_xml(why)))]
        case OutcomeKind.REFUSED | OutcomeKind.APPLIED:  # one that is half-done
            case.result = [_failure(why, known, outcome.word)]
        case _:
            case.result = [_with_text(junitparser.Error(_xml(why or "unknown"), str(outcome.kind)))]
    return case


def _wrong_step(run: Run, verdict: Verdict) -> PlacedCase:
    name = f"s{verdict.step}/{WRITE}: {run.info.step(verdict.variant, verdict.step).text}"
    case, why = PlacedCase(_xml(name), _xml(verdict.variant)), findings_text(verdict)
    case.result = [_failure(why, verdict.known, str(verdict.verdict))]
    return case


def _failure(why: str, known: str, kind: str) -> CaseResult:
    text = f"known: {known}; {why}" if known else why
    return _with_text(junitparser.Failure(_xml(text), KNOWN if known else kind))


def _xml(text: str) -> str:
    """Return a text that XML can hold: its control characters are written out."""
    return _NOT_XML.sub(lambda match: ascii(match.group())[1:-1], text)
