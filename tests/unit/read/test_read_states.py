"""Engines are asked as states come: simulated servers, real lanes; no metastore and no engine."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.artifacts.cache import Cache
from harness.cli.output import PlainProgress
from harness.core.concurrency import ClosableQueue
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Count
from harness.core.records import Answer, Column, Refusal
from harness.core.runtime_names import USUAL_METASTORE, MetastoreChoice
from harness.engines.api import NoAnswerError, Question, RefusedError, Reply
from harness.formats import facts
from harness.model.canonical import Value
from harness.model.query import Query
from harness.read import read_states, reader_servers
from harness.read.ask_engine import Probes
from harness.read.questions import CellQuestion, ReadQueues
from harness.read.read_states import AnswerCache, reader_digest
from harness.read.reader_servers import ReadContext, SharedMetastore
from harness.runtime import memory
from harness.runtime.api import MetastoreUris
from harness.runtime.memory import MACHINE, Free
from harness.scenario.cells import Cell, Plan, Reader, Variant, parse_reader
from harness.write import state_store
from harness.write.state_store import State, States

GOOD = Reply((Column("id", "varchar", "string"),), (("1",),), 0.1)
HIVE, SPARK = "hive-3.1.3", "spark-3.5.8-hudi-1.0.2"


@dataclass
class Engines:
    """Servers that answer whatever they are asked, and what became of each."""

    broken: tuple[str, ...] = ()
    """Those that do not get ready."""
    started: list[str] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)
    """Set when one starts that is no metastore."""
    ended: list[str] = field(default_factory=list)
    started_for: list[Any] = field(default_factory=list)
    registered: list[str] = field(default_factory=list)
    unregistered: list[str] = field(default_factory=list)
    """What was asked of a state that the metastore did not have yet."""

    def of(self, name: str) -> Any:  # noqa: ANN401 - a simulated engine
        @contextmanager
        def serve(*given: object) -> Iterator[SimpleNamespace]:
            if name in self.broken:
                raise EnvironmentProblem("it has no port")
            self.started.append(name)
            self.started_for.append(given[-1])
            self.begun.set()
            session = SimpleNamespace(ask=self.ask, close=lambda: None)
            yield SimpleNamespace(
                connect=lambda _: session,
                alive=lambda: True,
                exhausted=lambda: False,
                log_tail=lambda: "",
                peak_memory_mb=lambda: 7,
            )
            self.ended.append(name)

        return SimpleNamespace(serve=serve)

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        if question.table.partition(" ")[0] not in self.registered:
            self.unregistered.append(question.table)
        return replace(GOOD, sent=question.table)

    @contextmanager
    def metastore(self, _: object, register: Callable[[Any], None]) -> Iterator[Any]:
        self.started.append("metastore")
        uri = "thrift://x"
        served = {"uris": MetastoreUris(uri), "store": None, "bucket": None}
        made = SimpleNamespace(uri=uri, alive=lambda: True, log_tail=lambda: "", **served)
        register(made)
        yield made
        self.ended.append("metastore")

    def register(self, _: object, state: Any, __: object) -> None:  # noqa: ANN401 - simulated
        self.registered.append(state.digest)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Engines:
    result = Engines()

    @contextmanager
    def connect(_: str, **__: float) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(has=lambda _: True)

    installed = SimpleNamespace(distribution=SimpleNamespace(name="x", memory_mb=100))

    monkeypatch.setattr(reader_servers, "load_engine", result.of)
    monkeypatch.setattr("harness.read.reader_servers.provide.runtime", lambda *_: installed)
    monkeypatch.setattr(reader_servers, "start_metastore", result.metastore)
    monkeypatch.setattr(read_states, "planned_questions", lambda plan: Questions(plan.cells))
    monkeypatch.setattr("harness.read.reader_servers.metastore_client.connect", connect)
    monkeypatch.setattr("harness.read.reader_servers.state_store.register", result.register)
    monkeypatch.setattr("harness.read.reader_servers.state_store.file_list", lambda _: ())
    monkeypatch.setattr(memory, "free", lambda: Free(10_000, MACHINE))
    return result


@dataclass(frozen=True)
class Questions:
    """Asks `v1 hive-3.1.3` where the cell is of the variant `v1` and that reader."""

    cells: Iterable[Cell]

    def __call__(self, states: States) -> Iterator[CellQuestion]:
        for cell in self.cells:
            if (state := states.get((cell.variant, 1))) is not None:
                reader, text = Reader(cell.reader), f"{cell.variant} {cell.reader}"
                question = Question("db", text, facts("hudi-cow"), Query())
                yield CellQuestion(
                    cell, reader, state, question, text, text.replace(" ", "-"), "id", ()
                )


def planned(*variants: str, readers: tuple[str, ...] = (SPARK, HIVE)) -> Plan:
    made = tuple(Variant(variant, None, "hudi-cow", {}, ()) for variant in variants)  # type: ignore[arg-type]
    cells = tuple(Cell(v, 1, reader, "snapshot", "all") for v in variants for reader in readers)
    return Plan("p", made, tuple(map(Reader, readers)), cells)


def states(*variants: str, version: str = "") -> States:
    frozen = SimpleNamespace(table_version=version)
    return {(variant, 1): SimpleNamespace(digest=variant, frozen=frozen) for variant in variants}  # type: ignore[misc]


def read_context(folder: Path, out: StringIO | None = None) -> ReadContext:
    return ReadContext(Cache(folder / "cache"), folder / "run", PlainProgress(out or StringIO()))


def read(
    plan: Plan,
    states: Iterable[States],
    context: ReadContext,
    on_answer: Callable[[Answer], object] = lambda _: None,
) -> None:
    with (
        read_states.count_cells(plan, context) as cells,
        closing(read_states.read(plan, states, context, cells)) as answers,
    ):
        for answer in answers:
            on_answer(answer)


def sql(answers: Iterable[Answer]) -> list[str]:
    return sorted(answer.sql for answer in answers)


def test_readers_are_asked_about_a_variant_before_the_next_one_comes(
    engines: Engines, tmp_path: Path
) -> None:
    result, come = list[Answer](), threading.Semaphore(0)

    def written() -> Iterator[States]:
        yield states("v1")
        assert all(come.acquire(timeout=30) for _ in range(2))
        yield states("v2")

    def take(answer: Answer) -> None:
        result.append(answer)
        come.release()

    read(planned("v1", "v2"), written(), read_context(tmp_path), take)
    assert sql(result) == sorted(f"{v} {reader}" for v in ("v1", "v2") for reader in (SPARK, HIVE))
    assert sorted(engines.started) == sorted(["metastore", SPARK, HIVE]), "each once"
    assert sorted(engines.ended) == sorted(engines.started)
    assert engines.unregistered == []
    assert engines.started_for == [frozenset({(facts("hudi-cow"), ())})] * 2


def test_a_server_starts_while_the_first_table_is_written_that_it_is_asked_about(
    engines: Engines, tmp_path: Path
) -> None:
    plan = planned("v1", "v2", "v3")
    mine = {("v1", HIVE), ("v2", HIVE), ("v3", SPARK)}
    plan = replace(plan, cells=tuple(c for c in plan.cells if (c.variant, c.reader) in mine))
    where, result = read_context(tmp_path), list[Answer]()
    cached = AnswerCache(where.cache.root / "answers")
    for asked in Questions(plan.cells)(states("v1", "v2")):
        cached.store(asked.address, Answer("", asked.text, GOOD.columns, GOOD.rows))

    def written() -> Iterator[States]:
        yield states("v1", "v2")  # found, and so are the answers
        yield states()  # now others are written
        assert engines.begun.wait(30)
        yield states("v3")

    read(plan, written(), where, result.append)
    assert sql(result) == [f"v1 {HIVE}", f"v2 {HIVE}", f"v3 {SPARK}"]
    assert engines.started == ["metastore", SPARK]


def test_one_that_does_not_start_before_it_is_asked_is_started_once_more(
    engines: Engines, tmp_path: Path
) -> None:
    engines.broken = (SPARK,)
    out, result = StringIO(), list[Answer]()
    read(
        planned("v1", readers=(SPARK,)),
        [states(), states("v1")],
        read_context(tmp_path, out),
        result.append,
    )
    assert [answer.unknown for answer in result] == [f"{SPARK}: it has no port"]
    assert out.getvalue().count("it has no port") == 1


def test_cells_are_counted_while_others_are_still_written(engines: Engines, tmp_path: Path) -> None:
    out, come = StringIO(), threading.Event()

    def written() -> Iterator[States]:
        yield states("v1")
        assert come.wait(30)
        out.write("v2 is written\n")
        yield states("v2")

    plan = planned("v1", "v2", "v3", "v4", readers=(HIVE,))
    read(plan, written(), read_context(tmp_path, out), lambda _: come.set())
    lines = out.getvalue().splitlines()
    assert lines[0] == "ask queries: 0 of 4"
    first = lines.index("ask queries: 1 of 4, 3 left (hive-3.1.3): 1 answered")
    assert first < lines.index("v2 is written")
    assert lines[-1] == "ask queries: done: 2 answered, 2 not asked", "two have no state"
    assert any(line.startswith("hive-3.1.3: 2 answers in ") for line in lines)


def test_without_a_question_nothing_is_started(engines: Engines, tmp_path: Path) -> None:
    out, result = StringIO(), list[Answer]()
    where = read_context(tmp_path, out)
    cached = AnswerCache(where.cache.root / "answers")
    plan = planned("v1")
    for asked in Questions(plan.cells)(states("v1")):
        cached.store(asked.address, Answer("", asked.text, GOOD.columns, GOOD.rows))
    read(plan, [states("v1"), states()], where, result.append)
    assert sql(result) == sorted(f"v1 {reader}" for reader in (SPARK, HIVE))
    assert all(answer.reused for answer in result)
    assert out.getvalue().splitlines()[-1] == "ask queries: done: 2 reused"
    assert engines.started == []


def test_of_an_engine_that_does_not_start_all_that_comes_is_unknown_and_the_others_go_on(
    engines: Engines, tmp_path: Path
) -> None:
    engines.broken = (SPARK,)
    result, out, logged = list[Answer](), StringIO(), threading.Event()

    def written() -> Iterator[States]:
        yield states("v1")
        assert logged.wait(30)
        yield states("v2")

    def take(answer: Answer) -> None:
        result.append(answer)
        if answer.unknown:
            logged.set()

    read(planned("v1", "v2"), written(), read_context(tmp_path, out), take)
    reasons = {answer.sql: answer.unknown for answer in result}
    assert reasons == {
        f"{variant} {reader}": f"{SPARK}: it has no port" if reader == SPARK else ""
        for variant in ("v1", "v2")
        for reader in (SPARK, HIVE)
    }
    assert out.getvalue().count("it has no port") == 1


def test_what_an_older_metastore_registers_is_registered_before_anybody_is_asked(
    engines: Engines, tmp_path: Path
) -> None:
    through = MetastoreChoice("hive-metastore-4.0.1", "hive-metastore-2.3.10")
    context = replace(read_context(tmp_path), metastore=through)
    read(planned("v1", "v2"), [states("v1"), states("v2")], context)
    assert engines.started.count("metastore") == 1
    assert engines.unregistered == []


def test_a_metastore_that_does_not_fit_beside_the_writer_waits_for_its_end(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, result, looked = read_context(tmp_path), list[Answer](), threading.Semaphore(0)

    def free() -> Free:
        looked.release()
        return Free(10_000, MACHINE)

    def reads() -> None:
        read(planned("v1"), [states("v1")], where, result.append)

    monkeypatch.setattr(memory, "free", free)
    thread = threading.Thread(target=reads)
    with where.memory_budget.reserve(10_000):
        thread.start()
        assert looked.acquire(timeout=30)
        with where.memory_budget.reserve(0):  # who waits has released the lock
            assert not looked.acquire(blocking=False), "who fits looks once more, whether it is so"
        assert engines.started == []
    thread.join(30)
    assert len(result) == 2


def test_when_an_answer_cannot_be_recorded_nothing_more_is_asked(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, ended = threading.Event(), threading.Event()

    def take(_: Answer) -> None:
        raise EnvironmentProblem("the disk is full")

    def ask(question: Question, *, timeout_s: float) -> Reply:
        assert question.table.startswith("v1 ") or failed.wait(30)
        return GOOD

    def written() -> Iterator[States]:
        yield states("v1")
        assert failed.wait(30)
        yield states("v2")
        ended.set()

    monkeypatch.setattr(engines, "ask", ask)
    with pytest.raises(EnvironmentProblem, match="the disk is full"):
        read(planned("v1", "v2", readers=(HIVE,)), written(), read_context(tmp_path), take)
    failed.set()
    assert ended.wait(30)


SPOILT = replace(GOOD, rows=(("asuffix",),))


def test_what_a_server_answers_otherwise_after_another_question_differs_on_a_fresh_one(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, come = dict[int, list[str]](), threading.Semaphore(0)
    plan, result = planned("v1", "v2", readers=(HIVE,)), dict[str, Answer]()

    def ask(question: Question, *, timeout_s: float) -> Reply:
        before = asked.setdefault(engines.started.count(HIVE), [])
        before.append(question.table)
        return SPOILT if before[0] != question.table else GOOD

    def written() -> Iterator[States]:
        yield states("v1")
        assert come.acquire(timeout=30)
        yield states("v2")

    def take(answer: Answer) -> None:
        result[answer.case] = answer
        come.release()

    monkeypatch.setattr(engines, "ask", ask)
    context = read_context(tmp_path)
    read(plan, written(), context, take)
    v1, v2 = plan.cells
    assert (result[v1.case].rows, result[v2.case].rows) == (GOOD.rows, SPOILT.rows)
    again, fresh = replace(plan, cells=(v2,)), replace(context, fresh=True)
    (second,) = read_states.read(again, [states("v2")], fresh, Count("ask again", 1), result)
    assert second.rows == GOOD.rows
    assert second.earlier is not None
    assert second.earlier.rows == SPOILT.rows
    cached = AnswerCache.in_cache(context.cache)
    assert cached.find(f"v1-{HIVE}", v1.case) is not None
    assert cached.find(f"v2-{HIVE}", v2.case) is None


@pytest.fixture
def state(tmp_path: Path) -> State:
    folder = tmp_path / "state"
    (folder / state_store.TABLE).mkdir(parents=True)
    (folder / state_store.TABLE / "file").write_text("1")
    return State("d" * 64, folder, SimpleNamespace(home="", table_version=""))  # type: ignore[arg-type]


def test_a_state_that_comes_again_has_its_files_as_they_were_before_anybody_read_it(
    tmp_path: Path, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    def states() -> Iterator[States]:
        yield {("v1", 1): state}
        (state.table / "file").write_text("other")
        yield {("v2", 1): state}

    monkeypatch.setattr(read_states, "planned_questions", lambda plan: Questions(plan.cells))
    before, queue = state_store.file_list(state), ClosableQueue[CellQuestion]()
    catalogs = {HIVE: SharedMetastore(read_context(tmp_path))}
    monkeypatch.setattr(SharedMetastore, "register", lambda *_: None)
    plan, queues = planned("v1", "v2", readers=(HIVE,)), ReadQueues({HIVE: queue})
    read_states.schedule(plan, states(), read_context(tmp_path), catalogs, Probes(), queues)
    assert [restored.files for restored in queue.take_all()] == [before, before]
    assert state_store.file_list(state) != before
    assert queue.take_all() == [], "no more come"


def test_what_a_catalog_says_of_a_table_that_it_does_not_take_is_the_answer_and_others_are_asked(
    tmp_path: Path, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(state, digest="e" * 64)
    monkeypatch.setattr(read_states, "planned_questions", lambda plan: Questions(plan.cells))
    catalogs = {HIVE: SharedMetastore(read_context(tmp_path))}
    monkeypatch.setattr(SharedMetastore, "register", lambda *_: None)
    catalogs[HIVE].refused[other.digest] = REFUSED
    plan, queues = planned("v1", "v2", readers=(HIVE,)), ReadQueues({HIVE: ClosableQueue()})
    come: list[States] = [{("v1", 1): state, ("v2", 1): other}]
    read_states.schedule(plan, come, read_context(tmp_path), catalogs, Probes(), queues)
    v1, v2 = plan.cells
    assert [question.cell for question in queues.questions[HIVE].take_all()] == [v1]
    (response,) = queues.responses.take_all()
    assert (response.answer.case, response.answer.refusal) == (v2.case, REFUSED)
    assert response.question is None, "nothing is kept of it for other runs"


READER = parse_reader("trino-476{use-column-names=false}")


def test_each_other_one_and_each_upgrade_has_its_own() -> None:
    new, old = "hive-metastore-4.0.1", "hive-metastore-2.3.10"
    others = [
        *(MetastoreChoice(new), MetastoreChoice(old)),
        *(MetastoreChoice(new, old), MetastoreChoice(upgraded_from=old), USUAL_METASTORE),
    ]
    assert len({reader_digest(READER, other) for other in others}) == len(others)


REFUSED = Refusal("HoodieException", "Unknown table versionCode:9")
TRINO = "trino-476"


def unknown(*variants: str) -> States:
    """Return tables of a version that Hive and Spark are declared not to know."""
    return states(*variants, version="9")


VARIANTS = ("v1", "v2", "v3")


@dataclass
class Server:
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
    result = Server()
    monkeypatch.setattr(engines, "ask", result.ask)
    return result


def read_all(
    folder: Path, plan: Plan, come: Iterable[States], out: StringIO | None = None
) -> dict[str, Answer]:
    answers: list[Answer] = []
    read(plan, come, read_context(folder, out), answers.append)
    assert len(answers) == len(plan.cells), "each cell once"
    return {name(answer.case): answer for answer in answers}


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
    answers = read_all(tmp_path, plan, (unknown(*batch) for batch in batches), out)
    assert server.asked == [f"v1 {HIVE}"]
    assert answers[f"v1 {HIVE}"].refusal == REFUSED
    probe = plan.cells[0].case
    for answer in (answers[f"v2 {HIVE}"], answers[f"v3 {HIVE}"]):
        assert (answer.probe, answer.sql, answer.refusal, answer.rows) == (probe, "", None, ())
        assert answer.not_applicable == f"it was not sent, for the server refused {probe}"
    assert out.getvalue().splitlines()[-1].endswith(": 1 refused, 2 not asked")


def test_where_the_probe_is_answered_all_are_sent(
    server: Server, tmp_path: Path, batches: list[tuple[str, ...]]
) -> None:
    server.rows = (f"v1 {HIVE}",)
    plan = planned(*VARIANTS, readers=(HIVE,))
    answers = read_all(tmp_path, plan, (unknown(*batch) for batch in batches))
    assert server.asked == [f"{variant} {HIVE}" for variant in VARIANTS]
    assert [bool(answer.refusal) for answer in answers.values()] == [False, True, True]
    assert {answer.probe for answer in answers.values()} == {""}


@pytest.mark.parametrize(("kind", "times"), [("silent", 2), ("nothing", 1)])
def test_where_the_probe_gets_no_answer_or_no_row_the_next_one_is_the_probe(
    server: Server, tmp_path: Path, batches: list[tuple[str, ...]], kind: str, times: int
) -> None:
    setattr(server, kind, (f"v1 {HIVE}",))
    plan = planned(*VARIANTS, readers=(HIVE,))
    answers = read_all(tmp_path, plan, (unknown(*batch) for batch in batches))
    assert server.asked == [*[f"v1 {HIVE}"] * times, f"v2 {HIVE}"]
    assert answers[f"v1 {HIVE}"].unknown == ("it took too long" if kind == "silent" else "")
    assert (answers[f"v1 {HIVE}"].probe, answers[f"v3 {HIVE}"].probe) == ("", plan.cells[1].case)


def test_each_reader_has_a_probe_of_its_own_and_others_are_asked_everything(
    server: Server, tmp_path: Path
) -> None:
    plan = planned("v1", "v2", readers=(SPARK, HIVE, TRINO))
    answers = read_all(tmp_path, plan, [unknown("v1", "v2")])
    probes = sorted(f"v1 {text}" for text in (HIVE, SPARK, TRINO))
    assert sorted(server.asked) == [*probes, f"v2 {TRINO}"]
    spared = {answer for answer in answers if answers[answer].probe}
    assert spared == {f"v2 {SPARK}", f"v2 {HIVE}"}


def test_each_version_has_a_probe_of_its_own_and_known_ones_are_asked_everything(
    server: Server, tmp_path: Path
) -> None:
    known = states("v1", "v2", version="8")
    come = [{**known, **unknown("v3", "v4"), **states("v5", "v6", version="10")}]
    read_all(tmp_path, planned(*(f"v{at}" for at in range(1, 7)), readers=(HIVE,)), come)
    assert sorted(server.asked) == [f"v{at} {HIVE}" for at in (1, 2, 3, 5)]


@pytest.mark.parametrize("rows", [(), GOOD.rows], ids=["refused", "answered"])
def test_a_probe_that_was_kept_counts(
    server: Server, tmp_path: Path, rows: tuple[tuple[Value, ...], ...]
) -> None:
    plan = planned(*VARIANTS, readers=(HIVE,))
    (asked,) = Questions(plan.cells[1:2])(unknown("v2"))
    refusal = None if rows else REFUSED
    cached = AnswerCache(read_context(tmp_path).cache.root / "answers")
    columns = GOOD.columns if rows else ()
    cached.store(asked.address, Answer("", asked.text, columns, rows, refusal))
    answers = read_all(tmp_path, plan, [unknown(*VARIANTS)])
    assert answers[f"v2 {HIVE}"].reused
    assert server.asked == ([f"v1 {HIVE}", f"v3 {HIVE}"] if rows else [])
    if not rows:
        assert {answer.probe for answer in answers.values()} == {"", plan.cells[1].case}


def test_each_setting_and_format_has_a_probe_of_its_own() -> None:
    plan = planned("v1", "v2", readers=(HIVE,))
    first, second = Questions(plan.cells)(unknown("v1", "v2"))
    other = replace(second, question=replace(second.question, format=facts("hudi-mor")))
    set_ = replace(second, reader=replace(second.reader, settings=(("path", "fetch"),)))
    result = Probes().decide([first, second, other, set_])
    assert (result.due, result.waiting, result.unsent) == ([first, other, set_], [second], [])
