"""Plans of small tables, by the rules of their formats; and errors in these that are noticed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from harness.audit import table_rows
from harness.audit.comparison import row_text
from harness.formats.api import FileFactError
from harness.formats.delta import change_feed, checkpoints, vectors
from harness.formats.delta import log as delta_log
from harness.formats.delta import read_plan as delta_plan
from harness.formats.delta.checkpoints import Action
from harness.formats.delta.log import Commit
from harness.formats.files import table_folder
from harness.formats.files.table_folder import UnreadableError
from harness.formats.hudi import log as hudi_log
from harness.formats.hudi import read_plan as hudi_plan
from harness.formats.hudi import timeline
from harness.formats.hudi.log import LogBlock
from harness.formats.hudi.records import HudiTable
from harness.formats.hudi.table_schema import TableSchema
from harness.formats.read_plan import DeletedKeys, FileColumns, Id, PlannedFile, ReadPlan
from tests.builders.audited_tables import TABLES
from tests.builders.delta_folder import DeltaFolder, add, field, metadata, protocol, struct_of


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_rows_that_its_format_says(table: str, tmp_path: Path) -> None:
    plan, rows = TABLES[table](tmp_path)
    shown = table_rows.read(plan).rows
    assert sorted(map(row_text, shown)) == sorted(map(row_text, rows))


def test_variants_of_delta_are_read(tmp_path: Path) -> None:
    folder = DeltaFolder(tmp_path)
    of_seven = {"metadata": b"\x01\x00\x00", "value": b"\x0c\x07"}  # 8 bits, no names
    of = {"type": "array", "elementType": "variant", "containsNull": True}
    columns = {"v": [of_seven, None], "list": [[of_seven], None], "s": [{"p": of_seven}, None]}
    path = folder.data("1.parquet", columns)
    parts = field("list", of), field("s", struct_of(field("p", "variant")))
    folder.commit(protocol(3, "variantType"), metadata(field("v", "variant"), *parts))
    folder.commit(add(path))
    plan, seven = delta_plan.plan(table_folder.at(str(tmp_path))), {"t": "int8", "v": 7}
    empty = (None, None, None)
    assert table_rows.read(plan).stored_rows == ((seven, (seven,), {"p": seven}), empty)
    assert table_rows.read(plan).rows == (("7", ("7",), {"p": "7"}), empty)


def test_moments_of_partitions_without_a_zone_are_not_decided(tmp_path: Path) -> None:
    (sentence,) = TABLES["partition_values"](tmp_path)[0].undecided
    assert sentence.startswith("t: the log has moments of partitions without a zone")


whole, read, names, named = checkpoints.complete, table_rows.read, TableSchema.names, Commit.all


def _without_removes(commit: Commit, name: str) -> Iterator[Action]:
    named = (action[name] for action in commit.actions if action.get(name))
    return iter(()) if name == "remove" else named


def _names_of_now(schema: TableSchema, instant: str) -> Mapping[str, Id]:
    return names(replace(schema, history=()), instant)


def _over_the_whole_table(plan: ReadPlan) -> ReadPlan:
    bases = (merge.base for merge in plan.merges if merge.base)
    versions: list[PlannedFile | DeletedKeys] = [*bases, *plan.files]
    for merge in plan.merges:
        versions += merge.versions
    merges = (replace(merge, base=None, versions=tuple(versions)) for merge in plan.merges[:1])
    return replace(plan, files=(), merges=tuple(merges)) if plan.merges else plan


PLANTS: Final[Mapping[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "deletion vectors are not read": lambda p: p.setattr(
        vectors, "deleted", lambda *_: frozenset()
    ),
    "values of partitions are those of files": lambda p: p.setattr(
        delta_plan, "FileColumns", lambda names, by_id, _: FileColumns(names, by_id)
    ),
    "changes of rows that vectors mark are not read": lambda p: p.setattr(
        change_feed, "replace", lambda file, **changed: replace(file, **(changed | {"only": None}))
    ),
    "files of changes are not read": lambda p: p.setattr(
        Commit, "all", lambda self, name: () if name == "cdc" else named(self, name)
    ),
    "what is removed after a checkpoint stays": lambda p: p.setattr(
        Commit, "all", _without_removes
    ),
    "paths are not decoded": lambda p: p.setattr(delta_log, "unquote", str),
    "an empty text of a partition is a text": lambda p: p.setattr(
        delta_plan, "partition_value", lambda text, type_: text if text == "" else None
    ),
    "parts of a checkpoint are not all read": lambda p: p.setattr(
        checkpoints, "complete", lambda names: [replace(c, names=c.names[:1]) for c in whole(names)]
    ),
    "sidecars are not read": lambda p: p.setattr(checkpoints, "_SIDECARS", "_delta_log"),
    "columns have the names of the table in files": lambda p: p.setattr(
        delta_log, "physical_name", lambda field: field["name"]
    ),
    "ids of columns are not read": lambda p: p.setattr(delta_log.DeltaLog, "mapping", "name"),
    "values that order versions are not read": lambda p: p.setattr(
        hudi_plan.PlannedHudiTable, "_by_ordering", False
    ),
    "values that order deletes are not read": lambda p: p.setattr(
        hudi_plan.PlannedHudiTable, "_ordering_of", lambda *_: ()
    ),
    "what was taken back is part of the table": lambda p: p.setattr(LogBlock, "target", ""),
    "instants that were not completed count": lambda p: p.setattr(
        HudiTable, "has", lambda *_: True
    ),
    "instants that were archived do not count": lambda p: p.setattr(HudiTable, "_begin", ""),
    "groups that were replaced are shown": lambda p: p.setattr(
        HudiTable, "replacements", lambda _: ()
    ),
    "a file group is known by its id alone": lambda p: p.setattr(
        timeline, "file_group", lambda _, group: group
    ),
    "rows are merged over the whole table": lambda p: p.setattr(
        table_rows, "read", lambda plan: read(_over_the_whole_table(plan))
    ),
    "log files go on from the base file of their instant": lambda p: p.setattr(
        HudiTable, "goes_on", lambda _, instant: instant
    ),
    "deletes of log files are not read": lambda p: p.setattr(hudi_log, "deletes", lambda _: {}),
    "partial updates are whole rows": lambda p: p.setattr(LogBlock, "partial", False),
    "NULL is a value like others": lambda p: p.setattr(hudi_plan.PlannedHudiTable, "_fills", False),
    "files have the names of the newest schema": lambda p: p.setattr(
        TableSchema, "names", _names_of_now
    ),
    "a row that only deletes is shown": lambda p: p.setattr(
        hudi_plan.PlannedHudiTable, "_deleting", lambda _: ()
    ),
    "writes after an instant count": lambda p: p.setattr(
        hudi_plan.PlannedHudiTable, "_in_time", lambda *_: True
    ),
}
"""Errors that a reader of the formats may have."""


@pytest.mark.parametrize("plant", PLANTS)
def test_an_error_in_the_rules_of_a_format_is_noticed(
    plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PLANTS[plant](monkeypatch)
    wrong = list[str]()
    for name, table in TABLES.items():
        (tmp_path / name).mkdir()
        try:
            plan, rows = table(tmp_path / name)
            shown = sorted(map(row_text, table_rows.read(plan).rows))
            as_it_is = shown == sorted(map(row_text, rows))
        except (FileFactError, UnreadableError):
            as_it_is = False
        if not as_it_is:
            wrong.append(name)
    assert wrong
