"""A variant that is written by a simulated Spark that keeps no table, into a simulated catalog."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.core.records import Refusal, StateRecord
from harness.engines.api import RefusedError
from harness.formats.iceberg.settings import MODES
from harness.model.datatypes import parse_type
from harness.model.file_facts import FileFact, FileKind
from harness.model.schema import Table
from harness.runtime.metastore_objects import CatalogEntry
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.row_writes import Insert
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.writer_pool import WriteTarget
from tests.builders.iceberg_folder import IcebergFolder

WRITER = "spark-3.5.8-hudi-0.15.0"
COLUMNS = (("id", "int"), ("ts", "long"))
TABLE = Table(tuple((name, parse_type(text)) for name, text in COLUMNS), "id", ("ts",))
ENTRIES: tuple[CatalogEntry, ...] = ()
STEPS = (Step(Insert(keys=(1,))), Step(AddColumn("n", parse_type("int"))), Step(Insert(keys=(2,))))


def variant(name: str = "v", *, steps: tuple[Step, ...] = STEPS) -> Variant:
    scenario = Scenario(name, TABLE, steps)
    return Variant(name, scenario, "hudi-cow", {}, (WRITER,) * (len(steps) + 1))


@dataclass
class Simulated:
    reply: Callable[[str], None] = lambda sql: None
    makes: Callable[[str], tuple[str, ...]] | None = None
    sent: list[str] = field(default_factory=list)
    folder: Path | None = None

    def open(self, _: object) -> Simulated:
        return self

    def run(self, sql: str, *, timeout_s: float) -> None:
        assert timeout_s > 0
        self.sent.append(sql)
        self.reply(sql)
        if "location '/" in sql:
            self.folder = Path(re.search("location '([^']+)'", sql)[1])  # type: ignore[index]
            (self.folder / ".hoodie").mkdir(parents=True)
            (self.folder / ".hoodie" / "hoodie.properties").write_text("hoodie.table.version=6\n")
        else:
            assert self.folder is not None
            meta = self.folder / ".hoodie"
            meta.mkdir(exist_ok=True)  # a table of another format has none
            always = (f"{100 * len(self.sent)}.commit",)
            for name in self.makes(sql) if self.makes else always:
                (meta / name).touch()


def sent(write_target: WriteTarget, spark: Simulated, what: Variant | None = None) -> VariantResult:
    return write_variants.write_variant(what or variant(), write_target, lambda *_: spark)  # type: ignore[arg-type]


def refuse(part: str) -> Callable[[str], None]:
    def reply(sql: str) -> None:
        if part in sql:
            raise RefusedError(Refusal("java.lang.X", "no"), 0.1)

    return reply


@dataclass
class MakeIceberg:
    folder: IcebergFolder | None = None
    made: int = 0

    def __call__(self, sql: str) -> None:
        properties = {"engine.hive.enabled": "true", **dict.fromkeys(MODES, "copy-on-write")}
        if match := re.search("location 'file:([^']+)'", sql):
            self.folder = IcebergFolder(Path(match[1]))
        if self.folder is not None and not sql.startswith("set "):
            lines = {"properties": properties, "current-schema-id": self.made}
            self.folder.metadata(self.made, **lines)
            self.made += 1


def kinds(records: tuple[StateRecord, ...]) -> list[str]:
    return [str(record.outcome.kind) for record in records]


WITH_N = replace(TABLE, columns=(*TABLE.columns, ("n", parse_type("int"))))
WAITING = FileFact("b", FileKind.LOG, "g", "200", (), keys=("1",))


ERROR = Refusal("HoodieMetaSyncException", "Could not sync")


@dataclass
class FailsLate(Simulated):
    part: str = ""

    def run(self, sql: str, *, timeout_s: float) -> None:
        super().run(sql, timeout_s=timeout_s)
        if self.part and self.part in sql:
            raise RefusedError(ERROR, 0.1)
