"""`harness remedy`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import engine_run, options
from harness.cli.console.output import Output
from harness.cli.explain.recorded_cell import find
from harness.cli.remedy import effects
from harness.cli.remedy.alternatives import alternatives, plan_of
from harness.cli.remedy.effects import Effect
from harness.core.errors import HarnessError, UsageProblem
from harness.core.records import VerdictKind
from harness.run import load_run, plan_record, run_folder
from harness.scenario.cells import parse_reader

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
    recorded = find(folder, case)
    cell, verdict = recorded.cell, recorded.verdict
    if verdict is None:
        raise UsageProblem(f"{cell.case} was never judged; run harness judge")
    if verdict.verdict not in {VerdictKind.WRONG, VerdictKind.REFUSED}:
        state = f"{cell.case} is {verdict.verdict}"
        raise UsageProblem(f"{state}: there is nothing to remedy; name a case that is wrong")
    reader = parse_reader(cell.reader)
    settings = engines.load(distributions.load(reader.distribution).engine).settings
    usable, unusable = alternatives(reader, settings, recorded.case.variant.format)
    info = load_run.read_info(folder)
    scenario = recorded.case.variant.scenario.name
    variants = {
        variant.id: variant
        for variant in plan_record.plan_of(info).variants
        if variant.scenario.name == scenario
    }
    cells = (c for c in info.cells if c.variant in variants and c.reader == cell.reader)
    plan = plan_of(tuple(variants.values()), cells, (reader, *usable))
    with engine_run.work(Cache.default(offline=offline), output.progress(), PROFILE) as work:
        verdicts = engine_run.execute(replace(plan, metastore=info.through), work).verdicts
    before = {verdict.question: verdict for verdict in verdicts if verdict.reader == str(reader)}
    made = [effects.effect(other, cell.question, verdicts, before) for other in usable]
    effects.print_effects(reader, made, output.out)
    effects.print_unusable(reader, unusable, output.out)
    facts = [_facts(effect) for effect in made]
    unknown = str(VerdictKind.UNKNOWN)
    lacking = any(fact["unknown"] or fact["verdict"] == unknown for fact in facts)
    status = HarnessError.exit_status if lacking else 0
    output.end(status=status, case=cell.case, effects=facts)
    return status


def _facts(effect: Effect) -> Mapping[str, str | int]:
    """Return for a program what other settings do: to the case, and to how many other cells."""
    return {
        "reader": str(effect.reader),
        "verdict": str(effect.case.verdict if effect.case else VerdictKind.UNKNOWN),
        "turned_right": len(effect.turned_right),
        "turned_wrong": len(effect.turned_wrong),
        "still_wrong": len(effect.still_wrong),
        "still_right": len(effect.still_right),
        "unknown": len(effect.unknown),
    }
