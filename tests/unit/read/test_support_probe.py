"""Of what a reader is declared not to know one question is sent first; simulated servers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.core.records import Answer, Refusal
from harness.engines.api import NoAnswerError, Question, RefusedError, Reply
from harness.formats import facts
from harness.model.canonical import Value
from harness.read.ask_engine import Probes
from harness.read.read_states import AnswerCache
from harness.scenario.cells import Plan
from harness.write.state_store import States
from tests.unit.read import test_read_states as test_read
from tests.unit.read.test_read_states import (
    GOOD,
    HIVE,
    SPARK,
    Engines,
    Questions,
    place,
    planned,
)

REFUSED = Refusal("HoodieException", "Unknown table versionCode:9")
engines = test_read.engines
TRINO = "trino-476"
VARIANTS = ("v1", "v2", "v3")


def states(*variants: str, version: str = "9") -> States:
    """Return tables of a version that Hive and Spark are declared not to know."""
    frozen = SimpleNamespace(table_version=version)
    return {(each, 1): SimpleNamespace(digest=each, frozen=frozen) for each in variants}  # type: ignore[misc]


@dataclass
class Server:
    """Refuses what is asked, unless told otherwise."""

    rows: tuple[str, ...] = ()
    """What it answers."""
    silent: tuple[str, ...] = ()
    """What it gives no answer to."""
    nothing: tuple[str, ...] = ()
    """What it answers without a row."""
    asked: list[str] = field(default_factory=list)

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        text = question.table
        self.asked.append(text)
        if text in self.silent:
            raise NoAnswerError("it took too long")
        if text in self.rows:
            return GOOD
        if text in self.nothing:
            return replace(GOOD, rows=())
        raise RefusedError(REFUSED, timeout_s)


@pytest.fixture
def server(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> Server:
    found = Server()
    monkeypatch.setattr(engines, "ask", found.ask)
    return found


def read(
    folder: Path, plan: Plan, come: Iterable[States], out: StringIO | None = None
) -> dict[str, Answer]:
    """Read a plan; give the answers by reader and variant."""
    found: list[Answer] = []
    test_read.read(plan, come, place(folder, out), found.append)
    assert len(found) == len(plan.cells), "each cell once"
    return {name(each.case): each for each in found}


def name(case: str) -> str:
    variant, *_, reader = case.split("/")
    return f"{variant} {reader}"


@pytest.fixture(params=["at once", "one after another"])
def batches(request: pytest.FixtureRequest) -> list[tuple[str, ...]]:
    return [("v1", "v2", "v3")] if request.param == "at once" else [("v1",), ("v2",), ("v3",)]


def test_where_the_probe_is_refused_the_others_are_not_sent_and_name_it(
    server: Server, tmp_path: Path, batches: list[tuple[str, ...]]
) -> None:
    out, plan = StringIO(), planned(*VARIANTS, readers=(HIVE,))
    found = read(tmp_path, plan, (states(*each) for each in batches), out)
    assert server.asked == [f"v1 {HIVE}"]
    assert found[f"v1 {HIVE}"].refusal == REFUSED
    probe = plan.cells[0].case
    for each in (found[f"v2 {HIVE}"], found[f"v3 {HIVE}"]):
        assert (each.probe, each.sql, each.refusal, each.rows) == (probe, "", None, ())
        assert each.not_applicable == f"it was not sent, for the server refused {probe}"
    assert out.getvalue().splitlines()[-1].endswith(": 1 refused, 2 not asked")


def test_where_the_probe_is_answered_all_are_sent(
    server: Server, tmp_path: Path, batches: list[tuple[str, ...]]
) -> None:
    server.rows = (f"v1 {HIVE}",)
    plan = planned(*VARIANTS, readers=(HIVE,))
    found = read(tmp_path, plan, (states(*each) for each in batches))
    assert server.asked == [f"{each} {HIVE}" for each in VARIANTS]
    assert [bool(each.refusal) for each in found.values()] == [False, True, True]
    assert {each.probe for each in found.values()} == {""}


def test_where_the_probe_gets_no_answer_the_next_one_is_the_probe(
    server: Server, tmp_path: Path, batches: list[tuple[str, ...]]
) -> None:
    server.silent = (f"v1 {HIVE}",)
    plan = planned(*VARIANTS, readers=(HIVE,))
    found = read(tmp_path, plan, (states(*each) for each in batches))
    assert server.asked == [f"v1 {HIVE}", f"v1 {HIVE}", f"v2 {HIVE}"]
    assert found[f"v1 {HIVE}"].unknown == "it took too long"
    assert (found[f"v1 {HIVE}"].probe, found[f"v3 {HIVE}"].probe) == ("", plan.cells[1].case)


def test_an_answer_without_a_row_tells_nothing_and_the_next_one_is_the_probe(
    server: Server, tmp_path: Path, batches: list[tuple[str, ...]]
) -> None:
    server.nothing = (f"v1 {HIVE}",)
    plan = planned(*VARIANTS, readers=(HIVE,))
    found = read(tmp_path, plan, (states(*each) for each in batches))
    assert server.asked == [f"v1 {HIVE}", f"v2 {HIVE}"]
    assert found[f"v3 {HIVE}"].probe == plan.cells[1].case


def test_each_reader_has_a_probe_of_its_own_and_others_are_asked_everything(
    server: Server, tmp_path: Path
) -> None:
    plan = planned("v1", "v2", readers=(SPARK, HIVE, TRINO))
    found = read(tmp_path, plan, [states("v1", "v2")])
    probes = sorted(f"v1 {each}" for each in (HIVE, SPARK, TRINO))
    assert sorted(server.asked) == [*probes, f"v2 {TRINO}"]
    spared = {each for each in found if found[each].probe}
    assert spared == {f"v2 {SPARK}", f"v2 {HIVE}"}


def test_each_version_has_a_probe_of_its_own_and_known_ones_are_asked_everything(
    server: Server, tmp_path: Path
) -> None:
    known = states("v1", "v2", version="8")
    come = [{**known, **states("v3", "v4"), **states("v5", "v6", version="10")}]
    read(tmp_path, planned(*(f"v{at}" for at in range(1, 7)), readers=(HIVE,)), come)
    assert sorted(server.asked) == [f"v{at} {HIVE}" for at in (1, 2, 3, 5)]


@pytest.mark.parametrize("rows", [(), GOOD.rows], ids=["refused", "answered"])
def test_a_probe_that_was_kept_counts(
    server: Server, tmp_path: Path, rows: tuple[tuple[Value, ...], ...]
) -> None:
    plan = planned(*VARIANTS, readers=(HIVE,))
    (asked,) = Questions(plan.cells[1:2]).questions_about(states("v2"))
    refusal = None if rows else REFUSED
    kept = AnswerCache(place(tmp_path).cache.root / "answers")
    columns = GOOD.columns if rows else ()
    kept.store(asked.address, Answer("", asked.text, columns, rows, refusal))
    found = read(tmp_path, plan, [states(*VARIANTS)])
    assert found[f"v2 {HIVE}"].reused
    assert server.asked == ([f"v1 {HIVE}", f"v3 {HIVE}"] if rows else [])
    if not rows:
        assert {each.probe for each in found.values()} == {"", plan.cells[1].case}


def test_of_a_server_that_does_not_start_every_cell_is_unknown(
    server: Server, engines: Engines, tmp_path: Path
) -> None:
    engines.broken = (HIVE,)
    found = read(tmp_path, planned(*VARIANTS, readers=(HIVE,)), [states(*VARIANTS)])
    assert {each.unknown for each in found.values()} == {f"{HIVE}: it has no port"}


def test_each_setting_and_format_has_a_probe_of_its_own() -> None:
    plan = planned("v1", "v2", readers=(HIVE,))
    first, second = Questions(plan.cells).questions_about(states("v1", "v2"))
    other = replace(second, question=replace(second.question, format=facts("hudi-mor")))
    set_ = replace(second, reader=replace(second.reader, settings=(("path", "fetch"),)))
    found = Probes().decide([first, second, other, set_])
    assert (found.due, found.waiting, found.unsent) == ([first, other, set_], [second], [])
