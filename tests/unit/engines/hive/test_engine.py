"""A session with HiveServer2, as far as it needs no server."""

from decimal import Decimal
from typing import Any

import pytest
from TCLIService.ttypes import TPrimitiveTypeEntry, TTypeDesc, TTypeEntry

from harness.artifacts import distributions
from harness.core import tolerances
from harness.core.records import Column, Refusal
from harness.engines.api import PointInTime, Question, RefusedError
from harness.engines.hive import client
from harness.engines.hive.engine import (
    ENGINE,
    HiveConnection,
    nested_types,
    reply_of,
    session_statements,
)
from harness.engines.hive.errors import HiveError
from harness.engines.hive.values import HiveResult
from harness.formats import facts
from harness.model.canonical import MapValue, single
from harness.model.query import Condition, Query
from harness.runtime import template
from tests.builders.conditions import not_null


def test_a_session_that_ends_deletes_no_folder_of_another() -> None:
    values = {"port": 1, "host": "h", "metastore": "m", "work": "/w", "properties": {}}
    text = template.render("hive", "hive-site.xml", values)
    assert "<value>/w/resources/${hive.session.id}</value>" in text


def test_a_session_is_told_only_what_a_reader_names() -> None:
    assert session_statements({}) == ()
    assert session_statements({"schema-on-read": "off", "path": "mapreduce"}) == (
        "set hive.fetch.task.conversion=none",
        "set hoodie.schema.on.read.enable=false",
    )


def test_every_setting_that_is_offered_has_a_statement() -> None:
    for name, values in ENGINE.settings.items():
        for value in values:
            more = (name, value) in {("path", "tez"), ("transactions", "on")}
            assert len(session_statements({name: value})) == 1 + more


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("hive-3.1.3-tez-0.9.2", ""),
        ("hive-4.0.1-tez-0.10.4", ""),
        ("hive-3.1.3", "hive-3.1.3 does not have Tez; it is in hive-3.1.3-tez-0.9.2 and hive-4"),
        ("hive-3.1.3-tez-0.9.2@container", "path=tez is asked of processes only"),
    ],
)
def test_who_cannot_be_asked_by_tez_is_told_who_can(name: str, why: str) -> None:
    result = ENGINE.cannot(distributions.load(name), {"path": "tez"}, facts("hudi-cow"))
    assert result.startswith(why)
    assert bool(result) == bool(why)


def test_orcs_own_setting_is_sent_in_its_own_words_and_for_orc_files_only() -> None:
    by_position = {"orc.force.positional.evolution": "true"}
    assert session_statements(by_position) == ("set orc.force.positional.evolution=true",)
    distribution = distributions.load("hive-3.1.3")
    assert ENGINE.cannot(distribution, by_position, facts("hive-orc")) == ""
    assert "says nothing of hudi-cow" in ENGINE.cannot(distribution, by_position, facts("hudi-cow"))
    assert ENGINE.cannot(distribution, {}, facts("hudi-cow")) == ""


def test_nested_types_come_from_the_table() -> None:
    table = {"id": "string", "st": "struct<a:int,b:struct<c:string>>", "m": "map<int,string>"}
    result = HiveResult(columns=(("t.id", "string"), ("t.st", "struct"), ("t.m", "map")))
    assert nested_types((), result, table) == ("string", table["st"], "map<int,string>")
    dotted = HiveResult(columns=(("b", "struct"), ("c", "string"), ("x", "array")))
    assert nested_types(("st.b", "st.b.c", "x"), dotted, table) == (
        "struct<c:string>",
        "string",
        "array",
    )


class Client:
    """Answers a query with one struct, refuses one about `wrong`, and describes the table."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def run(self, sql: str, timeout_s: float) -> HiveResult:
        self.sent.append(sql)
        if sql.startswith("describe "):
            return HiveResult(rows=(("st", "struct<a:int>", ""),))
        if "`wrong`" in sql:
            raise HiveError(Refusal("no", "never"))
        return HiveResult((("since.st", "struct"),), (('{"a":1}',),))

    def close(self) -> None:
        self.sent.clear()


@pytest.mark.parametrize("columns", [(), ("st",)])
@pytest.mark.parametrize("where", [None, not_null("st.a")])
@pytest.mark.parametrize("past", [None, PointInTime("incremental", "1")])
def test_nested_values_are_read_by_the_table_s_types_however_it_is_asked(
    columns: tuple[str, ...], where: Condition | None, past: PointInTime | None
) -> None:
    client: Any = Client()
    question = Question("db", "t_rt", facts("hudi-mor"), Query(columns, where), past)
    reply = HiveConnection(client, tolerances.declared_for("hive")).ask(question, timeout_s=9.0)
    assert "describe `db`.`t_rt`" in client.sent
    assert reply.rows == (({"a": 1},),)


def test_what_was_written_since_is_asked_by_settings_that_are_taken_back() -> None:
    client: Any = Client()
    query, past = Query(columns=("wrong",)), PointInTime("incremental", "20240101000000000")
    question = Question("s_1", "t_rt", facts("hudi-mor"), query, past)
    with pytest.raises(RefusedError):
        HiveConnection(client, {}).ask(question, timeout_s=9.0)
    inner = "select * from `s_1`.`t_rt` where `_hoodie_commit_time` > '20240101000000000'"
    sent = [
        "set hoodie.t.consume.mode=INCREMENTAL",
        "set hoodie.t.consume.start.timestamp=20240101000000000",
        "set hoodie.t.consume.max.commits=-1",
        f"select `wrong` from ({inner}) `since`",
    ]
    assert client.sent == [*sent, "set hoodie.t.consume.mode=SNAPSHOT"]
    hive = distributions.load("hive-3.1.3")
    assert ENGINE.statements(hive, {}, question) == tuple(sent)


def test_a_reply_has_bare_names_canonical_values_and_none_of_hudis_own_columns() -> None:
    result = HiveResult(
        columns=(("t._hoodie_file_name", "string"), ("t.n", "bigint"), ("t.bi", "binary")),
        rows=(("f.parquet", 1, b"x"), ("g.parquet", None, None)),
        path="fetch",
    )
    reply = reply_of(result, ("string", "bigint", "binary"), 0.5, tolerances.declared_for("hive"))
    assert reply.columns == (Column("n", "bigint", "long"), Column("bi", "binary", "binary"))
    assert reply.rows == ((1, b"x"), (None, None))
    meta = Column("_hoodie_file_name", "string", "string")
    assert reply.left_out == ((meta, ("f.parquet", "g.parquet")),)
    assert (reply.confirmed, reply.seconds) == ("fetch", 0.5)


def test_a_reply_tells_what_was_evened_out_in_it() -> None:
    result = HiveResult((("n", "array"), ("f", "float")), (('[{"d":1.1}]', 0.1), ("[]", 0.5)))
    types = ("array<struct<d:decimal(5,2)>>", "float")
    reply = reply_of(result, types, 0.5, tolerances.declared_for("hive"))
    assert reply.rows[0] == (({"d": Decimal("1.10")},), single(0.1))
    applied = {tolerance.name: tolerance.count for tolerance in reply.normalised}
    assert applied == {"nested-text": 2, "decimal-zeros": 1, "float-text": 1}


def test_a_reply_keeps_the_texts_that_were_read_as_something_else() -> None:
    result = HiveResult(
        columns=(("_hoodie_file_name", "string"), ("s", "string"), ("c", "decimal"), ("m", "map")),
        rows=(("f", "2024", "1.5", '{7:"x"}'), ("g", "1.50", "1.25", None)),
    )
    types = ("string", "string", "decimal(5,2)", "map<int,string>")
    reply = reply_of(result, types, 0.5, tolerances.declared_for("hive"))
    assert reply.rows[0][1:] == (Decimal("1.50"), MapValue(((7, "x"),)))
    assert reply.raw == ((0, 2, '{7:"x"}'),)
    at = HiveResult((("at", "timestamp"),), (("2024-01-02 03:04:05.5",), ("2024-01-02 03:04:05",)))
    assert reply_of(at, ("timestamp",), 0.5, {}).raw == ((0, 0, "2024-01-02 03:04:05.5"),)


def test_what_is_not_declared_is_left_as_it_came() -> None:
    result = HiveResult((("n", "array"), ("f", "float")), (("[1]", 0.1),))
    reply = reply_of(result, ("array<int>", "float"), 0.5, {})
    assert (reply.rows, reply.normalised) == ((("[1]", 0.1),), ())


@pytest.mark.parametrize(
    ("number", "text"), [(8, "timestamp"), (22, "timestamplocaltz"), (99, "type 99")]
)
def test_a_type_that_the_client_library_has_no_name_for_is_no_failure(
    number: int, text: str
) -> None:
    described = TTypeDesc([TTypeEntry(TPrimitiveTypeEntry(number))])
    assert client._type_text(described) == text
