"""Fingerprints of what a library without SQL shows: made of its rows as Arrow has them."""

from dataclasses import dataclass, replace
from typing import Final

from harness.audit.fingerprints import HashedRows
from harness.core.arrow import pa
from harness.engines.api import Question, Reply
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.python_library import LibraryConnection, reply_of
from harness.model.query import ALL

_NUMBERS: Final = ("integer", "float", "decimal", "date", "timestamp")
WORDS: Final = FingerprintWords(
    dict.fromkeys((*_NUMBERS, "boolean", "string", "binary", "array", "map"), "")
)
"""Everything is compared, and in no words."""


@dataclass(frozen=True, slots=True)
class HashedAnswers:
    """See `harness.engines.api.Connection`; a whole answer is in memory, but not as values."""

    connection: LibraryConnection

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        asked = question.fingerprint
        if asked is None:
            return self.connection.ask(question, timeout_s=timeout_s)
        plain = replace(question, fingerprint=None)
        rows, seconds, sent = self.connection.rows(plain, timeout_s=timeout_s)
        hashed = HashedRows(rows, asked, shown=True)
        if asked.rows:
            return reply_of(rows.filter(pa.array(hashed.taken(ALL), pa.bool_())), seconds, sent)
        groups: dict[str, list[int]] = {}
        hashed.add(ALL, groups)
        every = [(first, *sums) if asked.digits else tuple(sums) for first, sums in groups.items()]
        return Reply((), tuple(every), seconds, sent)
