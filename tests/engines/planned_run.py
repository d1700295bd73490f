"""A whole run of a plan on real engines: written, read and judged.

Modules whose tests look at such a run have a `PLAN` and ask for the fixture `run`; see `conftest`.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import formats
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.plan import (
    Maker,
    Profile,
    ProfileReader,
    Writer,
    distribution_support,
    plan,
    scenarios_folder,
)
from harness.run import load_run, pipeline, plan_record
from harness.run.load_run import WRITE, Run
from harness.run.pipeline import Work
from harness.scenario import load
from harness.scenario.cells import Cell, Plan, parse_reader
from harness.scenario.definition import Scenario

WRITERS = {
    "spark-3.5.8-hudi-0.15.0": Maker(("hudi-cow", "hive-parquet")),
    "spark-3.5.8-iceberg-1.10.1": Maker(("iceberg",)),
}
"""A writer of each format that is looked at by `by_format`."""
BY_ID = ("spark-3.5.8-iceberg-1.10.1", "hive-3.1.3-iceberg-1.4.3{path=fetch}", "trino-476")
"""Readers of Iceberg."""


def by_format(
    name: str, scenarios: Sequence[Scenario], readers: Mapping[str, tuple[str, ...]]
) -> Plan:
    """Plan scenarios in the formats of `WRITERS`; `readers`: each with the formats it is asked of.

    Iceberg's are asked by `BY_ID`.
    """
    asked = {**readers, **dict.fromkeys(BY_ID, ("iceberg",))}
    profile = Profile(
        name=name,
        scenarios=tuple(scenario.name for scenario in scenarios),
        formats=tuple(format_ for maker in WRITERS.values() for format_ in maker.formats),
        writers=tuple(map(Writer, WRITERS)),
        readers=tuple(ProfileReader(parse_reader(name), formats=asked[name]) for name in asked),
        axes={"rewrites": ("none", "some")},
    )
    return plan(scenarios, profile, map(formats.load, formats.names()), WRITERS)


def shipped(*names: str) -> list[Scenario]:
    """Return scenarios that come with the harness, such as `hudi/move`."""
    keeping_case = formats.keeping_case()
    return [
        load.load(scenarios_folder() / f"{name}.yaml", keeping_case=keeping_case) for name in names
    ]


def planned(
    stories: Sequence[Scenario],
    format_names: Sequence[str],
    writers: Sequence[Writer | str],
    readers: Sequence[str],
    *,
    in_turn: bool = False,
    **of_profile: Any,  # noqa: ANN401 - what else a profile has
) -> Plan:
    """Plan stories; `in_turn`: several engines write one table."""
    profile = Profile(
        name="planned",
        scenarios=tuple(story.name for story in stories),
        formats=tuple(format_names),
        writers=tuple(Writer(writer) if isinstance(writer, str) else writer for writer in writers),
        readers=tuple(ProfileReader(parse_reader(reader)) for reader in readers),
        **of_profile,
    )
    makers = distribution_support.makers_of(profile) if in_turn else None
    return plan(stories, profile, map(formats.load, formats.names()), makers)


def of_each(
    cells: Iterable[Cell], by_night: Callable[[Cell], bool] = lambda _: False
) -> list[pytest.ParameterSet]:
    """Return a parameter `cell` of each; those of the night are asked by night alone."""
    return [
        pytest.param(cell, id=cell.case, marks=pytest.mark.nightly if by_night(cell) else ())
        for cell in cells
    ]


def without(plan: Plan, left_out: AbstractSet[Cell]) -> Plan:
    """Leave cells out, and the variants and readers that no other cell has."""
    cells = tuple(cell for cell in plan.cells if cell not in left_out)
    variants = {cell.variant for cell in left_out} - {cell.variant for cell in cells}
    readers = {cell.reader for cell in left_out} - {cell.reader for cell in cells}
    return replace(
        plan,
        cells=cells,
        variants=tuple(variant for variant in plan.variants if variant.id not in variants),
        readers=tuple(reader for reader in plan.readers if str(reader) not in readers),
    )


def done(plan: Plan, folder: Path, cache: Cache, progress: Progress) -> Run:
    """Do the run in an empty folder; every question is asked anew."""
    work = Work(cache, folder, progress)
    started = datetime.datetime.now(datetime.UTC)
    load_run.write_info(folder, plan_record.info_of(plan, folder.name, started))
    pipeline.fetch_all(pipeline.needed_distributions(plan), cache, progress)
    pipeline.write_and_read(plan, work, fresh=True)
    pipeline.judge_run(folder)
    return load_run.load(folder)


def merge(plans: Iterable[Plan]) -> Plan:
    """Return one plan of all: the variants, readers and cells of each, once."""
    plans = tuple(plans)
    variants = {variant.id: variant for plan in plans for variant in plan.variants}
    assert all(variants[variant.id] == variant for plan in plans for variant in plan.variants)
    readers = dict.fromkeys(reader for plan in plans for reader in plan.readers)
    cells = dict.fromkeys(cell for plan in plans for cell in plan.cells)
    return Plan("planned", tuple(variants.values()), tuple(readers), tuple(cells))


def part(run: Run, plan: Plan) -> Run:
    """Return what a run has of one of the plans that were merged for it."""
    asked = {*run.info.cells}
    cells = tuple(cell for cell in plan.cells if cell in asked)
    cases = {cell.case for cell in cells}
    variants = {variant.id for variant in plan.variants}
    return replace(
        run,
        info=replace(run.info, cells=cells),
        states=tuple(state for state in run.states if state.variant in variants),
        answers={case: answer for case, answer in run.answers.items() if case in cases},
        recorded={
            case: verdict
            for case, verdict in run.recorded.items()
            if case in cases or (verdict.view == WRITE and verdict.variant in variants)
        },
    )
