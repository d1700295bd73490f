"""All planted defects: importing the modules that are called `defects_…` enters them."""

from importlib import import_module
from pathlib import Path

from tests.quality.planted import DEFECTS

for _path in sorted(Path(__file__).parent.glob("defects_*.py")):
    import_module(f"tests.quality.{_path.stem}")

__all__ = ["DEFECTS"]
