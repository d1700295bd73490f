from __future__ import annotations

from harness.engines.engine_support import code_digest


def test_the_digest_follows_the_named_sources() -> None:
    one = code_digest("hive", "harness.engines.query_sql")
    assert one == code_digest("hive", "harness.engines.query_sql")
    assert one != code_digest("hive", "harness.engines.python_library")
    assert one != code_digest("trino", "harness.engines.query_sql")
