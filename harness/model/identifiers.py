"""Identifiers in SQL: quoted, and those of our own, of which none may be taken for a scenario's.

Of `a.b` every engine asks first whether a table in the query is called `a`: Spark then takes its
column `b` if it has one (`AttributeSeq.resolve`), Trino and both Prestos as well
(`ExpressionAnalyzer.visitDereferenceExpression`), and Hive refuses a table without one
(`TypeCheckProcFactory`). So a query that names parts, or columns of one of its tables, calls its
tables by names that the scenario does not have; with an alias a table has no other name.
"""

from collections.abc import Iterable
from itertools import chain, count
from typing import Final

TABLE: Final = "t"
"""The name of every table; what tells tables apart is their database."""
SINCE: Final = "since"
"""What a question calls the rows written since a step, where it asks a query for them."""
SOURCE: Final = "s"
"""What a merge calls its new rows."""
CHANGE_COLUMNS: Final = frozenset({"_change_type", "_commit_version", "_commit_timestamp"})
"""Columns that Delta's change data feed adds to those of the table (Delta documentation, "Use Delta
Lake change data feed", "What is the schema for the change data feed?"), and no table may have."""


def free_name(plain: str, names: Iterable[str]) -> str:
    """Return `plain`, or with a number where a name is that, in whatever case.

    >>> free_name("t", ["a", "b"]), free_name("t", ["a", "T", "t1"])
    ('t', 't2')
    """
    taken = {name.casefold() for name in names}
    numbered = (f"{plain}{number}" for number in count(1))
    return next(text for text in chain([plain], numbered) if text.casefold() not in taken)


def quoted(path: str, mark: str) -> str:
    """Quote a dotted path, each name for itself.

    >>> quoted("db.a", '"'), quoted("od`d", "`")
    ('"db"."a"', '`od``d`')
    """
    return ".".join(quoted_name(name, mark) for name in path.split("."))


def quoted_name(name: str, mark: str) -> str:
    """Quote one name, which may have dots."""
    return mark + name.replace(mark, mark * 2) + mark
