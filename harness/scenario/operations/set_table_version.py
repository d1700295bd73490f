"""`set_table_version`: the table's own records are brought to another version; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    Statements,
    StepContext,
    StepTrace,
    TableKind,
)
from harness.scenario.operations.procedures import ALTER_TABLE, call_hudi
from harness.scenario.statements import Sql

_PROCEDURES: Final = {
    6: ("downgrade_table", "SIX"),
    8: ("upgrade_table", "EIGHT"),
    9: ("upgrade_table", "NINE"),
}
"""What brings a table of Hudi to a version, and what it calls the version. Both names are of one
procedure, which answers false where it fails, and raises nothing (`UpgradeOrDowngradeProcedure`).
"""
_NEWEST: Final = 3
"""Iceberg's newest format version."""


@dataclass(frozen=True, slots=True)
class SetTableVersion(Operation):
    """Upgrade or downgrade the table to a version, as the format counts."""

    EXAMPLES = (
        Example(
            "set_table_version: 6",
            "upgrades or downgrades a table of Hudi to version 6, 8 or 9, see "
            "[below](#table-versions)",
        ),
        Example("set_table_version: 3", "upgrades a table of Iceberg to format version 3"),
    )
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG})
    TRACE = StepTrace.TABLE_VERSION
    SHORT = "version"
    version: int

    def text(self) -> str:
        return f"set the table version to {self.version}"

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is Family.ICEBERG:
            properties = f"'format-version' = '{self.version}'"
            return (Sql(f"{ALTER_TABLE} set tblproperties ({properties})"),)
        procedure, version = _PROCEDURES[self.version]
        return (call_hudi(procedure, f"to_version => '{version}'"),)

    def unsupported(self, kind: TableKind) -> str:
        match kind.family:
            case Family.HUDI if self.version not in _PROCEDURES:
                allowed = ", ".join(map(str, _PROCEDURES))
                return f"has no table version {self.version}; allowed: {allowed}"
            case Family.ICEBERG if self.version != _NEWEST:
                return f"tables can be brought to version {_NEWEST}, and no other"
            case Family.DELTA:
                return "tables have versions of a protocol, which their features decide"
        return Operation.unsupported(self, kind)
