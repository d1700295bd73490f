"""Fetch the engines that tests start: `python -m tests.engines.fetch_engines`.

Not those that are large; tests of these are skipped.
"""

from __future__ import annotations

from typing import Final

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.cli.console.progress_display import PlainProgress
from harness.run import needed_artifacts

AT_NIGHT: Final = {
    *("datafusion-54.1.0-hudi-0.5.0", "pyiceberg-0.12.0", "s3proxy-2.9.0", "trino-483"),
    *("deltalake-1.6.6", "duckdb-1.5.5"),
    *("hive-2.3.10", "hive-3.1.3-hudi-0.11.1", "hive-3.1.3-tez-0.9.2", "hive-4.0.1"),
    "hive-4.0.1-tez-0.10.4",
    *("hive-metastore-2.3.10", "hive-metastore-4.0.1"),
    *("hive-mutation-3.1.3", "hive-schematool-3.1.3", "hive-schematool-4.0.1"),
    "spark-4.0.1-delta-4.0.0",
}
"""Fetched by the tests of the night, which alone start them."""
LARGE: Final = 1_000_000_000
"""A download of more bytes is made only when it is asked for."""


def download_size(name: str, cache: Cache) -> int:
    """Return how many bytes of a distribution are still to be downloaded."""
    return sum(each.size for each in fetch.missing(distributions.load(name), cache))


def main() -> None:
    """Fetch what is not there yet."""
    cache = Cache.default()
    by_day = (each for each in distributions.names() if each not in AT_NIGHT)
    names = [each for each in by_day if download_size(each, cache) <= LARGE]
    needed_artifacts.fetch_all(names, cache, PlainProgress())


if __name__ == "__main__":
    main()
