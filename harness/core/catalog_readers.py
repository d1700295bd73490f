"""Which engines go by what the catalog has of each partition: declared as data, by product.

It lies beside the engine's code: `harness/engines/<product>/catalog.yaml`. Such a reader shows what
the catalog says, whatever the files hold, and who keeps the catalog is responsible for it.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import harness
from harness.core import tolerances
from harness.core.yaml_reader import load_yaml, read


class CatalogFact(StrEnum):
    COLUMNS_OF_PARTITIONS = "columns-of-partitions"
    """A row is converted, column by column as they stand, from the list that the catalog keeps of
    its partition to the table's; a column beyond the end of that list is NULL."""


@dataclass(frozen=True, slots=True)
class CatalogReader:
    """One line: what a product goes by."""

    fact: CatalogFact
    what: str
    source: str
    seen: str
    """In which releases."""


def goes_by(reader: str, fact: CatalogFact) -> bool:
    return any(line.fact is fact for line in _load(tolerances.product(reader)))


@cache
def _load(product: str) -> tuple[CatalogReader, ...]:
    file = Path(harness.__file__).parent / "engines" / product / "catalog.yaml"
    if not file.is_file():
        return ()
    return load_yaml(tuple[CatalogReader, ...], read(file), str(file), "lines")[0]
