import pytest

from harness.core.records import Refusal
from harness.engines.hive.errors import (
    Thrown,
    catalog_is_gone,
    chain,
    job_failure,
    lacks_library,
    refusal,
    vertex_failure,
)

SEMANTIC = (
    "Line 1:7 Invalid table alias or column reference 'nope': (possible column names are: id)"
)
MESSAGES = (
    f"*org.apache.hive.service.cli.HiveSQLException:FAILED: [Error 10004]: {SEMANTIC}:17:16",
    "org.apache.hive.service.cli.operation.Operation:toSQLException:Operation.java:335",
    "java.lang.Thread:run::-1",
    f"*org.apache.hadoop.hive.ql.parse.SemanticException:{SEMANTIC}:34:18",
    "org.apache.hadoop.hive.ql.Driver:compile:Driver.java:659",
)
TASK_FAILED = """\
FAILED: Vertex failed, vertexName=Map 1, diagnostics=[Task failed, info=[Error: Error while \
running task ( failure ) : attempt_1_0001_1_00_000000_0:java.lang.RuntimeException: it
\tat a.B.c(B.java:1)
Caused by: java.lang.IllegalStateException: no file
\t... 4 more
]"""
INPUT_FAILED = """\
FAILED: Vertex failed, vertexName=Map 1, diagnostics=[Vertex Input: t initializer failed, \
vertex=vertex_1_0001_2_00 [Map 1], java.lang.IllegalStateException: no file
]DAG did not succeed due to VERTEX_FAILURE."""
LOG = """\\
2026-11-21T15:03:00,480 WARN  [Thread-1] mapred.LocalJobRunner: job_local1_0001
java.lang.Exception: somebody else's job
2026-11-21T15:03:00,486 WARN  [Thread-665] mapred.LocalJobRunner: job_local16_0012
java.lang.Exception: java.lang.RuntimeException: Hive Runtime Error [Error getting row data
\tat org.apache.hadoop.mapred.LocalJobRunner$Job.runTasks(LocalJobRunner.java:492)
 ]
\tat org.apache.hadoop.mapred.LocalJobRunner$Job.run(LocalJobRunner.java:552)
Caused by: java.lang.RuntimeException: Hive Runtime Error [Error getting row data
Caused by: java.lang.ClassCastException: class Text cannot be cast to class IntWritable
\t... 11 more
Caused by: org.apache.hudi.exception.HoodieException$Inner
2026-11-21T15:03:00,681 Stage-1 map = 0%,  reduce = 0%
Caused by: java.lang.Error: of another line
"""


def test_the_chain_of_exceptions_is_read_from_a_status() -> None:
    assert [(message.name, message.message) for message in chain(MESSAGES)][1:] == [
        ("SemanticException", SEMANTIC)
    ]
    assert chain(()) == ()


def test_a_refusal_is_named_by_the_innermost_exception() -> None:
    result = refusal("FAILED: it", "42000", 10004, chain(MESSAGES))
    assert result == Refusal(
        kind="SemanticException",
        message="FAILED: it",
        code="42000/10004",
        cause=f"org.apache.hadoop.hive.ql.parse.SemanticException: {SEMANTIC}",
    )


def test_without_exceptions_a_refusal_is_named_by_its_message() -> None:
    message = "Execution Error, return code 2 from org.apache.hadoop.hive.ql.exec.mr.MapRedTask"
    assert refusal(message, "08S01", 2).kind == "MapRedTask"
    assert refusal("out of luck", None, 0).kind == "HiveSQLException"


def test_what_ended_a_job_is_found_in_the_log() -> None:
    thrown = job_failure(LOG, "job_local16_0012")
    assert thrown[-1] == Thrown("org.apache.hudi.exception.HoodieException$Inner", "")
    assert thrown[-2] == Thrown(
        "java.lang.ClassCastException", "class Text cannot be cast to class IntWritable"
    )
    assert str(thrown[-1]) == "org.apache.hudi.exception.HoodieException$Inner"
    assert job_failure(LOG, "job_local1_0001") == (
        Thrown("java.lang.Exception", "somebody else's job"),
    )


def test_a_lost_metastore_is_not_taken_for_a_wrong_query() -> None:
    gone = Thrown("org.apache.thrift.transport.TTransportException", "")
    assert catalog_is_gone(refusal("FAILED: SemanticException", None, 0, (gone,)))
    assert not catalog_is_gone(refusal("FAILED: it", "42000", 10004, chain(MESSAGES)))


def test_a_library_that_the_machine_lacks_says_nothing_of_the_query() -> None:
    lacking = Thrown("java.lang.RuntimeException", "native zStandard library not available: this")
    assert lacks_library(refusal("FAILED: Execution Error, return code 2", None, 2, (lacking,)))
    assert not lacks_library(refusal("FAILED: it", "42000", 10004, chain(MESSAGES)))


def test_a_stack_trace_in_a_message_is_left_out() -> None:
    message = "FAILED: it\n\tat a.B.c(B.java:1)\nCaused by: java.net.X: y\n\t... 4 more\n"
    assert refusal(message, None, 0).message == "FAILED: it\nCaused by: java.net.X: y"


@pytest.mark.parametrize("message", [TASK_FAILED, INPUT_FAILED])
def test_what_ended_a_job_of_tez_is_in_its_message(message: str) -> None:
    assert str(vertex_failure(message)[-1]) == "java.lang.IllegalStateException: no file"
