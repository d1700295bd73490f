"""Libraries of Python write tables of their own, step by step, and read them: no server is needed.

Who makes tables makes this one; for others it is there before the first step, with no rows but
those of its first insert.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import engines, formats
from harness.artifacts import distributions
from harness.conformance import table_writer
from harness.core.progress import Progress
from harness.core.setting_values import DELETE_MODE, MERGE_ON_READ
from harness.engines.api import Question, ReaderSettings
from harness.engines.arrow_values import arrow_type
from harness.engines.python_library import (
    POINTER,
    Entry,
    LibraryConnection,
    MetastoreEntries,
    PythonLibrary,
)
from harness.formats import other_writers
from harness.formats.iceberg.files import manifest_statistics
from harness.model.canonical import look_of
from harness.model.datatypes import parse_type
from harness.model.file_facts import StatisticsSource
from harness.model.identifiers import TABLE
from harness.model.query import ALL
from harness.model.query_shapes import query
from harness.model.truth import Truth, row_values
from harness.runtime.process_runtime import ProcessRuntime
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, ChangeType, DropColumn, RenameColumn
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.row_writes import (
    Delete,
    DeleteWhere,
    Insert,
    Overwrite,
    Truncate,
    Update,
    Upsert,
)
from harness.scenario.operations.services import Checkpoint, Cluster, Compact, SetProperty
from harness.scenario.operations.snapshots import Restore, Savepoint
from harness.scenario.statements import LibraryWrite, Register, filled
from tests.builders.scenarios import scenario_of
from tests.engines.everyone import Installed

pytestmark = pytest.mark.engines

COLUMNS = {"id": "string", "ts": "long", "f1": "string", "n": "int", "at": "timestamp"}
FIRST = Insert((1, 2, 3, 4))
ROWS = (
    *(Insert((5, 6)), Upsert((1, 7)), Update((2, 5), ("f1",)), Delete((3,)), DeleteWhere("n > 0")),
    *(Insert((8,)), Overwrite((8, 9)), Truncate(), Insert((10,))),
)
OF_DELTA = (
    *(Savepoint(), Upsert((1, 5)), Checkpoint(), Delete((2,)), Compact(), Restore()),
    *(SetProperty("delta.dataSkippingStatsColumns", "id"), Insert((6,)), Cluster()),
    *(Checkpoint(), Merge((1, 6), (7,), (4,)), Merge((6,), (9,), set=("f1",))),
    DeleteWhere("n > 0"),
)


OF_ICEBERG = (
    *(Insert((5, 6)), Upsert((1, 7)), Update((2, 5), ("f1",)), Delete((3,))),
    *(AddColumn("g", parse_type("decimal(10, 2)")), Insert((8,)), RenameColumn("f1", "f2")),
    *(Merge((1, 8), (9,)), Delete((5,)), ChangeType("n", parse_type("long")), Upsert((2,))),
    *(DropColumn("g"), DeleteWhere("n > 0"), Insert((10,)), Truncate(), Insert((11,))),
)
OF_FRAMES = (Insert((5, 6)), Overwrite((5, 9)), Insert((10,)))


class OneTable(MetastoreEntries):
    """Knows where a table lies, and which metadata file counts."""

    def __init__(self, folder: Path, pointer: str) -> None:
        super().__init__("thrift://nobody")
        storage = SimpleNamespace(
            serdeInfo=SimpleNamespace(parameters={}), location=f"file:{folder}"
        )
        parameters = {POINTER: pointer} if pointer else {}
        self.entry = SimpleNamespace(sd=storage, parameters=parameters, partitionKeys=[])

    def of(self, tables: Sequence[tuple[str, str]]) -> Sequence[tuple[tuple[str, str], Entry]]:
        return [(name, self.entry) for name in tables]

    def point(self, table: tuple[str, str], parameter: str, before: str, after: str) -> None:
        assert self.entry.parameters.get(parameter, "") == before
        self.entry.parameters[parameter] = after


def rows_of(truth: Truth) -> list[str]:
    looks = (look_of(row_values(row, truth.schema)) for row in truth.rows.values())
    return sorted(map(str, looks))


def first_rows(truth: Truth, packages: Path, family: str, folder: Path) -> str:
    """Write a table with the rows of a truth; return the metadata file of one of Iceberg."""
    fields = [pa.field(field.name, arrow_type(field.type)) for field in truth.schema.fields]
    zone = None if family == "iceberg" else "UTC"  # as Spark's tables have it
    fields = [f.with_type(pa.timestamp("us", zone)) if f.name == "at" else f for f in fields]
    rows = [
        dict(zip(truth.schema.names, row_values(row, truth.schema), strict=True))
        for row in truth.rows.values()
    ]
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(fields)), folder / table_writer.FILE)
    program = (sys.executable, "-I", "-S", table_writer.__file__, str(packages), family)
    table = folder / TABLE
    subprocess.run([*program, str(folder), str(table)], check=True)
    return str(table / table_writer.METADATA) if family == "iceberg" else ""


@pytest.mark.parametrize(
    ("writer", "format_name", "steps"),
    [
        ("deltalake-1.6.6", "delta", ROWS),
        ("deltalake-1.6.6", "delta", OF_DELTA),
        ("pyiceberg-0.12.0", "iceberg", ROWS),
        ("polars-2.1.0", "delta", OF_FRAMES),
        ("daft-0.7.26", "delta", OF_FRAMES),
        ("duckdb-1.5.5", "delta", (Insert((5, 6)), Insert((10,)))),
        ("duckdb-1.5.5", "iceberg", OF_ICEBERG),
    ],
    ids=["delta-rs", "its services", "pyiceberg", "polars", "daft", "duckdb", "iceberg by duckdb"],
)
def test_a_library_shows_the_rows_of_the_truth_after_each_step_that_it_wrote(
    writer: str,
    format_name: str,
    steps: tuple[Operation, ...],
    installed: Installed,
    progress: Progress,
    tmp_path: Path,
) -> None:
    shape, distribution = formats.load(format_name), distributions.load(writer)
    makes = other_writers.makes(distribution, shape.reader_facts)
    by = ("p",) if makes else ()
    columns = {**COLUMNS, **dict.fromkeys(by, "int")}
    story = scenario_of(FIRST, *steps, columns=columns, order_by="ts", partition_by=by)
    history = story.truths(merge_on_read=False).history()
    installation, table = installed(writer), tmp_path / TABLE
    # DuckDB deletes in no other way.
    settings = {DELETE_MODE: MERGE_ON_READ} if format_name == "iceberg" else {}
    operations, pointer = ((FIRST, *steps) if makes else steps), ""
    if not makes:
        packages = cast("Path", installed("deltalake-1.6.6").home)
        first_rows(history[1], packages, format_name, tmp_path)
    entries, engine = OneTable(table, pointer), engines.load(distribution.engine)
    instants = dict[int, str]()
    assert isinstance(engine, PythonLibrary)
    question = Question("d", TABLE, shape.reader_facts, ALL)
    runtime = ProcessRuntime(installation)
    (tmp_path / "server").mkdir()
    with (
        engine.serve_tables(runtime, lambda: entries, tmp_path / "server", progress) as server,
        closing(server.open({})) as session,
    ):
        if makes:
            sending = other_writers.creation(distribution, shape, story.table, settings)
            registered, *made = sending
            assert isinstance(registered, Register)
            for sent in made:
                assert isinstance(sent, LibraryWrite)
                expression = filled(sent.expression, "d", str(table))
                session.write(expression, ("d", TABLE), timeout_s=60)
            assert not shape.creation_problem(table, settings)
        else:
            instants[1] = shape.instants(table)[-1]
        for at, operation in enumerate(operations, start=1 if makes else 2):
            before, after = history[at - 1 : at + 1]
            changed = operation, before, after, settings
            for sent in other_writers.wording(distribution, shape, *changed):
                assert isinstance(sent, LibraryWrite)
                expression = filled(sent.expression, "d", str(table), instants)
                session.write(expression, ("d", TABLE), timeout_s=60)
            if isinstance(operation, Checkpoint):
                assert instants[at - 1] in shape.committed(table, ()).checkpoints
            if format_name == "delta":
                instants[at] = shape.instants(table)[-1]
            reply = session.ask(question, timeout_s=60)
            assert sorted(map(str, map(look_of, reply.rows))) == rows_of(after), operation


@pytest.mark.parametrize(
    ("reader", "format_name", "settings"),
    [
        ("pyiceberg-0.12.0", "iceberg", {}),
        ("polars-2.1.0", "iceberg", {}),
        ("daft-0.7.26", "iceberg", {}),
        ("duckdb-1.5.5", "iceberg", {}),
        ("chdb-4.4.0", "iceberg", {}),
        ("polars-2.1.0", "delta", {}),
        ("deltalake-1.6.6", "delta", {}),
        ("deltalake-1.6.6", "delta", {"interface": "arrow"}),
    ],
)
def test_a_library_counts_the_rows_of_each_value(
    reader: str,
    format_name: str,
    settings: dict[str, str],
    installed: Installed,
    progress: Progress,
    tmp_path: Path,
) -> None:
    truth = scenario_of(Insert((1, 2, 3)), columns=COLUMNS).truths(merge_on_read=False).history()[1]
    maker = {"delta": "deltalake-1.6.6", "iceberg": "pyiceberg-0.12.0"}[format_name]
    packages = cast("Path", installed(maker).home)
    pointer = first_rows(truth, packages, format_name, tmp_path)
    question = Question("d", TABLE, formats.facts(format_name), query("groups(f1)", truth))
    entries = OneTable(tmp_path / TABLE, pointer)
    with opened(reader, entries, installed, progress, tmp_path, settings) as session:
        reply = session.ask(question, timeout_s=60)
    expected = [(value, 1) for value in ("f3s1r1", "f3s1r2", "f3s1r3")]
    assert [column.name for column in reply.columns] == ["f1", "row_count"]
    assert sorted(reply.rows) == expected


@contextmanager
def opened(
    writer: str,
    entries: OneTable,
    installed: Installed,
    progress: Progress,
    folder: Path,
    settings: ReaderSettings = MappingProxyType({}),
) -> Iterator[LibraryConnection]:
    engine, home = engines.load(distributions.load(writer).engine), folder / writer
    assert isinstance(engine, PythonLibrary)
    home.mkdir()
    runtime = ProcessRuntime(installed(writer))
    with (
        engine.serve_tables(runtime, lambda: entries, home, progress) as server,
        closing(server.open(settings)) as session,
    ):
        yield session


def test_rows_of_clickhouse_are_lost_to_who_goes_by_what_its_list_says_of_their_days(
    installed: Installed, progress: Progress, tmp_path: Path
) -> None:
    story = scenario_of(Insert((1, 2)), Insert((3, 4)), columns=COLUMNS, order_by="ts")
    history, shape = story.truths(merge_on_read=False).history(), formats.load("iceberg")
    table, entries = tmp_path / TABLE, OneTable(tmp_path / TABLE, "")
    writers = "pyiceberg-0.12.0", "chdb-4.4.0"
    maker, other = map(distributions.load, writers)

    def send(session: LibraryConnection, expression: str) -> None:
        session.write(filled(expression, "d", str(table)), ("d", TABLE), timeout_s=60)

    def ask(session: LibraryConnection, text: str) -> list[str]:
        asked = Question("d", TABLE, shape.reader_facts, query(text, history[2]))
        rows = session.ask(asked, timeout_s=60).rows
        return sorted(str(row[0]) for row in rows)

    with (
        opened(writers[0], entries, installed, progress, tmp_path) as iceberg,
        opened(writers[1], entries, installed, progress, tmp_path) as clickhouse,
    ):
        for sent in other_writers.creation(maker, shape, story.table, {})[1:]:
            assert isinstance(sent, LibraryWrite)
            send(iceberg, sent.expression)
        send(iceberg, "table.update_spec().add_field('at', 'day', 'at_day').commit()")
        for at, (writer, session) in enumerate(((maker, iceberg), (other, clickhouse)), start=1):
            step = story.steps[at - 1].operation, history[at - 1], history[at]
            (sent,) = other_writers.wording(writer, shape, *step, {})
            assert isinstance(sent, LibraryWrite)
            send(session, sent.expression)
        assert ask(iceberg, "all") == ask(clickhouse, "all") == ["1", "2", "3", "4"]
        for text, right in (("where(at = old)", ["1"]), ("where(at = new)", ["4"])):
            assert ask(clickhouse, text) == right
        assert ask(iceberg, "where(at = old)") == ["1"]
        assert ask(iceberg, "where(at = new)") == []
    empty = [s for s in manifest_statistics(table) if s.source is StatisticsSource.ICEBERG_LIST]
    assert {(statistics.column, statistics.all_null) for statistics in empty} == {("at", True)}
