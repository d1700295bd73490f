"""The claims of source documents, and what recorded runs say of each: the cells and steps asked.

A claim names steps of scenarios. Of each it says either what became of the step, or what readers
answered after it. Nothing counts as seen that no record of a run has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import ClassVar, Final

from pydantic import ConfigDict

from harness.artifacts.cache import Cache
from harness.core.parties import Party
from harness.core.records import (
    Finding,
    FindingKind,
    OutcomeKind,
    StateRecord,
    Verdict,
    VerdictKind,
)
from harness.judge import recorded_metadata, recorded_schema
from harness.run.load_run import WRITE, Run
from tools.measure import schema_files
from tools.measured_evidence import Measured

WRITERS: Final = "shown as the files have it, which is not what was expected"
"""What is seen of a reader in a cell whose findings are all of what the files hold."""
SNAPSHOT, READ_OPTIMIZED = "snapshot", "read_optimized"
SAME_GROUPS, NEW_GROUPS = "same_file_groups", "new_file_groups"
SCHEMA_FILES: Final = "new files: {}"
SILENT: Final = {WRITERS, *("unknown", "unsupported", "skipped")}
"""What neither confirms nor refutes a claim."""
WORDS: Final = {
    *map(str, VerdictKind),
    *map(str, FindingKind),
    *map(str, OutcomeKind),
    SAME_GROUPS,
    NEW_GROUPS,
    *map(SCHEMA_FILES.format, range(10)),
} - SILENT
"""What a claim may expect."""
OTHERS: Final = {Party.WRITER, Party.CATALOG, Party.STATISTICS, Party.UNSURE}
"""Whose findings say nothing of a reader."""


class Standing(StrEnum):
    """How what was seen stands to what is claimed; what should be read first comes first."""

    DIFFERS = "differs"
    AGREES = "agrees"
    IN_PART = "agrees, executed in part"
    NOTHING_TOLD = "nothing told"
    NOT_EXECUTED = "not executed"


class Asked(StrEnum):
    """What evidence is of."""

    STEP = "step"
    """What became of the steps themselves."""
    RECORD = "record"
    """Whether their commits have the extra metadata that they were told."""
    SHOWN = "shown"
    """Whether the writer's procedure shows what the commits have."""
    SCHEMA = "schema"
    """Whether what the table says of its own schema after them is right."""
    FILES = "files"
    """Whether they wrote into file groups that were there, or into new ones."""
    SCHEMA_FILES = "schema_files"
    """How many files they left under `.hoodie/.schema`, of states that are still in the cache."""
    ANSWERS = "answers"
    """What readers answered after them."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Steps or cells of runs that can say something of a claim; empty selections take all."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    scenario: str
    steps: tuple[int, ...]
    expected: tuple[str, ...]
    """What the claim allows: a verdict, a finding's name, or what becomes of a step."""
    of: Asked = Asked.ANSWERS
    about: str = ""
    """What of the claim it is evidence for, where a claim has several parts."""
    writers: tuple[str, ...] = ()
    """Patterns, `*` for anything, of the distribution that wrote the step; so are `readers`."""
    readers: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    """Patterns too. The snapshot of a table without log files is its read-optimized view."""
    queries: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a source says, in our words, and what answers it."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    number: str
    says: str
    evidence: tuple[Evidence, ...] = ()
    measured: tuple[Measured, ...] = ()
    explained: str = ""
    """Why what was seen differs from the claim."""
    note: str = ""
    """What else should be known, e.g. which version stands for one that is not to be had."""
    open: str = ""
    """What would answer it, or why it cannot be executed."""


@dataclass(frozen=True, slots=True)
class Section:
    """The claims of one part of the digest."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    name: str
    title: str
    source: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Sight:
    """One cell or step of a run that a claim asks for."""

    step: str
    writer: str
    reader: str
    """Empty of a step."""
    kinds: tuple[str, ...]


def problems(sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    """Yield the number of each claim that is not well made, and what is wrong with it."""
    seen: set[str] = set()
    for section in sections:
        for claim in section.claims:
            if claim.number in seen:
                yield claim.number, "the number is there twice; give each claim its own"
            seen.add(claim.number)
            yield from ((claim.number, what) for what in _problems(section, claim))


def _problems(section: Section, claim: Claim) -> Iterator[str]:
    if not claim.number.startswith(f"{section.name}."):
        yield f"it stands in section {section.name}; its number begins with `{section.name}.`"
    if not claim.evidence and not claim.measured and not claim.open:
        yield "it has no evidence; say under `open` what would answer it"
    if claim.explained and not (claim.evidence or claim.measured):
        yield "it explains a difference and has no evidence; leave out `explained`"
    for each in claim.evidence:
        if not each.steps or not each.expected or not set(each.expected) <= WORDS:
            yield (
                f"evidence of {each.scenario} needs steps, and what is expected of them; "
                f"expected is of: {', '.join(sorted(WORDS))}"
            )


def unused(claim: Claim, parts: Sequence[Standing]) -> str:
    """Return why a claim's explanation fits nothing; empty where it fits, or nothing was run."""
    ran = any(each in (Standing.AGREES, Standing.DIFFERS) for each in parts)
    if not claim.explained or not ran or Standing.DIFFERS in parts:
        return ""
    return "its explanation fits nothing, for what these runs have agrees; leave out `explained`"


def standing(seen: Iterable[Sight], expected: Iterable[str]) -> Standing:
    """Return whether what was seen is claimed; a part that says nothing has no say."""
    everything = list(seen)
    if not everything:
        return Standing.NOT_EXECUTED
    told = [sight.kinds for sight in everything if not set(sight.kinds) <= SILENT]
    if not told:
        return Standing.NOTHING_TOLD
    allowed = set(expected)
    agrees = all(set(kinds) - SILENT <= allowed for kinds in told)
    return Standing.AGREES if agrees else Standing.DIFFERS


def together(parts: Sequence[Standing]) -> Standing:
    """Return how a whole claim stands; one that was executed in part never simply agrees."""
    if not parts:
        return Standing.NOT_EXECUTED
    if Standing.DIFFERS in parts or len(set(parts)) == 1:
        return min(parts, key=list(Standing).index)
    return Standing.IN_PART if Standing.AGREES in parts else Standing.NOTHING_TOLD


def sights(runs: Iterable[Run], evidence: Evidence) -> Iterator[Sight]:
    """Yield what the runs have of the evidence."""
    of = _answers if evidence.of is Asked.ANSWERS else _steps
    for run in runs:
        yield from of(run, evidence)


def _steps(run: Run, evidence: Evidence) -> Iterator[Sight]:
    for (variant, number), state in run.by_step.items():
        if number in evidence.steps and _is_written(run, variant, number, evidence):
            text = run.step(variant, number).text
            kinds = _of_step(run, state, evidence.of)
            if kinds:
                yield Sight(text, writer(run, variant, number), "", kinds)


def _of_step(run: Run, state: StateRecord, asked: Asked) -> tuple[str, ...]:
    """Return what a step has to say; nothing where it has no record of what is asked."""
    if asked is Asked.STEP:
        return (str(state.outcome.kind),)
    if asked in (Asked.FILES, Asked.SCHEMA_FILES):
        before = run.by_step.get((state.variant, state.outcome.step - 1))
        told = _groups if asked is Asked.FILES else _schema_files
        return told(state, before) if before else ()
    found = run.verdict_of_step.get((state.variant, state.outcome.step))
    if asked is Asked.SCHEMA:
        kinds = [str(each.kind) for each in _found(found, recorded_schema.KINDS)]
        right = (str(VerdictKind.CORRECT),) if state.schema_history else ()
        return tuple(dict.fromkeys(kinds)) or right
    return _metadata(found, state, asked)


def _metadata(verdict: Verdict | None, state: StateRecord, asked: Asked) -> tuple[str, ...]:
    kept = state.metadata
    if kept is None:
        return ()
    if asked is Asked.SHOWN and kept.unshown:
        return (str(VerdictKind.UNKNOWN),)
    shown = asked is Asked.SHOWN
    found = (
        str(each.kind)
        for each in _found(verdict, recorded_metadata.KINDS)
        if any((place.key == recorded_metadata.SHOWN) == shown for place in each.places)
    )
    return tuple(dict.fromkeys(found)) or (str(VerdictKind.CORRECT),)


def _found(verdict: Verdict | None, kinds: Collection[FindingKind]) -> Iterator[Finding]:
    return (each for each in (verdict.findings if verdict else ()) if each.kind in kinds)


def _groups(state: StateRecord, before: StateRecord) -> tuple[str, ...]:
    """Return whether a step made file groups; nothing where no file of it is known."""
    if not set(state.files) - set(before.files):
        return ()
    old, now = ({each.file_group for each in of.files} for of in (before, state))
    return (NEW_GROUPS if now - old else SAME_GROUPS,)


def _schema_files(state: StateRecord, before: StateRecord) -> tuple[str, ...]:
    count = schema_files.new_under_schema(Cache.default(), before.digest, state.digest)
    return () if count is None else (SCHEMA_FILES.format(count),)


def _answers(run: Run, evidence: Evidence) -> Iterator[Sight]:
    for verdict in run.verdicts:
        if verdict.scenario != evidence.scenario or verdict.step not in evidence.steps:
            continue
        if _is_read(run, verdict, evidence):
            text = run.step(verdict.variant, verdict.step).text
            by = writer(run, verdict.variant, verdict.step)
            yield Sight(text, by, verdict.reader, _kinds(verdict))


def _is_read(run: Run, verdict: Verdict, evidence: Evidence) -> bool:
    return (
        verdict.view != WRITE
        and _is_of((verdict.reader,), evidence.readers)
        and _is_of(_view(run, verdict), evidence.views)
        and (not evidence.queries or verdict.query in evidence.queries)
        and _is_written(run, verdict.variant, verdict.step, evidence)
    )


def _is_written(run: Run, name: str, step: int, evidence: Evidence) -> bool:
    variant = run.variant(name)
    return (
        variant.scenario == evidence.scenario
        and (not evidence.formats or variant.format in evidence.formats)
        and _is_of((writer(run, name, step),), evidence.writers)
        and evidence.settings.items() <= variant.settings.items()
    )


def _view(run: Run, verdict: Verdict) -> tuple[str, ...]:
    merged = run.variant(verdict.variant).format == "hudi-mor"
    return (verdict.view,) if merged or verdict.view != SNAPSHOT else (SNAPSHOT, READ_OPTIMIZED)


def _is_of(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(n, p) for n in names for p in patterns)


def writer(run: Run, name: str, step: int) -> str:
    """Return the distribution that wrote a step."""
    by = run.variant(name).writers
    return by[step] if step < len(by) else run.variant(name).writer


def _kinds(verdict: Verdict) -> tuple[str, ...]:
    if verdict.verdict is not VerdictKind.WRONG:
        return (str(verdict.verdict),)
    found = [str(each.kind) for each in verdict.findings if each.party not in OTHERS]
    return tuple(dict.fromkeys(found)) or (WRITERS,)
