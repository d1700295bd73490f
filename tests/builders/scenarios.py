"""Small scenarios made in Python."""

from typing import Final

from harness.model.datatypes import Primitive, parse_type
from harness.model.schema import MergeMode, Table
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation

TEXT: Final = Primitive("string")


def scenario_of(
    *operations: Operation,
    columns: dict[str, str] | None = None,
    order_by: str | None = None,
    partition_by: tuple[str, ...] = (),
    merge_mode: MergeMode | None = None,
) -> Scenario:
    """A scenario on a table with the key `id`, and `f1` unless `columns` are given."""
    types = columns or {"id": "string", "f1": "string"}
    return Scenario(
        name="family/name",
        table=Table(
            tuple((name, parse_type(text)) for name, text in types.items()),
            key="id",
            order_by=(order_by,) if order_by else (),
            partition_by=partition_by,
            merge_mode=merge_mode,
        ),
        steps=tuple(map(Step, operations)),
    )
