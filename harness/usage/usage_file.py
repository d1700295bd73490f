"""`usage.yaml`: what a scan found, as a file for people and programs."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from operator import itemgetter
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter
from ruamel.yaml.comments import CommentedSeq

from harness.core import yaml_reader, yaml_writer
from harness.core.texts import printable
from harness.core.yaml_reader import load_yaml

VERSION: Final = 1
"""Raised whenever what the file says, or how, changes."""
SNAPSHOT: Final = "snapshot"
READ_OPTIMIZED: Final = "read_optimized"
BASE_NAME: Final = "base_name"
"""The views of a merge-on-read table of Hudi, each an entry of the catalog; all others are
snapshots."""


class UsedFormat(StrEnum):
    """What a table is, in the words of profiles where they have one."""

    HUDI_COW = "hudi-cow"
    HUDI_MOR = "hudi-mor"
    HUDI = "hudi"
    """Which of the two could not be found out."""
    ICEBERG = "iceberg"
    DELTA = "delta"
    HIVE_PARQUET = "hive-parquet"
    HIVE_ORC = "hive-orc"
    HIVE_AVRO = "hive-avro"
    HIVE_TEXT = "hive-text"
    HIVE_ACID = "hive-acid"
    VIEW = "view"
    """A view of the catalog: what it reads are tables of their own here."""
    OTHER = "other"


class SchemaChange(StrEnum):
    """The schema changes, named as the steps of scenarios are."""

    ADD = "add_column"
    DROP = "drop_column"
    RENAME = "rename_column"
    MOVE = "move_column"
    CHANGE_TYPE = "change_type"


class AddedPlace(StrEnum):
    """Where a column was added among its siblings."""

    MIDDLE = "middle"
    END = "end"


class OldFiles(StrEnum):
    """Whether the table still has files from before a change."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Fact(StrEnum):
    """What may be unknown of a table; named as the keys of the file."""

    FORMAT = "format"
    TABLE_VERSION = "table_version"
    PARTITIONED = "partitioned"
    FEATURES = "features"
    SCHEMA_CHANGES = "schema_changes"


@dataclass(frozen=True, slots=True)
class UsedChange:
    operation: SchemaChange
    column: str
    """As it was called before, with a dotted path where it is a part of another."""
    to: str = ""
    """The new name, or the new type."""
    was: str = ""
    """The type before, where it changed."""
    place: AddedPlace | None = None
    """Where it was added."""
    old_files: OldFiles = OldFiles.UNKNOWN
    sure: bool = True
    """False where only files show it: of these nobody can tell a column that was renamed from one
    that was dropped and one that was added."""


@dataclass(frozen=True, slots=True)
class UsedTable:
    name: str
    """`database.table`."""
    format: UsedFormat
    view: str = SNAPSHOT
    table_version: str = ""
    """As the format counts; empty where it does not."""
    partitioned: bool = False
    features: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    """What wrote the files, as they or the format's records say."""
    schema_changes: tuple[UsedChange, ...] = ()
    unknown: tuple[Fact, ...] = ()
    """Of what the other fields do not say all."""
    why: str = ""
    """Why something is unknown."""
    unread: str = ""
    """Why the format's records could not be read at all."""


@dataclass(frozen=True, slots=True)
class Usage:
    version: int
    metastore: str
    scanned: str
    """When, in UTC."""
    tables: tuple[UsedTable, ...]
    databases: tuple[str, ...] = ()
    """The patterns of the databases that were scanned; none: all."""
    unlisted: dict[str, str] = field(default_factory=dict)
    """Databases whose tables the metastore did not list, with the reason."""

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of the tables, as profiles name them."""
        other = {UsedFormat.HUDI, UsedFormat.VIEW, UsedFormat.OTHER}
        names = dict.fromkeys(table.format for table in self.tables)
        hudi = (UsedFormat.HUDI_COW, UsedFormat.HUDI_MOR) if UsedFormat.HUDI in names else ()
        return tuple(dict.fromkeys(map(str, (*(n for n in names if n not in other), *hudi))))


@dataclass(frozen=True, slots=True)
class Doubts:
    """Facts that could not be found out, each with the first reason."""

    facts: dict[Fact, str] = field(default_factory=dict)

    def add(self, fact: Fact, why: object) -> None:
        self.facts.setdefault(fact, str(why))

    @property
    def unknown(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in Fact if fact in self.facts)

    @property
    def why(self) -> str:
        return printable("; ".join(dict.fromkeys(self.facts.values())))


MOST_BYTES: Final = 1 << 26
"""About 200,000 tables."""
HEAD: Final = """\
# What tables look like, by `harness scan`; see docs/usage.md for the words.
# It has names of tables and columns, and no values, properties or passwords.
"""


_ADAPTER: Final = TypeAdapter(Usage)


def text(usage: Usage) -> str:
    """Return a usage as YAML, its tables in the order of their names; defaults are left out."""
    every = None if usage.unlisted else {"unlisted"}
    content = _ADAPTER.dump_python(usage, mode="json", exclude_defaults=True, exclude=every)
    tables = sorted(content.pop("tables"), key=itemgetter("name"))
    for table in tables:
        if changes := table.get("schema_changes"):
            table["schema_changes"] = yaml_writer.block(changes)
    root = yaml_writer.block(content | {"tables": []})
    root["tables"] = CommentedSeq(map(yaml_writer.block, tables)) if tables else []
    return HEAD + yaml_writer.written(root, offset=2)


def read(path: Path) -> Usage:
    """Read a usage file, which somebody may have changed; raises ScenarioProblem."""
    content = yaml_reader.read(path, MOST_BYTES, "a file that harness scan wrote")
    usage, document = load_yaml(Usage, content, str(path), "usage", MOST_BYTES)
    if usage.version != VERSION:
        problem = f"version {usage.version} is not read; allowed: {VERSION}; scan again"
        document.note(("version",), problem)
    names = Counter(table.name for table in usage.tables)
    for at, table in enumerate(usage.tables):
        if names[table.name] > 1:
            document.note(("tables", at, "name"), f"'{table.name}' stands twice; give it once")
    document.problems.raise_if_any()
    return usage
