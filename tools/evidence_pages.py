"""The generated parts of what runs have shown: answers in tables, and upgrades."""

import io
import textwrap
from collections import Counter, defaultdict
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Final

from rich.console import Console

from harness.cli.named_parts import NamedParts
from harness.cli.upgrade import known as known_upgrades
from harness.cli.upgrade.request import UpgradeRequest
from harness.comparison import evidence
from harness.comparison.cell_pairs import VerdictChange
from harness.comparison.evidence import Evidence, Source
from harness.core.records import Verdict, VerdictKind
from harness.model import past_views
from harness.reports import lines, terminal, upgrade_report
from harness.reports.words import VERDICTS
from harness.run.load_run import Run, findings_text
from harness.scenario.cells import CONTROL, parse_reader
from tools.shared import crossed, table

ALL: Final = "*"
KIND: Final = "answer"
"""The trait of an answer that is its verdict: as columns, one for each kind that there is."""
KINDS: Final = [word.label for word in VERDICTS.values()]
WIDTH: Final = 118
Counts = defaultdict[tuple[str, str], Counter[VerdictKind]]


@cache
def store() -> Evidence:
    return evidence.opened(evidence.FILE)


@cache
def known(profile: str = ALL) -> Run:
    """Return what runs of some profiles have shown; of the same question, the newest."""
    of_profiles = evidence.opened(evidence.FILE)
    of_profiles.sources = _sources(profile)
    readers = list(of_profiles.readers)
    return of_profiles.run(readers, None, lambda variant, _: variant.scenario != CONTROL).run


def _sources(profile: str) -> tuple[Source, ...]:
    return tuple(source for source in store().sources if fnmatchcase(source.profile, profile))


def runs() -> str:
    """Return the runs that the evidence which is shipped is of."""
    rows = (
        (f"`{s.profile}`", s.started[:10], s.commit[:8], str(len(s.by_default)), f"{s.cells:,}")
        for s in store().sources
    )
    head = "profile", "run on", "harness at", "readers by default", "answers"
    return "\n".join(table(head, rows))


def answers(
    rows: str, columns: str = KIND, sections: str = "", profile: str = ALL, **which: str
) -> str:
    """Return how many answers of which kind there are, by two of their traits.

    `sections`: a trait each of whose values has a table of its own; `which`: of a trait the
    patterns of which an answer fits one, parted by `|`.
    """
    counts = defaultdict[str, Counts](lambda: defaultdict(Counter))
    run = known(profile)
    for verdict in run.verdicts:
        traits = _traits(run, verdict)
        if all(_fits(traits[name], patterns) for name, patterns in which.items()):
            at = traits[rows], traits[columns]
            counts[traits.get(sections, "")][at][verdict.verdict] += 1
    of_runs = "" if profile == ALL else f", of {'; '.join(map(str, _sources(profile)))}"
    parts = []
    for title, of in sorted(counts.items()):
        parts += [f"## {title}"] if title else []
        parts += [f"{sum(kinds.total() for kinds in of.values()):,} answers{of_runs}."]
        names = sorted({name for _, name in of}, key=KINDS.index if columns == KIND else None)
        cells = {at: _cell(kinds, of_kinds=columns == KIND) for at, kinds in of.items()}
        parts += [crossed(rows, cells, names)]
    return "\n\n".join(parts)


def _traits(run: Run, verdict: Verdict) -> Mapping[str, str]:
    info = run.info.variant(verdict.variant)
    return {
        KIND: VERDICTS[verdict.verdict].label,
        "finding": findings_text(verdict),
        "format": info.format,
        "operation": info.step(verdict.step).operation,
        "profile": run.profiles[verdict.case],
        "query": verdict.query.partition("(")[0],
        "reader": verdict.reader,
        "scenario": info.scenario,
        "tables": ", ".join(f"{name}={value}" for name, value in info.settings.items()),
        "version": parse_reader(verdict.reader).distribution,
        "view": past_views.name_of(verdict.view),
        "writer": info.writer,
    }


def _fits(value: str, patterns: str) -> bool:
    return any(fnmatchcase(value, pattern) for pattern in patterns.split("|"))


def _cell(counts: Counter[VerdictKind], *, of_kinds: bool) -> str:
    """Return how many answers are not right, kind by kind; a tick where all are."""
    if of_kinds:
        return f"{counts.total():,}"
    texts = {kind: f"{word.symbol} {counts[kind]}" for kind, word in VERDICTS.items()}
    other = [texts[kind] for kind in VERDICTS if counts[kind] and kind is not VerdictKind.CORRECT]
    right = VERDICTS[VerdictKind.CORRECT].symbol
    return f"{' '.join(other)} of {counts.total()}" if other else right


def report(profile: str) -> str:
    """Return what a terminal shows of a run of a profile."""
    shown = io.StringIO()
    terminal.render(known(profile), Console(file=shown, width=lines.WIDTH, color_system=None))
    return "\n".join(("```", *map(str.rstrip, shown.getvalue().splitlines()), "```"))


def upgrade(old: str, new: str, format: str = "") -> str:  # noqa: A002 - as a page writes it
    """Return the answer of `harness upgrade` of two readers, and what becomes of each story."""
    named = NamedParts(formats=[format] if format else [])
    known_upgrade = known_upgrades.compared(UpgradeRequest([old], [new], named=named), store())
    compared = known_upgrade.comparison
    answer = textwrap.fill(upgrade_report.headline(compared), WIDTH, break_on_hyphens=False)
    pairs = [pair for pair in compared.pairs if not pair.is_step]
    counts = Counter((pair.either.scenario, str(pair.change)) for pair in pairs)
    changes = [str(change) for change in VerdictChange if any(change == c for _, c in counts)]
    cells = {at: str(number) for at, number in counts.items()}
    worse = (
        f"- {upgrade_report.cause_title(cause)}: "
        f"{upgrade_report.cause_extent(cause, compared.new.run)}. "
        f"{upgrade_report.what_to_do(cause, compared)}"
        for cause in compared.relevant
    )
    parts = (
        textwrap.indent(answer, "> ", lambda _: True),
        f"Of {'; '.join(map(str, known_upgrade.sources))}.",
        "\n".join(worse),
        crossed("story", cells, changes),
    )
    return "\n\n".join(filter(None, parts))
