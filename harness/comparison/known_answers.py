"""Two sides compared by what runs have shown already: nobody is asked."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.comparison.cell_pairs import CellPair, VerdictChange
from harness.comparison.evidence import Evidence, Keep, KnownRun, Source
from harness.comparison.result import ComparedSide, SideComparison, compare
from harness.core.records import Verdict
from harness.core.texts import counted
from harness.run.load_run import Run


@dataclass(frozen=True, slots=True)
class KnownComparison:
    comparison: SideComparison
    sources: tuple[Source, ...]
    """The runs that it is of, the newest first."""
    composed: int
    """Of so many questions the sides were asked in different runs, on the same states."""


def compare_known(
    evidence: Evidence, old: Sequence[str], new: Sequence[str], keep: Keep = lambda *_: True
) -> KnownComparison:
    """Compare what is known of two sides' readers; what one alone was asked counts as not tested.

    Through a metastore that is not the usual one answers are others: those of one are compared.
    """
    named = {*old, *new}  # a reader that one side names by its settings is not the other side's
    before, after = (
        tuple(
            dict.fromkeys(
                name
                for text in side
                for name in evidence.named(text)
                if name == text or name not in named
            )
        )
        for side in (old, new)
    )
    of_old, of_new = (
        {source.metastore for source in evidence.sources if not names.isdisjoint(source.members)}
        for names in (set(before), set(after))
    )
    metastore = min(of_old & of_new, default="")  # the usual one if both were asked through it
    was, now = (evidence.run(names, metastore, keep) for names in (before, after))
    same = _same_states(was.run, now.run)
    was, now = (_of_states(side, same) for side in (was, now))
    pairs = (
        {now: old for old, now in zip(before, after, strict=True)}
        if len(before) == len(after) == 1
        else None
    )
    old_side, new_side = (
        ComparedSide(", ".join(side), known.run) for side, known in ((old, was), (new, now))
    )
    comparison = compare(old_side, new_side, pairs)
    both = tuple(pair for pair in comparison.pairs if pair.old and pair.new)
    sources = [_sources(pair, was, now) for pair in both if not pair.is_step]
    used = {id(source): source for pair in sources for source in pair}
    return KnownComparison(
        replace(comparison, pairs=both, unasked=tuple(_alone(comparison))),
        tuple(source for source in evidence.sources if id(source) in used),
        sum(one is not other for one, other in sources),
    )


def _same_states(one: Run, other: Run) -> Callable[[Verdict], bool]:
    texts = {
        name
        for name, text in one.info.scenarios.items()
        if other.info.scenarios.get(name, text) != text
    }
    states = {
        at
        for at, state in one.by_step.items()
        if at in other.by_step and other.by_step[at].digest != state.digest
    }
    return lambda verdict: (
        verdict.variant not in texts and (verdict.variant, verdict.step) not in states
    )


def _of_states(known: KnownRun, same: Callable[[Verdict], bool]) -> KnownRun:
    recorded = {case: verdict for case, verdict in known.run.recorded.items() if same(verdict)}
    cells = tuple(cell for cell in known.run.info.cells if cell.case in recorded)
    run = replace(known.run, info=replace(known.run.info, cells=cells), recorded=recorded)
    return replace(known, run=run)


def _sources(pair: CellPair, was: KnownRun, now: KnownRun) -> tuple[Source, Source]:
    old, new = pair.old or pair.either, pair.new or pair.either
    return was.sources[old.case], now.sources[new.case]


def _alone(comparison: SideComparison) -> Iterator[str]:
    """Yield of each format what one side alone was asked."""
    info = {VerdictChange.GONE: comparison.old, VerdictChange.NEW: comparison.new}
    counts = Counter(
        (info[pair.change].run.info.variant(pair.either.variant).format, pair.change)
        for pair in comparison.pairs
        if pair.change in info and not pair.is_step
    )
    for (format_name, change), number in counts.items():
        questions = counted(number, "question")
        yield f"{format_name} tables: {questions} asked of {info[change].name} alone"
