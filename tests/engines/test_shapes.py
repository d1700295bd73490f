"""Every shape of question, put to real engines: readers that are right are right in each of them.

A predicate on a column of every type, with the literal of each engine's SQL; and strings that would
end a literal too early, or be replaced in it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from harness.core.records import Answer, FindingKind, Verdict, VerdictKind
from harness.model.datatypes import parse_type
from harness.model.query import Comparison
from harness.model.query_shapes import ANSWER_TABLES, Shape
from harness.model.schema import Table
from harness.run.load_run import Run
from harness.scenario.cells import QUERIES, Cell, Plan, Variant
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.row_writes import Insert, Rewrites, Touch
from tests.engines.planned_run import of_each, planned, shipped

pytestmark = pytest.mark.engines

READERS = (
    "spark-3.5.8-hudi-1.0.2{schema-on-read=on}",
    "hive-3.1.3{path=fetch}",
    "trino-476{use-column-names=true}",
    "prestosql-350{use-column-names=true}",
)
SHAPES = tuple(shape for shape in QUERIES if shape not in {*ANSWER_TABLES, Shape.STORY})
"""Those that ask for rows which are there; what a story asks may hold for none."""
TYPES = "hive/all_types"
WRITTEN = 2
"""The step of `TYPES` after which the rows of the first schema are all there."""
HARD = ("it's", "a\\", "\\'; --", "${env:HOME}", '"q" `b`', "ü%_", " ", "a\nb")


def changing() -> Scenario:
    columns = {"id": "string", "ts": "long", "a": "struct<b: string, n: int>", "f1": "string"}
    added = Step(AddColumn("f2", parse_type("int"), after="f1"))
    steps = (Step(Insert((1, 2, 3))), added, Step(Touch(Rewrites.SOME)))
    return Scenario("shapes/changing", _table(columns), steps, formats=("hudi-cow",))


def parted() -> Scenario:
    """Make a table in partitions. Its columns stay: Hive and PrestoSQL keep those of partitions."""
    table = _table({"id": "string", "ts": "long", "f1": "string", "p": "string"}, "p")
    steps = (Step(Insert((1, 2, 3))), Step(Insert((4, 5))))
    return Scenario("shapes/parted", table, steps, formats=("hudi-cow",))


def _table(columns: Mapping[str, str], *partition_by: str) -> Table:
    types = tuple((name, parse_type(type_)) for name, type_ in columns.items())
    return Table(types, "id", ("ts",), partition_by)


def quoting() -> Scenario:
    names = [f"f{at}" for at, _ in enumerate(HARD)]
    types = tuple((name, parse_type("string")) for name in ("id", *names))
    row = {"id": "1", **dict(zip(names, HARD, strict=True))}
    steps = (Step(Insert(rows=(row,))), Step(Insert((2,))))
    return Scenario("shapes/quoting", Table(types, "id"), steps, formats=("hive-parquet",))


def plan_of_shapes() -> Plan:
    made = planned(
        [changing(), parted(), quoting(), *shipped(TYPES)],
        ["hudi-cow", "hive-parquet"],
        ["spark-3.5.8-hudi-0.15.0"],
        READERS,
        queries=SHAPES,
    )
    more = [cell for variant in made.variants for cell in by_column(variant)]
    return replace(made, cells=tuple(dict.fromkeys((*made.cells, *more))))


def by_column(variant: Variant) -> Iterator[Cell]:
    """Ask for a value of each column, where the story itself would ask for few."""
    if variant.format != "hive-parquet":
        return
    for name, _ in variant.scenario.table.columns:
        for reader in READERS:
            yield Cell(variant.id, WRITTEN, reader, "snapshot", f"{Shape.PREDICATE}({name})")


PLAN = plan_of_shapes()


@pytest.fixture(scope="module")
def verdicts(run: Run) -> Mapping[str, Verdict]:
    return {verdict.case: verdict for verdict in run.verdicts}


def every_array_has_a_value(cell: Cell) -> bool:
    """Hive 3.1.3 takes a NULL array of a Parquet file for one that is not NULL, and shows NULL."""
    return cell.reader.startswith("hive") and cell.query in {"predicate(f_array)", "count(f_array)"}


def in_another_of_the_family(cell: Cell) -> bool:
    """PrestoSQL is asked by the same code as Trino, and as a process by the profile `ci`."""
    return cell.reader.startswith("prestosql")


@pytest.mark.parametrize("cell", of_each(PLAN.cells, in_another_of_the_family))
def test_a_right_reader_is_right_in_every_shape(
    cell: Cell, run: Run, verdicts: Mapping[str, Verdict]
) -> None:
    verdict, answer = verdicts[cell.case], run.answers[cell.case]
    shown = answer.sql, answer.refusal, verdict.findings
    if every_array_has_a_value(cell):
        assert [finding.kind for finding in verdict.findings] == [FindingKind.GHOST_ROW], shown
        return
    assert (verdict.verdict, verdict.because) == (VerdictKind.CORRECT, ""), shown
    assert answer.rows or _nothing_is_null(answer)


def _nothing_is_null(answer: Answer) -> bool:
    where = answer.question.where
    return where is not None and where.test is Comparison.NULL


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_among_them(shape: str) -> None:
    readers = {cell.reader for cell in PLAN.cells if cell.query.startswith(shape)}
    assert readers == set(READERS)


def test_hard_strings_were_asked_for_as_they_are(run: Run) -> None:
    asked = {
        answer.question.where.literal
        for answer in run.answers.values()
        if answer.question.where and answer.case.startswith("shapes/quoting")
    }
    assert asked >= set(HARD)
