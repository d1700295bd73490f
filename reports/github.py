"""What GitHub shows of a job: its summary, and annotations on the lines of scenarios.

Limits are those of "Workflow commands for GitHub Actions": 1 MiB a step, ten errors.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Final, TextIO

from harness.judge.gate import GOOD, Gate
from harness.reports import ci_site, markdown
from harness.reports.cause_texts import CauseText, cause_texts
from harness.reports.ci_site import CiSite
from harness.reports.findings import findings_text
from harness.reports.words import short
from harness.run import run_judge
from harness.run.causes import ScenarioLine, ScenarioLines
from harness.run.load_run import Run

NAME: Final = "github"
FILE: Final = "github.md"
SUMMARY: Final = "GITHUB_STEP_SUMMARY"
MOST_SUMMARY: Final = 1 << 20
"""Bytes of the summaries of all that one step does."""
MOST_ANNOTATIONS: Final = 10
LONGEST_TITLE: Final = 200
ERROR, WARNING = "error", "warning"
_DATA: Final = {ord(sign): f"%{ord(sign):02X}" for sign in "%\r\n"}
_PROPERTY: Final = {**_DATA, **{ord(sign): f"%{ord(sign):02X}" for sign in ":,"}}
"""What the runner reads back (`ActionCommand` of actions/runner)."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What is said of a line, or of the whole job where no file of the repository has it."""

    title: str
    message: str
    file: str = ""
    line: int = 0

    def command(self, level: str) -> str:
        location = {"file": self.file, "line": str(self.line)} if self.file else {}
        properties = {**location, "title": short(self.title, LONGEST_TITLE)}
        inner = ",".join(f"{name}={text.translate(_PROPERTY)}" for name, text in properties.items())
        return f"::{level} {inner}::{self.message.translate(_DATA)}"


def write(run: Run, folder: Path) -> Path:
    """Write the summary where GitHub reads it, else `github.md`, and print the annotations."""
    gate = run_judge.recorded_gate(run)
    return tell(run, gate, sys.stdout, folder, fails=gate.status != GOOD)


def tell(run: Run, gate: Gate, out: TextIO, folder: Path | None = None, *, fails: bool) -> Path:
    """Write the same of a run whose gate is known; annotations are errors if the command `fails`.

    `folder`: where the summary is written outside of GitHub; None: in the run's folder.
    """
    site, texts = ci_site.of(os.environ), cause_texts(run)
    for annotation in annotated(run, texts, site):
        print(annotation.command(ERROR if fails else WARNING), file=out, flush=True)
    named = os.environ.get(SUMMARY)
    path = Path(named) if named else (folder or run.folder) / FILE
    before = path.stat().st_size if named and path.is_file() else 0  # of others in this step
    content = markdown.text(run, gate, site, MOST_SUMMARY - before - 1, texts)
    with path.open("ab" if named else "wb") as summary:
        begin = "\n" if before and content else ""
        summary.write(f"{begin}{content}".encode("utf-8", "backslashreplace"))
    return path


def annotated(run: Run, texts: Sequence[CauseText], site: CiSite) -> tuple[Annotation, ...]:
    """Return the first ones: one for each new cause, then one for each step that is not right."""
    lines = ScenarioLines(run)
    every = chain(_of_causes(texts, site, lines), _of_steps(run, site, lines))
    return tuple(islice(every, MOST_ANNOTATIONS))


def _of_causes(
    texts: Sequence[CauseText], site: CiSite, lines: ScenarioLines
) -> Iterator[Annotation]:
    for text in texts:
        if not text.known and not text.verdict.is_good:
            who = f"{text.engine} ({text.mark})" if text.mark else text.engine
            location = lines.of_cause(text.cause)
            parts = (f"{text.amount}; {text.where}", text.seen, text.to_do, text.commands[0])
            message = "\n".join(filter(None, parts))
            yield _annotation(f"{who}: {text.what}", message, location, site)


def _of_steps(run: Run, site: CiSite, lines: ScenarioLines) -> Iterator[Annotation]:
    seen = set[tuple[str, int, str]]()
    for verdict in run.step_verdicts:
        key = verdict.scenario, verdict.step, verdict.because
        if verdict.known or key in seen:
            continue
        seen.add(key)
        step = run.info.step(verdict.variant, verdict.step)
        title = f"{verdict.reader}: step {step.number} '{step.text}' is {verdict.verdict}"
        parts = verdict.variant, verdict.because, findings_text(verdict)
        location = lines.of(verdict.variant, verdict.step)
        yield _annotation(title, "\n".join(filter(None, parts)), location, site)


def _annotation(
    title: str, message: str, location: ScenarioLine | None, site: CiSite
) -> Annotation:
    path = site.path(location)
    return Annotation(title, message, path, location.line if location and path else 0)
