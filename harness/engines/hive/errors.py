"""What Hive says when it refuses a query, made a refusal. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.core.records import Refusal

_CHAINED = re.compile(r"\*([\w.$]+):(.*?)(?::-?\d+:-?\d+)?", re.DOTALL)
"""A link of the exception chain in `infoMessages`: `*class:message:frames:frames in common`."""

_CLASS = re.compile(r"(?:[a-z]\w*\.)+([A-Z][\w$]*)")
_LOG_LINE = re.compile(r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_STARTED = re.compile(r"(?:Caused by: )?((?:[\w$]+\.)+[\w$]+)(?:: (.*))?")
_FRAME = re.compile(r"\s+at |\s*\.\.\. \d+ more")
_VERTEX_FAILED: Final = re.compile(
    r"Error while running task \( failure \) : ?(?:attempt_\w+:)?"
    r"|initializer failed, vertex=\S+ \[[^]]*\], "
)
"""What stands before the trace of a task, or before the exception of one that lists files."""
_CATALOG_GONE: Final = (
    "Could not connect to meta store",
    "org.apache.thrift.transport.TTransportException",
    "Unable to instantiate org.apache.hadoop.hive.ql.metadata.SessionHiveMetaStoreClient",
)
_NATIVE: Final = "native zStandard library not available"
"""What Hadoop's `ZStandardCodec` says where the machine has no `libhadoop`; no distribution brings
one. Jobs of Hive that read batches unpack Parquet files by it, others by a library of Java's."""


class HiveError(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.kind}: {refusal.message}")
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Thrown:
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind

    @property
    def name(self) -> str:
        return self.kind.rpartition(".")[2]


def chain(messages: Sequence[str]) -> tuple[Thrown, ...]:
    """Return the exceptions that `infoMessages` of a status name, the outermost first."""
    links = (_CHAINED.fullmatch(message) for message in messages)
    return tuple(Thrown(link[1], link[2]) for link in links if link)


def refusal(
    message: str, state: str | None, code: int | None, thrown: Sequence[Thrown] = ()
) -> Refusal:
    """Return the refusal for an error: `state` is the SQLSTATE, `code` Hive's own number.

    Its kind is the class of the innermost exception: the outer ones are the same for all errors.
    """
    innermost = thrown[-1] if thrown else None
    named = _CLASS.search(message)
    fallback = named[1] if named else "HiveSQLException"
    lines = message.splitlines()
    return Refusal(
        kind=innermost.name if innermost else fallback,
        message="\n".join(line for line in lines if not _FRAME.match(line)).strip(),
        code="/".join(str(part) for part in (state, code) if part),
        cause=str(innermost) if innermost else "",
    )


def job_failure(log: str, job: str) -> tuple[Thrown, ...]:
    """Return the exceptions that ended a local MapReduce job, the outermost first.

    The server's log has its id and the trace after it (`LocalJobRunner.Job.run`: `LOG.warn`).
    """
    lines = log.splitlines()
    for at, line in enumerate(lines):
        if _LOG_LINE.match(line) and line.endswith(f"LocalJobRunner: {job}"):
            return _trace(lines[at + 1 :])
    return ()


def vertex_failure(message: str) -> tuple[Thrown, ...]:
    """Return the exceptions that ended a job of Tez, the outermost first; its message has them."""
    match = _VERTEX_FAILED.search(message)
    return _trace(message[match.end() :].splitlines()) if match else ()


def _trace(lines: Sequence[str]) -> tuple[Thrown, ...]:
    thrown = []
    for number, line in enumerate(lines):
        if _LOG_LINE.match(line):
            break
        match = _STARTED.fullmatch(line)
        if match and (number == 0 or line.startswith("Caused by: ")):
            thrown.append(Thrown(match[1], match[2] or ""))
    return tuple(thrown)


def lacks_library(refusal: Refusal) -> bool:
    return _NATIVE in refusal.cause


def catalog_is_gone(refusal: Refusal) -> bool:
    return any(sign in f"{refusal.message} {refusal.cause}" for sign in _CATALOG_GONE)
