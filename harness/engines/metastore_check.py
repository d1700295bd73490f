"""Whose fault it is that a server does not get ready: its own, or the metastore's it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError
from harness.runtime import metastore_client


@contextmanager
def metastore_first(uri: str) -> Iterator[None]:
    """Let what a server says or does not say count only while its metastore answers.

    Without one a server would be waited for as long as a start may take, and then be blamed.

    Raises:
        CatalogGoneProblem: the metastore does not answer.
        RefusedError: the metastore answers, and the server refused what it was asked.

    """
    try:
        yield
    except (NoAnswerError, RefusedError):
        metastore_client.check(uri)
        raise
    except Exception as problem:
        # A client refused while it connects has an error of its own, with what the server said.
        refusal = getattr(problem, "refusal", None)
        if not isinstance(refusal, Refusal):
            raise
        metastore_client.check(uri)
        raise RefusedError(refusal, 0.0) from problem
