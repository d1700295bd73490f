"""Settings of the new side are tried: a reader's on what is worse, then on what is right.

A newer writer is tried with tables of the old one's version, and all is asked about those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness import engines
from harness.artifacts import distributions
from harness.cli.remedy.alternatives import alternatives, changes, plan_of
from harness.cli.upgrade.side_plans import MakePlan, side_plans
from harness.cli.upgrade.side_runs import UpgradeFolder
from harness.cli.upgrade.sides import Side
from harness.comparison.cell_pairs import CellPair
from harness.comparison.remedies import Remedy, in_order, instead, remedy
from harness.comparison.result import ComparedSide, SideComparison, compare
from harness.core.records import Verdict, VerdictKind
from harness.formats.hudi import settings as hudi_settings
from harness.plan.constraints import TABLE_VERSION
from harness.plan.writer_support import TABLE_VERSIONS
from harness.run.setting_lines import lines_of
from harness.scenario.cells import Cell, Plan, Reader

AUTO_UPGRADE = "auto_upgrade"
WORSE, RIGHT = "settings", "settings-on-right"
"""The folders of the runs."""


def tried(
    found: SideComparison, reader: Reader, made: Plan, folder: UpgradeFolder
) -> SideComparison:
    """Return a comparison with the settings that help.

    `made`: the plan of the new side. Only settings that make something right that is worse are
    tried on what is right already.
    """
    worse = [each.either for each in found.worse if not each.is_step]
    others = list(_others(reader, made, worse)) if worse else []
    if not others:
        return found
    seen = folder.run(_plan(made, worse, others), WORSE).verdicts
    right = [each.new for each in found.pairs if _is_right(each) and each.new]
    helping = [each for each in others if any(_heals(str(each), verdict) for verdict in seen)]
    if helping:
        seen += folder.run(_plan(made, right, helping), RIGHT).verdicts
    wrong, good = {e.question for e in worse}, {e.question for e in right}

    def of(each: Reader) -> Remedy:
        told = changes(dict(reader.settings), dict(each.settings))
        made_right = remedy(str(each), told, seen, wrong, good)
        names = dict.fromkeys(found.new.run.variant(e.variant).format for e in worse)
        lines = dict.fromkeys(line for name in names for line in _lines(reader, each, name))
        return replace(made_right, lines=tuple(lines))

    return replace(found, remedies=in_order(map(of, helping)))


def _lines(without: Reader, reader: Reader, format_name: str) -> Iterator[str]:
    """Yield what the engine is told of settings that it is not told without them."""
    before = lines_of(str(without), format_name)
    yield from (
        f"{e.text} ({e.place})" for e in lines_of(str(reader), format_name) if e not in before
    )


def _others(reader: Reader, made: Plan, worse: Iterable[Verdict]) -> Iterator[Reader]:
    known = engines.load(distributions.load(reader.distribution).engine).settings
    of = {each.id: each.format for each in made.variants}
    names = dict.fromkeys(of[each.variant] for each in worse)
    found = {str(r): r for name in names for r in alternatives(reader, known, name)[0]}
    yield from found.values()


def _plan(made: Plan, asked: Sequence[Verdict], readers: Sequence[Reader]) -> Plan:
    cells = [Cell(each.variant, each.step, each.reader, each.view, each.query) for each in asked]
    return replace(plan_of(made.variants, cells, readers), metastore=made.metastore)


def _is_right(pair: CellPair) -> bool:
    right = pair.new is not None and pair.new.verdict is VerdictKind.CORRECT
    return right and not pair.is_step


def _heals(reader: str, verdict: Verdict) -> bool:
    return verdict.reader == reader and verdict.verdict is VerdictKind.CORRECT


def tried_versions(
    found: SideComparison, old: Side, new: Side, make: MakePlan, folder: UpgradeFolder
) -> SideComparison:
    """Return a comparison with the older table versions with which the new writer does no harm."""
    if not (found.worse and new.writer):
        return found
    remedies = list[Remedy]()
    for version in _older_versions(old, new):
        settings = {TABLE_VERSION: version, AUTO_UPGRADE: "off"}
        writer = replace(new.writer, settings={**new.writer.settings, **settings})
        plan = side_plans(old, replace(new, writer=writer), make).new
        told = tuple(f"{name}={value}" for name, value in settings.items())
        other = ComparedSide(str(writer), folder.run(plan, f"table-version-{version}"))
        lines = _written_lines(settings)
        remedies.append(
            replace(
                instead(str(writer), told, found.pairs, compare(found.old, other).pairs),
                lines=lines,
            )
        )
    return replace(found, remedies=in_order(remedies))


def _older_versions(old: Side, new: Side) -> Iterator[str]:
    """Yield the versions that both writers can make, and the new one does not by itself."""
    if old.writer and new.writer:
        before, after = (
            distributions.load(each.distribution).texts_if_any(TABLE_VERSIONS)
            for each in (old.writer, new.writer)
        )
        yield from (each for each in reversed(before) if each in after[:-1])


def _written_lines(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return what a writer of Hudi is told of settings, which are Hudi's alone."""
    usual, told = hudi_settings.session({}, {}), hudi_settings.session(settings, {})
    session = {name: value for name, value in told.items() if usual.get(name) != value}
    lines = {**dict(hudi_settings.properties(settings)), **session}
    return tuple(f"{name}={value}" for name, value in lines.items())
