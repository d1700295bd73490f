"""What runs have shown is looked up again as it was; a file that is not of now is refused."""

import datetime
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from harness.comparison import evidence
from harness.comparison.evidence import Builder, Evidence, KnownComparison, compare_known
from harness.comparison.result import Decision
from harness.core.errors import UsageProblem
from harness.core.records import Answer, FindingKind, OutcomeKind, Refusal, VerdictKind
from harness.reports import upgrade_report
from harness.run.load_run import Run
from tests.builders import sample_run
from tests.builders.verdicts import OTHER, VARIANT, finding, run, state, verdict

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG
OLD, NEW, NEWER = "trino-368", "trino-476", "trino-483"
SHOWN = finding(FindingKind.MISSING_RENAME, ("1", "f1_new", None), ("2", "f1_new", "y"))


def built(file: Path, *runs: Run) -> Evidence:
    builder = Builder("0.2.0")
    for made in runs:
        builder.add(made, "c0ffee00")
    builder.write(file)
    return evidence.opened(file)


def asked(
    reader: str, kind: VerdictKind, *steps: int, digest: str = "digest", days: int = 0
) -> Run:
    """Return a run in which a reader was asked after each step; what is wrong shows `SHOWN`."""
    findings = [SHOWN] * (kind is WRONG)
    states = [replace(state(step), digest=digest) for step in steps]
    made = run(*(verdict(kind, *findings, step=s, reader=reader) for s in steps), states=states)
    started = made.info.started + datetime.timedelta(days=days)
    return replace(made, info=replace(made.info, id=f"{reader}-{days}", started=started))


def compared(store: Evidence) -> KnownComparison:
    return compare_known(store, [OLD], [NEW])


def test_a_run_comes_back_with_its_verdicts_findings_errors_and_steps(tmp_path: Path) -> None:
    sampled = sample_run.make(tmp_path / "run")
    store = built(tmp_path / "e.zip", sampled)
    known = store.run(list(store.readers)).run

    def recorded(of: Run) -> dict[str, object]:
        return {
            v.case: (
                v.verdict,
                [(f.kind, f.columns, f.responsible, len(f.witnesses)) for f in v.findings],
                v.reproduces,
                (answer := of.answers.get(v.case)) and answer.refusal and answer.refusal.kind,
            )
            for v in of.recorded.values()
        }

    stored = {v.case for v in (*sampled.verdicts, *sampled.step_verdicts)}
    was = {v.case: v for v in (*sampled.verdicts, *sampled.step_verdicts)}
    assert recorded(known) == recorded(replace(sampled, recorded=was))
    assert stored
    assert set(known.by_step) == {at for at in sampled.by_step if at in known.by_step}


def test_the_names_of_folders_and_databases_of_the_machine_are_not_stored(tmp_path: Path) -> None:
    case = verdict(VerdictKind.REFUSED).case
    error = Refusal(
        "IO", "no file:/data/cache/s_0123456789abcdef/t/a.parquet in s_0123456789abcdef"
    )
    made = replace(
        run(verdict(VerdictKind.REFUSED)), answers={case: Answer(case, "", refusal=error)}
    )
    built(tmp_path / "e.zip", made)
    with zipfile.ZipFile(tmp_path / "e.zip") as file:
        text = b"".join(map(file.read, file.namelist())).decode()
    assert "a.parquet" in text
    assert "/data" not in text
    assert "s_0123456789abcdef" not in text


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    built(tmp_path / "e.zip", asked(OLD, RIGHT, 1))
    with (tmp_path / "e.zip").open("ab") as out:
        out.write(b"!")
    with pytest.raises(
        UsageProblem, match=r"damaged: its SHA-256 is not the one in e\.zip\.sha256"
    ):
        evidence.opened(tmp_path / "e.zip")


def test_a_file_without_its_digest_is_refused(tmp_path: Path) -> None:
    built(tmp_path / "e.zip", asked(OLD, RIGHT, 1))
    (tmp_path / "e.zip.sha256").unlink()
    with pytest.raises(UsageProblem, match=r"its e\.zip\.sha256 is not there"):
        evidence.opened(tmp_path / "e.zip")


def test_a_file_of_another_model_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(tmp_path / "e.zip", asked(OLD, RIGHT, 1))
    monkeypatch.setattr(evidence, "MODEL", evidence.MODEL + 1)
    with pytest.raises(UsageProblem, match=r"is of another model \(harness 0\.2\.0, model 1") as it:
        evidence.opened(tmp_path / "e.zip")
    assert "\n" not in str(it.value)


def test_the_file_that_is_shipped_is_of_this_model_and_says_what_it_is_of() -> None:
    store = evidence.opened(evidence.FILE)
    assert store.sources
    assert all(source.commit and source.cells for source in store.sources)
    assert evidence.FILE.stat().st_size < 5_000_000


def test_a_pair_of_one_run_is_compared_as_that_run_would_be(tmp_path: Path) -> None:
    both = run(
        *(verdict(RIGHT, step=s, reader=OLD) for s in (1, 2)),
        verdict(RIGHT, step=1, reader=NEW),
        verdict(WRONG, SHOWN, step=2, reader=NEW),
        states=[state(1), state(2)],
    )
    known = compared(built(tmp_path / "e.zip", both))
    assert known.comparison.decision is Decision.DO_NOT
    assert len(known.comparison.worse) == 1
    assert known.composed == 0
    assert [source.id for source in known.sources] == ["run"]


def test_a_pair_that_was_never_run_is_composed_of_the_same_states_and_says_so(
    tmp_path: Path,
) -> None:
    known = compared(
        built(tmp_path / "e.zip", asked(OLD, RIGHT, 1, 2), asked(NEW, WRONG, 1, 2, days=1))
    )
    assert known.composed == 2
    assert len(known.comparison.worse) == 2
    assert [source.id for source in known.sources] == ["trino-476-1", "trino-368-0"]


def test_answers_about_another_state_of_the_same_name_are_no_pair(tmp_path: Path) -> None:
    runs = asked(OLD, RIGHT, 1), asked(NEW, RIGHT, 1, digest="another", days=1)
    known = compared(built(tmp_path / "e.zip", *runs))
    assert known.comparison.pairs == ()
    assert known.comparison.decision is Decision.NOT_KNOWN
    assert known.comparison.status == 3


def test_a_pair_half_known_is_in_part_and_never_a_pass(tmp_path: Path) -> None:
    runs = asked(OLD, RIGHT, 1, 2, 3), asked(NEW, RIGHT, 1, days=1)
    comparison = compared(built(tmp_path / "e.zip", *runs)).comparison
    assert comparison.unasked == ("hudi-cow tables: 2 questions asked of trino-368 alone",)
    assert comparison.status == 3
    assert upgrade_report.headline(comparison).startswith("In part")
    assert replace(comparison, partial_allowed=True).status == 0


def test_of_two_runs_the_newer_one_counts(tmp_path: Path) -> None:
    runs = asked(NEW, WRONG, 1), asked(NEW, RIGHT, 1, days=2), asked(OLD, RIGHT, 1)
    known = compared(built(tmp_path / "e.zip", *runs))
    assert known.comparison.worse == ()
    assert [source.id for source in known.sources] == ["trino-476-2", "trino-368-0"]


def test_what_is_kept_out_is_not_compared(tmp_path: Path) -> None:
    both = [verdict(RIGHT, variant=v, reader=r) for v in (VARIANT, OTHER) for r in (OLD, NEW)]
    store = built(tmp_path / "e.zip", run(*both))
    known = compare_known(store, [OLD], [NEW], lambda variant, _: variant.format == "hudi-mor")
    assert {pair.either.variant for pair in known.comparison.pairs} == {OTHER.id}


def test_a_name_without_settings_means_the_readers_by_default(tmp_path: Path) -> None:
    default, other = f"{NEW}{{use-column-names=true}}", f"{NEW}{{use-column-names=false}}"
    made = run(verdict(RIGHT, reader=default), verdict(RIGHT, reader=other))
    readers = tuple(replace(r, unlike=()) if r.reader == default else r for r in made.info.readers)
    store = built(tmp_path / "e.zip", replace(made, info=replace(made.info, readers=readers)))
    assert store.named(NEW) == (default,)
    assert store.named(other) == (other,)
    assert store.named(NEWER) == ()


def test_a_setting_that_one_side_names_is_not_the_other_sides_default(tmp_path: Path) -> None:
    setting = f"{NEW}{{use-column-names=true}}"
    made = run(verdict(RIGHT, reader=NEW), verdict(WRONG, SHOWN, reader=setting))
    readers = tuple(replace(reader, unlike=()) for reader in made.info.readers)
    store = built(tmp_path / "e.zip", replace(made, info=replace(made.info, readers=readers)))
    known = compare_known(store, [NEW], [setting])
    assert len(known.comparison.worse) == 1
    assert known.comparison.unasked == ()


def test_the_same_runs_make_the_same_file(tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        built(tmp_path / name, asked(OLD, RIGHT, 1))
    digests = [(tmp_path / f"{n}.zip.sha256").read_text().split()[0] for n in ("one", "two")]
    assert digests[0] == digests[1]
    about = json.loads(zipfile.ZipFile(tmp_path / "one.zip").read("about.json"))
    assert about["model"] == evidence.MODEL


def test_steps_of_tables_that_one_side_alone_was_asked_about_are_left_out(tmp_path: Path) -> None:
    of_other = replace(state(1, OutcomeKind.REFUSED), variant=OTHER.id)
    both = run(
        *(verdict(RIGHT, step=1, reader=reader) for reader in (OLD, NEW)),
        verdict(RIGHT, variant=OTHER, step=1, reader=OLD),
        states=[state(1), of_other],
    )
    comparison = compared(built(tmp_path / "e.zip", both)).comparison
    assert comparison.old.run.failed_steps == ()
    assert comparison.unasked == ("hudi-mor tables: 1 question asked of trino-368 alone",)
