"""Plain Hive tables of ORC files."""

from __future__ import annotations

from harness.formats import orc
from harness.formats.hive_files import HiveFiles

FORMAT = HiveFiles(
    "hive-orc",
    "orc",
    orc.read,
    # `OrcMapreduceRecordWriter` of ORC 1.9, as Spark 3.5 makes it; seen with 3 rows.
    no_small=(
        "row_groups=small: Spark hands ORC's writer 1,024 rows at a time, and a stripe never ends "
        "among them; no table here has so many"
    ),
)
