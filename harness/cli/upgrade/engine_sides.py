"""`harness upgrade` by engines: both sides asked, what helps tried, several changes in an order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product, starmap
from pathlib import Path
from typing import Final

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import plan_options, runs
from harness.cli.named_parts import READER, WRITER, NamedParts
from harness.cli.output import Output
from harness.cli.plan_options import Change, PlanOverrides
from harness.cli.remedy import alternatives, changes, plan_of
from harness.cli.runs import Resources
from harness.cli.upgrade import rollout_runs, sides
from harness.cli.upgrade.finish import finish, finish_rollout
from harness.cli.upgrade.request import UpgradeRequest
from harness.comparison.regressions import Remedy, Swap, ranked, reader_remedy, writer_remedy
from harness.comparison.result import NotAsked, SideComparison, compare
from harness.core.errors import HarnessError, UsageProblem
from harness.core.records import Verdict, VerdictKind
from harness.core.runtime_names import USUAL_METASTORE
from harness.core.setting_values import TABLE_VERSION
from harness.formats.hudi import settings as hudi_settings
from harness.plan import custom_distributions, select_scenarios, shipped
from harness.run.baseline_files import today
from harness.run.causes import SettingLine, lines_of
from harness.run.pipeline import TimeLimits
from harness.runtime import provide
from harness.scenario.cells import Cell, Plan, Reader
from harness.scenario.operations import name_of

AUTO_UPGRADE: Final = "auto_upgrade"


def register(paths: Sequence[Path], named: NamedParts) -> None:
    """Make people's own distributions known, which sides may name."""
    custom_distributions.register(paths)
    plan_options.parts_of(named)


def ask(
    request: UpgradeRequest, run_dir: Path | None, output: Output, timeout: float, *, offline: bool
) -> int:
    """Ask both sides what is not in the cache, and say what became of the answers."""
    tables, paths, named = request.tables, request.paths, request.named
    register(paths, named)
    overrides = PlanOverrides(queries=tuple(request.queries), settings=tuple(request.settings))
    unread = dict[str, str]()

    def make_for(every: Sequence[sides.Side]) -> sides.MakePlan:
        sides.check_writers(every)
        provide.check(distributions.load(r.distribution) for side in every for r in side.readers)
        in_use = tables.formats if tables else ()
        names, stated = plan_options.formats_named(paths, request.profile, named)
        reasons, unasked = sides.unread(every, names, stated=stated)
        unread.update(reasons)
        if unasked and unasked == set(names):
            texts = "; ".join(dict.fromkeys(reasons.values()))
            takes = "; ".join(map(select_scenarios.readers_text, names))
            raise HarnessError(f"Not known: {texts}; {takes}")
        asked = tuple(name for name in named.formats if name not in unasked)

        def make(change: sides.ChangeProfile) -> Plan:
            changed = Change(change, sides.parts_of(every), in_use)
            parts = replace(named, formats=asked)
            plan = plan_options.make(
                paths, request.profile, request.k, None, overrides, parts, changed
            )
            plan_options.check_asks(plan)
            return plan

        return make

    resources = Resources(output, Cache.default(offline=offline), TimeLimits(timeout))
    if request.rollout:
        if request.dry_run:
            raise UsageProblem("--dry-run is of two sides: leave out --rollout, or --dry-run")
        planned = rollout_runs.read(request.rollout)
        with runs.new_folder(resources, "upgrade", run_dir) as path:
            folder = sides.UpgradeFolder(path, resources, make_for(planned.sides))
            judged = rollout_runs.judged(planned, folder)
            judged = judged.with_scope(unread, partial_allowed=request.partial_allowed)
            return finish_rollout(judged, path, output)
    before, after = _sides(request)
    if request.mixed and after.writer:
        after = replace(after, writer=replace(after.writer, in_turn=True))
    make = make_for((before, after))
    old_plan = make(lambda profile, _: before.apply(profile))
    plan = sides.new_plan(before, after, make)
    if request.dry_run:
        return runs.dry_run((old_plan, plan), resources)
    with runs.new_folder(resources, "upgrade", run_dir) as path:
        folder = sides.UpgradeFolder(path, resources, make)
        old_side = folder.side(str(before), old_plan, "old")
        comparison = compare(old_side, folder.side(str(after), plan, "new"))
        for side, name in ((comparison.old, "old"), (comparison.new, "new")):
            runs.store_side(side.run, path, name)
        comparison = replace(
            comparison,
            usage=tables,
            lacking=sides.lacking((before, after), tables.formats if tables else ()),
        ).accepting(request.accepted, today())
        comparison = with_trials(comparison, before, after, plan, folder)
        files = _files(comparison.not_asked.values())
        comparison = replace(comparison, command=request.command, files=files, unread=unread)
        comparison = replace(comparison, partial_allowed=request.partial_allowed)
        return finish(comparison, path, output)


def _files(not_asked: Iterable[NotAsked]) -> Mapping[tuple[str, str], str]:
    """Return of each format and step that was never asked about the shortest scenario's file."""
    lacking = {(one.format, step): "" for one in not_asked for step in one.operations}
    scenarios = shipped.load_scenarios(shipped.scenarios_folder()) if lacking else ()
    for scenario in sorted(scenarios, key=lambda scenario: len(scenario.steps), reverse=True):
        for operation in scenario.operations:
            steps = {name_of(operation), *operation.features()}
            of_formats = product(scenario.formats, steps)
            lacking |= dict.fromkeys(set(of_formats) & lacking.keys(), scenario.path)
    return lacking


def _sides(request: UpgradeRequest) -> tuple[sides.Side, sides.Side]:
    if not (request.old and request.new):
        raise UsageProblem("name what you have by --from and what you would have by --to")
    before, after = sides.side(request.old, request.role), sides.side(request.new, request.role)
    sides.check(before, after)
    named = request.named
    for part, names in ((READER, named.readers), (WRITER, named.writers)):
        if names and part in after.parts:
            problem = f"--{part} cannot be combined with {part}s in --from and --to"
            raise UsageProblem(f"{problem}; leave out --{part} {names[0]}")
    through = USUAL_METASTORE
    if request.profile:
        through = select_scenarios.find(request.profile, request.paths).profile.metastore
    before, after = sides.with_metastores(before, after, through)
    return before, sides.registered_first(before, after)


def with_trials(
    comparison: SideComparison,
    old: sides.Side,
    new: sides.Side,
    plan: Plan,
    folder: sides.UpgradeFolder,
) -> SideComparison:
    """Try, where anything is worse, settings of the new side, and each component alone."""
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

    def tried(swap: Swap, between: sides.Side | None) -> Swap:
        if between is None:
            return swap
        try:
            plan = sides.new_plan(old, between, folder.make)
        except UsageProblem as problem:  # what nobody would run cannot be asked
            return replace(swap, why_not=str(problem))
        side = folder.side(str(between), plan, f"only-{swap.component.replace(' ', '-')}")
        return replace(swap, worse=compare(comparison.old, side).worse)

    return replace(comparison, swaps=tuple(starmap(tried, sides.sides_between(old, new))))
