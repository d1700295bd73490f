import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Final

import pytest

from harness import engines, formats
from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.cli.reproduce import files
from harness.engines import time_travel
from harness.engines.api import Engine, Question
from harness.formats import other_writers
from harness.formats.api import Format
from harness.model.commit import Moment
from harness.model.datatypes import DataType, Primitive, Struct
from harness.model.query import ALL, Query
from harness.model.schema import Table
from harness.model.truth import History, Truth
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.row_writes import Insert, Touch, Upsert
from harness.scenario.statements import Sql, Statement
from tests.builders.conditions import not_null

INT, LONG, TEXT = (Primitive(name) for name in ("int", "long", "string"))
WORDS: Final = {"select", "value", "timestamp", "partition"}
DATABASES: Final = ("s_0123456789abcdef", files.DATABASE)
MOMENT: Final = Moment("20240101000000000", "20240101000002000", "20240101000009000")
TOKEN: Final = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\"|\w+|\S")
NAME: Final = re.compile(r"`.*`|\".*\"")
Chain = tuple[str, ...]


def scenario_of(key: str = "k_", part: str = "p_", structs: Iterable[str] = ("x_",)) -> Scenario:
    """Return writes of a table with structs of such names; a merge alone has aliases."""
    nested = ((name, Struct((("n_", INT), (name, INT)))) for name in structs)
    plain: tuple[tuple[str, DataType], ...] = ((key, INT), ("o_", LONG), (part, TEXT))
    merges = Upsert((1, 3)), Merge(update=(1,), insert=(4,), delete=(2,)), Touch()
    steps = tuple(map(Step, (Insert((1, 2)), *merges)))
    return Scenario("x/y", Table((*plain, *nested), key, ("o_",), (part,)), steps)


def history_of(scenario: Scenario) -> History:
    return scenario.truths(merge_on_read=True).history()


def statements(scenario: Scenario, history: History) -> Iterator[tuple[str, Truth]]:
    for name in formats.names():
        shape = formats.load(name)
        for step, before, after in zip(scenario.steps, history, history[1:], strict=False):
            if shape.unsupported(step.operation):
                continue
            yield from _sql(shape.wording(step.operation, before, after, {}), after)
            for writer in _other_writers(shape, step.operation):
                sent = other_writers.wording(writer, shape, step.operation, before, after, {})
                yield from _sql(sent, after)


def _other_writers(shape: Format, operation: Operation) -> Iterator[Distribution]:
    for name in map(distributions.load, distributions.names()):
        facts = shape.reader_facts
        if not other_writers.makes(name, facts) and not other_writers.unsupported(
            name, facts, operation
        ):
            yield name


def _sql(sent: Iterable[Statement], truth: Truth) -> Iterator[tuple[str, Truth]]:
    for statement in sent:
        if isinstance(statement, Sql):
            yield statement.text, truth


def questions() -> Iterator[tuple[Engine, Distribution, Question]]:
    for distribution in map(distributions.load, distributions.names()):
        if distribution.engine not in engines.names():  # the metastore
            continue
        engine = engines.load(distribution.engine)
        for shape in map(formats.load, formats.names()):
            facts = shape.reader_facts
            if engine.cannot(distribution, {}, facts):
                continue
            for view, database in product((*shape.views, *shape.past_views), DATABASES):
                question = Question(database, shape.table_for(view), facts, ALL)
                if view not in shape.past_views:
                    yield engine, distribution, question
                elif not time_travel.cannot(distribution, facts, view):
                    past = time_travel.point_in_time(distribution, facts, view, MOMENT, "6")
                    yield engine, distribution, replace(question, past=past, key="id")


@cache
def different_questions() -> tuple[tuple[Engine, Distribution, Question], ...]:
    by_text = {
        engine.statements(distribution, {}, question)[-1]: (engine, distribution, question)
        for engine, distribution, question in questions()
    }
    return tuple(asked for text, asked in by_text.items() if text.startswith("select "))


def queries(truth: Truth) -> Iterator[str]:
    key = truth.table.key
    paths = [truth.schema.path_of(field.id) or "" for field in truth.schema.walk()]
    selected = [Query(columns=(key, path)) for path in paths]
    for query in (ALL, *selected, *(Query(where=not_null(path)) for path in paths)):
        for engine, where, question in different_questions():
            yield engine.statements(where, {}, replace(question, query=query, key=key))[-1]


def tokens(sql: str) -> list[str]:
    return TOKEN.findall(sql)


@cache
def ours() -> tuple[str, ...]:
    scenario = scenario_of()
    history = history_of(scenario)
    names = set(WORDS)
    for text in queries(history[-1]):
        names |= {name for chain in visible_names(tokens(text)) for name in chain}
    for text, _ in statements(scenario, history):
        names |= {name.casefold() for name in aliases(text)}
    return tuple(sorted(name for name in names if re.fullmatch(r"\w+", name)))


def bare(token: str) -> str:
    return token[1:-1].casefold() if NAME.fullmatch(token) else token.casefold()


def chains(sql: list[str]) -> list[Chain]:
    result: list[Chain] = []
    for at, text in enumerate(sql):
        if not re.match(r"[`\"\w]", text):
            continue
        if at > 1 and sql[at - 1] == ".":
            result[-1] = (*result[-1], bare(text))
        else:
            result.append((bare(text),))
    return result


def source(sql: list[str]) -> tuple[int, int]:
    begin, depth = sql.index("from") + 1, 0
    for at in range(begin, len(sql)):
        depth += {"(": 1, ")": -1}.get(sql[at], 0)
        if sql[at] in {"where", "settings"} and not depth:
            return begin, at
    return begin, len(sql)


def visible_names(sql: list[str]) -> list[Chain]:
    begin, end = source(sql)
    table = sql[begin:end]
    has_alias = len(table) > 1 and NAME.fullmatch(table[-1]) and table[-2] != "."
    full_name = chains(table)[0] if NAME.fullmatch(table[0]) else ()  # a function gives none
    name = (bare(table[-1]),) if has_alias else full_name
    return [name[at:] for at in range(len(name))]


def misread(text: str) -> list[Chain]:
    sql = tokens(text)
    (begin, end), visible = source(sql), visible_names(sql)
    paths = chains([*sql[1 : begin - 1], ";", *sql[end + 1 :]])
    return [path for path in paths if any(path[: len(n)] == n != path for n in visible)]


def aliases(sql: str) -> list[str]:
    return re.findall(r"\bas (\w+) (?:using \(|\(|on )", sql) if sql.startswith("merge") else []


def shared(sql: str, truth: Truth) -> set[str]:
    names = {field.name.casefold() for field in truth.schema.walk()}
    return {alias.casefold() for alias in aliases(sql)} & names


def test_what_is_collected_has_every_name_that_is_known_to_be_ours() -> None:
    assert {"t", "t_ro", "t_rt", "s", "hudi", "iceberg", "hive", *DATABASES} <= set(ours())


def test_a_query_without_an_alias_is_seen_to_be_misread() -> None:
    assert misread('select "k", "t"."n" from "i"."s_1"."t" where "T"."n" = 1') == [
        ("t", "n"),
        ("t", "n"),
    ]
    assert misread("select * from `d`.`t` timestamp as of '1' where `d`.`t`.`n` is null") == [
        ("d", "t", "n")
    ]
    assert misread("select * from (select * from `t`) `s` where `s`.`n` = 1") == [("s", "n")]
    assert not misread('select "k", "t"."n" from "i"."s_1"."t" "t1" where "T"."n" = 1')
    (merge,) = Merge(update=(1,)).sql(*history_of(scenario_of())[1:3])
    assert shared(merge, history_of(scenario_of(structs="t"))[2]) == {"t"}


@pytest.mark.parametrize(("key", "part"), [("k_", "p_"), ("s", "T"), ("t", "S")])
def test_a_name_of_ours_is_the_scenario_s_where_the_scenario_has_it(key: str, part: str) -> None:
    structs = [name for name in ours() if name not in {key, part.casefold()}]
    scenario = scenario_of(key, part, structs)
    history = history_of(scenario)
    for text, truth in statements(scenario, history):
        assert not shared(text, truth), text
    for text in queries(history[-1]):
        assert not misread(text), text
