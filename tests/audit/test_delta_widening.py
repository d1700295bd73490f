"""Every type that a Delta column can be widened to, of files that keep the narrow one.

Source: Delta transaction log protocol, "Type Widening", "Supported Type Changes".
"""

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

from harness.audit import table_rows
from harness.formats.delta import read_plan
from harness.formats.files import table_folder
from harness.model.canonical import MapValue, Value, same
from tests.builders.delta_folder import DeltaFolder, add, field, metadata, protocol, struct_of

DAY: Final = datetime.date(1969, 12, 31)
WHOLE: Final = {"byte": 8, "short": 16, "integer": 32, "long": 64}
MAKES: Final[dict[str, Callable[[int], Value]]] = {
    **dict.fromkeys(WHOLE, int),
    "double": float,
    "decimal(20,0)": Decimal,
    "decimal(22,2)": lambda number: Decimal(number).quantize(Decimal("0.01")),
}
PAIRS: Final = [
    *[
        (pa.type_for_alias(f"int{bits}"), wide, make(number), number)
        for bits in WHOLE.values()
        for wide, make in MAKES.items()
        for number in (-(1 << bits - 1), 0, (1 << bits - 1) - 1)
        if WHOLE.get(wide, WHOLE["long"] + 1) > bits and (wide, bits) != ("double", WHOLE["long"])
    ],
    (pa.float32(), "double", 0.5, 0.5),
    (pa.decimal128(5, 2), "decimal(9,2)", Decimal("-999.99"), Decimal("-999.99")),
    (pa.decimal128(5, 2), "decimal(9,4)", Decimal("999.9900"), Decimal("999.99")),
    (pa.date32(), "timestamp_ntz", datetime.datetime(1969, 12, 31), DAY),  # noqa: DTZ001
]
Nest = tuple[Any, Callable[[pa.DataType], pa.DataType], Callable[[Any], Any], Callable[[Any], Any]]
NESTS: Final[dict[str, Callable[[str], Nest]]] = {
    "column": lambda wide: (wide, lambda t: t, lambda v: v, lambda v: v),
    "list": lambda wide: (
        {"type": "array", "elementType": wide},
        pa.list_,
        lambda v: [None, v],
        lambda v: (None, v),
    ),
    "map": lambda wide: (
        {"type": "map", "keyType": wide, "valueType": wide},
        lambda t: pa.map_(t, t),
        lambda v: [(v, v)],
        lambda v: MapValue(((v, v),)),
    ),
    "struct": lambda wide: (
        struct_of(field("s", wide)),
        lambda t: pa.struct({"s": t}),
        lambda v: {"s": v},
        lambda v: {"s": v},
    ),
}


@pytest.mark.parametrize(("narrow", "wide", "value", "stored"), PAIRS)
def test_a_narrow_value_is_the_same_in_the_wider_type(
    narrow: pa.DataType, wide: str, value: Value, stored: object, tmp_path: Path
) -> None:
    table = DeltaFolder(tmp_path)
    nests = {name: nest(wide) for name, nest in NESTS.items()}
    fields = [field(name, type_) for name, (type_, *_) in nests.items()]
    table.commit(protocol(3, "typeWidening", "timestampNtz"), metadata(*fields))
    columns = {
        name: pa.array([in_file(stored), None], arrow(narrow))
        for name, (_, arrow, in_file, _) in nests.items()
    }
    table.commit(add(table.data("1.parquet", columns)))
    one, two = table_rows.read(read_plan.plan(table_folder.at(str(tmp_path)))).rows
    for shown, (*_, make) in zip(one, nests.values(), strict=True):
        assert same(shown, make(value))
    assert two == (None,) * len(NESTS)
