"""Whose fault it is that a server does not get ready: its own, or the metastore's it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.engines.api import NoAnswerError, RefusedError
from harness.runtime import metastore_client


@contextmanager
def metastore_first(uri: str) -> Iterator[None]:
    """Let what a server says or does not say count only while its metastore answers.

    Without one a server would be waited for as long as a start may take, and then be blamed.

    Raises:
        CatalogGoneProblem: the metastore does not answer.

    """
    try:
        yield
    except (NoAnswerError, RefusedError):
        metastore_client.check(uri)
        raise
