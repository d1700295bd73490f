"""Known defects: those of `known_defects.yaml`, and those that scenarios of `bugs/` reproduce."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from harness.core.records import FindingKind, Verdict, VerdictKind
from harness.core.runtime_names import lock_name
from harness.core.yaml_reader import load_yaml
from harness.run import causes
from harness.run.causes import CauseKey
from harness.run.load_run import Run
from harness.scenario.cells import parse_reader

FILE: Final = Path(__file__).with_suffix(".yaml")
BUGS: Final = "bugs/"
ENTRY: Final = re.compile(r"(?P<project>[\w-]+/[\w-]+)#(?P<number>\d+)")
"""An issue or a pull request on GitHub, as texts name it: `apache/hudi#1`."""


@dataclass(frozen=True, slots=True)
class KnownDefect:
    what: str
    trackers: Annotated[tuple[str, ...], Field(min_length=1)]
    """The addresses of its issues and pull requests."""
    seen_in: tuple[str, ...]
    formats: tuple[str, ...]
    findings: tuple[FindingKind, ...]
    results: str
    """The page below docs/ that says how it was seen."""
    to_do: str
    scenario: str
    """A shipped scenario that shows it."""
    operation: str = ""
    """The operation after which it occurs; empty if it needs none."""
    feature: str = ""
    """The feature that a step must give the table, as `usage.yaml` names it; empty if none."""
    scenarios: tuple[str, ...] = ()
    """The only scenarios that can show it; empty if any can."""
    right_in: tuple[str, ...] = ()
    near: bool = False
    """Whether the trackers only have something similar."""

    @property
    def entries(self) -> str:
        return ("near " if self.near else "") + ", ".join(f"<{entry}>" for entry in self.trackers)

    def fits(self, key: CauseKey, verdict: Verdict, run: Run) -> bool:
        """Return whether the defect can explain an answer of a cause."""
        variant = run.info.variant(verdict.variant)
        steps = variant.steps[: verdict.step]
        return (
            key.finding in self.findings
            and self.operation in {"", key.operation}
            and lock_name(parse_reader(verdict.reader).distribution) in self.seen_in
            and variant.format in self.formats
            and (not self.scenarios or verdict.scenario in self.scenarios)
            and (not self.feature or any(self.feature in step.features for step in steps))
        )


@cache
def known_defects() -> Mapping[str, KnownDefect]:
    text = FILE.read_text(encoding="utf-8")
    return load_yaml(dict[str, KnownDefect], text, str(FILE), "known defects")[0]


def known_as(key: CauseKey, verdicts: Sequence[Verdict], run: Run) -> tuple[str, ...]:
    """Return the names of the known defects that can explain all answers of a cause."""
    return tuple(
        name
        for name, defect in known_defects().items()
        if all(defect.fits(key, verdict, run) for verdict in verdicts)
    )


def sentences(key: CauseKey, verdicts: Sequence[Verdict], run: Run) -> Iterator[str]:
    """Yield the known defects that explain a cause, with what trackers have of them."""
    for name in known_as(key, verdicts, run):
        entries = known_defects()[name].entries
        yield f"It fits a known defect: {entries} (docs/wrong_answers.md#{name})."
    sources = {run.info.variant(verdict.variant).source for verdict in verdicts}
    if all(verdict.scenario.startswith(BUGS) for verdict in verdicts) and any(sources):
        yield f"The scenario reproduces a known defect: {'; '.join(filter(None, sorted(sources)))}."


def right_in(key: CauseKey, verdicts: Sequence[Verdict], run: Run) -> tuple[str, ...]:
    """Return the versions of the engine that have it right: in this run, and as is known.

    Of those that the run asked, what it saw counts.
    """
    seen = causes.right_in(verdicts, run)
    asked = {lock_name(reader.distribution) for reader in run.info.readers}
    names = known_as(key, verdicts, run)
    known = (version for name in names for version in known_defects()[name].right_in)
    return tuple(dict.fromkeys((*seen, *(version for version in known if version not in asked))))


def right_text(versions: Sequence[str]) -> str:
    """Return a sentence of versions that have it right; empty without any.

    >>> right_text(["trino-483"])
    'Right in trino-483.'
    """
    return f"Right in {', '.join(versions)}." if versions else ""


def of_wrong_answers(run: Run) -> Mapping[str, tuple[str, ...]]:
    """Return by their names what is known of wrong answers all of whose findings are known."""
    names = dict[str, list[tuple[str, ...]]]()
    for cause in causes.causes(run.verdicts, run):
        if cause.key.symptom.kind is VerdictKind.WRONG:
            known = known_as(cause.key, cause.verdicts, run)
            for verdict in cause.verdicts:
                names.setdefault(verdict.case, []).append(known)
    return {
        case: tuple(dict.fromkeys(chain.from_iterable(known)))
        for case, known in names.items()
        if all(known)
    }


def links(text: str) -> str:
    """Return a text in which each entry of a tracker is a link.

    >>> links("near apache/hudi#1")
    'near [apache/hudi#1](https://github.com/apache/hudi/issues/1)'
    """
    return ENTRY.sub(r"[\g<0>](https://github.com/\g<project>/issues/\g<number>)", text)


def trackers(names: Iterable[str]) -> tuple[str, ...]:
    """Return the addresses of what trackers have of known defects, each once."""
    addresses = (known_defects()[name].trackers for name in names)
    return tuple(dict.fromkeys(chain.from_iterable(addresses)))
