"""Which earlier question makes a server answer a later one otherwise than a fresh server does.

Each try is a fresh server that is asked some questions, one after another, and then the later one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from harness.core.concurrency import ClosableQueue, JobThreads
from harness.core.records import Answer
from harness.read import read_states
from harness.read.ask_engine import ReplaceableServer
from harness.read.questions import CellQuestion
from harness.read.read_states import same_answer
from harness.read.reader_servers import EngineStart, ReadContext, SharedMetastore
from harness.scenario.cells import Plan
from harness.write.state_store import States

T = TypeVar("T")


def find_culprit(
    plan: Plan, states: States, context: ReadContext, case: str, earlier: Answer
) -> str:
    """Return the case of an earlier question after which a fresh server gives an answer once more.

    Nothing where none does alone.

    Args:
        plan: its cells are those of the earlier questions and the later one, all of one server.
        states: those that the cells are about.
        context: where servers run.
        case: of the later question.
        earlier: the answer to it that a fresh server does not give.

    Raises:
        EnvironmentProblem: an artifact is missing, or the metastore does not get ready.

    """
    made = read_states.planned_questions(plan).questions_about(states)
    asked = [question for question in made if isinstance(question, CellQuestion)]
    (later,) = (cell_question for cell_question in asked if cell_question.cell.case == case)
    ((name, planned),) = read_states.servers(plan).items()
    with SharedMetastore(context) as shared:
        shared.register({question.state.digest: question.state for question in asked}.values())
        start = EngineStart(name, planned, shared, JobThreads(1))
        others = [question for question in asked if question is not later]
        culprit = sole_culprit(others, lambda some: _given_after(some, start, later, earlier))
    return culprit.cell.case if culprit else ""


def sole_culprit(asked: Sequence[T], enough: Callable[[Sequence[T]], bool]) -> T | None:
    """Return the one of several that is enough by itself, halving them; None where there is none.

    >>> sole_culprit("abcdefg", lambda some: "c" in some)
    'c'
    >>> sole_culprit("abcdefg", lambda some: "c" in some and "e" in some)

    """
    if not asked or not enough(asked):
        return None
    while len(asked) > 1:
        middle = len(asked) // 2
        fitting = (half for half in (asked[:middle], asked[middle:]) if enough(half))
        asked = next(fitting, ())
        if not asked:
            return None
    return asked[0]


def _given_after(
    asked: Sequence[CellQuestion], start: EngineStart, later: CellQuestion, earlier: Answer
) -> bool:
    """Return whether a fresh server gives an answer once more after some questions."""
    with ReplaceableServer(start, ClosableQueue(), connections=1) as server:
        server.ask(asked)
        answer = server.ask([later])[later.cell.case]
    return not answer.unknown and same_answer(answer, earlier)
