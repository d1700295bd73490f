"""Answers are found again by table state, reader and SQL; never an unknown one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from harness import record
from harness.record import Answer


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """The answers that earlier runs got, one file each."""

    folder: Path

    def find(self, address: str, case: str) -> Answer | None:
        """Give the answer kept under an address, as the answer of a case; None if there is none."""
        path = self._path(address)
        if not path.is_file():
            return None
        return replace(record.parse(Answer, path.read_bytes()), case=case, reused=True)

    def keep(self, address: str, answer: Answer) -> None:
        """Keep an answer, complete or not at all; an unknown or flaky one is not kept."""
        if answer.unknown or answer.attempts or any(part.unknown for part in answer.parts):
            return
        path = self._path(address)
        path.parent.mkdir(parents=True, exist_ok=True)
        record.write_all(path, [answer])

    def _path(self, address: str) -> Path:
        return self.folder / address[:2] / f"{address}.json"
