"""What Spark answered when it answered with an error, taken out of the exceptions of PySpark.

PySpark wraps a Java throwable in two ways: `CapturedException` for the classes it knows, and
Py4J's `Py4JJavaError` for the others. Both hold the throwable, whose chain of causes ends in what
really happened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

NEVER_THERE: Final = "JAVA_GATEWAY_EXITED"
"""PySpark's error class of a JVM that ended before it could be asked anything."""
STOPPED: Final = re.compile(r"stopped SparkContext|SparkContext (was|has been) shut ?down")
"""What Spark says of a statement while it stops, which another process or a signal brought about
(`SparkContext.assertNotStopped`, `DAGScheduler.cleanUpAfterSchedulerStop`)."""
MAX_CAUSES: Final = 50
"""A chain of causes longer than that is a circle."""
MAX_TEXT: Final = 4000
"""Spark repeats whole plans in messages; characters kept of each, without stack traces."""


def is_lost(problem: Exception) -> bool:
    """Return whether there was no answer because the JVM is gone."""
    from py4j.protocol import Py4JNetworkError  # noqa: PLC0415 - only the worker has it

    lost = isinstance(problem, Py4JNetworkError | ConnectionError)
    return lost or _code(problem) == NEVER_THERE


def is_stopped(refused: Mapping[str, str]) -> bool:
    """Return whether an error says only that Spark stops, and nothing of the statement.

    >>> is_stopped({"message": "Job 3 cancelled because SparkContext was shut down", "cause": ""})
    True
    """
    return STOPPED.search(f"{refused['message']} {refused['cause']}") is not None


def refusal(problem: Exception) -> dict[str, str] | None:
    """Return kind, message, code and innermost cause; None when Spark did not raise it."""
    thrown = _throwable(problem)
    if thrown is None:
        return _said_by_pyspark(problem)
    causes = _chain(thrown)
    cause = f"{_class_of(causes[-1])}: {_message_of(causes[-1])}" if len(causes) > 1 else ""
    return {
        "kind": _class_of(thrown),
        "message": _message_of(thrown),
        "code": _code(problem),
        "cause": cause,
    }


def _throwable(problem: Exception) -> Any | None:  # noqa: ANN401 - a Py4J object
    return getattr(problem, "java_exception", None) or getattr(problem, "_origin", None)


def _said_by_pyspark(problem: Exception) -> dict[str, str] | None:
    # Checks that PySpark makes itself, before it asks the JVM.
    if type(problem).__module__.partition(".")[0] != "pyspark":
        return None
    kind = f"{type(problem).__module__}.{type(problem).__qualname__}"
    return {"kind": kind, "message": str(problem)[:MAX_TEXT], "code": "", "cause": ""}


def _chain(thrown: Any) -> list[Any]:  # noqa: ANN401 - a Py4J object
    causes = [thrown]
    while len(causes) < MAX_CAUSES and (cause := causes[-1].getCause()) is not None:
        causes.append(cause)
    return causes


def _class_of(thrown: Any) -> str:  # noqa: ANN401 - a Py4J object
    return str(thrown.getClass().getName())


def _message_of(thrown: Any) -> str:  # noqa: ANN401 - a Py4J object
    message = str(thrown.getMessage() or "").partition("\n\tat ")[0]
    return message.strip()[:MAX_TEXT]


def _code(problem: Exception) -> str:
    # The error class, which Spark has since 3.2 and PySpark tells since 3.4.
    tell = getattr(problem, "getErrorClass", None)
    return str((tell and tell()) or "")
