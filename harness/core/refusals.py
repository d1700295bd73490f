"""What a refusal means, where its text tells."""

import re
from typing import Final

from harness.core.records import Refusal

OTHER_TYPE: Final = "a file's column has another type than the table's"
"""The reader took a column of the file for one of another type; it does not say which."""
OTHER_LIST: Final = "the catalog keeps another type of a column for a partition than for the table"
"""The reader compared the two before it opened a file."""

INTERNAL: Final = "INTERNAL_SERVER_ERROR"
"""The kind of an error that a server did not mean to answer with: what HTTP calls 500."""

MEANINGS: Final = (
    # PrestoDB 0.283 on a part of a NULL struct of Iceberg's: rows that it cannot write as JSON.
    # Prestos and Trino end a query so whatever they meet in what answers a request
    # (prestodb/presto#9294, trinodb/trino#4817).
    (INTERNAL, r"", "an internal error of the server, each time that it was asked"),
    # Trino, PrestoSQL and PrestoDB: "There is a mismatch between the table and partition schemas.
    # … The column 'f2' in table 't' is declared as type 'double', but partition 'p=1' declared
    # column 'f2' as type 'int'." No file has been looked at.
    (r"HIVE_PARTITION_SCHEMA_MISMATCH", r"between the table and partition schemas", OTHER_LIST),
    # PrestoDB 0.283/0.287: "The column f2 of table t is declared as type string, but the Parquet
    # file (…) declares the column as type …".
    (r"HIVE_PARTITION_SCHEMA_MISMATCH", r"the Parquet file .*declares the column", OTHER_TYPE),
    # Trino 352-368, PrestoSQL 350: a page reader of another type; the message is the type's class
    # and nothing else. What names one beside other words may be about an expression.
    (r"GENERIC_INTERNAL_ERROR", r"^(io|com)\.[\w.]+\.spi\.type\.\w+Type$", OTHER_TYPE),
    # Trino 476: "Unsupported Trino column type (bigint) for Parquet column ([f2] optional …)";
    # PrestoSQL 350 says Presto, of decimals.
    (r"", r"Unsupported (Trino|Presto) column type \(.*\) for Parquet column", OTHER_TYPE),
    # Spark: a renamed struct field under the vectorised reader.
    (
        r"",
        r"cannot be read in vectorized mode",
        "the vectorised reader cannot read changed structs",
    ),
)

MACHINE: Final = re.compile(
    "No space left on device|Disk quota exceeded|Too many open files|Cannot allocate memory|"
    "java.lang.OutOfMemoryError|unable to create (new )?native thread"
)
"""What the operating system and the JVM say when there is too little of something."""

CHANCE: Final = re.compile(f"java.lang.StackOverflowError|^{INTERNAL} ")
"""What may be owed to the moment. PrestoDB 0.283/0.287 takes splits from a queue by recursion
(`AsyncQueue.borrowBatchAsync`), as deep as others happen to be there already. What a server did not
mean to answer may be of the query, or of the state that it is in."""


def machine_shortage(refusal: Refusal) -> str:
    """Return why an error is the machine's and says nothing of the engine; empty when it is not.

    >>> machine_shortage(Refusal("java.io.IOException", "x: No space left on device"))
    'this machine has too little for it: No space left on device'
    """
    match = MACHINE.search(text(refusal))
    return f"this machine has too little for it: {match.group()}" if match else ""


def may_be_chance(refusal: Refusal) -> bool:
    """Return whether an error may have come of the moment, so that the same query may be answered.

    >>> may_be_chance(Refusal("X", "no", cause="java.lang.StackOverflowError: None at x"))
    True
    """
    return CHANCE.search(text(refusal)) is not None


def text(refusal: Refusal) -> str:
    code = f" ({refusal.code})" if refusal.code else ""
    cause = f"; cause: {refusal.cause}" if refusal.cause else ""
    return f"{refusal.kind}{code}: {refusal.message}{cause}"


def meaning(refusal: Refusal) -> str:
    """Return what a refusal means, empty when its text does not tell.

    >>> meaning(Refusal("GENERIC_INTERNAL_ERROR", "io.prestosql.spi.type.VarcharType"))
    "a file's column has another type than the table's"
    """
    for kind, message, means in MEANINGS:
        if re.fullmatch(kind or ".*", refusal.kind) and re.search(message, refusal.message):
            return means
    return ""
