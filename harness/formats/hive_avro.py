"""Plain Hive tables of Avro files."""

from __future__ import annotations

from harness.formats import avro
from harness.formats.hive_files import HiveFiles

FORMAT = HiveFiles(
    "hive-avro",
    "avro",
    avro.read,
    no_small="row_groups=small: Avro's files have no row groups",
)
