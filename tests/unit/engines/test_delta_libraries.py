"""What workers of delta-rs and DuckDB make of a question, with simulated libraries in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace, TracebackType
from typing import Any, Self

import pyarrow as pa
import pytest

from harness.engines.deltalake import answers as deltalake
from harness.engines.duckdb import answers as duckdb

SQL = 'select * from "d"."t"'
TABLE = {"database": "d", "name": "t", "location": "/a b/o'clock/t", "version": None}


@dataclass
class SimulatedBuilder:
    """Answers with the SQL and with what it was told of tables."""

    told: list[str] = field(default_factory=list)

    def register(self, name: str, table: str) -> None:
        self.told.append(f"{name} {table}")

    def execute(self, sql: str) -> SimpleNamespace:
        self.told.append(sql)
        return SimpleNamespace(read_all=lambda: pa.table({"told": self.told}))


@dataclass
class SimulatedDatabase:
    """The same of DuckDB."""

    config: dict[str, str]
    told: list[str] = field(default_factory=list)

    def execute(self, sql: str) -> None:
        self.told.append(sql)

    def sql(self, sql: str) -> SimpleNamespace:
        self.told.append(sql)
        return SimpleNamespace(to_arrow_table=lambda: pa.table({"told": self.told}))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.told.append("closed")


def opened(location: str, version: int | None) -> str:
    return f"{location} version {version}"


def told(ask: Callable[[dict[str, Any]], pa.Table], table: dict[str, Any]) -> list[str]:
    lines: list[str] = ask({"statement": SQL, "tables": [table]})["told"].to_pylist()
    return lines


def test_delta_rs_knows_the_table_under_its_name_and_the_version_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package = SimpleNamespace(QueryBuilder=SimulatedBuilder, DeltaTable=opened)
    monkeypatch.setattr(deltalake, "import_module", {"deltalake": package}.__getitem__)
    known = [f'"d"."t" {TABLE["location"]} version None', SQL]
    assert told(deltalake.ask, TABLE) == ['create schema "d"', *known]
    past = told(deltalake.ask, {**TABLE, "name": "t@v3", "version": 3})
    assert past[1] == f'"d"."t@v3" {TABLE["location"]} version 3'


def test_duckdb_attaches_the_table_under_its_name_and_fetches_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    held = tmp_path / "extensions" / "v1" / duckdb.FILE
    held.parent.mkdir(parents=True)
    held.touch()
    extension = ModuleType(duckdb.EXTENSION)
    extension.__file__ = str(tmp_path / "__init__.py")
    package = SimpleNamespace(connect=SimulatedDatabase)
    modules = {"duckdb": package, duckdb.EXTENSION: extension}
    monkeypatch.setattr(duckdb, "import_module", modules.__getitem__)
    attached = """attach '/a b/o''clock/t' as "d" (type delta, internal_table_name 't')"""
    assert told(duckdb.ask, TABLE) == [f"load '{held}'", duckdb.ZONE, attached, SQL]
    assert set(duckdb.CONF.values()) == {"false"}
