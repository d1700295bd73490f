"""`tools/bench.py` counts what was measured where it was measured."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.core import jsonl
from harness.core.records import Answer
from harness.run import load_run
from tests.builders import sample_run
from tools import bench

Moment = tuple[float, Mapping[str, object]]
NOTHING = Answer("v s0 r", "", not_applicable="no step has written anything yet")
CACHED = Answer("v s1 r", "select 1", reused=True)
ASKED = Answer("v s2 r", "select 1")


def watched(*events: Moment) -> Any:  # noqa: ANN401
    return bench.RunUsage(events=[bench.Event(at, 0.0, facts) for at, facts in events])


def test_the_first_answer_is_one_that_an_engine_gave_and_no_verdict(tmp_path: Path) -> None:
    usage = bench.RunUsage(tmp_path)
    for seconds, answers in enumerate(([], [NOTHING, CACHED], [NOTHING, ASKED], [ASKED]), start=1):
        jsonl.write_all(tmp_path / load_run.ANSWERS, answers)
        (tmp_path / load_run.VERDICTS).write_bytes(b"")
        usage.note_records(seconds)
    assert (usage.first_answer_s, usage.first_verdict_s) == (3, 0)
    (tmp_path / load_run.VERDICTS).write_text("{}\n", encoding="utf-8")
    usage.note_records(5)
    assert (usage.first_answer_s, usage.first_verdict_s) == (3, 5)


def test_asking_begins_with_the_start_of_the_metastore() -> None:
    seen = watched(
        (6.5, {"event": "note", "text": "hive-metastore-3.1.3 answers after 4.5 s"}),
        (20.0, {"event": "note", "text": "trino-476 answers after 13.0 s"}),
        (21.0, {"event": "start", "task": "ask queries"}),
        (32.0, {"event": "done", "task": "ask queries"}),
    )
    assert bench.asking_s(seen) == 30.0
    assert bench.starts(seen) == {"metastore": [4.5], "trino-476": [13.0]}
    assert bench.asking_s(watched()) != bench.asking_s(watched())  # NaN: nobody was asked


def test_the_phases_are_all_of_a_run_one_after_another() -> None:
    event = bench.Event
    moments = [
        (2.0, 1.25, "start", "ask queries"),
        (3.0, 1.5, "start", "write tables"),
        (8.0, 2.0, "progress", "write tables"),
        (9.0, 3.0, "done", "write tables"),
        (14.0, 7.0, "done", "ask queries"),
        (14.5, 7.5, "start", "draw reports"),
    ]
    events = [event(at, cpu_s, {"event": kind, "task": task}) for at, cpu_s, kind, task in moments]
    assert list(bench.phases(bench.RunUsage(seconds=15.0, cpu_s=8.0, events=events))) == [
        ("up to write", 3.0, 1.5),
        ("write, ask meanwhile", 6.0, 1.5),
        ("ask the rest", 5.0, 4.0),
        ("judge and report", 1.0, 1.0),
    ]
    asked = bench.RunUsage(seconds=15.0, cpu_s=8.0, events=[events[0], events[4]])
    assert [phase[:2] for phase in bench.phases(asked)] == [
        ("up to ask", 2.0),
        ("ask", 12.0),
        ("judge and report", 1.0),
    ]
    assert list(bench.phases(bench.RunUsage(seconds=3.0, cpu_s=2.0))) == [
        ("judge and report", 3.0, 2.0)  # nothing was written or asked
    ]


def test_the_summary_divides_what_was_measured(tmp_path: Path) -> None:
    result = measured(tmp_path)
    cells = len(result.run.info.cells)
    figures = dict(bench.summary(result))
    assert figures["cells"] == str(cells)
    assert figures["first answer recorded after, s"] == "70"
    assert figures["first verdicts told by progress (right or wrong) after, s"] == "71"
    assert figures["first verdicts recorded (with what is wrong) after, s"] == "110"
    assert figures["status of the run, of the same again, asked afresh"] == "1, 1, 0"
    assert figures["cells a minute"] == str(round(cells / 2))
    assert figures["harness CPU, fixed (one kept cell), s"] == "1.50"
    assert figures["harness CPU a cell beside that, ms"] == "10.00"
    assert figures["the same again: harness CPU a cell, ms"] == "2.00"
    assert figures["asked afresh, tables there, with all start-ups, s"] == "20"
    assert figures["plain script for the same questions, s"] == "50"
    assert figures["times the plain script"] == "2.50"
    assert figures["memory at most, all processes together, MB"] == "900"
    rows = {name: row for name, *row in bench.servers(result)}
    asked = bench.queries(result.run)["trino-476"]
    total = f"{sum(answer.seconds for answer in asked):.1f}"
    assert rows["trino-476"] == ["12.0", str(len(asked)), total, "30.0", "800", "11.0", "39.0"]
    assert rows["metastore"] == ["4.5", "", "", "2.0", "100", "6.0", ""]


def measured(folder: Path) -> Any:  # noqa: ANN401 - of a module loaded late
    """Make what was measured of the sample's run."""
    run, used = sample_run.make(folder), bench.ProcessUsage
    cells = len(run.info.cells)
    notes = (
        (5.0, {"event": "note", "text": "hive-metastore-3.1.3 answers after 4.5 s"}),
        (18.0, {"event": "note", "text": "trino-476 answers after 12.0 s"}),
        (19.0, {"event": "start", "task": "ask queries"}),
        (20.5, {"event": "done", "task": "ask queries"}),
        (71.0, {"task": "ask", "judged": {"wrong": 1}}),
        (72.0, {"task": "ask", "judged": {"wrong": 2}}),
    )
    first = replace(
        watched(*notes),
        status=1,
        first_answer_s=70.0,
        first_verdict_s=110.0,
        seconds=120.0,
        cpu_s=1.5 + cells / 100,
        peak_mb=900,
        used={"trino-476": used(800, 30.0), "metastore": used(100, 2.0)},
    )
    again = bench.RunUsage(status=1, seconds=3.0, cpu_s=1.5 + cells / 500)
    plain = {"trino-476": bench.PlainSeconds(11.0, 39.0, 5), "metastore": bench.PlainSeconds(6.0)}
    one = bench.RunUsage(cpu_s=1.5)
    return bench.Measured(first, again, one, watched(*notes), plain, 50.0, run, 2.0)
