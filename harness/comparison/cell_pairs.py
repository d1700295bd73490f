"""The cells of two runs, pair by pair: what each side answered, and what became of that. Pure.

Both sides are judged against the truth, never against each other.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import Finding, FindingKind, OutcomeKind, Verdict, VerdictKind
from harness.core.setting_values import HANDOVER_VERSION
from harness.run import causes
from harness.run.load_run import WRITE, Run, RunInfo, VariantInfo
from harness.scenario.cells import CONTROL, Cell, parse_reader

WrongValue = tuple[FindingKind, str, str, str]
"""A wrong place wherever it was read from: the finding, the row's key, the column, the value."""


class VerdictChange(StrEnum):
    """What became of an answer; each pair of cells is in exactly one of these classes."""

    REGRESSED = "regressed"
    REGRESSED_SILENTLY = "regressed silently"
    WRONG_OTHERWISE = "wrong otherwise"
    """It was wrong, and is so in a place, or in a way, in which it was not."""
    REGRESSED_LOUDLY = "regressed loudly"
    FIXED = "fixed"
    REFUSED_NOW = "refused now"
    WRONG_AS_BEFORE = "wrong as before"
    """Each wrong place was so before; there may be fewer."""
    REFUSED_AS_BEFORE = "refused as before"
    RIGHT_AS_BEFORE = "right as before"
    OPEN_NOW = "open now"
    """Neither right nor wrong now, and right, wrong or refused before."""
    NO_LONGER_OPEN = "no longer open"
    """It was neither right nor wrong, and is right."""
    OPEN_AS_BEFORE = "open as before"
    NEW = "new"
    GONE = "gone"
    UNKNOWN = "unknown"
    """Of one side nothing is known; it is never counted as anything else."""


WORSE: Final = (
    VerdictChange.REGRESSED,
    VerdictChange.REGRESSED_SILENTLY,
    VerdictChange.WRONG_OTHERWISE,
    VerdictChange.REGRESSED_LOUDLY,
)
"""What speaks against the new side, the most harmful first: silent before loud."""
BETTER: Final = (VerdictChange.FIXED, VerdictChange.REFUSED_NOW)
AS_BEFORE: Final = (
    VerdictChange.RIGHT_AS_BEFORE,
    VerdictChange.WRONG_AS_BEFORE,
    VerdictChange.REFUSED_AS_BEFORE,
    VerdictChange.OPEN_AS_BEFORE,
)
OF_OPEN: Final = (VerdictChange.OPEN_NOW, VerdictChange.NO_LONGER_OPEN)
"""What is neither better nor worse: a check turned to open, or from open to right."""

_RIGHT, _WRONG, _ERROR, _OPEN = "right", "wrong", "error", "open"
_OUTCOMES: Final[Mapping[VerdictKind, str]] = {
    VerdictKind.CORRECT: _RIGHT,
    VerdictKind.WRONG: _WRONG,
    VerdictKind.REFUSED: _ERROR,
    VerdictKind.OPEN: _OPEN,
    VerdictKind.UNSUPPORTED: _ERROR,  # declared, and refused when it was asked
}
_CLASSES: Final[Mapping[tuple[str, str], VerdictChange]] = {
    (_RIGHT, _RIGHT): VerdictChange.RIGHT_AS_BEFORE,
    (_RIGHT, _WRONG): VerdictChange.REGRESSED,
    (_RIGHT, _ERROR): VerdictChange.REGRESSED_LOUDLY,
    (_WRONG, _RIGHT): VerdictChange.FIXED,
    (_WRONG, _WRONG): VerdictChange.WRONG_AS_BEFORE,
    (_WRONG, _ERROR): VerdictChange.REFUSED_NOW,
    (_ERROR, _RIGHT): VerdictChange.FIXED,
    (_ERROR, _WRONG): VerdictChange.REGRESSED_SILENTLY,
    (_ERROR, _ERROR): VerdictChange.REFUSED_AS_BEFORE,
    (_RIGHT, _OPEN): VerdictChange.OPEN_NOW,
    (_WRONG, _OPEN): VerdictChange.OPEN_NOW,
    (_ERROR, _OPEN): VerdictChange.OPEN_NOW,
    (_OPEN, _OPEN): VerdictChange.OPEN_AS_BEFORE,
    (_OPEN, _RIGHT): VerdictChange.NO_LONGER_OPEN,
    (_OPEN, _WRONG): VerdictChange.REGRESSED,
    (_OPEN, _ERROR): VerdictChange.REGRESSED_LOUDLY,
}
_ELSEWHERE: Final = {
    VerdictChange.WRONG_AS_BEFORE: VerdictChange.WRONG_OTHERWISE,
    VerdictChange.REFUSED_AS_BEFORE: VerdictChange.REGRESSED_SILENTLY,
}
"""What a class becomes where there is a wrong place that was none."""


def change(old: Verdict | None, new: Verdict | None) -> VerdictChange:
    """Return the class of a pair of cells; None where a side has no such cell, which one may."""
    if new is None or old is None:
        if old is new:
            raise ValueError("a pair has a cell of one side at least")
        return VerdictChange.GONE if new is None else VerdictChange.NEW
    elsewhere = bool(new.findings) and bool(wrong_values(new) - wrong_values(old))
    return class_of(old.verdict, new.verdict, elsewhere=elsewhere)


def class_of(old: VerdictKind, new: VerdictKind, *, elsewhere: bool) -> VerdictChange:
    """Return the class of two verdicts; `elsewhere`: the new side has a wrong place of its own."""
    if VerdictKind.UNKNOWN in (old, new):
        return VerdictChange.UNKNOWN
    verdict_change = _CLASSES[_OUTCOMES[old], _OUTCOMES[new]]
    return _ELSEWHERE.get(verdict_change, verdict_change) if elsewhere else verdict_change


def wrong_values(verdict: Verdict) -> frozenset[WrongValue]:
    """Return every wrong place of an answer, whatever file it was read from."""
    return frozenset(value for finding in verdict.findings for value in finding_values(finding))


def finding_values(finding: Finding) -> frozenset[WrongValue]:
    return frozenset(
        (finding.kind, witness.key, witness.column, repr(witness.actual))
        for witness in finding.witnesses
    )


WRITER_SETTINGS: Final = frozenset({"table_version", "auto_upgrade", HANDOVER_VERSION})
"""The settings of a table that say what its writer makes: the newer one makes newer tables."""


@dataclass(frozen=True, slots=True)
class Correspondence:
    """How the old side calls what the new side has; by the same name, where nothing is said."""

    variants: Mapping[str, str] = field(default_factory=dict)
    readers: Mapping[str, str] = field(default_factory=dict)


AS_NAMED: Final = Correspondence()


def correspondence(old: RunInfo, new: RunInfo) -> Correspondence:
    """Return what the old run calls what the new one has.

    Several tables of the new side may stand beside one of the old.
    """
    stories = {_story(variant): variant.id for variant in old.variants}
    ids = {variant.id for variant in old.variants}
    variants = {
        variant.id: stories[_story(variant)]
        for variant in new.variants
        if variant.id not in ids and _story(variant) in stories
    }
    was, now = ([reader.reader for reader in info.readers] for info in (old, new))
    return Correspondence(variants, _readers(was, now))


def _story(variant: VariantInfo) -> Hashable:
    """Return what a variant is but for its writers, and for the version that they make."""
    settings = {k: v for k, v in variant.settings.items() if k not in WRITER_SETTINGS}
    return variant.scenario, variant.format, tuple(sorted(settings.items())), variant.twin


def _readers(old: Sequence[str], new: Sequence[str]) -> Mapping[str, str]:
    """Pair the readers that the other run has not, where nobody else can be meant by either."""
    gone, added = [r for r in old if r not in new], [r for r in new if r not in old]
    keys: list[Callable[[str], Hashable]] = [
        lambda reader: (engine(reader), parse_reader(reader).settings),
        engine,
        lambda _: "",
    ]
    pairs: dict[str, str] = {}
    for key in keys:
        before = grouped((key(reader), reader) for reader in gone if reader not in pairs.values())
        after = grouped((key(reader), reader) for reader in added if reader not in pairs)
        pairs |= {
            readers[0]: before[name][0]
            for name, readers in after.items()
            if len(readers) == len(before.get(name, ())) == 1
        }
    return pairs


@cache
def engine(reader: str) -> str:
    """Return the product that a reader is; empty for an empty name, which stands for a step."""
    return causes.engine(parse_reader(reader).distribution) if reader else ""


Key = tuple[str, int, str, str, str]
"""Variant, step, reader, view and query, as the new side calls them."""


def key_of(verdict: Verdict) -> Key:
    """Return the key of a cell; that of a step has no reader, whose name would be its writer's."""
    asked = verdict.view != WRITE
    reader, query = (verdict.reader, verdict.query) if asked else ("", "")
    return verdict.variant, verdict.step, reader, verdict.view, query


@dataclass(frozen=True, slots=True)
class CellPair:
    """What both sides made of one question; None where a side was not asked it."""

    old: Verdict | None
    new: Verdict | None
    change: VerdictChange

    @property
    def either(self) -> Verdict:
        either = self.new or self.old
        if either is None:
            raise ValueError("a pair has a cell of one side at least")
        return either

    @property
    def is_step(self) -> bool:
        """Whether it is about what the writer did in a step, and no reader was asked."""
        return self.either.view == WRITE


def cell_pairs(old: Run, new: Run, names: Correspondence = AS_NAMED) -> tuple[CellPair, ...]:
    """Return every pair of cells, in the order of the new run; gone ones last.

    Neither a step that is right on both sides nor a control that only one side has is a pair.
    """
    before = {_old_name(verdict, AS_NAMED): verdict for verdict in every_verdict(old)}
    pairs, paired = list[CellPair](), set[str]()
    for verdict in every_verdict(new):
        name = _old_name(verdict, names)
        paired.add(name)
        was = before.get(name)
        pairs.append(CellPair(was, verdict, change(was, verdict)))
    gone = (verdict for name, verdict in before.items() if name not in paired)
    pairs += (CellPair(verdict, None, VerdictChange.GONE) for verdict in gone)
    return tuple(
        pair
        for pair in pairs
        if (pair.old and pair.new) or pair.either.scenario != CONTROL
        if not (pair.is_step and pair.change is VerdictChange.RIGHT_AS_BEFORE)
    )


def _old_name(new: Verdict, names: Correspondence) -> str:
    """Return what tells a cell from all others; of a step, whose case has a name or none."""
    variant = names.variants.get(new.variant, new.variant)
    if new.view == WRITE:
        return _of_step(variant, new.step)
    reader = names.readers.get(new.reader, new.reader)
    if (variant, reader) == (new.variant, new.reader):
        return new.case  # a text that is there already: there may be a million
    return Cell(variant, new.step, reader, new.view, new.query).case


def _of_step(variant: str, step: int) -> str:
    return f"{variant}/s{step}/{WRITE}"


def every_verdict(run: Run) -> Iterator[Verdict]:
    yield from run.step_verdicts
    judged = {(verdict.variant, verdict.step) for verdict in run.step_verdicts}
    for state in run.states:
        step = state.variant, state.outcome.step
        if state.outcome.kind is OutcomeKind.APPLIED and step not in judged:
            case, scenario = _of_step(*step), run.info.variant(state.variant).scenario
            yield Verdict(case, scenario, *step, "", WRITE, "", VerdictKind.CORRECT)
    yield from run.verdicts
