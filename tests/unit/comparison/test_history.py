"""When cells turned over stored runs, and what differed: of runs that are made by hand."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from harness.comparison import history_store
from harness.comparison.cell_pairs import VerdictChange
from harness.comparison.history import CellHistory, History, history_of
from harness.core.errors import UsageProblem
from harness.core.records import Answer, Column, FindingKind, OutcomeKind, VerdictKind
from harness.reports import history_report
from harness.run.load_run import MetastoreInfo, Run
from tests.builders.verdicts import OTHER, VARIANT, finding, run, state, verdict

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


def stored(
    folder: Path,
    *runs: Run,
    profile: str = "",
    case: str = "",
    reader: str = "",
    scenario: str = "",
) -> History:
    """Return the history of stored runs, whatever the order in which they come."""
    with history_store.opened(folder / "h.sqlite", new=True) as store:
        for run_ in reversed(runs):
            store.add(run_)
        return history_of(store, profile, case=case, reader=reader, scenario=scenario)


def told(cell: CellHistory) -> list[tuple[str, str, str]]:
    """Return each turn: the run, the class, and what differed."""
    return [(turn.run.name, str(turn.change), "; ".join(turn.differs)) for turn in cell.turns]


def test_a_cell_that_is_right_in_every_run_has_no_history(tmp_path: Path) -> None:
    assert stored(tmp_path, *days(run(verdict(RIGHT)) for _ in range(3))).cells == ()


def test_each_turn_is_told_with_its_class(tmp_path: Path) -> None:
    kinds = (RIGHT, RIGHT, WRONG, WRONG, REFUSED, RIGHT)
    runs = days(run(verdict(kind, *([STALE] if kind is WRONG else []))) for kind in kinds)
    (cell,) = stored(tmp_path, *runs).cells
    assert [turn[:2] for turn in told(cell)] == [
        ("r0", "new"), ("r2", "regressed"), ("r4", "refused now"), ("r5", "fixed"),
    ]  # fmt: skip
    assert [turn.before and turn.before.name for turn in cell.turns] == [None, "r1", "r3", "r4"]


def test_an_unknown_cell_is_no_turn_and_no_pass(tmp_path: Path) -> None:
    kinds = (RIGHT, UNKNOWN, WRONG, UNKNOWN)
    history = stored(tmp_path, *days(run(verdict(kind)) for kind in kinds))
    (cell,) = history.cells
    assert [turn[:2] for turn in told(cell)] == [("r0", "new"), ("r2", "regressed")]
    assert cell.since.before is not None
    assert cell.since.before.name == "r0"
    assert cell.unknown
    assert history.now == ()  # the newest run does not know it


def test_a_reader_is_chosen_by_any_name_that_it_had(tmp_path: Path) -> None:
    runs = days([run(verdict(RIGHT, reader="trino-368")), run(verdict(WRONG, STALE))])
    (cell,) = stored(tmp_path, *runs, reader="trino-368").cells
    assert cell.cell.reader == "trino-476"


def test_what_the_newest_run_does_not_know_is_counted_and_told(tmp_path: Path) -> None:
    history = stored(tmp_path, *days([run(verdict(WRONG, STALE)), run(verdict(UNKNOWN))]))
    (doubt,) = history_report.doubts(history)
    assert doubt.startswith("Of 1 query it knows nothing")
    assert doubt.endswith("; not right when last known: 1.")
    assert "is known to be wrong or refused" in history_report.headline(history)


def test_a_newest_run_that_asks_less_says_so(tmp_path: Path) -> None:
    every, one = run(verdict(RIGHT), verdict(WRONG, STALE, step=3)), run(verdict(RIGHT))
    history = stored(tmp_path, *days([every, one]))
    assert "nothing that was selected is known to be wrong" in history_report.headline(history)
    (doubt,) = history_report.doubts(history)
    assert doubt.startswith("It asked 1 question, r0 (2026-01-01) 2: ")
    assert list(history_report.doubts(stored(tmp_path, *days([one, every])))) == []


def test_fewer_wrong_places_are_no_turn_and_others_are(tmp_path: Path) -> None:
    found = ((STALE, ELSEWHERE), (STALE,), (ELSEWHERE,))
    (cell,) = stored(tmp_path, *days(run(verdict(WRONG, *findings)) for findings in found)).cells
    assert [turn[:2] for turn in told(cell)] == [("r0", "new"), ("r2", "wrong otherwise")]


def test_a_reader_of_another_version_is_followed_and_is_what_differs(tmp_path: Path) -> None:
    readers = ("trino-368", "trino-476", "trino-483", "trino-483")
    kinds = (REFUSED, RIGHT, WRONG, WRONG)
    runs = [run(verdict(k, reader=r)) for k, r in zip(kinds, readers, strict=True)]
    (cell,) = stored(tmp_path, *days(runs)).cells
    assert told(cell) == [
        ("r0", "new", ""),
        ("r1", "fixed", "reader trino-368 → trino-476"),
        ("r2", "regressed", "reader trino-476 → trino-483"),
    ]


def test_a_reader_that_comes_back_is_held_against_what_was_there_meanwhile(tmp_path: Path) -> None:
    versions = (("trino-476", RIGHT), ("trino-483", WRONG), ("trino-476", RIGHT))
    runs = [run(verdict(kind, reader=reader)) for reader, kind in versions]
    (cell,) = stored(tmp_path, *days(runs)).cells
    assert told(cell)[1:] == [
        ("r1", "regressed", "reader trino-476 → trino-483"),
        ("r2", "fixed", "reader trino-483 → trino-476"),
    ]


def test_another_engine_is_not_followed(tmp_path: Path) -> None:
    runs = days([run(verdict(RIGHT, reader="hive-3.1.3")), run(verdict(WRONG, STALE))])
    (cell,) = stored(tmp_path, *runs).cells
    assert told(cell) == [("r1", "new", "")]


def test_two_versions_that_came_of_one_share_its_past(tmp_path: Path) -> None:
    both = run(verdict(WRONG, STALE), verdict(RIGHT, reader="trino-483"))
    old, new = run(verdict(RIGHT)), run(verdict(RIGHT, reader="trino-483"))
    history = stored(tmp_path, *days([old, new, both]))
    (cell,) = history.cells
    # By the newest run that has this reader, and not by the one of another version between.
    assert told(cell) == [("r0", "new", ""), ("r2", "regressed", "")]


def test_a_table_of_another_writer_is_followed_and_is_what_differs(tmp_path: Path) -> None:
    newer = replace(VARIANT, id="hudi/story[hudi-cow]@v", writers=("spark-3.5.8-hudi-1.0.2",) * 5)
    runs = [
        run(verdict(RIGHT), variants=(VARIANT,)),
        run(verdict(WRONG, STALE, variant=newer), variants=(newer,)),
    ]
    (cell,) = stored(tmp_path, *days(runs)).cells
    differs = "writer spark-3.5.8-hudi-0.15.0 → spark-3.5.8-hudi-1.0.2"
    assert told(cell)[1:] == [("r1", "regressed", differs)]


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
    (cell,) = stored(tmp_path, *days([first, other_text(runs[1])])).cells
    change = "fixed" if kind is RIGHT else "wrong as before"
    assert told(cell)[1:] == [("r1", change, "text of the scenario")]


def test_what_is_explained_of_a_scenario_makes_no_other_question(tmp_path: Path) -> None:
    first = run(verdict(WRONG, STALE))
    texts = {name: f"about: a story\n{text}" for name, text in first.info.scenarios.items()}
    second = replace(first, info=replace(first.info, scenarios=texts))
    (cell,) = stored(tmp_path, *days([first, second])).cells
    assert told(cell) == [("r0", "new", "")]


def test_another_statement_makes_it_another_question_but_not_another_database(
    tmp_path: Path,
) -> None:
    names = ("s_0123456789abcdef.t", "s_fedcba9876543210.t", "s_fedcba9876543210.t_rt")
    runs = [run(replace(verdict(WRONG, STALE), sql=f"select * from {name}")) for name in names]
    (cell,) = stored(tmp_path, *days(runs)).cells
    assert told(cell)[1:] == [("r2", "wrong as before", "statement of the question")]


def changed(given: Run, what: str) -> Run:
    """Return a run in which something else is otherwise."""
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
def test_whatever_else_differs_is_told(tmp_path: Path, what: str) -> None:
    states = (state(1), state(2))
    runs = [run(verdict(RIGHT), states=states), run(verdict(WRONG, STALE), states=states)]
    (cell,) = stored(tmp_path, *days([runs[0], changed(runs[1], what)])).cells
    ((_, _, differs),) = told(cell)[1:]
    assert differs.startswith(what)
    assert len(cell.since.differs) == 1


def answered(given: Run, *values: str) -> Run:
    rows = tuple((value,) for value in values)
    return replace(
        given,
        answers={case: Answer(case, "q", (Column("id", "text"),), rows) for case in given.recorded},
    )


def test_the_same_answer_that_is_judged_otherwise_is_told_so(tmp_path: Path) -> None:
    was, now = run(verdict(RIGHT)), run(verdict(WRONG, STALE))
    same = stored(tmp_path, *days([answered(was, "1", "2"), answered(now, "2", "1")]))
    differs = "judgement of the same answer: correct → wrong"
    assert told(same.cells[0])[1:] == [("r1", "regressed", differs)]


def test_where_nothing_differs_nothing_is_claimed(tmp_path: Path) -> None:
    was, now = run(verdict(RIGHT)), run(verdict(WRONG, STALE))
    history = stored(tmp_path, *days([answered(was, "1"), answered(now, "3")]))
    assert told(history.cells[0])[1:] == [("r1", "regressed", "")]


def test_a_step_that_is_refused_now_has_turned(tmp_path: Path) -> None:
    refused = replace(
        verdict(REFUSED), case=f"{VARIANT.id}/s2/write", view="write", query="", reader="w"
    )
    runs = [
        run(verdict(RIGHT), states=[state(2)]),
        run(refused, states=[state(2, OutcomeKind.REFUSED)]),
    ]
    (cell,) = stored(tmp_path, *days(runs)).cells
    assert (cell.cell.case, cell.cell.reader) == (refused.case, "")
    assert [turn[1] for turn in told(cell)] == ["new", "regressed loudly"]


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
    assert len(stored(tmp_path, *days([given]), **selected).cells) == number


def test_the_profile_of_the_newest_run_is_told_and_others_are_named(tmp_path: Path) -> None:
    (first,) = days([run(verdict(WRONG, STALE))], "q")
    history = stored(tmp_path, first, *days([first, run(verdict(RIGHT))])[1:])
    assert [stored_run.info.profile for stored_run in history.runs] == ["p"]
    assert history.others == {"q": 1}
    assert history.cells == ()
    assert len(stored(tmp_path, profile="q").cells) == 1
    with pytest.raises(UsageProblem, match="no run of the profile x is stored; profiles: q, p"):
        stored(tmp_path, profile="x")


def test_turns_of_one_kind_are_one_group_and_the_newest_comes_first(tmp_path: Path) -> None:
    runs = [
        run(verdict(RIGHT), verdict(RIGHT, step=3), verdict(RIGHT, step=4)),
        run(verdict(WRONG, STALE), verdict(WRONG, STALE, step=3), verdict(RIGHT, step=4)),
        run(verdict(WRONG, STALE), verdict(WRONG, STALE, step=3), verdict(REFUSED, step=4)),
    ]
    history = stored(tmp_path, *days(runs))
    groups = [(group.first.run.name, len(group.turns)) for group in history.not_right_now]
    assert groups == [("r2", 1), ("r1", 2)]
    assert [all_turn.first.change for all_turn in history.all_turns] == [
        VerdictChange.REGRESSED_LOUDLY,
        VerdictChange.REGRESSED,
    ]


def test_the_frame_has_a_row_for_each_turn_and_the_same_types_when_it_is_empty(
    tmp_path: Path,
) -> None:
    full = stored(tmp_path, *days(run(verdict(literal)) for literal in (RIGHT, WRONG, RIGHT)))
    frame = full.to_frame()
    assert list(frame.change) == ["new", "regressed", "fixed"]
    assert list(frame.lasts) == [False, False, True]
    assert frame.old_verdict.isna().tolist() == [True, False, False]
    empty = replace(full, cells=()).to_frame()
    assert empty.empty
    assert empty.dtypes.astype(str).to_dict() == frame.dtypes.astype(str).to_dict()
