"""Plain Hive tables of ORC files."""

from __future__ import annotations

from harness.formats import orc
from harness.formats.hive_files import HiveFiles

FORMAT = HiveFiles("hive-orc", "orc", orc.read)
