"""What the writer of a table is sent for the steps of a small scenario."""

from collections.abc import Mapping
from typing import Final

from harness import formats
from harness.model.schema import Table
from harness.model.truth import History
from harness.scenario.operations.api import Operation
from harness.scenario.statements import Statement, recorded
from tests.builders.scenarios import scenario_of

NO_SETTINGS: Final[Mapping[str, str]] = {}
COLUMNS: Final = {"id": "int", "ts": "long", "a": "string", "p": "string"}


def table_of(
    columns: Mapping[str, str] = COLUMNS, partition_by: tuple[str, ...] = (), order_by: str = "ts"
) -> Table:
    scenario = scenario_of(columns=dict(columns), order_by=order_by, partition_by=partition_by)
    return scenario.table


def history_of(
    *operations: Operation, columns: Mapping[str, str] = COLUMNS, partition_by: tuple[str, ...] = ()
) -> History:
    scenario = scenario_of(
        *operations, columns=dict(columns), order_by="ts", partition_by=partition_by
    )
    return scenario.truths(merge_on_read=False).history()


def statements(
    name: str,
    *operations: Operation,
    columns: Mapping[str, str] = COLUMNS,
    partition_by: tuple[str, ...] = (),
    settings: Mapping[str, str] = NO_SETTINGS,
) -> tuple[Statement, ...]:
    history = history_of(*operations, columns=columns, partition_by=partition_by)
    return formats.load(name).wording(operations[-1], history[-2], history[-1], settings)


def texts(
    name: str,
    *operations: Operation,
    columns: Mapping[str, str] = COLUMNS,
    partition_by: tuple[str, ...] = (),
    settings: Mapping[str, str] = NO_SETTINGS,
) -> list[str]:
    sent = statements(
        name, *operations, columns=columns, partition_by=partition_by, settings=settings
    )
    return [recorded(statement) for statement in sent]


def created(
    name: str,
    columns: Mapping[str, str] = COLUMNS,
    partition_by: tuple[str, ...] = (),
    settings: Mapping[str, str] = NO_SETTINGS,
) -> str:
    (statement,) = formats.load(name).create(table_of(columns, partition_by), settings)
    return recorded(statement)
