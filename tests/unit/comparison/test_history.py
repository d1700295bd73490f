"""The file that stores runs loses nothing; when verdicts turned, and what differed then."""

import datetime
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from harness.cli import history_commands
from harness.comparison import history
from harness.comparison.cell_pairs import VerdictChange
from harness.comparison.history import History, StoredRun, Turns
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.records import Answer, Column, FindingKind, OutcomeKind, VerdictKind
from harness.run import load_run
from harness.run.load_run import MetastoreInfo, Run
from tests.builders import sample_run
from tests.builders.verdicts import OTHER, VARIANT, finding, run, state, verdict


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return sample_run.make(tmp_path_factory.mktemp("run"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "stored" / history.USUAL.name


def add(file: Path, *runs: Run) -> None:
    for added in runs:
        with history.opened(file, new=True) as store:
            store.add(added)


def later(sampled: Run, days: int, name: str = "") -> Run:
    started = sampled.info.started + datetime.timedelta(days=days)
    return replace(sampled, info=replace(sampled.info, started=started, id=name or sampled.info.id))


def stored(file: Path) -> tuple[StoredRun, ...]:
    with history.opened(file) as store:
        return store.runs()


def names(file: Path) -> list[str]:
    return [run.name for run in stored(file)]


def test_a_run_is_stored_with_its_plan_and_counts_and_without_its_cells_in_the_plan(
    sampled: Run, file: Path
) -> None:
    add(file, sampled)
    (run,) = stored(file)
    assert Counter(run.counts) == Counter(verdict.verdict for verdict in sampled.verdicts)
    assert run.counts[VerdictKind.UNKNOWN]  # what never came is stored as unknown
    assert run.info.variants == sampled.info.variants
    assert run.info.cells == ()


def test_a_run_that_is_stored_again_is_replaced(sampled: Run, file: Path) -> None:
    add(file, sampled)
    case = next(v.case for v in sampled.verdicts if v.verdict is VerdictKind.WRONG)
    fewer = {name: verdict for name, verdict in sampled.recorded.items() if name != case}
    add(file, replace(sampled, recorded=fewer))
    (run,) = stored(file)
    unknown = sum(verdict.verdict is VerdictKind.UNKNOWN for verdict in sampled.verdicts)
    assert run.counts[VerdictKind.UNKNOWN] == unknown + 1


def test_runs_of_one_name_are_distinguished_by_their_time(sampled: Run, file: Path) -> None:
    add(file, sampled, later(sampled, 1), later(sampled, 2, "other"))
    first, second, other = names(file)
    assert first.startswith(f"{sampled.info.id}@")
    assert first != second
    assert other == "other"
    with history.opened(file) as store:
        assert store.run(second).name == second
        with pytest.raises(UsageProblem, match=r"nobody: not stored; .* has: "):
            store.run("nobody")


def test_a_restored_run_is_the_run(sampled: Run, file: Path, tmp_path: Path) -> None:
    add(file, sampled)
    with history.opened(file) as store:
        store.restore(store.run(sampled.info.id), tmp_path / "again")
        with pytest.raises(UsageProblem, match="already"):
            store.restore(store.runs()[0], tmp_path / "again")
    for name in history.RECORDS:
        assert (tmp_path / "again" / name).read_bytes() == (sampled.folder / name).read_bytes()
    assert load_run.load(tmp_path / "again").verdicts == sampled.verdicts


def test_the_cells_are_those_of_the_run(sampled: Run, file: Path) -> None:
    add(file, sampled)
    with history.opened(file) as store:
        cells = [stored for stored in store.cells(store.runs()[0]) if stored.cell.reader]
    assert [(stored.cell.case, stored.verdict, bool(stored.places)) for stored in cells] == [
        (judged.case, judged.verdict, bool(judged.findings)) for judged in sampled.verdicts
    ]


def test_pruning_leaves_the_newest_runs_of_each_profile(sampled: Run, file: Path) -> None:
    other = replace(sampled, info=replace(sampled.info, profile="other", id="o"))
    add(file, *(later(sampled, day, f"r{day}") for day in range(4)), other)
    size = file.stat().st_size
    with history.opened(file) as store:
        assert store.prune(2) == ("r0", "r1")
    assert names(file) == ["o", "r2", "r3"]
    assert file.stat().st_size < size


def test_runs_that_are_stored_at_once_are_all_stored(sampled: Run, file: Path) -> None:
    runs = [later(sampled, day, f"r{day}") for day in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda run: add(file, run), runs))
    assert names(file) == [f"r{day}" for day in range(8)]
    assert [path.name for path in file.parent.iterdir()] == [history.USUAL.name]


def test_what_breaks_off_leaves_the_file_as_it_was(
    sampled: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(file, sampled)
    monkeypatch.setattr(history, "RECORDS", (*history.RECORDS, 1))
    with history.opened(file) as store, pytest.raises(TypeError):
        store.add(sampled)
    with history.opened(file) as store:
        assert len(list(store.cells(store.runs()[0]))) >= len(sampled.verdicts)


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"not a database, and longer than nothing" * 50, "is broken"), (b"", "holds no runs")],
)
def test_another_file_is_refused_and_left_as_it_is(file: Path, content: bytes, why: str) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(UsageProblem, match=why):
        names(file)
    assert file.read_bytes() == content


def test_the_file_of_another_program_is_left_as_it_is(sampled: Run, file: Path) -> None:
    file.parent.mkdir()
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE theirs (x)")
    with pytest.raises(UsageProblem, match="holds no runs of this version"):
        add(file, sampled)


@pytest.mark.parametrize("version", [3, 5])
def test_a_file_of_another_version_is_refused_in_one_line(
    sampled: Run, file: Path, version: int
) -> None:
    add(file, sampled)
    with sqlite3.connect(file) as raw:
        raw.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(UsageProblem, match="move it away and add its runs anew"):
        names(file)


def test_a_broken_record_is_reported_and_makes_no_run(
    sampled: Run, file: Path, tmp_path: Path
) -> None:
    add(file, sampled)
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE run SET content = x'00'")
    with pytest.raises(UsageProblem, match="is broken"), history.opened(file) as store:
        store.restore(store.runs()[0], tmp_path / "again")
    assert not (tmp_path / "again" / load_run.INFO).exists()


def test_who_waits_for_too_long_gets_a_problem(
    sampled: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(file, sampled)
    monkeypatch.setattr(history, "PATIENCE_S", 0)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(EnvironmentProblem, match="another harness writes"):
            add(file, sampled)


RIGHT, WRONG, REFUSED = VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED
UNKNOWN, UNSUPPORTED = VerdictKind.UNKNOWN, VerdictKind.UNSUPPORTED
STALE: Final = finding(FindingKind.STALE, ("1", "f1", "old"))
ELSEWHERE: Final = finding(FindingKind.STALE, ("2", "f1", "old"))


def days(runs: Iterable[Run], profile: str = "p") -> list[Run]:
    """Return runs that began one day after another, called r0, r1 …"""
    return [
        replace(
            run_,
            info=replace(
                run_.info,
                id=f"r{day}",
                profile=profile,
                started=run_.info.started + datetime.timedelta(days=day),
            ),
        )
        for day, run_ in enumerate(runs)
    ]


def history_after(
    folder: Path,
    *runs: Run,
    profile: str = "",
    case: str = "",
    reader: str = "",
    scenario: str = "",
) -> History:
    """Return the history of stored runs, whatever the order in which they come."""
    with history.opened(folder / "h.sqlite", new=True) as store:
        for run_ in reversed(runs):
            store.add(run_)
        return history.history_of(store, profile, case=case, reader=reader, scenario=scenario)


def one(shown: History) -> Turns:
    """Return the turns of the one cell that has any."""
    assert sum(turn.before is None for turn in shown.turns) == 1
    return shown.turns


def story(turns: Turns) -> list[tuple[str, str, str]]:
    """Return of each turn the run, the class, and what differed."""
    return [(turn.run.name, str(turn.change), "; ".join(turn.differs)) for turn in turns]


def test_a_cell_that_is_right_in_every_run_has_no_history(tmp_path: Path) -> None:
    assert history_after(tmp_path, *days(run(verdict(RIGHT)) for _ in range(3))).turns == ()


def test_each_turn_has_its_class(tmp_path: Path) -> None:
    kinds = (RIGHT, RIGHT, WRONG, WRONG, REFUSED, RIGHT)
    runs = days(run(verdict(kind, *([STALE] if kind is WRONG else []))) for kind in kinds)
    turns = one(history_after(tmp_path, *runs))
    assert [turn[:2] for turn in story(turns)] == [
        ("r0", "new"), ("r2", "regressed"), ("r4", "refused now"), ("r5", "fixed"),
    ]  # fmt: skip
    assert [turn.before and turn.before.name for turn in turns] == [None, "r1", "r3", "r4"]


def test_an_unknown_cell_is_no_turn_and_no_pass(tmp_path: Path) -> None:
    kinds = (RIGHT, UNKNOWN, WRONG, UNKNOWN)
    shown = history_after(tmp_path, *days(run(verdict(kind)) for kind in kinds))
    turns = one(shown)
    assert [turn[:2] for turn in story(turns)] == [("r0", "new"), ("r2", "regressed")]
    assert turns[-1].before is not None
    assert turns[-1].before.name == "r0"
    assert shown.not_right_now == ()  # the newest run does not know it


def test_what_the_newest_run_does_not_know_is_counted(tmp_path: Path) -> None:
    shown = history_after(tmp_path, *days([run(verdict(WRONG, STALE)), run(verdict(UNKNOWN))]))
    (doubt,) = history_commands.doubts(shown)
    assert doubt.startswith("Of 1 query it knows nothing")
    assert "is known to be wrong or refused" in history_commands.headline(shown)


def test_a_newest_run_that_asks_less_says_so(tmp_path: Path) -> None:
    every, one = run(verdict(RIGHT), verdict(WRONG, STALE, step=3)), run(verdict(RIGHT))
    shown = history_after(tmp_path, *days([every, one]))
    assert "nothing that was selected is known to be wrong" in history_commands.headline(shown)
    (doubt,) = history_commands.doubts(shown)
    assert doubt.startswith("It asked 1 question, r0 (2026-01-01) 2: ")
    assert list(history_commands.doubts(history_after(tmp_path, *days([one, every])))) == []


def test_a_reader_of_another_version_is_followed_and_is_what_differs(tmp_path: Path) -> None:
    readers = ("trino-368", "trino-476", "trino-483", "trino-483")
    kinds = (REFUSED, RIGHT, WRONG, WRONG)
    runs = [run(verdict(k, reader=r)) for k, r in zip(kinds, readers, strict=True)]
    turns = one(history_after(tmp_path, *days(runs)))
    assert story(turns) == [
        ("r0", "new", ""),
        ("r1", "fixed", "reader trino-368 → trino-476"),
        ("r2", "regressed", "reader trino-476 → trino-483"),
    ]


def test_a_reader_that_comes_back_is_compared_with_what_was_there_meanwhile(tmp_path: Path) -> None:
    versions = (("trino-476", RIGHT), ("trino-483", WRONG), ("trino-476", RIGHT))
    runs = [run(verdict(kind, reader=reader)) for reader, kind in versions]
    turns = one(history_after(tmp_path, *days(runs)))
    assert story(turns)[1:] == [
        ("r1", "regressed", "reader trino-476 → trino-483"),
        ("r2", "fixed", "reader trino-483 → trino-476"),
    ]


def test_another_engine_is_not_followed(tmp_path: Path) -> None:
    runs = days([run(verdict(RIGHT, reader="hive-3.1.3")), run(verdict(WRONG, STALE))])
    turns = one(history_after(tmp_path, *runs))
    assert story(turns) == [("r1", "new", "")]


def test_two_versions_that_came_of_one_share_its_past(tmp_path: Path) -> None:
    both = run(verdict(WRONG, STALE), verdict(RIGHT, reader="trino-483"))
    old, new = run(verdict(RIGHT)), run(verdict(RIGHT, reader="trino-483"))
    shown = history_after(tmp_path, *days([old, new, both]))
    turns = one(shown)
    # By the newest run that has this reader, and not by the one of another version between.
    assert story(turns) == [("r0", "new", ""), ("r2", "regressed", "")]


def test_a_table_of_another_writer_is_followed_and_is_what_differs(tmp_path: Path) -> None:
    newer = replace(VARIANT, id="hudi/story[hudi-cow]@v", writers=("spark-3.5.8-hudi-1.0.2",) * 5)
    runs = [
        run(verdict(RIGHT), variants=(VARIANT,)),
        run(verdict(WRONG, STALE, variant=newer), variants=(newer,)),
    ]
    turns = one(history_after(tmp_path, *days(runs)))
    differs = "writer spark-3.5.8-hudi-0.15.0 → spark-3.5.8-hudi-1.0.2"
    assert story(turns)[1:] == [("r1", "regressed", differs)]


def other_text(given: Run) -> Run:
    texts = {name: f"{text}  - touch\n" for name, text in given.info.scenarios.items()}
    return replace(given, info=replace(given.info, scenarios=texts))


@pytest.mark.parametrize("kind", [RIGHT, WRONG])
def test_another_text_of_the_scenario_makes_it_another_question(
    tmp_path: Path, kind: VerdictKind
) -> None:
    first, *_ = runs = [
        run(verdict(WRONG, STALE)),
        run(verdict(kind, *([STALE] * (kind is WRONG)))),
    ]
    turns = one(history_after(tmp_path, *days([first, other_text(runs[1])])))
    change = "fixed" if kind is RIGHT else "wrong as before"
    assert story(turns)[1:] == [("r1", change, "text of the scenario")]


def test_what_is_explained_of_a_scenario_makes_no_other_question(tmp_path: Path) -> None:
    first = run(verdict(WRONG, STALE))
    texts = {name: f"about: a story\n{text}" for name, text in first.info.scenarios.items()}
    second = replace(first, info=replace(first.info, scenarios=texts))
    turns = one(history_after(tmp_path, *days([first, second])))
    assert story(turns) == [("r0", "new", "")]


def test_another_statement_makes_it_another_question_but_not_another_database(
    tmp_path: Path,
) -> None:
    names = ("s_0123456789abcdef.t", "s_fedcba9876543210.t", "s_fedcba9876543210.t_rt")
    runs = [run(replace(verdict(WRONG, STALE), sql=f"select * from {name}")) for name in names]
    turns = one(history_after(tmp_path, *days(runs)))
    assert story(turns)[1:] == [("r2", "wrong as before", "statement of the question")]


def changed(given: Run, what: str) -> Run:
    """Return a run with one other difference."""
    info = given.info
    (reader,) = info.readers
    changes: Mapping[str, Run] = {
        "metastore": replace(given, info=replace(info, metastore=MetastoreInfo("hive-4"))),
        "harness": replace(given, info=replace(info, version="9.9")),
        "make": replace(
            given, info=replace(info, readers=(replace(reader, fidelity="modified: a jar"),))
        ),
        "how the table is written": replace(
            given, states=tuple(replace(record, digest="other") for record in given.states)
        ),
    }
    return changes[what]


@pytest.mark.parametrize("what", ["metastore", "harness", "make", "how the table is written"])
def test_whatever_else_differs_is_named(tmp_path: Path, what: str) -> None:
    states = (state(1), state(2))
    runs = [run(verdict(RIGHT), states=states), run(verdict(WRONG, STALE), states=states)]
    turns = one(history_after(tmp_path, *days([runs[0], changed(runs[1], what)])))
    ((_, _, differs),) = story(turns)[1:]
    assert differs.startswith(what)
    assert len(turns[-1].differs) == 1


def answered(given: Run, *values: str) -> Run:
    rows = tuple((value,) for value in values)
    return replace(
        given,
        answers={case: Answer(case, "q", (Column("id", "text"),), rows) for case in given.recorded},
    )


def test_the_same_answer_that_is_judged_otherwise_is_named(tmp_path: Path) -> None:
    was, now = run(verdict(RIGHT)), run(verdict(WRONG, STALE))
    same = history_after(tmp_path, *days([answered(was, "1", "2"), answered(now, "2", "1")]))
    differs = "judgement of the same answer: correct → wrong"
    assert story(same.turns)[1:] == [("r1", "regressed", differs)]


def test_a_step_that_is_refused_now_has_turned(tmp_path: Path) -> None:
    refused = replace(
        verdict(REFUSED), case=f"{VARIANT.id}/s2/write", view="write", query="", reader="w"
    )
    runs = [
        run(verdict(RIGHT), states=[state(2)]),
        run(refused, states=[state(2, OutcomeKind.REFUSED)]),
    ]
    turns = one(history_after(tmp_path, *days(runs)))
    assert (turns[-1].cell.case, turns[-1].cell.reader) == (refused.case, "")
    assert [turn[1] for turn in story(turns)] == ["new", "regressed loudly"]


@pytest.mark.parametrize(
    ("selected", "number"),
    [
        ({}, 3),
        ({"reader": "trino-*"}, 2),
        ({"reader": "hive-3.1.3"}, 1),
        ({"case": "hudi-mor"}, 1),
        ({"scenario": "hudi/*"}, 3),
        ({"scenario": "story"}, 0),
    ],
)
def test_cells_are_chosen_by_reader_scenario_and_case(
    tmp_path: Path, selected: dict[str, str], number: int
) -> None:
    given = run(
        verdict(WRONG, STALE),
        verdict(WRONG, STALE, reader="hive-3.1.3"),
        verdict(WRONG, STALE, variant=OTHER),
    )
    assert len(history_after(tmp_path, *days([given]), **selected).turns) == number


def test_the_profile_of_the_newest_run_is_taken_and_others_are_named(tmp_path: Path) -> None:
    (first,) = days([run(verdict(WRONG, STALE))], "q")
    shown = history_after(tmp_path, first, *days([first, run(verdict(RIGHT))])[1:])
    assert [stored_run.info.profile for stored_run in shown.runs] == ["p"]
    assert shown.turns == ()
    assert len(history_after(tmp_path, profile="q").turns) == 1
    with pytest.raises(UsageProblem, match="no run of the profile x is stored; profiles: q, p"):
        history_after(tmp_path, profile="x")


def test_turns_of_one_kind_are_one_group_and_the_newest_comes_first(tmp_path: Path) -> None:
    runs = [
        run(verdict(RIGHT), verdict(RIGHT, step=3), verdict(RIGHT, step=4)),
        run(verdict(WRONG, STALE), verdict(WRONG, STALE, step=3), verdict(RIGHT, step=4)),
        run(verdict(WRONG, STALE), verdict(WRONG, STALE, step=3), verdict(REFUSED, step=4)),
    ]
    shown = history_after(tmp_path, *days(runs))
    groups = [(group[0].run.name, len(group)) for group in shown.not_right_now]
    assert groups == [("r2", 1), ("r1", 2)]
    assert [group[0].change for group in shown.all_turns] == [
        VerdictChange.REGRESSED_LOUDLY,
        VerdictChange.REGRESSED,
    ]


def test_the_frame_has_a_row_for_each_turn_and_the_same_types_when_it_is_empty(
    tmp_path: Path,
) -> None:
    full = history_after(
        tmp_path, *days(run(verdict(literal)) for literal in (RIGHT, WRONG, RIGHT))
    )
    frame = full.to_frame()
    assert list(frame.change) == ["new", "regressed", "fixed"]
    assert list(frame.lasts) == [False, False, True]
    assert frame.old_verdict.isna().tolist() == [True, False, False]
    empty = replace(full, turns=()).to_frame()
    assert empty.empty
    assert empty.dtypes.astype(str).to_dict() == frame.dtypes.astype(str).to_dict()
