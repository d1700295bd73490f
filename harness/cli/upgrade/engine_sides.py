"""`harness upgrade` by engines: both sides asked, what helps tried, several changes in an order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import plan_options, runs
from harness.cli.named_parts import READER, WRITER, NamedParts
from harness.cli.output import Output
from harness.cli.plan_options import Change, PlanOverrides
from harness.cli.runs import Resources
from harness.cli.upgrade import rollout_runs, sides, trials
from harness.cli.upgrade.finish import finish, finish_rollout
from harness.cli.upgrade.request import UpgradeRequest
from harness.comparison.result import NotAsked, compare
from harness.core.errors import HarnessError, UsageProblem
from harness.plan import custom_distributions, select_scenarios, shipped
from harness.run.baseline_files import today
from harness.run.pipeline import TimeLimits
from harness.runtime import provide
from harness.scenario.cells import Plan
from harness.scenario.operations import name_of


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
        comparison = trials.with_trials(comparison, before, after, plan, folder)
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
    return before, sides.registered_first(before, after)
