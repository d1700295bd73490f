from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.datatypes import DataType, Primitive, parse_type
from harness.model.schema import ColumnPosition, Schema, SchemaChangeError, schema_of
from tests.builders.random_scenarios import TYPES

INT = Primitive("int")


def table(**types: str) -> Schema:
    return schema_of(tuple((name, parse_type(text)) for name, text in types.items()))


ADDRESS = table(a="int", s="struct<x: int, y: struct<z: string>>", l="array<int>", m="map<int,int>")

Change = Callable[[Schema], Schema]


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, Change]:
    """A change that may or may not be possible, with its kind."""
    paths = ["a", "b", "c", "s", "s.x", "s.y", "s.y.z", "l", "m", "new", "s.new", "l.element"]
    path, other = draw(st.sampled_from(paths)), draw(st.sampled_from(["a", "b", "x", "q", "new"]))
    places = [ColumnPosition(), ColumnPosition(first=True), ColumnPosition(after=other)]
    position = draw(st.sampled_from(places))
    type_ = draw(TYPES)
    kinds: dict[str, Change] = {
        "add": lambda schema: schema.add(path, type_, position),
        "drop": lambda schema: schema.drop(path),
        "rename": lambda schema: schema.rename(path, other),
        "move": lambda schema: schema.move(path, position),
        "change_type": lambda schema: schema.change_type(path, type_),
    }
    kind = draw(st.sampled_from(sorted(kinds)))
    return kind, kinds[kind]


def ids(schema: Schema) -> list[int]:
    return [field.id for field in schema.walk()]


def types(schema: Schema) -> list[tuple[str, DataType]]:
    return [(field.name, field.type) for field in schema.walk()]


@settings(max_examples=40)
@given(st.lists(changes(), max_size=8))
def test_ids_are_unique_and_never_given_again_whatever_is_done(
    steps: list[tuple[str, Change]],
) -> None:
    schema, ever = ADDRESS, set(ids(ADDRESS))
    for kind, change in steps:
        before = schema
        try:
            schema = change(before)
        except SchemaChangeError:
            continue
        fresh = set(ids(schema)) - set(ids(before))
        assert len(ids(schema)) == len(set(ids(schema)))
        assert not fresh & ever
        assert bool(fresh) == (kind == "add")
        if kind in {"rename", "move", "change_type"}:
            assert sorted(ids(schema)) == sorted(ids(before))
        assert schema.last_id >= max(ids(schema))
        made_anew = schema_of(tuple((field.name, field.type) for field in schema.fields))
        assert types(schema) == types(made_anew)
        ever |= fresh


def test_a_renamed_part_keeps_its_id_and_the_type_of_the_struct_follows() -> None:
    after = ADDRESS.rename("s.y", "w")
    assert after.find("s.w").id == ADDRESS.find("s.y").id
    assert str(after.find("s").type) == "struct<x: int, w: struct<z: string>>"
    assert after.path_of(after.find("s.w.z").id) == "s.w.z"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda s: s.find("q"), "there is no column 'q'; there are: a, s, l, m"),
        (
            lambda s: s.add("n", INT, ColumnPosition(after="q")),
            "there is no column 'q' to stand after",
        ),
        (lambda s: s.rename("a", "s"), "there is a column 's' beside 'a' already"),
        (lambda s: s.move("a", ColumnPosition(after="a")), "cannot be put after itself"),
        (lambda s: s.drop("s.y.z"), "the last one cannot go"),
        (lambda s: s.change_type("s", INT), "only types without parts change"),
        (lambda s: s.add("a.b", INT), "'a' is int: it has no parts"),
        (lambda s: s.add("l.b", INT), "'l' is array<int>: only the type of its parts changes"),
        (lambda s: s.drop("m.key"), "'m' is map<int, int>: only the type of its parts changes"),
    ],
)
def test_what_is_impossible_is_refused_and_what_is_there_is_reported(
    change: Change, problem: str
) -> None:
    with pytest.raises(SchemaChangeError) as wrong:
        change(ADDRESS)
    assert problem in str(wrong.value)


def test_the_type_of_an_arrays_elements_can_change() -> None:
    assert str(ADDRESS.change_type("l.element", Primitive("long")).find("l").type) == "array<long>"
