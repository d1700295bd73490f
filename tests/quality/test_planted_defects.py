"""Each planted defect, over random histories: its right name, who did it, and its read strategy.

`oracle` says which name is right, by tokens that stand in the place of values (`traced_answer`).
"""

import re
from dataclasses import replace

import pytest

from harness.core.records import FindingKind, Responsible, VerdictKind
from harness.core.refusals import MEANINGS
from tests.quality import judged_defects
from tests.quality.defects import DEFECTS
from tests.quality.defects_refusals import REFUSALS, TEXTS, right
from tests.quality.judged_defects import Result

SEEDS, FEWER_SEEDS = range(24), range(8)
SEEN = {Result.RIGHT, Result.UNDECIDABLE}
MISSES = {Result.WRONG, Result.MISSED}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_has_its_right_name_who_did_it_and_its_strategy(name: str) -> None:
    defect, sure, visible = DEFECTS[name], set[Responsible | None](), False
    responsible = judged_defects.responsible_for(defect)
    unsure = {Responsible.UNSURE} if responsible is Responsible.WRITER else set()
    for seed in SEEDS:
        seen = defect.seen(seed)
        if seen is None:
            continue
        judged = judged_defects.judge_defect(seen)
        assert judged.result not in MISSES, (seed, judged.detail)
        visible |= judged.result in SEEN
        if seed not in FEWER_SEEDS:
            continue
        verdict = judged_defects.verdict_of(defect, seen, seed)
        blamed = {finding.responsible for finding in verdict.findings}
        assert blamed <= {responsible, *unsure}, seed
        sure |= blamed
        if verdict.verdict is VerdictKind.WRONG and responsible is Responsible.READER:
            assert judged_defects.reproduces_planted(defect, verdict, seen), seed
    assert visible != defect.harmless
    assert responsible in sure or responsible is Responsible.READER


@pytest.mark.parametrize("again", [FindingKind.DUPLICATE, FindingKind.TYPE_DRIFT])
def test_a_place_that_is_explained_twice_is_a_miss(
    monkeypatch: pytest.MonkeyPatch, again: FindingKind
) -> None:
    seen = DEFECTS["a column twice"].seen(0)
    assert seen is not None
    assert judged_defects.judge_defect(seen).result is Result.RIGHT
    ((position, kind),) = judged_defects.named(seen)
    monkeypatch.setattr(judged_defects, "named", lambda _: [(position, kind), (position, again)])
    assert judged_defects.judge_defect(seen).result is Result.MISSED


def test_more_rows_of_one_key_are_a_place_each() -> None:
    seen = DEFECTS["every row twice"].seen(0)
    assert seen is not None
    thrice = replace(seen, lines=seen.lines + seen.lines[: len(seen.lines) // 2])
    assert judged_defects.judge_defect(thrice).result is Result.RIGHT


@pytest.mark.parametrize("name", REFUSALS)
def test_no_answer_is_never_a_pass(name: str) -> None:
    assert [seed for seed in range(5) if not right(name, seed)] == []


@pytest.mark.parametrize(("kind", "message", "means"), MEANINGS)
def test_each_refusal_whose_meaning_is_known_is_planted(
    kind: str, message: str, means: str
) -> None:
    fits = [
        story
        for refusal, story in TEXTS.values()
        if re.fullmatch(kind or ".*", refusal.kind) and re.search(message, refusal.message)
    ]
    assert fits == [means], "MEANINGS has it; defects_refusals.TEXTS needs one text of its own"
