from __future__ import annotations

from harness.engines.code_digest import code_digest


def test_the_digest_follows_the_named_sources() -> None:
    one = code_digest("hive", "harness.engines.bundles")
    assert one == code_digest("hive", "harness.engines.bundles")
    assert one != code_digest("hive", "harness.engines.api")
    assert one != code_digest("trino", "harness.engines.bundles")
