"""`usage.yaml`: what a scan found, as a file for people and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any, Final

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from harness.core import yaml_reader, yaml_writer
from harness.core.yaml_reader import load_yaml
from harness.usage.used_tables import VERSION, Usage, UsedChange, UsedTable

MOST_BYTES: Final = 1 << 26
"""About 200,000 tables."""
HEAD: Final = """\
# What the tables of a metastore look like, by `harness scan`; see docs/usage.md for the words.
# It has names of tables and columns, and no values, properties or passwords.
"""


def text(usage: Usage) -> str:
    """Return a usage as YAML, its tables in the order of their names."""
    root = yaml_writer.block(_changed_fields(usage) | {"tables": []})
    tables = sorted(usage.tables, key=lambda table: table.name)
    root["tables"] = CommentedSeq(map(_table, tables)) if tables else []
    return HEAD + yaml_writer.written(root, offset=2)


def read(path: Path) -> Usage:
    """Read a file that `text` made; somebody may have changed it.

    Raises:
        ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.

    """
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


def _table(table: UsedTable) -> CommentedMap | CommentedSeq:
    changes = [_changed_fields(schema_change) for schema_change in table.schema_changes]
    listed = {"schema_changes": yaml_writer.block(changes)} if changes else {}
    return yaml_writer.block(_changed_fields(table) | listed)


def _changed_fields(record: Usage | UsedTable | UsedChange) -> dict[str, Any]:
    """Return the fields of a record that are not as they are by default."""
    content = {field.name: (getattr(record, field.name), field.default) for field in fields(record)}
    return {
        name: _plain(value)
        for name, (value, default) in content.items()
        if name not in {"tables", "schema_changes"} and value not in (default, {})
    }


def _plain(value: object) -> object:
    match value:
        case Enum():
            return value.value
        case tuple():
            return [_plain(part) for part in value]
        case Mapping():
            return {name: _plain(part) for name, part in value.items()}
    return value
