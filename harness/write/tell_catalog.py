"""What a step tells the metastore itself, and no engine."""

from __future__ import annotations

from harness.model.identifiers import TABLE
from harness.runtime.metastore_client import Catalog
from harness.scenario.statements import RegisterInStore, SetColumns, filled
from harness.write.writer_pool import WriteTarget


def tell(statement: SetColumns | RegisterInStore, client: Catalog, target: WriteTarget) -> None:
    """Tell it.

    Raises:
        CatalogRefusedError: it answers with an error.

    """
    match statement:
        case SetColumns(columns, cascade):
            client.alter_columns(target.database, TABLE, columns, cascade=cascade)
        case RegisterInStore(path=path):
            at = filled(path, target.database, str(target.table))
            client.also_at(target.database, TABLE, at)
