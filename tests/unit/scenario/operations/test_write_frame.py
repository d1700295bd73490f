"""What a table holds after a DataFrame whose columns are not its own, and what is sent for it."""

from typing import Any, Final

from harness.formats import load
from harness.model.datatypes import DataType, parse_type
from harness.model.truth import History, Truth, row_values
from harness.plan import scenarios_folder
from harness.run import plan_record
from harness.scenario import load as files
from harness.scenario.cells import Variant
from harness.scenario.derived import twin
from harness.scenario.notices import notices, renames_by_write
from harness.scenario.operations.api import Operation
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.statements import FrameWrite
from tests.builders.scenarios import scenario_of

COLUMNS: Final[dict[str, Any]] = {
    "columns": {"id": "string", "ts": "long", "a": "string", "b": "string"},
    "order_by": "ts",
}
NUMBERS: Final[dict[str, Any]] = {
    "columns": {"id": "string", "ts": "long", "n": "int", "m": "long"},
    "order_by": "ts",
}
BUG: Final = scenarios_folder() / "bugs" / "rename_by_write.yaml"


def types(**texts: str) -> dict[str, DataType]:
    return {name: parse_type(text) for name, text in texts.items()}


def story(
    *operations: Operation,
    merge_on_read: bool = False,
    catalogs: dict[int, tuple[str, ...]] | None = None,
    **table: Any,  # noqa: ANN401 - passed on
) -> History:
    scenario = scenario_of(*operations, **{**COLUMNS, **table})
    return scenario.truths(merge_on_read=merge_on_read).history(None, catalogs)


def shown(truth: Truth) -> list[tuple[Any, ...]]:
    return [row_values(row, truth.schema)[2:] for row in truth.rows.values()]


def sent(frame: WriteFrame, **table: Any) -> FrameWrite:  # noqa: ANN401 - passed on
    before, after = story(Insert((1,)), frame, **table)[-2:]
    (statement,) = load("hudi-cow").wording(frame, before, after, {"table_version": "6"})
    assert isinstance(statement, FrameWrite)
    return statement


def test_a_column_that_the_frame_lacks_is_null_in_its_rows_alone() -> None:
    end = story(Insert((1, 2)), WriteFrame((1, 3), ("id", "ts", "b"), reconcile=True))[-1]
    assert shown(end) == [(None, "f4s2r1"), ("f3s1r2", "f4s1r2"), (None, "f4s2r3")]


def test_a_column_that_the_table_lacks_is_added_and_older_rows_have_no_value_there() -> None:
    frame = WriteFrame((1,), ("id", "ts", "c", "a", "b"), types(c="string"))
    end = story(Insert((1, 2)), frame)[-1]
    assert end.schema.names == ("id", "ts", "a", "b", "c")
    assert shown(end)[0] == ("f3s2r1", "f4s2r1", "f5s2r1")
    assert shown(end)[1] == ("f3s1r2", "f4s1r2", None)


def test_where_it_stands_the_catalog_says_and_later_steps_go_on_from_there() -> None:
    frame = WriteFrame((1,), ("id", "ts", "c", "a", "b"), types(c="string"))
    listed = {1: ("b", "a", "ts", "id"), 2: ("id", "ts", "C", "a", "b")}
    planted_story = story(Insert((1,)), frame, Insert((2,)), catalogs=listed)
    assert [truth.schema.names for truth in planted_story[1:]] == [
        ("id", "ts", "a", "b"),
        ("id", "ts", "c", "a", "b"),
        ("id", "ts", "c", "a", "b"),
    ]
    assert planted_story[-1].schema.find("c").id == 5


def test_the_wider_type_of_the_two_stands() -> None:
    names = ("id", "ts", "n", "m")
    wide = story(Insert((1,)), WriteFrame((2,), names, types(n="double", m="int")), **NUMBERS)[-1]
    assert [str(field.type) for field in wide.schema.fields[2:]] == ["double", "long"]
    assert shown(wide) == [(301001.0, 401001), (302002.0, 402002)]


def test_the_frame_has_its_own_order_and_types_and_every_column_may_be_null() -> None:
    frame = WriteFrame((2,), ("m", "ts", "id"), types(m="int"), reconcile=True)
    assert sent(frame, **NUMBERS).query == (
        "select 402002 as `m`, cast(202002 as bigint) as `ts`, '2' as `id` union all "
        "select cast(null as int) as `m`, cast(null as bigint) as `ts`, "
        "cast(null as string) as `id` where false"
    )


def test_a_frame_without_rows_creates_a_table_with_the_columns_as_they_are_declared() -> None:
    columns = {"id": "string", "ts": "long", "p": "string", "a": "string"}
    table = scenario_of(columns=columns, order_by="ts", partition_by=("p",)).table
    (made,) = load("hudi-mor").create(table, {"created_by": "frame"})
    assert isinstance(made, FrameWrite)
    assert made.query == (
        "select cast(null as string) as `id`, cast(null as bigint) as `ts`, "
        "cast(null as string) as `p`, cast(null as string) as `a` where false"
    )
    options = dict(made.options)
    assert options["hoodie.datasource.write.table.type"] == "MERGE_ON_READ"
    listed = options["hoodie.datasource.hive_sync.table_properties"].splitlines()
    assert listed == ["type=mor", "primaryKey=id", "preCombineField=ts"]


def test_the_plan_and_the_reports_say_that_a_rename_by_a_write_is_none() -> None:
    scenario = files.load(BUG)
    sentence = "f1_new is an added column and no rename of f1, under which the old values stay"
    assert renames_by_write(scenario) == {3: (sentence,)}
    assert [notice.partition("write_frame: ")[2] for notice in notices(scenario)] == [sentence]
    info = plan_record.variant_info(Variant("v", scenario, "hudi-cow", {}, ("w",) * 6))
    assert info.steps[2].text.endswith(f"f1_new, f2, reconciled; {sentence}")


def test_the_twin_retypes_what_is_new_and_keeps_what_the_frame_retypes() -> None:
    new = WriteFrame((1,), ("id", "ts", "c", "a", "b"), types(c="string"))
    other = twin(scenario_of(Insert((1,)), new, **COLUMNS))
    assert other is not None
    assert other.steps[1].operation == WriteFrame((1,), new.columns, types(c="double"))
    narrow = WriteFrame((1,), ("id", "ts", "n", "m"), types(m="int"))
    retyped = twin(scenario_of(Insert((1,)), narrow, **NUMBERS))
    assert retyped is not None
    assert [str(type_) for _, type_ in retyped.table.columns[2:]] == ["string", "long"]
    assert retyped.steps[1].operation == narrow
