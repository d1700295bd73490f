"""Calls of procedures, and changes of a table's properties, as the formats' Spark SQL has them.

Sources: Hudi documentation, "SQL Procedures"; Iceberg documentation, "Spark Procedures".
"""

from __future__ import annotations

from typing import Final

from harness.model.identifiers import TABLE
from harness.scenario.statements import DATABASE, Sql

TABLE_NAME: Final = f"{DATABASE}.{TABLE}"
ALTER_TABLE: Final = f"alter table {TABLE_NAME}"
TABLE_ARGUMENT: Final = f"table => '{TABLE_NAME}'"
"""How procedures get the table."""


def call_hudi(procedure: str, *arguments: str) -> Sql:
    """Return the call of a procedure of Hudi, which is about the table."""
    return Sql(f"call {procedure}({', '.join((TABLE_ARGUMENT, *arguments))})")


def call_iceberg(procedure: str, *arguments: str) -> Sql:
    """Return the call of a procedure of Iceberg, which is about the table."""
    all_arguments = ", ".join((TABLE_ARGUMENT, *arguments))
    return Sql(f"call spark_catalog.system.{procedure}({all_arguments})")
