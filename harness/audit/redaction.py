"""What an audit found out without any value of the tables: fingerprints and positions. Pure.

Values are also in paths of partitions, in conditions, and in the texts of errors.
"""

import hmac
import re
from dataclasses import replace
from typing import Final

from harness.audit.records import AuditedAnswer, AuditedTable, ShownDifference
from harness.model.query import Query

_PLAIN: Final = re.compile("No such file or directory|Permission denied|is gone|is not JSON")
"""What is a reason and no value."""
_BEGINNING: Final = re.compile(r"^[^:'\"`(\[{]*")


def without_values(table: AuditedTable, key: str) -> AuditedTable:
    """Return a table whose values are fingerprints, which nobody can guess without the key."""

    def question(query: Query) -> Query:
        if not query.where:
            return query
        return replace(
            query, where=replace(query.where, literal=_fingerprint(query.where.literal, key))
        )

    def answer(one: AuditedAnswer) -> AuditedAnswer:
        return replace(
            one,
            query=question(one.query),
            sql="" if question(one.query) != one.query else one.sql,
            because=_sentence(one.because, key),
            differences=tuple(_difference(shown, key) for shown in one.differences),
            digest=_fingerprint(one.digest, key),
        )

    return replace(
        table,
        problem=_sentence(table.problem, key),
        undecided=tuple(_sentence(sentence, key) for sentence in table.undecided),
        questions=tuple(map(question, table.questions)),
        answers=tuple(map(answer, table.answers)),
    )


def _difference(shown: ShownDifference, key: str) -> ShownDifference:
    row, expected, actual = (
        _fingerprint(t, key) for t in (shown.row, shown.expected, shown.actual)
    )
    return replace(shown, row=row, expected=expected, actual=actual, file=_name(shown.file))


def _sentence(text: str, key: str) -> str:
    """Return the beginning of a text, which names what happened; what it is about may be values.

    >>> _sentence("p=7/1.parquet: no 'x'", "k"), _sentence("p=7/1.parquet: is gone", "k")
    ('1.parquet #f3742359a1', '1.parquet, is gone #c1eadfda51')
    """
    rest = _BEGINNING.sub("", text, count=1)
    named = [_name(text[: len(text) - len(rest)]), *_PLAIN.findall(rest)[:1]]
    return f"{', '.join(filter(None, named))} {_fingerprint(rest, key)}".strip()


def _name(path: str) -> str:
    """Return a file's name: folders of partitions are values.

    >>> _name("p=2024-01-01 00/1.parquet")
    '1.parquet'
    """
    return path.rpartition("/")[2].rstrip()


def _fingerprint(text: str, key: str) -> str:
    """Return a short text that is the same for the same value.

    >>> _fingerprint("7", "k"), _fingerprint("", "k")
    ('#9c737d163b', '')
    """
    digest = hmac.new(key.encode(), text.encode(), "sha256").hexdigest()
    return f"#{digest[:10]}" if text else ""
