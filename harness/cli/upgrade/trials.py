"""What is tried where anything is worse: settings of the new side, and each component alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from harness.cli.remedy import alternatives, changes, plan_of
from harness.cli.upgrade import sides
from harness.comparison.regressions import Remedy, Swap, ranked, reader_remedy, writer_remedy
from harness.comparison.result import SideComparison, compare
from harness.core.errors import UsageProblem
from harness.core.records import Verdict, VerdictKind
from harness.core.setting_values import TABLE_VERSION
from harness.formats.hudi import settings as hudi_settings
from harness.run.causes import SettingLine, lines_of
from harness.scenario.cells import Cell, Plan, Reader

AUTO_UPGRADE = "auto_upgrade"


def with_trials(
    comparison: SideComparison,
    old: sides.Side,
    new: sides.Side,
    plan: Plan,
    folder: sides.UpgradeFolder,
) -> SideComparison:
    for reader in new.readers:
        comparison = with_reader_settings(comparison, reader, plan, folder)
    return with_swaps(with_table_versions(comparison, old, new, folder), old, new, folder)


def with_reader_settings(
    comparison: SideComparison, reader: Reader, plan: Plan, folder: sides.UpgradeFolder
) -> SideComparison:
    """Try settings of a reader on what is worse, and those that help on what is right."""
    worse = [pair.either for pair in comparison.worse if not pair.is_step]
    formats = dict.fromkeys(comparison.new.run.info.variant(v.variant).format for v in worse)
    others = list(dict.fromkeys(r for name in formats for r in alternatives(reader, name)))
    if not others:
        return comparison
    verdicts = folder.side("", _plan(plan, worse, others), "settings").run.verdicts
    healed = {v.reader for v in verdicts if v.verdict is VerdictKind.CORRECT}
    helping = [other for other in others if str(other) in healed]
    right = [
        pair.new
        for pair in comparison.pairs
        if pair.new and pair.new.verdict is VerdictKind.CORRECT and not pair.is_step
    ]
    if helping:
        verdicts += folder.side("", _plan(plan, right, helping), "settings-on-right").run.verdicts
    remedies = list[Remedy]()
    for other in helping:
        remedy = reader_remedy(
            str(other),
            changes(reader, other),
            verdicts,
            {verdict.question for verdict in worse},
            {verdict.question for verdict in right},
        )
        lines = (
            line
            for name in formats
            for line in lines_of(str(other), name)
            if line not in lines_of(str(reader), name)
        )
        remedies.append(replace(remedy, lines=tuple(dict.fromkeys(lines))))
    return replace(comparison, remedies=ranked(remedies))


def _plan(plan: Plan, asked: Iterable[Verdict], readers: Sequence[Reader]) -> Plan:
    cells = [Cell(v.variant, v.step, v.reader, v.view, v.query) for v in asked]
    return replace(plan_of(plan.variants, cells, readers), metastore=plan.metastore)


def with_table_versions(
    comparison: SideComparison, old: sides.Side, new: sides.Side, folder: sides.UpgradeFolder
) -> SideComparison:
    """Return a comparison with the older table versions with which the new writer does no harm."""
    if not (comparison.worse and old.writer and new.writer):
        return comparison
    remedies = list[Remedy]()
    makes = sides.table_versions(new.writer)[:-1]
    for version in (v for v in reversed(sides.table_versions(old.writer)) if v in makes):
        settings = {TABLE_VERSION: version, AUTO_UPGRADE: "off"}
        writer = replace(new.writer, settings={**new.writer.settings, **settings})
        plan = sides.new_plan(old, replace(new, writer=writer), folder.make)
        other = folder.side(str(writer), plan, f"table-version-{version}")
        remedy = writer_remedy(
            str(writer),
            (f"{name}={value}" for name, value in settings.items()),
            comparison.pairs,
            compare(comparison.old, other).pairs,
        )
        remedies.append(replace(remedy, lines=_writer_lines(settings)))
    return replace(comparison, remedies=ranked(remedies))


def _writer_lines(settings: Mapping[str, str]) -> tuple[SettingLine, ...]:
    """Return what a writer of Hudi is configured with for settings, which are Hudi's alone."""
    usual, session = hudi_settings.session({}, {}), hudi_settings.session(settings, {})
    lines = dict(hudi_settings.properties(settings))
    lines |= {name: value for name, value in session.items() if usual.get(name) != value}
    return tuple(SettingLine(f"{name}={value}", "") for name, value in lines.items())


def with_swaps(
    comparison: SideComparison, old: sides.Side, new: sides.Side, folder: sides.UpgradeFolder
) -> SideComparison:
    """Return a comparison with what each component does alone; nothing where nothing is worse."""
    if not comparison.regressions:
        return comparison

    def swap(between: sides.SideBetween) -> Swap:
        names = between.component, between.old, between.new
        if between.side is None:
            return Swap(*names, why_not=between.why_not)
        try:
            plan = sides.new_plan(old, between.side, folder.make)
        except UsageProblem as problem:  # what nobody would run cannot be asked
            return Swap(*names, why_not=str(problem))
        folder_name = f"only-{between.component.replace(' ', '-')}"
        side = folder.side(str(between.side), plan, folder_name)
        return Swap(*names, worse=compare(comparison.old, side).worse)

    return replace(comparison, swaps=tuple(map(swap, sides.sides_between(old, new))))
