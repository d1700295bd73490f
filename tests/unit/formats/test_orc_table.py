import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyorc
import pytest
from pyarrow import orc

from harness.engines.arrow_values import canonical
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file
from harness.formats.files.column_parts import FIELD_ID
from harness.model.canonical import MapValue

LAST = datetime.datetime(9999, 12, 31, 23, 59, 59)  # noqa: DTZ001 - canonical
EARLY = datetime.datetime(1582, 1, 1)  # noqa: DTZ001 - canonical


def written(path: Path, columns: Mapping[str, Any], *rows: tuple[Any, ...]) -> pa.Table:
    schema = pyorc.Struct(**columns)
    for number, (name, type_) in enumerate(columns.items(), start=1):
        type_.set_attributes({"iceberg.id": str(number)})
        assert schema.fields[name] is not None
    with path.open("wb") as file, pyorc.Writer(file, schema) as writer:
        for row in rows:
            writer.write(row)
    return arrow_file.read(str(path))


def test_moments_that_arrow_has_none_of_are_read_all_the_same(tmp_path: Path) -> None:
    inner = {"at": LAST, "n": 1}
    columns = {
        "at": pyorc.Timestamp(),
        "zoned": pyorc.TimestampInstant(),
        "s": pyorc.Struct(at=pyorc.Timestamp(), n=pyorc.Int()),
        "l": pyorc.Array(pyorc.Timestamp()),
        "m": pyorc.Map(pyorc.String(), pyorc.Timestamp()),
        "n": pyorc.BigInt(),
    }
    row = (LAST, LAST.replace(tzinfo=datetime.UTC), (LAST, 1), [EARLY, None], {"k": LAST}, 5)
    table = written(tmp_path / "f.orc", columns, row, (None,) * 6)
    shown = {name: canonical(table.column(name)[0]) for name in table.column_names}
    assert shown == {
        "at": LAST,
        "zoned": LAST,
        "s": inner,
        "l": (EARLY, None),
        "m": MapValue((("k", LAST),)),
        "n": 5,
    }
    assert [canonical(column[1]) for column in table.columns] == [None] * 6
    assert [int(field.metadata[FIELD_ID]) for field in table.schema] == [1, 2, 3, 4, 5, 6]


def test_a_file_that_is_none_is_an_error_as_before(tmp_path: Path) -> None:
    path = tmp_path / "f.orc"
    orc.write_table(pa.table({"n": [1]}), path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(FileFactError, match=r"f\.orc: "):
        arrow_file.read(str(path))
