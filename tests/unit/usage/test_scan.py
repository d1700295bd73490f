from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pymetastore.hive_metastore import ttypes

from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.progress import Progress
from harness.core.records import Refusal
from harness.runtime import metastore_client
from harness.runtime.metastore_client import CatalogRefusedError
from harness.usage import hudi_table, metastore_listing, scan
from harness.usage.usage_file import Fact, Usage, UsedFormat
from tests.builders.metastore_tables import HUDI, ORC, PARQUET, REALTIME, RO, metastore_table
from tests.builders.table_folders import FIRST, HUDI_6, base, hudi, log, parquet

URI = "thrift://metastore:9083"


@dataclass
class SimulatedCatalog:
    actual: dict[str, list[Any]]
    refused: frozenset[str] = frozenset()
    calls: list[str] = field(default_factory=list)
    uri: str = URI

    def databases(self) -> tuple[str, ...]:
        self._refuse("*")
        return tuple(self.actual)

    def names(self, database: str) -> tuple[str, ...]:
        self._refuse(database)
        return (*(table.tableName for table in self.actual[database]), "vanished")

    def tables(self, database: str, names: Sequence[str]) -> tuple[Any, ...]:
        self.calls.append(",".join(names))
        for name in names:
            self._refuse(f"{database}.{name}")
        return tuple(table for table in self.actual[database] if table.tableName in names)

    def _refuse(self, what: str) -> None:
        if what in self.refused:
            raise CatalogRefusedError(Refusal("MetaException", f"no {what}"))


def scanned(monkeypatch: pytest.MonkeyPatch, catalog: SimulatedCatalog, *patterns: str) -> Usage:
    @contextmanager
    def connect(_: str) -> Iterator[SimulatedCatalog]:
        yield catalog

    monkeypatch.setattr(metastore_client, "check", lambda _: None)
    monkeypatch.setattr(metastore_client, "connect", connect)
    return scan.scan(URI, patterns, Progress())


def placed(folder: Path, name: str, read_by: str, **more: Any) -> ttypes.Table:  # noqa: ANN401
    table = metastore_table(name, read_by, **more)
    table.sd.location = f"file:{folder}"
    return table


def test_every_table_is_listed_and_one_that_cannot_be_read_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parquet(tmp_path / "plain" / "a.parquet", {"id": ["1"]})
    catalog = SimulatedCatalog(
        {
            "d": [
                placed(tmp_path / "plain", "plain", PARQUET),
                placed(tmp_path / "gone", "gone", ORC),
                metastore_table("v", kind="VIRTUAL_VIEW"),
                metastore_table("texts", "org.apache.hadoop.mapred.TextInputFormat"),
            ]
        }
    )
    actual = {table.name: table for table in scanned(monkeypatch, catalog).tables}
    assert list(actual) == ["d.gone", "d.plain", "d.texts", "d.v", "d.vanished"]
    assert actual["d.plain"].format is UsedFormat.HIVE_PARQUET
    assert actual["d.plain"].unknown == ()
    assert actual["d.gone"].unread == "its folder is gone"
    assert Fact.FORMAT not in actual["d.gone"].unknown
    assert actual["d.texts"].features == ("TextInputFormat",)
    assert actual["d.vanished"].unread.startswith("the metastore does not give its entry")


def test_the_entries_of_a_merge_on_read_table_are_its_views(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hudi(tmp_path, HUDI_6, [f"{FIRST}.deltacommit"])
    base(tmp_path, "a", FIRST)
    log(tmp_path, "a", FIRST)
    read = Mock(wraps=hudi_table.read)
    monkeypatch.setitem(scan._READERS, UsedFormat.HUDI_MOR, read)
    tables = [
        placed(tmp_path, "t", REALTIME),
        placed(tmp_path, "t_ro", HUDI, serde=RO),
        placed(tmp_path, "t_rt", REALTIME),
    ]
    actual = scanned(monkeypatch, SimulatedCatalog({"d": tables})).tables
    shown = [(table.name, table.format, table.view) for table in actual[:3]]
    assert shown == [
        ("d.t", "hudi-mor", "base_name"),
        ("d.t_ro", "hudi-mor", "read_optimized"),
        ("d.t_rt", "hudi-mor", "snapshot"),
    ]
    read.assert_called_once()


def test_entries_of_a_table_that_cannot_be_read_are_of_one_format(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tables = [placed(tmp_path, "t_ro", HUDI, serde=RO), placed(tmp_path, "t_rt", REALTIME)]
    ro, rt = scanned(monkeypatch, SimulatedCatalog({"d": tables})).tables[:2]
    assert (ro.format, ro.view, rt.format) == ("hudi-mor", "read_optimized", "hudi-mor")


def test_what_is_refused_is_asked_for_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [metastore_table("a", kind="VIRTUAL_VIEW"), metastore_table("b", kind="VIRTUAL_VIEW")]
    catalog = SimulatedCatalog({"d": tables, "e": []}, frozenset({"d.b", "e"}))
    usage = scanned(monkeypatch, catalog)
    assert catalog.calls == ["a,b,vanished", "a", "b", "vanished"]
    actual = {table.name: table.unread for table in usage.tables}
    assert actual["d.a"] == ""
    assert actual["d.b"] == "MetaException: no d.b"
    assert usage.unlisted == {"e": "MetaException: no e"}


def test_tables_are_asked_for_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metastore_listing, "BATCH", 2)
    tables = [metastore_table(name, kind="VIRTUAL_VIEW") for name in "abc"]
    catalog = SimulatedCatalog({"d": tables})
    scanned(monkeypatch, catalog)
    assert catalog.calls == ["a,b", "c,vanished"]


def test_a_defect_in_reading_one_table_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("what nobody thought of")

    monkeypatch.setitem(scan._READERS, UsedFormat.HIVE_ORC, broken)
    catalog = SimulatedCatalog({"d": [placed(tmp_path, "a", ORC)]})
    actual = scanned(monkeypatch, catalog).tables[0]
    assert actual.unread == "its records cannot be understood: KeyError('what nobody thought of')"


def test_only_databases_that_fit_a_pattern_are_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = SimulatedCatalog({"sales_eu": [], "sales_us": [], "other": []})
    usage = scanned(monkeypatch, catalog, "Sales*")
    assert [table.name for table in usage.tables] == ["sales_eu.vanished", "sales_us.vanished"]
    assert usage.databases == ("Sales*",)
    with pytest.raises(UsageProblem, match=r"no database is called 'x\*'; there are: sales_eu"):
        scanned(monkeypatch, catalog, "other", "x*")


def test_a_metastore_that_lists_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = SimulatedCatalog({}, frozenset("*"))
    with pytest.raises(EnvironmentProblem, match="does not list its databases: MetaException"):
        scanned(monkeypatch, catalog)
