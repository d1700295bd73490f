"""Last stage of reading: answers are counted, checked against their files, kept and passed on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from harness.core.concurrency import ClosableQueue
from harness.core.progress import Count
from harness.core.records import Answer
from harness.read.answer_cache import AnswerCache
from harness.read.questions import Response
from harness.read.second_answers import second
from harness.write import state_store

NOT_ASKED: Final = "not asked"
CHANGED: Final = "the frozen table's files changed while it was read"


def record(
    responses: ClosableQueue[Response],
    cache: AnswerCache,
    cells: Count,
    first: Mapping[str, Answer] = MappingProxyType({}),
) -> Iterator[Answer]:
    """Yield the answers as they come, until no more do.

    One whose table's files are no longer as they were before anybody read them is unknown; any
    other that was asked for is kept for later runs. Of what is asked a second time neither answer
    is, unless they are alike.

    Args:
        responses: from the stages before.
        cells: counts each answer as soon as it is there.
        first: the answers to what is asked a second time, by case.

    """
    while some := responses.take_all():
        for response in some:
            distribution = response.question.reader.distribution if response.question else ""
            cells.count_result(distribution, _outcome(response.answer))
        changed = _changed(some)
        for response in some:
            yield _checked(response, cache, changed, first.get(response.answer.case))


def count_rest(cells: Count) -> None:
    """Count the cells that nobody can be asked about: their tables have no state."""
    if cells.left:
        cells.count_result("", NOT_ASKED, cells.left)


def _changed(responses: Sequence[Response]) -> Collection[str]:
    """Return the digests of the states whose files are not as they were."""
    asked = {
        response.question.state.digest: response.question
        for response in responses
        if response.question
    }
    return {
        digest
        for digest, question in asked.items()
        if state_store.file_list(question.state) != question.files
    }


def _checked(
    response: Response, cache: AnswerCache, changed: Collection[str], first: Answer | None
) -> Answer:
    answer, question = response.answer, response.question
    if question is not None and question.state.digest in changed:
        answer = Answer(answer.case, answer.sql, unknown=CHANGED, attempts=answer.attempts)
    if first is not None:
        answer = second(answer, first)
    if question is not None:
        cache.keep(question.address, answer)
    return answer


def _outcome(answer: Answer) -> str:
    """Return in a word what came of a cell; whether rows are right is judged later."""
    if answer.void:
        return NOT_ASKED
    if answer.reused:
        return "reused"
    return "silent" if answer.unknown else "refused" if answer.refusal else "answered"
