"""All planted defects: importing their modules enters them."""

from __future__ import annotations

from tests.quality import (
    defects_base,
    defects_catalogs,
    defects_clustering,
    defects_floats,
    defects_frames,
    defects_hudi,
    defects_late,
    defects_overwrite,
    defects_past,
    defects_pending,
    defects_queries,
    defects_reading,
    defects_removed,
    defects_services,
    defects_small,
    defects_types,
    defects_undo,
    defects_values,
    defects_writing,
)
from tests.quality.defects_refusals import REFUSALS, right
from tests.quality.planted import DEFECTS

__all__ = [
    "DEFECTS",
    "REFUSALS",
    "defects_base",
    "defects_catalogs",
    "defects_clustering",
    "defects_floats",
    "defects_frames",
    "defects_hudi",
    "defects_late",
    "defects_overwrite",
    "defects_past",
    "defects_pending",
    "defects_queries",
    "defects_reading",
    "defects_removed",
    "defects_services",
    "defects_small",
    "defects_types",
    "defects_undo",
    "defects_values",
    "defects_writing",
    "right",
]
