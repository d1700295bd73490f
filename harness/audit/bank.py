"""Answers that are stored table by table: those of an engine that is gone, of an audit that died.

A bank is a folder with a file of lines, each an `AuditedTable`; of two about one the later counts.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from harness.audit.records import AuditedAnswer, AuditedTable
from harness.audit.tables import PinnedTable
from harness.core.atomic_write import naming
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.model.query import ALL

FILE: Final = "audited.jsonl"
KEY: Final = "key"
"""With which values are made fingerprints; a bank without it has values."""
_ADAPTER: Final = TypeAdapter(AuditedTable)


@dataclass(frozen=True)  # no slots: what is derived is kept
class AnswerBank:
    folder: Path
    key: str = field(default="", repr=False)
    """With which values are made fingerprints; empty where values are stored."""

    @classmethod
    def opened(cls, folder: Path, *, values: bool) -> AnswerBank:
        """Open a folder, or make it; UsageProblem: what it holds has values, or has none."""
        file, key = folder / FILE, folder / KEY
        if file.exists() and key.exists() is values:
            how = "was made with --no-values: give it" if values else "holds values: leave it out"
            raise UsageProblem(f"the bank {folder} {how}, or name another folder")
        if folder.exists() and not folder.is_dir():
            raise UsageProblem(f"{folder} is a file; let --bank name a folder")
        folder.mkdir(parents=True, exist_ok=True)
        if not values and not key.exists():
            key.touch(mode=0o600)
            key.write_text(secrets.token_hex(), encoding="ascii")
        return cls(folder, "" if values else key.read_text(encoding="ascii"))

    def add(self, table: AuditedTable) -> None:
        """Add a table, in one piece."""
        # Begun by the end of a line: the last one may have been broken off.
        with naming(self.folder / FILE), (self.folder / FILE).open("ab") as file:
            file.write(b"\n" + _ADAPTER.dump_json(table))

    @cached_property
    def tables(self) -> tuple[AuditedTable, ...]:
        """Those that are stored, the latest first; a line that was broken off is none."""
        file = self.folder / FILE
        lines = file.read_bytes().splitlines() if file.exists() else []
        tables = []
        for line in reversed(lines):
            with suppress(ValidationError):
                tables.append(_ADAPTER.validate_json(line))
        return tuple(tables)

    @cached_property
    def _by_table(self) -> Mapping[tuple[str, str], Sequence[AuditedTable]]:
        return grouped((table.key, table) for table in self.tables)

    @property
    def readers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(a.reader for table in self.tables for a in table.answers))

    def audited(self, table: PinnedTable, identity_: str) -> AuditedTable | None:
        """Return what came of a table as it is, where that is known."""
        for known in self._by_table.get((table.table.name, table.table.location), ())[:1]:
            unknown = any(answer.verdict is VerdictKind.UNKNOWN for answer in known.answers)
            if known.identity == identity_ and not (known.problem or unknown):
                return known
        return None

    def answers(self, table: AuditedTable, reader: str) -> tuple[AuditedAnswer, ...]:
        """Return a reader's answers about a table; one that is not known says why."""
        why = f"the bank {self.folder} has no answer of {reader} about it"
        for known in self._by_table.get(table.key, ()):
            answers = tuple(answer for answer in known.answers if answer.reader == reader)
            if answers:
                if known.identity != table.identity:
                    now = f"{known.version or 'then'} to {table.version or 'now'}"
                    why = f"the table went on since the answers of {reader} were banked: {now}"
                elif known.questions != table.questions:
                    why = f"other questions were asked when the answers of {reader} were banked"
                else:
                    return answers
                break
        return (AuditedAnswer(reader, ALL, "", VerdictKind.UNKNOWN, why),)
