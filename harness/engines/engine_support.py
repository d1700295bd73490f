"""What several engines share that is not SQL."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.artifacts.distributions import digest_of
from harness.core import tolerances
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.records import Refusal
from harness.core.runtime_names import ENDPOINT
from harness.engines.api import NoAnswerError, ReaderSettings, RefusedError
from harness.engines.format_facts import FormatFacts
from harness.runtime import metastore_client, template
from harness.runtime.process import LOOPBACK


def connect_to_worker(port: int, token: str, hello: bytes, timeout_s: float) -> socket.socket:
    """Return a connection to a worker that says `hello`, for it knows the token.

    Each part of that may take `timeout_s`. Raises OSError: it is not there yet, or no more.
    """
    connection = socket.create_connection((LOOPBACK, port), timeout_s)
    try:
        connection.sendall(token.encode() + b"\n")
        if connection.recv(len(hello)) != hello:
            raise ConnectionError("the worker does not answer")
        connection.settimeout(None)
    except OSError:
        connection.close()
        raise
    return connection


@contextmanager
def metastore_first(uri: str) -> Iterator[None]:
    """Let what a server says or does not say count only while its metastore answers.

    Raises CatalogGoneProblem: the metastore does not answer.
    Raises EnvironmentProblem: it answers, and the server lets nobody in; waiting is no use.
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


_READS: Final = re.compile(r"(select|show|describe)\b|set hoodie\.", re.IGNORECASE)


def check_reads(statement: str) -> None:
    """Stop what may change something on a server that somebody else runs."""
    if not _READS.match(statement):
        raise UsageProblem(f"only SELECT, SHOW and DESCRIBE are sent there, not: {statement}")


def cannot_set(distribution: Distribution, settings: ReaderSettings) -> str:
    """Return why a reader that runs already cannot have settings; see `Engine.cannot`."""
    if settings and distribution.runtime == ENDPOINT:
        return f"{distribution.name} runs already, with settings of its own; name none"
    return ""


BUILT_IN: Final = "hive"
"""The family of tables that needs no library."""
HUDI_ONLY: Final = frozenset({"schema-on-read", "data-skipping", "metadata-table"})
"""Settings of a reader that nothing but Hudi knows."""


def missing_library(
    distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
) -> str:
    """Return why a reader cannot be asked about tables of a format; see `Engine.cannot`."""
    if format_.family not in {BUILT_IN, *distribution.settings}:
        return f"{distribution.name} has no library for {format_.family} tables"
    hudis = sorted(HUDI_ONLY & settings.keys())
    if hudis and "hudi" not in distribution.settings:
        return f"{hudis[0]} is a setting of Hudi, which {distribution.name} does not have"
    return ""


SHARED: Final = (
    "harness.core.tolerances",
    "harness.engines.java_floats",
    "harness.engines.query_sql",
    "harness.model.canonical",
)
"""What the answers of every engine go through."""


def code_digest(engine: str, *modules: str) -> str:
    """Return the SHA-256 (hexadecimal) of what shapes an engine's answers, code and configuration.

    `modules`: what shapes them beside the engine's package and `SHARED`.
    """
    names = (f"harness.engines.{engine}", *SHARED, *modules)
    sources = [pair for name in names for pair in _sources(name)]
    templates = [list(source) for source in template.sources(engine)]
    return digest_of([templates, sources, tolerances.facts()])


def _sources(name: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of a module, or of each of a package, without importing any."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name)
    path = Path(spec.origin)
    files = sorted(path.parent.glob("*.py")) if spec.submodule_search_locations else [path]
    for file in files:
        yield f"{name}/{file.name}", file.read_text(encoding="utf-8")
