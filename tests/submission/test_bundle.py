"""Bundles: complete, checked, and judged again; every manipulation is found."""

from __future__ import annotations

import errno
import json
import os
import shutil
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from factories import REPO
from reserving import reserved
from tiny_library import IMPATIENT, QUALIFIED, Bench, instance_id

from pipeline.core.errors import UserError
from pipeline.core.records import Instance, Prediction
from pipeline.core.store import read_json, read_records, write_json, write_records
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.stage import evaluate
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import CAP_REACHED, OK, Booking, Key, Ledger
from pipeline.llm.models import SHIPPED
from pipeline.predict.stage import Predictor
from pipeline.submission import bundle
from pipeline.submission.cli import command


@pytest.fixture(scope="module")
def bench(tiny: Bench, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A dataset with the evaluated answers of oracle and nop."""
    made = tiny.copy(tmp_path_factory.mktemp("submission"))
    for name in ("oracle", "nop"):
        Predictor(made.store, REPO, name, name, models=SHIPPED).predict()
        evaluate(made.store, Subject(REPO, name, name), made.sandbox, trust_local=True)
    return made


@pytest.fixture(scope="module")
def packed(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle") / "oracle"
    bundle.pack(bench.store, Subject(REPO, "oracle", "oracle"), folder)
    return folder


@pytest.fixture
def copy(packed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(packed, tmp_path / "copy")


def rewrite(path: Path, **changes: object) -> None:
    if path.suffix == ".json":
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))
        return
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps(json.loads(first) | changes), *others]) + "\n")


def signed_again(folder: Path, **changes: object) -> None:
    """What a forger would do: make the digests match."""
    claimed = bundle.load(folder).model_copy(update={"files": bundle._digests(folder), **changes})
    claimed = claimed.model_copy(update={"digest": claimed.signed()})
    (folder / bundle.ABOUT).write_text(claimed.model_dump_json())


def test_a_bundle_is_verified_and_regraded(bench: Bench, packed: Path) -> None:
    claimed = bundle.load(packed)
    assert (claimed.resolved, len(claimed.instances), claimed.is_complete) == (len(QUALIFIED), len(QUALIFIED), True)
    assert bundle.verify(packed) == []
    assert bundle.regrade(packed, bench.store.root) == []
    names = {path.split("/")[1] for path in claimed.files}
    assert names == {"03_predictions", "04_evaluation"}, "the dataset is nobody's to hand in"


@pytest.mark.rule("money-adds-up")
def test_the_cost_of_a_bundle_agrees_with_the_tables(bench: Bench, tmp_path: Path) -> None:
    """Including shared work, but not the highest possible cost of a lost request."""
    made = bench.copy(tmp_path / "paid")
    (run,) = made.store.predictions(REPO, "oracle", "oracle").glob("*/run.json")
    experiment = read_json(run)["experiment"]
    answer = read_records(run.with_name("predictions.jsonl"), Prediction)[0].answer
    ledger = Ledger(made.store.ledger)
    for number, (holder, name) in enumerate([("acme__ui-1", answer), (SHARED, ""), ("acme__ui-1", "another")]):
        ledger.issue(str(number), Key("alias", experiment, str(REPO), "m", "a", "s", holder, answer=name))
        ledger.book(ledger.open(str(number), "m", "llm"), Booking(OK, cost_usd=Decimal(10) ** number))
    reserved(ledger, "0", Decimal(7))
    ledger.lose(experiment)
    ledger.close()
    packed = bundle.pack(made.store, Subject(REPO, "oracle", "oracle"), tmp_path / "bundle")
    assert answer and packed.cost_usd == 11
    gave_up = {"unanswered": {"acme__ui-9": CAP_REACHED}, "answers": {"acme__ui-9": "another"}}
    rewrite(run.with_name("metadata.json"), **gave_up)
    capped = bundle.pack(made.store, Subject(REPO, "oracle", "oracle"), tmp_path / "capped")
    assert capped.cost_usd == 111, "an agent that reaches its cap has failed, and has spent it"
    rewrite(run.with_name("predictions.jsonl"), answer="")
    made_elsewhere = bundle.pack(made.store, Subject(REPO, "oracle", "oracle"), tmp_path / "elsewhere")
    assert made_elsewhere.cost_usd is None, "a leaderboard would call it free"


def test_a_pack_that_is_stopped_leaves_nothing(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a bundle was left, which the same command then refused."""

    def full(source: str, target: str, **_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", target)

    subject = Subject(REPO, "oracle", "oracle")
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copy2", full)
        patched.setattr(shutil, "copyfile", full)
        with pytest.raises((OSError, shutil.Error)):
            bundle.pack(bench.store, subject, tmp_path / "bundle")
    assert list(tmp_path.iterdir()) == []
    bundle.pack(bench.store, subject, tmp_path / "bundle")
    assert bundle.verify(tmp_path / "bundle") == [] and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.write_text("{}\n"), "was changed"),
        (lambda path: path.with_name("more.txt").write_text("x"), f"is not in {bundle.ABOUT}"),
    ],
    ids=["missing", "changed", "more"],
)
def test_a_changed_file_is_found(copy: Path, change: object, found: str) -> None:
    change(next(copy.rglob("verdicts.jsonl")))
    assert [line for line in bundle.verify(copy) if found in line]


def test_a_claim_without_its_digest_is_found(copy: Path) -> None:
    rewrite(copy / bundle.ABOUT, cost_usd="0")
    assert bundle.verify(copy) == [f"{bundle.ABOUT}: its digest does not match its content"]


@pytest.mark.parametrize(
    ("file", "changes", "claims", "found"),
    [
        ("verdicts.jsonl", {"outcome": "unresolved"}, {}, "differ from what it claims"),
        ("verdicts.jsonl", {"patch_digest": "0"}, {}, "is on another patch"),
        ("verdicts.jsonl", {"model": "other"}, {}, "is on another patch"),
        ("predictions.jsonl", {"model_patch": ""}, {}, "is on another patch"),
        ("predictions.jsonl", {}, {"attempts": 2}, "claims 2 attempts and holds 1"),
        ("predictions.jsonl", {}, {"run": "another"}, "claims 1 attempts and holds 0"),
        ("predictions.jsonl", {}, {"outcomes": {"resolved": 99}}, "differ from what it claims"),
        ("verdicts.jsonl", {"law": "another"}, {}, "differ from what it claims: law"),
        ("run.json", {"settings": "another"}, {}, "differ from what it claims: settings"),
    ],
)
def test_a_claim_contradicted_by_its_records_is_found(
    copy: Path, file: str, changes: dict[str, object], claims: dict[str, object], found: str
) -> None:
    rewrite(next(copy.rglob(file)), **changes)
    signed_again(copy, **claims)
    assert any(found in line for line in bundle.verify(copy))


def test_a_verdict_contradicted_by_the_stored_run_is_found(bench: Bench, copy: Path) -> None:
    """Consistent records may still be false: the runs are read again."""
    rewrite(next(copy.rglob("verdicts.jsonl")), outcome="unresolved")
    signed_again(copy, outcomes={"resolved": len(QUALIFIED) - 1, "unresolved": 1})
    assert bundle.verify(copy) == []
    (line,) = bundle.regrade(copy, bench.store.root)
    assert "claims unresolved, the stored run gives resolved" in line


def test_a_bundle_is_regraded_after_the_dataset_has_grown(bench: Bench, packed: Path, tmp_path: Path) -> None:
    """The new instance has no verdict in any older bundle, which was called a false claim."""
    grown = bench.copy(tmp_path / "grown")
    path = grown.store.dataset(REPO)
    newest = read_records(path, Instance)[-1].model_copy(update={"number": 99, "instance_id": "acme__ui-99"})
    write_records(path, [*read_records(path, Instance), newest])
    assert bundle.regrade(packed, grown.store.root) == []


def test_a_bundle_of_an_earlier_version_is_verified(packed: Path, copy: Path) -> None:
    """It does not say in which images its instances ran."""
    assert bundle.load(packed).images
    older = json.loads((copy / bundle.ABOUT).read_text())
    del older["images"]
    signed = bundle.Submission.model_validate(older).signed()
    (copy / bundle.ABOUT).write_text(json.dumps(older | {"digest": signed}))
    assert bundle.verify(copy) == []
    signed_again(copy, images="others")
    assert bundle.verify(copy) == ["submission.json: the records differ from what it claims: images"]


@pytest.mark.parametrize(("law", "end"), [("another", "regrade with that one"), ("", "its run is not stored")])
def test_a_verdict_of_another_law_is_no_false_claim(bench: Bench, copy: Path, law: str, end: str) -> None:
    """It said "the stored run gives not_evaluated", as of a false claim, for a bundle of an earlier version."""
    runs = next(copy.rglob("runs.json"))
    names = json.loads(runs.read_text())
    rewrite(runs, **dict.fromkeys(names, "0"))
    if law:
        rewrite(next(copy.rglob("verdicts.jsonl")), law=law)
    line, *_ = bundle.regrade(copy, bench.store.root)
    assert "claims resolved, cannot be recomputed: its run is not stored" in line and line.endswith(end)


@pytest.mark.rule("bad-input")
def test_packing_says_that_another_version_gave_a_verdict(bench: Bench, tmp_path: Path) -> None:
    older = bench.copy(tmp_path / "older")
    pack = ["pack", str(REPO), "oracle", "--agent", "oracle", "--data", str(older.store.root), "--output"]
    assert "another version" not in CliRunner().invoke(command, [*pack, str(tmp_path / "now")]).output
    rewrite(Subject(REPO, "oracle", "oracle").folder(older.store) / "verdicts.jsonl", law="another")
    said = CliRunner().invoke(command, [*pack, str(tmp_path / "then")])
    assert (said.exit_code, "the verdicts of 1 instance were given by another version" in said.output) == (0, True)


def test_links_of_a_foreign_bundle_are_not_followed(bench: Bench, copy: Path, tmp_path: Path) -> None:
    """Data are copied before judging: a link to `/` gave access to this whole machine."""
    outside = tmp_path / "outside"
    (outside / "secret").mkdir(parents=True)
    (copy / "data" / "loop").symlink_to(copy)
    (copy / "data" / "03_predictions" / "more").symlink_to(outside)
    signed_again(copy)
    assert bundle.verify(copy) == [] and bundle.regrade(copy, bench.store.root) == []
    assert [path.name for path in outside.rglob("*")] == ["secret"]
    (copy / "data").rename(tmp_path / "moved")
    (copy / "data").symlink_to(tmp_path / "moved")
    with pytest.raises(UserError, match="the data of a bundle are a link"):
        bundle.verify(copy)


@pytest.mark.rule("bad-input")
def test_a_pipe_in_a_bundle_is_refused(copy: Path) -> None:
    """It was in no list of files, and reading it never ended."""
    path = next(copy.rglob("verdicts.jsonl"))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UserError, match="neither a file nor a folder") as error:
        bundle.verify(copy)
    assert error.value.path == path


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("run", ["", ".", "..", "../../../../x", "/etc", "a\\b", "a\0b"])
def test_a_run_outside_the_bundle_is_refused(copy: Path, run: str) -> None:
    rewrite(copy / bundle.ABOUT, run=run)
    with pytest.raises(UserError, match="field 'run': .* does not name a folder of runs"):
        bundle.load(copy)


@pytest.mark.trap("amount-overflows")
@pytest.mark.parametrize("cost", ["-1", "1E+999999"])
def test_an_invalid_cost_is_refused(copy: Path, cost: str) -> None:
    """A leaderboard would show it as it is."""
    rewrite(copy / bundle.ABOUT, cost_usd=cost)
    with pytest.raises(UserError, match="field 'cost_usd': .* is not an amount"):
        bundle.load(copy)


def test_answers_that_were_not_evaluated_since_are_not_packed(bench: Bench, tmp_path: Path) -> None:
    """The previous run's verdicts were packed with a new run's answers, and only the receiver noticed."""
    store, subject = bench.copy(tmp_path).store, Subject(REPO, "oracle", "oracle")
    (run,) = store.predictions(REPO, "oracle", "oracle").glob("*/run.json")
    shutil.copytree(run.parent, run.parent.with_name("99990101T000000Z"))
    with pytest.raises(UserError, match="the verdict is on another patch") as refused:
        bundle.pack(store, subject, tmp_path / "bundle")
    assert "just eval-run acme/ui oracle" in str(refused.value) and not (tmp_path / "bundle").exists()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("name", ["../../..", "", 5])
def test_a_path_in_place_of_a_kept_run_is_refused(bench: Bench, tmp_path: Path, name: object) -> None:
    """Its folder is copied into the bundle."""
    store, subject = bench.copy(tmp_path).store, Subject(REPO, "oracle", "oracle")
    write_json(subject.folder(store) / "runs.json", {instance_id("menu"): name})
    with pytest.raises(UserError, match="runs.json: field 'acme__ui-1': not the name of a kept run"):
        bundle.pack(store, subject, tmp_path / "bundle")


def test_an_impossible_bundle_is_refused(bench: Bench, packed: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not empty"):
        bundle.pack(bench.store, Subject(REPO, "oracle", "oracle"), packed)
    with pytest.raises(UserError, match="no predictions of"):
        bundle.pack(bench.store, Subject(REPO, "magentless", "GLM-4.6"), tmp_path / "x")
    with pytest.raises(UserError, match="no dataset to regrade with"):
        bundle.regrade(packed, tmp_path)


def test_the_leaderboard_lists_only_valid_bundles(bench: Bench, packed: Path, copy: Path, tmp_path: Path) -> None:
    other = tmp_path / "nop"
    bundle.pack(bench.store, Subject(REPO, "nop", "nop"), other)
    rewrite(copy / bundle.ABOUT, model="forged")
    page, broken = tmp_path / "page.html", tmp_path / "broken"
    broken.mkdir()
    (broken / bundle.ABOUT).write_text("{")
    words = ["leaderboard", *map(str, (other, packed, copy, broken)), "--output", str(page)]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 1 and "its digest does not match" in done.output and str(broken) in done.output
    text = page.read_text()
    assert text.index(">nop<") < text.index(">oracle<") and "forged" not in text
    assert "% [" not in text, "no reference has a rank"
    assert "Content-Security-Policy" in text


@pytest.fixture(scope="module")
def incomplete(tiny: Bench, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A run of oracle with a machine failure at one instance."""
    made = tiny.copy(tmp_path_factory.mktemp("incomplete"))
    Predictor(made.store, REPO, "oracle", "oracle", models=SHIPPED).predict()
    made.break_image("menu")
    evaluate(made.store, Subject(REPO, "oracle", "oracle"), made.sandbox, trust_local=True, patience=IMPATIENT)
    return made


@pytest.mark.rule("incomplete-is-marked")
def test_an_incomplete_run_is_refused_before_anything_is_written(incomplete: Bench, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        bundle.pack(incomplete.store, Subject(REPO, "oracle", "oracle"), tmp_path / "bundle")
    said = f"1 of {len(QUALIFIED)} instances not evaluated, as {instance_id('menu')}: engine"
    assert said in str(refused.value) and "just eval-run acme/ui oracle" in str(refused.value)
    assert not (tmp_path / "bundle").exists()


@pytest.mark.rule("incomplete-is-marked")
def test_a_draft_is_marked_verified_and_regraded(incomplete: Bench, tmp_path: Path) -> None:
    words = ["pack", "acme/ui", "oracle", "--output", str(tmp_path / "bundle"), "--data", str(incomplete.store.root)]
    assert isinstance(CliRunner().invoke(command, words).exception, UserError)
    done = CliRunner().invoke(command, [*words, "--draft"])
    assert done.exit_code == 0 and f"a draft, {len(QUALIFIED) - 1} of {len(QUALIFIED)} resolved" in done.output
    draft = bundle.load(tmp_path / "bundle")
    assert (draft.draft, draft.is_complete) == (True, False)
    assert bundle.verify(tmp_path / "bundle") == []
    assert bundle.regrade(tmp_path / "bundle", incomplete.store.root) == []
    rewrite(tmp_path / "bundle" / bundle.ABOUT, draft=False)
    assert bundle.verify(tmp_path / "bundle") == [f"{bundle.ABOUT}: its digest does not match its content"]


def test_a_bundle_without_the_field_draft_is_valid(copy: Path) -> None:
    fields = json.loads((copy / bundle.ABOUT).read_text())
    assert fields.pop("draft") is False
    (copy / bundle.ABOUT).write_text(json.dumps(fields))
    assert bundle.verify(copy) == []


def test_the_commands_report_their_result(bench: Bench, packed: Path, copy: Path) -> None:
    fine = CliRunner().invoke(command, ["regrade", str(packed), "--data", str(bench.store.root)])
    assert (fine.exit_code, "1 bundle: the stored test runs give the same verdicts" in fine.output) == (0, True)
    whole = CliRunner().invoke(command, ["verify", str(packed)])
    assert (whole.exit_code, "1 bundle: complete, unchanged and consistent" in whole.output) == (0, True)
    twice = ["leaderboard", str(packed), str(copy), "--output", str(copy.parent / "board.html")]
    once = CliRunner().invoke(command, twice)
    assert (once.exit_code, "board.html: 1 bundle, 1 named again" in once.output) == (0, True), "it had two rows"
    next(copy.rglob("runs.json")).unlink()
    assert CliRunner().invoke(command, ["verify", str(copy)]).exit_code == 1
    ranked = ["leaderboard", str(packed), str(copy), "--output", str(copy.parent / "board.html")]
    board = CliRunner().invoke(command, ranked)
    assert (board.exit_code, "board.html: 1 bundle, 1 left out" in board.output) == (1, True)
