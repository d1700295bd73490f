"""PrestoSQL and PrestoDB as readers.

They are asked like Trino. What differs is data of their distributions: the names of HTTP headers,
the main class, connectors and properties. Their `hudi` catalogs are of the hive connector where
there is no other; which one it was, each answer's confirmation says.
"""

from __future__ import annotations

from harness.engines.trino.engine import PRESTO, TrinoEngine

ENGINE = TrinoEngine(PRESTO)
