from __future__ import annotations

import pytest

from harness.run.causes import SESSION, SettingLine, lines_of

CATALOG = "in etc/catalog/*.properties"


@pytest.mark.parametrize(
    ("reader", "format_name", "line"),
    [
        (
            "trino-476{use-column-names=true}",
            "hudi-mor",
            SettingLine("hudi.parquet.use-column-names=true", CATALOG),
        ),
        (
            "trino-368{use-column-names=true}",
            "hudi-mor",
            SettingLine("hive.parquet.use-column-names=true", CATALOG),
        ),
        (
            "hive-3.1.3{path=fetch, schema-on-read=on}",
            "hudi-cow",
            SettingLine("set hoodie.schema.on.read.enable=true;", SESSION),
        ),
        (
            "spark-3.5.8-hudi-1.0.2{schema-on-read=on}",
            "hudi-cow",
            SettingLine("set hoodie.schema.on.read.enable=true;", SESSION),
        ),
    ],
)
def test_a_setting_is_a_line_of_the_engine_and_has_a_place(
    reader: str, format_name: str, line: SettingLine
) -> None:
    assert line in lines_of(reader, format_name)
    assert line not in lines_of(reader.partition("{")[0], format_name)
