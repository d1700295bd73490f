"""`harness remedy`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import options
from harness.cli.console.output import Output
from harness.cli.explain.recorded_cell import RecordedCell, find
from harness.cli.remedy import show
from harness.cli.remedy.alternatives import alternatives, plan_of
from harness.cli.remedy.effects import Effect, effect
from harness.cli.reproduce import engine_run
from harness.core.errors import HarnessError, UsageProblem
from harness.core.records import VerdictKind
from harness.run import plan_record, run_folder, run_info
from harness.run.run_info import RunInfo
from harness.scenario.cells import Plan, Reader, parse_reader

PROFILE = "remedy"


@options.with_output
def remedy(
    output: Output,
    case: options.CaseArgument,
    run_dir: options.OldRunOption = run_folder.LATEST_RUN,
    offline: options.OfflineOption = False,
) -> int:
    """Try other settings of a reader: which make the case right, which cells they make wrong."""
    folder = run_folder.existing(run_dir)
    found = find(folder, case)
    _check_wrong(found)
    reader = parse_reader(found.cell.reader)
    settings = engines.load(distributions.load(reader.distribution).engine).settings
    able, unable = alternatives(reader, settings, found.case.variant.format)
    made = _plan(found, run_info.read_info(folder), (reader, *able))
    with engine_run.work(Cache.default(offline=offline), output.progress(), PROFILE) as work:
        seen = engine_run.execute(made, work).verdicts
    before = {verdict.question: verdict for verdict in seen if verdict.reader == str(reader)}
    effects = [effect(reader, found.cell.question, seen, before) for reader in able]
    show.effects(reader, effects, output.out)
    show.conclusion(reader, effects, output.out)
    show.impossible(reader, unable, output.out)
    lacking = any(each.unknown or _silent(each) for each in effects)
    status = HarnessError.exit_status if lacking else 0
    output.end(status=status, case=found.cell.case, effects=[*map(_facts, effects)])
    return status


def _check_wrong(found: RecordedCell) -> None:
    if found.verdict is None:
        raise UsageProblem(f"{found.cell.case} was never judged; run harness judge")
    if found.verdict.verdict not in {VerdictKind.WRONG, VerdictKind.REFUSED}:
        told = f"{found.cell.case} is {found.verdict.verdict}"
        raise UsageProblem(f"{told}: there is nothing to remedy; name a case that is wrong")


def _plan(found: RecordedCell, info: RunInfo, readers: Sequence[Reader]) -> Plan:
    """Return the plan that asks all readers about every variant of the case's scenario."""
    name = found.case.variant.scenario.name
    variants = [
        variant for variant in plan_record.plan_of(info).variants if variant.scenario.name == name
    ]
    ids = {variant.id for variant in variants}
    cells = (c for c in info.cells if c.variant in ids and c.reader == found.cell.reader)
    return replace(plan_of(variants, cells, readers), metastore=info.through)


def _facts(each: Effect) -> Mapping[str, str | int]:
    """Return for a program what other settings do: to the case, and to how many other cells."""
    return {
        "reader": str(each.reader),
        "verdict": str(each.case.verdict if each.case else VerdictKind.UNKNOWN),
        "turned_right": len(each.turned_right),
        "turned_wrong": len(each.turned_wrong),
        "still_wrong": len(each.still_wrong),
        "still_right": each.still_right,
        "unknown": len(each.unknown),
    }


def _silent(each: Effect) -> bool:
    return each.case is None or each.case.verdict is VerdictKind.UNKNOWN
