"""A pipeline from one Hudi table to another one, as people write it with DataFrames.

The target's commit keeps in its extra metadata up to which commit of the source its rows are:
`read`, by an incremental query, what came since; `write` it with the new checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.engines.spark.session import Session
from harness.engines.time_travel import NEXT_COMPLETED
from harness.formats.hudi import commit_metadata, timeline
from harness.formats.hudi import files as hudi_files
from harness.formats.hudi import past as hudi_past
from harness.formats.hudi import undo as hudi_undo
from harness.formats.hudi.metadata import PREFIX
from harness.formats.hudi.timeline import Instant
from harness.formats.statements import PIPE, filled

KEY: Final = "pipeline.checkpoint"
"""In the extra metadata of the target's commits; the prefix is what stands before the dot."""
COLUMNS: Final = "id, n, v"
TIMEOUT_S: Final = 300.0
NO_PARTITIONS: Final = "org.apache.hudi.keygen.NonpartitionedKeyGenerator"
OPTIONS: Final = {
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "n",
    "hoodie.datasource.write.partitionpath.field": "",
    "hoodie.datasource.write.keygenerator.class": NO_PARTITIONS,
    "hoodie.datasource.write.operation": "upsert",
    "hoodie.datasource.hive_sync.enable": "false",
    "hoodie.metadata.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.upsert.shuffle.parallelism": "2",
    "hoodie.bloom.index.filter.dynamic.max.entries": "100",
    "hoodie.index.bloom.num_entries": "100",
}
KEPT: Final = {"hoodie.archive.automatic": "false", "hoodie.clean.automatic": "false"}
"""Of the source: who reads what came since a commit needs that commit and its files."""

Rows = Mapping[str, tuple[int, str]]
"""By key: number and text."""


@dataclass(frozen=True, slots=True)
class HudiTable:
    """One of the two tables."""

    folder: Path
    type: str = "COPY_ON_WRITE"

    @property
    def instants(self) -> tuple[Instant, ...]:
        """The completed writes, in the order of their completion."""
        return timeline.completed(timeline.names(self.folder))

    @property
    def version(self) -> str:
        """The table version; the oldest tables do not say."""
        return hudi_files.properties(self.folder).get("hoodie.table.version", "1")

    def time_of(self, instant: Instant) -> str:
        """Return by which time an incremental query knows a commit (`hudi_past`)."""
        return instant.requested if int(self.version) < COMPLETION_SINCE else instant.completed

    def rows(self, session: Session) -> tuple[tuple[str, int, str], ...]:
        """Return all rows, in the order of their keys."""
        _view(session, "whole", {"path": str(self.folder)})
        answer = session.run(f"select {COLUMNS} from whole order by id", timeout_s=TIMEOUT_S)
        return tuple((str(id_), int(str(n)), str(v)) for id_, n, v in answer.rows)

    def append(self, session: Session, query: str, told: Mapping[str, str]) -> None:
        """Write the rows of a query by a DataFrame."""
        options = {
            "hoodie.table.name": self.folder.name,
            "hoodie.datasource.write.table.type": self.type,
            **OPTIONS,
            **told,
        }
        session.append(query, "hudi", options, str(self.folder), timeout_s=TIMEOUT_S)


COMPLETION_SINCE: Final = 8
"""Incremental queries of tables from this version on go by times of completion."""


def _view(session: Session, name: str, options: Mapping[str, str]) -> None:
    told = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    sql = f"create or replace temporary view {name} using hudi options ({told})"
    session.run(sql, timeout_s=TIMEOUT_S)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Two tables, and what the source held after each of its commits."""

    source: HudiTable
    target: HudiTable
    library: str
    """The version of Hudi."""
    truth: dict[str, Rows] = field(default_factory=dict)
    """By the time of the commit, in their order."""
    key: str = KEY
    """Under which the target's commits have the checkpoint."""

    def commit(self, session: Session, changed: Rows) -> None:
        """Write rows to the source, new or instead of others."""
        values = ", ".join(f"('{key}', {n}, '{v}')" for key, (n, v) in changed.items())
        query = f"select * from values {values} as x({COLUMNS})"
        self.source.append(session, query, KEPT)
        before = next(reversed(self.truth.values()), {})
        self.truth[self.source.time_of(self.source.instants[-1])] = {**before, **changed}

    def checkpoint(self) -> str:
        """Return up to which commit of the source the target's newest commit says that it is."""
        for file in reversed([*timeline.files(self.target.folder).values()]):
            if found := commit_metadata.extra_of(file).get(self.key):
                return found
        return ""

    def ahead(self) -> tuple[str, ...]:
        """Return the commits of the source that the target does not have."""
        checkpoint = self.checkpoint()
        return tuple(each for each in self.truth if each > checkpoint)

    def batch(self, session: Session, upto: str, told: Mapping[str, str]) -> None:
        """Read what the source got since the checkpoint, and write it with the new one."""
        begin = self._begin(self.checkpoint())
        options = {
            "path": str(self.source.folder),
            "hoodie.datasource.query.type": "incremental",
            "hoodie.datasource.read.begin.instanttime": begin,
            "hoodie.datasource.read.end.instanttime": upto,
        }
        _view(session, "since", options)
        metadata = {PREFIX: self.key.partition(".")[0], self.key: upto}
        self.target.append(session, f"select {COLUMNS} from since", {**metadata, **told})

    def _begin(self, checkpoint: str) -> str:
        """Return the begin that leaves out the commit of the checkpoint: Hudi 1.0 takes it in."""
        if not checkpoint:
            return "000"
        inclusive = hudi_past.begin(self.library, self.source.version) == NEXT_COMPLETED
        return str(int(checkpoint) + 1) if inclusive else checkpoint

    def wrong(self, session: Session) -> str:
        """Return how the target is not the source at the checkpoint; empty where it is."""
        checkpoint = self.checkpoint()
        due = {(key, *row) for key, row in self.truth.get(checkpoint, {}).items()}
        rows = self.target.rows(session)
        twice = sorted({each[0] for each in rows if [r[0] for r in rows].count(each[0]) > 1})
        missing, more = sorted(due - {*rows}), sorted({*rows} - due)
        told = (("twice", twice), ("missing", missing), ("not of the checkpoint", more))
        return "; ".join(f"{what}: {found[:3]}" for what, found in told if found)

    @property
    def held(self) -> Mapping[str, str]:
        """What makes a write wait at a named pipe when only its commit is not there."""
        waits = filled(hudi_undo.WAITS, "", str(self.target.folder))
        return {hudi_undo.VALIDATORS: hudi_undo.VALIDATOR, hudi_undo.QUERIES: waits}

    @property
    def pipe(self) -> Path:
        """Where it waits."""
        return self.target.folder.with_name(self.target.folder.name + PIPE)
