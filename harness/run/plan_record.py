"""The plan of a run: written down in `run.json`, read back from it, and added to."""

import datetime
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from harness import __version__, formats
from harness.artifacts import distributions, object_storage
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.runtime_names import MetastoreChoice
from harness.model import past_views
from harness.plan import controls, distribution_support
from harness.run import baseline_files, load_run
from harness.run.load_run import MetastoreInfo, ReaderInfo, RunInfo, StepInfo, VariantInfo
from harness.runtime import metastore
from harness.scenario import load
from harness.scenario.cells import CONTROL, Excluded, Plan, Reader, Variant, parse_reader
from harness.scenario.definition import Scenario
from harness.scenario.dump import dump
from harness.scenario.notices import renames_by_write
from harness.scenario.operations import name_of


def info_of(plan: Plan, name: str, started: datetime.datetime, *, fresh: bool = False) -> RunInfo:
    writers = [name for variant in plan.variants for name in variant.writers]
    format_of = {variant.id: variant.format for variant in plan.variants}
    asked = {(cell.reader, format_of[cell.variant]): None for cell in plan.cells}
    formats_of = grouped(asked)
    scenarios = {id(variant.scenario): variant.scenario for variant in plan.variants}
    texts = {key: dump(scenario) for key, scenario in scenarios.items()}
    return RunInfo(
        id=name,
        profile=plan.profile,
        started=started,
        version=__version__,
        variants=tuple(variant_info(variant) for variant in plan.variants),
        readers=tuple(_reader_info(r, formats_of.get(str(r), ())) for r in plan.readers),
        cells=plan.cells,
        excluded=plan.excluded,
        pairs=plan.pairs,
        partly=plan.partly,
        scenarios={variant.id: texts[id(variant.scenario)] for variant in plan.variants},
        baselines=baseline_files.remembered(plan.variants),
        fresh=fresh,
        ask_again=plan.ask_again,
        metastore=_metastore_info(plan.metastore),
        locks=distributions.custom_locks([*writers, *(r.distribution for r in plan.readers)]),
        left_out=plan.left_out,
    )


def variant_info(variant: Variant) -> VariantInfo:
    scenario = variant.scenario
    renames = renames_by_write(scenario)
    steps = tuple(
        StepInfo(
            number,
            "; ".join((operation.text() + by, *renames.get(number, ()))),
            operation.CHANGES_SCHEMA,
            step.quiet,
            name_of(operation),
            operation.features(),
        )
        for number, step in enumerate(scenario.steps, start=1)
        for operation, by in ((step.operation, f", by {step.by}" if step.by else ""),)
    )
    return VariantInfo(
        id=variant.id,
        scenario=scenario.name,
        format=variant.format,
        steps=steps,
        settings=dict(variant.settings),
        writers=variant.writers,
        twin=variant.twin,
        key=scenario.table.key,
        about=scenario.about,
        source=scenario.source,
    )


def _reader_info(reader: Reader, format_names: Iterable[str]) -> ReaderInfo:
    distribution = distributions.load(reader.distribution)
    # What somebody has set, and what a newer version does by itself, lock data do not know.
    unknown = distribution.overlaid or distribution.notice
    unlike = None if unknown else distribution_support.unlike_defaults(reader, format_names)
    stored = (
        f"tables in an object store, {object_storage.store()}" if distribution.warehouse else ""
    )
    fidelity = "; ".join(filter(None, (distribution.fidelity, distribution.overlaid, stored)))
    return ReaderInfo(str(reader), distribution.name, fidelity, distribution.listens, unlike)


def _metastore_info(through: MetastoreChoice) -> MetastoreInfo | None:
    if through.usual:
        return None
    made_of = {name: distributions.load(name).fidelity for name in metastore.needed(through)}
    return MetastoreInfo(through.distribution, through.upgraded_from, made_of)


def _check_controls(info: RunInfo, reader: Reader) -> None:
    asked = {variant.format for variant in info.variants}
    can = {name for name in asked if not distribution_support.cannot(reader, name)}
    there = {variant.format for variant in info.variants if variant.scenario == CONTROL}
    if controls.needed(reader, info.through) and (lacking := can - there):
        raise UsageProblem(
            f"{reader} is not shipped as it stands, so it must read a control first, and this "
            f"run has none of {', '.join(sorted(lacking))} tables; run the profile with --reader "
            f"'{reader}', which writes them"
        )


def plan_of(info: RunInfo) -> Plan:
    """Return the plan that a run was made from.

    Raises UsageProblem: somebody changed it so that it is none.
    """
    try:
        variants = tuple(
            Variant(
                variant.id,
                _scenario(variant.scenario, info.scenarios[variant.id]),
                variant.format,
                variant.settings,
                variant.writers,
                variant.twin,
            )
            for variant in info.variants
        )
        readers = tuple(parse_reader(reader.reader) for reader in info.readers)
        for writer in {name for variant in variants for name in variant.writers}:
            parse_reader(writer)
    except (KeyError, ValueError) as wrong:
        message = f"the plan in {load_run.INFO} was changed and does not hold together: {wrong}"
        raise UsageProblem(f"{message}; run the profile again") from wrong
    return Plan(
        info.profile, variants, readers, info.cells, info.excluded, info.pairs, info.partly,
        info.ask_again, info.through, left_out=info.left_out,
    )  # fmt: skip


@lru_cache(maxsize=500)
def _scenario(name: str, text: str) -> Scenario:
    """Return a scenario as recorded: many variants have one text, and a command asks twice."""
    return replace(load.loads(text, f"{name}.yaml", formats.keeping_case()), name=name)


def with_reader(info: RunInfo, reader: Reader) -> RunInfo:
    """Return a run's plan with a reader: every question that the others are asked and it can be.

    What it cannot be asked is left out, and the plan says why.

    Raises UsageProblem: it needs a control of a format, and the run has none.
    """
    _check_controls(info, reader)
    if str(reader) not in (known_reader.reader for known_reader in info.readers):
        reasons = {v.id: distribution_support.cannot(reader, v.format) for v in info.variants}
        of = {variant.id: variant.format for variant in info.variants}
        formats_asked = dict.fromkeys(of[id_] for id_, why in reasons.items() if not why)
        can = [cell for cell in info.cells if not reasons[cell.variant]]
        unable = {c: distribution_support.cannot_show(reader, of[c.variant], c.view) for c in can}
        asked = (cell for cell in can if not unable[cell])
        left_out = {
            Excluded(f"{reader} on {variant.format}", reasons[variant.id])
            for variant in info.variants
            if reasons[variant.id]
        } | {
            Excluded(f"{past_views.name_of(cell.view)} by {reader} on {of[cell.variant]}", why)
            for cell, why in unable.items()
            if why
        }
        info = replace(
            info,
            readers=(*info.readers, _reader_info(reader, formats_asked)),
            cells=(*info.cells, *dict.fromkeys(replace(c, reader=str(reader)) for c in asked)),
            excluded=(*info.excluded, *sorted(left_out, key=lambda exclusion: exclusion.what)),
            locks={**info.locks, **distributions.custom_locks([reader.distribution])},
        )
    return info
