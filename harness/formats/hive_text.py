"""Plain Hive tables of text files."""

from __future__ import annotations

from harness.formats.hive_files import HiveFiles

FORMAT = HiveFiles(
    "hive-text",
    "textfile",
    None,
    no_small="row_groups=small: text files have no row groups",
)
