"""Fetch the engines that tests start: `python -m tests.engines.fetch_engines`.

Not those that are large; tests of these are skipped.
"""

import sys
from typing import Final

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.cli.output import PlainProgress
from harness.run import pipeline

BY_DAY: Final = {
    *("hive-3.1.3", "hive-3.1.3-iceberg-1.4.3", "hive-metastore-3.1.3"),
    *("prestodb-0.283", "prestosql-350", "trino-476"),
    *("spark-3.5.8", "spark-3.5.8-delta-3.3.2", "spark-3.5.8-iceberg-1.10.1"),
    *("spark-3.5.8-hudi-0.15.0", "spark-3.5.8-hudi-1.0.2"),
}
"""Started by the tests of the day; all others only by those of the night, which fetch them."""
LARGE: Final = 1_000_000_000
"""A download of more bytes is made only when it is asked for."""


def download_size(name: str, cache: Cache) -> int:
    return sum(artifact.size for artifact in fetch.missing(distributions.load(name), cache))


def main() -> None:
    cache = Cache.default()
    names = [name for name in sorted(BY_DAY) if download_size(name, cache) <= LARGE]
    pipeline.fetch_all(names, cache, PlainProgress(sys.stderr))


if __name__ == "__main__":
    main()
