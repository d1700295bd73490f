"""Hudi merge-on-read: a changed row goes to a log file, until compaction."""

from __future__ import annotations

from harness.formats.hudi import Hudi
from harness.model.identifiers import TABLE

FORMAT = Hudi(
    "hudi-mor",
    "mor",
    {"snapshot": f"{TABLE}_rt", "read_optimized": f"{TABLE}_ro", "base_name": TABLE},
)
