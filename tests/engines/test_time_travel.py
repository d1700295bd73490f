"""Views of the past on real engines: the table as it was, and what was written since."""

from dataclasses import replace

import pytest

from harness import formats
from harness.core.records import FindingKind, VerdictKind
from harness.model.datatypes import parse_type
from harness.model.schema import Table
from harness.plan import Maker, Profile, ProfileReader, Writer, distribution_support, plan
from harness.run.load_run import Run
from harness.scenario.cells import Cell, Plan, parse_reader
from harness.scenario.definition import PAST_VIEWS, Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import RenameColumn
from harness.scenario.operations.row_writes import Delete, Insert, Rewrites, Touch
from harness.scenario.operations.services import Compact
from tests.engines.planned_run import of_each

pytestmark = pytest.mark.engines

HUDI = ("hudi-cow", "hudi-mor")
OLD, NEW = "spark-3.5.8-hudi-0.15.0", "spark-3.5.8-hudi-1.0.2"
ON = "{schema-on-read=on}"
BY_NOW = "trino-368"
"""Shows the rows of an earlier step under the columns of now."""
MAP_REDUCE = "hive-3.1.3{path=mapreduce, schema-on-read=on}"
READERS = {
    f"{OLD}{ON}": HUDI,
    f"{NEW}{ON}": HUDI,
    f"{NEW}{{schema-on-read=off}}": HUDI,
    "hive-3.1.3{path=fetch, schema-on-read=on}": HUDI,
    MAP_REDUCE: HUDI,
    "spark-3.5.8-iceberg-1.10.1": ("iceberg",),
    "trino-476": ("iceberg",),
    "trino-368": ("iceberg",),
}
MAKERS = {
    OLD: Maker(HUDI, ("6",)),
    NEW: Maker(HUDI, ("8",)),
    "spark-3.5.8-iceberg-1.10.1": Maker(("iceberg",)),
}


LAST = 6
RENAMED = 2
"""The last step before the column gets its other name."""


def travelled() -> Scenario:
    """Make a story in which rows are new, changed and gone, under a column's old and new name."""
    columns = {"id": "string", "ts": "long", "f1": "string", "f2": "string"}
    types = tuple((name, parse_type(type_)) for name, type_ in columns.items())
    steps: tuple[Operation, ...] = (
        Insert((1, 2, 3)),
        Insert((4,)),
        RenameColumn("f1", "g"),
        Touch(Rewrites.SOME),
        Delete((2,)),
        Compact(),
    )
    return Scenario("past/story", Table(types, "id", ("ts",)), tuple(map(Step, steps)))


def planned() -> Plan:
    profile = Profile(
        name="past",
        scenarios=("past/story",),
        formats=(*HUDI, "iceberg"),
        writers=tuple(Writer(maker) for maker in MAKERS),
        readers=tuple(
            ProfileReader(parse_reader(reader), formats=READERS[reader]) for reader in READERS
        ),
        views=PAST_VIEWS,
    )
    known = map(formats.load, formats.names())
    made = plan(
        [travelled()],
        profile,
        known,
        MAKERS,
        distribution_support.cannot,
        distribution_support.cannot_show,
    )
    # MapReduce takes seconds for each query.
    asked = [cell for cell in made.cells if cell.reader != MAP_REDUCE or cell.step == LAST]
    return replace(made, cells=tuple(asked))


PLAN = planned()
WRITERS = {variant.id: variant.writers[0] for variant in PLAN.variants}


PRUNED = "cannot prune col: f1 which does not exist in hudi table"
"""It depends on what the session was asked before: asked alone, such a question is answered."""
OWN_COLUMN = "`_hoodie_commit_time` cannot be resolved"
"""Hudi 1.0.2 filters by a column that it does not read."""


def may_say(cell: Cell) -> tuple[str, ...]:
    """Return errors with which a reader was seen to refuse; none for those that answer it all."""
    if WRITERS[cell.variant] == NEW:
        return ()
    if cell.reader.startswith(OLD):
        return (PRUNED,)
    changes = cell.reader.startswith(NEW) and cell.view.startswith("incremental")
    return (PRUNED, OWN_COLUMN) if changes else ()


def expected(cell: Cell) -> tuple[VerdictKind, set[tuple[FindingKind, tuple[str, ...]]]]:
    """Return what is judged of a reader that answers: of a column's two names it shows one."""
    renamed = cell.step > RENAMED and cell.view.startswith("as_of")
    if renamed and cell.reader == BY_NOW:
        return VerdictKind.WRONG, {(FindingKind.PREMATURE, ("f1", "g"))}
    return VerdictKind.CORRECT, set()


def by_night(cell: Cell) -> bool:
    """By day what one version wrote is asked of a reader of each kind; and no job of MapReduce."""
    readers = {f"{OLD}{ON}", BY_NOW, MAP_REDUCE}
    return WRITERS[cell.variant] == NEW or cell.reader in readers


@pytest.mark.parametrize("cell", of_each(PLAN.cells, by_night))
def test_the_past_is_answered_as_the_formats_promise_or_under_the_columns_of_now(
    cell: Cell, run: Run
) -> None:
    verdict, refusal = run.recorded[cell.case], run.answers[cell.case].refusal
    if WRITERS[cell.variant] == NEW and cell.reader.startswith(OLD):  # it knows no such table
        assert verdict.verdict is VerdictKind.UNSUPPORTED
    elif refusal is None or not any(text in refusal.message for text in may_say(cell)):
        judged = verdict.verdict, {(finding.kind, finding.columns) for finding in verdict.findings}
        assert (judged, verdict.because) == (expected(cell), "")
    else:
        assert verdict.findings == ()  # of the columns asked alone


def test_every_begin_lets_rows_through_and_every_reader_of_the_past_shows_some(run: Run) -> None:
    asked = {
        cell: (cell.reader, WRITERS[cell.variant], cell.view.partition("(")[0])
        for cell in run.info.cells
    }
    shown = {what for cell, what in asked.items() if run.answers[cell.case].rows}
    assert {(reader, view) for reader, _, view in shown} == {
        (reader, view) for reader, _, view in asked.values()
    }
    of_itself = {(f"{version}{ON}", version, "incremental") for version in (OLD, NEW)}
    assert of_itself & {*asked.values()} <= shown
