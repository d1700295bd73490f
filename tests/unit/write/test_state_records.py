from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness.artifacts.result_cache import ResultCache
from harness.core.records import FileValues, Outcome, OutcomeKind, PartitionColumns, StateRecord
from harness.model.canonical import Value
from harness.model.file_facts import (
    IN_ORDER,
    ColumnStatistics,
    FileFact,
    FileKind,
    StatisticsSource,
    StoredStatistics,
)
from harness.model.partition_paths import ListedAs
from harness.model.schema_history import FIRST, SchemaHistory, SchemaVersion
from harness.model.simulation.column_resolution import META
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.scenario.cells import Variant
from harness.write import state_records, state_store
from harness.write.next_step import VariantOutcomes
from harness.write.state_records import FileRowsSeen, TableFiles, contradicted_statistics
from harness.write.state_store import Frozen
from tests.builders.stored_statistics import FACT as ROWS
from tests.builders.written_variant import variant

COLUMNS = tuple((name, "string") for name in META)
FACT = FileFact("0", FileKind.BASE, "0", "", COLUMNS)
TIME = "_hoodie_commit_time"
SHAPE = type(VariantOutcomes(variant()).shape)
READ = "harness.write.state_records.data_files.read"


@dataclass
class FilesRead:
    unread: str = ""
    commits: tuple[str, ...] = ()
    times: int = 0

    def __call__(
        self, _: Path, __: object, numbers: list[int], ___: object, *, meta: bool
    ) -> Iterator[FileValues]:
        self.times += 1
        added: tuple[tuple[Value, ...], ...] = ((1,),) if meta else ()
        for number in numbers:
            yield FileValues(number, meta=added, commits=self.commits, unread=self.unread)


@pytest.fixture(autouse=True)
def facts(monkeypatch: pytest.MonkeyPatch) -> None:
    def read_facts(_: object, __: Path, ___: str, catalog: CatalogHistory) -> tuple[FileFact, ...]:
        return (replace(FACT, path=",".join(name for name, _ in catalog.now[0].columns)),)

    monkeypatch.setattr(SHAPE, "facts", read_facts)


def test_instants_of_a_state_that_an_earlier_run_froze_are_reported_as_the_records_tell_the_steps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    history = SchemaHistory(tuple(SchemaVersion(at, 8, ()) for at in (FIRST, "10", "20")))
    monkeypatch.setattr(READ, FilesRead(commits=("10", "30")))
    monkeypatch.setattr(SHAPE, "facts", lambda *_: (replace(FACT, instant="10"),))
    monkeypatch.setattr(SHAPE, "schema_history", lambda *_: history)
    state = frozen_state(0, ("id",), tmp_path)
    state = replace(state, frozen=replace(state.frozen, instants=("10",)))
    course = VariantOutcomes(variant()).then(replace(state.frozen.outcome, instant="100"))
    (record,) = state_records._records(course, [state])
    assert (record.values[0].commits, record.files[0].instant) == (("100", "30"), "100")
    assert record.schema_history is not None
    assert [version.instant for version in record.schema_history.versions] == [FIRST, "100", "20"]


def frozen_state(step: int, columns: tuple[str, ...], folder: Path) -> state_store.State:
    listed = [{"name": name, "type": "string"} for name in columns]
    entry = CatalogEntry("t", {"sd": {"cols": listed}})
    return state_store.State("d", folder, Frozen(Outcome(step, OutcomeKind.APPLIED), (entry,), ()))


def test_the_meta_columns_of_files_from_before_the_catalog_left_them_out_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(READ, FilesRead())
    for last, bare in (("id", True), (next(iter(META)), False)):
        states = [frozen_state(0, tuple(META), tmp_path), frozen_state(1, (last,), tmp_path)]
        course = VariantOutcomes(variant())
        for state in states:
            course = course.then(state.frozen.outcome)
        records = list(state_records._records(course, states))
        assert [state.bare for state in records] == [False, bare]
        assert [bool(state.values[0].meta) for state in records] == [bare, bare]


def recorded(
    state: state_store.State,
    what: Variant | None = None,
    outcome: Outcome | None = None,
    *,
    reused: bool = True,
) -> tuple[StateRecord, ...]:
    results = ResultCache(state.folder.with_name("results"), "code")
    course = VariantOutcomes(what or variant()).then(outcome or state.frozen.outcome)
    return state_records.record(course, [state], results, reused=reused).records


@pytest.fixture
def state(tmp_path: Path) -> state_store.State:
    state = frozen_state(0, ("id",), tmp_path / "state")
    state.folder.mkdir()
    (state.folder / state_store.STATE).write_text("frozen")
    return state


def test_a_file_is_asked_about_with_the_catalog_of_the_step_that_wrote_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = list[CatalogHistory]()

    def read_facts(_: object, __: Path, ___: str, catalog: CatalogHistory) -> tuple[FileFact, ...]:
        seen.append(catalog)
        return ()

    monkeypatch.setattr(SHAPE, "facts", read_facts)
    states, course = list[state_store.State](), VariantOutcomes(variant())
    # Each was frozen by a run of its own, whose instants were others.
    for step, instants in enumerate((("",), ("", "10"), ("", "11", "21"))):
        state = frozen_state(step, (f"f{step}",), tmp_path)
        states.append(replace(state, frozen=replace(state.frozen, instants=instants)))
        course = course.then(state.frozen.outcome)
    list(state_records._records(course, states))
    last = seen[-1]
    assert [last.at_instant(at)[0].columns[0][0] for at in ("11", "21", "99")] == ["f1", "f2", "f2"]


def test_what_is_recorded_of_files_is_what_is_made_of_them_now(
    monkeypatch: pytest.MonkeyPatch, state: state_store.State
) -> None:
    # The harness that froze the state knew less of the same files.
    monkeypatch.setattr(READ, FilesRead())
    now = replace(FACT, misled_names=("f1",))
    monkeypatch.setattr(SHAPE, "facts", lambda *_: (now,))
    (record,) = recorded(state)
    assert (record.files, record.layout) == ((now,), "")


def test_the_files_of_a_state_that_was_seen_before_are_not_read_again(
    monkeypatch: pytest.MonkeyPatch, state: state_store.State
) -> None:
    monkeypatch.setattr(READ, read := FilesRead())
    (written,) = recorded(state, reused=False)
    assert not written.reused
    assert recorded(state) == (replace(written, reused=True),)
    assert read.times == 1


def test_they_are_read_where_anything_is_otherwise(
    monkeypatch: pytest.MonkeyPatch, state: state_store.State
) -> None:
    monkeypatch.setattr(READ, read := FilesRead())
    recorded(state)
    recorded(replace(state, digest="other"))
    recorded(state, replace(variant(), settings={"rewrites": "all"}))
    recorded(state, variant(steps=()))
    recorded(state, outcome=replace(state.frozen.outcome, instant="100"))
    (state.folder / state_store.STATE).write_text("frozen otherwise")
    recorded(state)
    assert read.times == 6


def test_a_file_that_could_not_be_read_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, state: state_store.State
) -> None:
    broken = FilesRead(unread="Input/output error")
    monkeypatch.setattr(READ, broken)
    assert recorded(state)[0].values[0].unread
    monkeypatch.setattr(READ, FilesRead())
    assert not recorded(state)[0].values[0].unread


def storing(column: str) -> FileFact:
    return FileFact("f", FileKind.BASE, "g", "1", ((column, "string"),))


@pytest.mark.parametrize(
    ("listed", "stored", "bare"),
    [("id", TIME, True), (TIME, TIME, False), ("id", "id", False), (TIME, "id", False)],
)
def test_a_table_is_bare_where_only_files_have_the_meta_columns(
    listed: str, stored: str, *, bare: bool
) -> None:
    entry = CatalogEntry("t", {"sd": {"cols": [{"name": listed, "type": "string"}]}})
    assert TableFiles((entry,), (storing(stored),)).bare is bare


def test_values_that_the_catalog_gives_in_other_words_than_the_folder_are_kept() -> None:
    def part(folder: str, *values: str) -> dict[str, object]:
        return {"sd": {"location": f"file:{{location}}/{folder}"}, "values": list(values)}

    def listed(*entries: tuple[dict[str, object], ...], stored: str = "p") -> ListedAs:
        made = tuple(
            CatalogEntry(f"t{n}", {"sd": {"cols": []}}, entry) for n, entry in enumerate(entries)
        )
        return TableFiles(made, (storing(stored),)).listed_as(("p",))

    null = "__HIVE_DEFAULT_PARTITION__"
    assert listed((part("p=a", "a"), part("a", "a"), part(f"p={null}", null))) == ()
    assert listed((part("p=a%3Db", "a=b"),)) == (("p=a%3Db", ("a=b",)),)
    assert listed((part("p=a%3Db", "a%3Db"),)) == (("p=a%3Db", ("a%3Db",)),)
    assert listed((part("p=a%3Db", "a=b"),), stored="id") == ()
    assert listed((part("p=a%3Db", "a%3Db"),), stored="id") == (("p=a%3Db", ("a%3Db",)),)
    assert listed((part("p=x", null),)) == (("p=x", (None,)),)
    assert listed((part("p=x", "y"),), (part("p=x", "z"),)) == ()  # two entries, two opinions


WRONG = ColumnStatistics(StatisticsSource.HUDI, ROWS.path, "d", 2, 0, "0.0", "0.0")


@dataclass(frozen=True)
class Shape:
    stored: tuple[ColumnStatistics, ...]

    def statistics(self, _: Path, files: list[FileFact]) -> tuple[ColumnStatistics, ...]:
        return tuple(
            statistics
            for statistics in self.stored
            if statistics.path in {fact.path for fact in files}
        )


def test_those_are_kept_that_a_file_contradicts_or_may(tmp_path: Path) -> None:
    right = ColumnStatistics(StatisticsSource.PARQUET, ROWS.path, "d", 2, 0, "1.5", "2.5")
    footer = replace(right, greatest="2.0")
    of_folder = ColumnStatistics(StatisticsSource.HUDI_PARTITION, "p=east", "d", 2, 0, "0.0", "0.0")
    other = replace(WRONG, column="e")  # the file has no such column
    right_folder = replace(of_folder, least="1.5", greatest="9.5")
    hudis = replace(WRONG, column="_hoodie_record_key")
    stored_statistics = StoredStatistics((WRONG, of_folder, right_folder, other, hudis))
    frozen = Frozen(Outcome(1, OutcomeKind.APPLIED), (), (), statistics=stored_statistics)
    state, seen = state_store.State("d", tmp_path, frozen), FileRowsSeen()
    seen.add([ROWS], [FileValues(0, ("d",), ((1.5,), (2.5,)))])
    shape: Any = Shape((right, footer))
    first = contradicted_statistics(shape, state, [ROWS], [0], seen)
    assert first == StoredStatistics((WRONG, of_folder, other, footer))
    # A later state reads no footer again, and has it all the same.
    assert set(contradicted_statistics(shape, state, [ROWS], [], seen).columns) == set(
        first.columns
    )
    gone = replace(state, frozen=replace(frozen, statistics=IN_ORDER))
    assert contradicted_statistics(shape, gone, [], [], seen) == IN_ORDER


def test_nan_in_a_file_contradicts_no_bounds() -> None:
    seen = FileRowsSeen()
    fact = FileFact("f", FileKind.BASE, "f", "1", (("d", "double"),), ("1", "2"))
    seen.add([fact], [FileValues(0, ("d",), ((1.5,), (float("nan"),)))])
    statistics = ColumnStatistics(StatisticsSource.PARQUET, "f", "d", 2, 0, "1.5", "1.5")
    assert not seen.contradicts(statistics)
    assert not seen.contradicts(replace(statistics, greatest='{"float":"nan"}'))
    assert seen.contradicts(replace(statistics, nulls=2))
    assert seen.contradicts(replace(statistics, least="1.6"))


def test_folders_are_unlisted_by_each_entry_where_these_do_not_list_the_same() -> None:
    storage: dict[str, Any] = {"sd": {"cols": []}, "partitionKeys": [{"name": "p"}]}
    there: dict[str, Any] = {"sd": {"location": "file:{location}/p=a"}, "values": ["a"]}
    lists, lacks = CatalogEntry("t_rt", storage, (there,)), CatalogEntry("t", storage)
    fact = replace(FACT, path="p=a/1.parquet", keys=("1",))
    both = TableFiles((lists, lacks), (fact,))
    assert both.unlisted == ("p=a",)
    assert both.unlisted_at == (("t_rt", ()), ("t", ("p=a",)))
    assert TableFiles((lacks,), (fact,)).unlisted_at == ()


def test_the_lists_of_partitions_are_recorded_where_they_are_not_the_tables() -> None:
    def columns(*names: str) -> dict[str, Any]:
        return {"cols": [{"name": name, "type": "bigint"} for name in names]}

    def part(value: str, *names: str) -> dict[str, Any]:
        return {"sd": {**columns(*names), "location": f"{{location}}/p={value}"}, "values": [value]}

    data: dict[str, Any] = {"sd": columns("id", "n"), "partitionKeys": [{"name": "p"}]}
    parts = part("a", "id"), part("b", "id", "n"), part("c"), part("d", "id")
    entry = CatalogEntry("t", data, parts)
    now = (("id", "long"), ("n", "long"))
    lists = PartitionColumns(("t", "t_rt"), now, (((("id", "long"),), ("p=a", "p=d")),))
    both = TableFiles((entry, replace(entry, name="t_rt"), CatalogEntry("t_ro", data)))
    assert both.partition_columns == (lists,)
    assert TableFiles((CatalogEntry("t", data, parts[1:3]),)).partition_columns == ()
    assert TableFiles((CatalogEntry("t", {"sd": columns("id")}),)).partition_columns is None
