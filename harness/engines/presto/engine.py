"""PrestoSQL and PrestoDB as readers, asked like Trino.

What differs is data of their distributions: HTTP headers, main class, connectors and properties.
Their `hudi` catalogs are of the hive connector where there is no other: confirmations say which.
"""

from harness.engines.trino.engine import PRESTO, TrinoEngine

ENGINE = TrinoEngine(PRESTO, None)
