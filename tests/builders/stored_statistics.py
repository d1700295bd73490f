"""Rows of the column statistics that Hudi's metadata table stores, and a file that they are of."""

from harness.model.canonical import Value
from harness.model.file_facts import FileFact, FileKind


def row(kind: int, name: str, column: str, least: object, greatest: object) -> dict[str, Value]:
    unions: list[Value] = [
        {"member0": None, "member4": {"value": bound}} for bound in (least, greatest)
    ]
    statistics: Value = {
        "fileName": name,
        "columnName": column,
        "minValue": unions[0],
        "maxValue": unions[1],
        "valueCount": 2,
        "nullCount": 0,
        "isDeleted": name == "gone.parquet",
    }
    return {"key": "x", "type": kind, "ColumnStatsMetadata": statistics}


FACT = FileFact(
    "p=east/a.parquet",
    FileKind.BASE,
    "a",
    "1",
    (("d", "double"), ("day", "date32[day]"), ("at", "timestamp[us, tz=UTC]")),
    ("1", "2"),
)
