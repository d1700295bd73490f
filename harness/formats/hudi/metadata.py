"""Extra metadata of Hudi's commits: how a write is told of it, and what a commit has.

Source: Hudi documentation, "All Configurations", `hoodie.datasource.write.commitmeta.key.prefix`:
options whose names begin with it are copied into the commit. That SQL `set` gives the writer names
that begin with `hoodie.` alone, and which ways there are besides, is said nowhere but in the code
(`ProvidesHoodieConfig`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.formats.api import StoredMetadata, VariantSettings
from harness.formats.hudi import commit_metadata, timeline
from harness.formats.hudi import statements as hudi_statements
from harness.model.identifiers import TABLE
from harness.model.truth import Truth
from harness.scenario.operations.spark_sql import text
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.operations.write_with_metadata import MetadataWay, WriteWithMetadata
from harness.scenario.statements import DATABASE, TABLE_ARGUMENT, Sql, Statement, of_table

PREFIX: Final = "hoodie.datasource.write.commitmeta.key.prefix"
WRITTEN_BY_HUDI: Final = ("schema", "latest_schema")
"""What Hudi itself writes into the extra metadata of a batch write or schema change."""


def write_with_metadata(
    operation: WriteWithMetadata, before: Truth, after: Truth, settings: VariantSettings
) -> tuple[Statement, ...]:
    """Return a write that is told of metadata, and what makes the next one forget it."""
    options = {PREFIX: operation.prefix, **operation.metadata}
    if operation.by is MetadataWay.FRAME:
        frame = WriteFrame(operation.keys)
        (write,) = hudi_statements.frame_write(frame, before, after, settings)
        return (replace(write, options=(*write.options, *options.items())),)
    writes = of_table(operation.sql(before, after))
    if operation.by is MetadataWay.TABLE_OPTIONS:
        return _as_options(options, writes)
    if operation.by is MetadataWay.QUOTED_SET:
        options[PREFIX] = text(operation.prefix)
    return _in_session(options, writes)


def _in_session(options: Mapping[str, str], writes: Sequence[Sql]) -> tuple[Sql, ...]:
    first = (Sql(f"set {name}={value}", commits=False) for name, value in options.items())
    back = (Sql(f"reset {name}", in_any_case=True, commits=False) for name in options)
    return (*first, *writes, *back)


def _as_options(options: Mapping[str, str], writes: Sequence[Sql]) -> tuple[Sql, ...]:
    """Return a write between two that change the catalog's properties: the table has no such."""
    listed = ", ".join(f"{text(name)} = {text(value)}" for name, value in options.items())
    names, table = ", ".join(map(text, options)), f"alter table {DATABASE}.{TABLE}"
    back = f"{table} unset tblproperties if exists ({names})"
    return (
        Sql(f"{table} set tblproperties ({listed})", commits=False),
        *writes,
        Sql(back, in_any_case=True, commits=False),
    )


def stored_metadata(folder: Path, instant: str) -> StoredMetadata:
    """Return the extra metadata of a completed write, and the call of the procedure that shows it.

    Without the instant it shows that of the last one (`ShowCommitExtraMetadataProcedure`).
    """
    at = f"{TABLE_ARGUMENT}, instant_time => '{instant}'"
    stored = commit_metadata.extra_of(timeline.files(folder)[instant])
    return StoredMetadata(stored, f"call show_commit_extra_metadata({at})", WRITTEN_BY_HUDI)
