"""The folder `shared` beside the checkout, which a checkout may lack."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_TOP: Final = Path(__file__).resolve().parents[2]


def _shared() -> Path:
    if given := os.environ.get("LAKE_TABLE_HARNESS_SHARED"):
        return Path(given)
    beside = [folder / "shared" for folder in _TOP.parents]
    return next((folder for folder in beside if (folder / "tables").is_dir()), beside[0])


SHARED: Final = _shared()
