"""What the texts of refusals tell, each text as an engine really sent it."""

import pytest

from harness.core.records import Refusal
from harness.core.refusals import INTERNAL, OTHER_LIST, OTHER_TYPE, may_be_chance, meaning, text


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal("GENERIC_INTERNAL_ERROR", "io.prestosql.spi.type.BigintType", code="65536"),
        Refusal(
            "NOT_SUPPORTED",
            "Unsupported Trino column type (bigint) for Parquet column ([f2] optional binary f2 "
            "(STRING))",
            code="13",
        ),
        Refusal(
            "HIVE_PARTITION_SCHEMA_MISMATCH",
            "The column f2 of table t is declared as type string, but the Parquet file (f) "
            "declares the column as type INT64",
        ),
        Refusal(
            "GENERIC_INTERNAL_ERROR",
            "Unsupported Presto column type (double) for Parquet column ([f_decimal] optional "
            "fixed_len_byte_array(4) f_decimal (DECIMAL(9,2)))",
        ),
    ],
)
def test_a_reader_that_met_a_column_of_another_type_says_so(refusal: Refusal) -> None:
    assert meaning(refusal) == OTHER_TYPE


def test_what_the_catalog_keeps_of_a_partition_is_not_reported_of_a_file() -> None:
    refusal = Refusal(
        "HIVE_PARTITION_SCHEMA_MISMATCH",
        "There is a mismatch between the table and partition schemas. The types are incompatible "
        "and cannot be coerced. The column 'f2' in table 's.t' is declared as type 'double', but "
        "partition 'p=p1' declared column 'f2' as type 'int'.",
    )
    assert meaning(refusal) == OTHER_LIST


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal("GENERIC_INTERNAL_ERROR", "Internal error"),
        Refusal("GENERIC_INTERNAL_ERROR", "Could not load archived commit timeline from path p"),
        Refusal("TABLE_NOT_FOUND", "line 1:15: Table 'hudi.d.t' does not exist"),
        Refusal("SYNTAX_ERROR", "mismatched input at io.trino.spi.type"),
        # A type's class beside other words is not of a file.
        Refusal("GENERIC_INTERNAL_ERROR", "class io.trino.spi.type.VarcharType cannot be cast"),
    ],
)
def test_a_text_that_does_not_tell_means_nothing(refusal: Refusal) -> None:
    assert meaning(refusal) == ""


def test_a_refusal_is_one_line_with_code_and_cause() -> None:
    refusal = Refusal("KIND", "message", code="42", cause="java.io.IOException: gone")
    assert text(refusal) == "KIND (42): message; cause: java.io.IOException: gone"
    assert text(Refusal("KIND", "message")) == "KIND: message"


def test_an_error_of_the_server_in_itself_may_be_of_the_moment_and_says_what_it_means() -> None:
    refusal = Refusal(INTERNAL, "a.B: no", code="500")
    assert may_be_chance(refusal)
    assert meaning(refusal) == "an internal error of the server, each time that it was asked"
    assert not may_be_chance(Refusal("GENERIC_INTERNAL_ERROR", "a.B: no", code="65536"))
