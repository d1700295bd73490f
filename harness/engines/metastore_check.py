"""Whose fault it is that a server does not get ready: its own, or the metastore's it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.core.errors import EnvironmentProblem
from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError
from harness.runtime import metastore_client


@contextmanager
def metastore_first(uri: str) -> Iterator[None]:
    """Let what a server says or does not say count only while its metastore answers.

    Without one a server would be waited for as long as a start may take, and then be blamed.

    Raises:
        CatalogGoneProblem: the metastore does not answer.
        EnvironmentProblem: the metastore answers, and the server lets nobody in; waiting is no use.

    """
    try:
        yield
    except (NoAnswerError, RefusedError):
        metastore_client.check(uri)
        raise
    except Exception as problem:
        # A client that is refused as it connects has an error of its own, with what was said.
        if not isinstance(getattr(problem, "refusal", None), Refusal):
            raise
        metastore_client.check(uri)
        raise EnvironmentProblem(f"it opens no session on its metastore: {problem}") from problem
