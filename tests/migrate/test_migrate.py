"""A data directory of schema 1, as that version's program left it after the demo, is migrated and used further.

`schema-1/` contains its records, the tables of its analysis, and the ledger as SQL. Logs, images and caches are left
out.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from factories import make_candidate, make_instance, make_prediction

from pipeline import analyze
from pipeline.analyze.exports import plain_csv
from pipeline.analyze.reading.checks import consistent
from pipeline.collect.database import TABLES
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Instance, Prediction, Verdict
from pipeline.core.store import Store, Unit, digest, read_json, read_records, write_bytes, write_json, write_records
from pipeline.evaluate.answers import Subject, read_answers
from pipeline.evaluate.regrade import regrade
from pipeline.llm.experiment import Experiment
from pipeline.llm.ledger import Ledger
from pipeline.llm.spending import check, spending
from pipeline.migrate import stage
from pipeline.migrate.cli import command

OLD = Path(__file__).with_name("schema-1")
REPO = Repo("a11y-bench", "harbor-ui")
WHO = [("magentless", "scripted"), ("nop", "nop"), ("oracle", "oracle")]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The old data directory, with its ledger."""
    root = tmp_path / "data"
    shutil.copytree(OLD, root)
    with closing(sqlite3.connect(root / "ledger.sqlite")) as db:
        db.executescript((root / "ledger.sql").read_text())
    (root / "ledger.sql").unlink()
    return root


@pytest.fixture
def store(old: Path) -> Store:
    """The same directory, migrated."""
    stage.migrate(old)
    return Store(old)


def content(root: Path) -> dict[str, bytes]:
    """Every file except the archive and locks."""
    paths = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {str(path): (root / path).read_bytes() for path in paths if path.parts[0] not in ("archive", ".locks")}


def broken_off(old: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> bool:
    """Migrate, and stop at one of the writes or moves; returns whether there were that many."""
    left = iter(range(after))
    write, rename = stage.write_bytes, Path.rename

    def count() -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    def writing(path: Path, data: bytes) -> None:
        count()
        write(path, data)

    def moving(path: Path, target: Path) -> Path:
        if path.is_dir():
            count()
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(stage, "write_bytes", writing)
        patched.setattr(Path, "rename", moving)
        try:
            stage.migrate(old)
        except KeyboardInterrupt:
            return True
    return False


# -- what comes of it ------------------------------------------------------------------------------------------------
@pytest.mark.rule("migration")
def test_the_analysis_of_migrated_data_gives_the_same_tables(store: Store) -> None:
    """Byte for byte, except for the outcomes and attempts that did not exist yet, a word about difficulty, and what
    `kept` counts: super and reworked, formerly everything but bad."""
    made = dict(analyze.tables(analyze.load(store)))
    before = {path.stem: path.read_bytes() for path in (OLD / "05_analysis" / "tables").glob("*.csv")}
    for name in ("by_difficulty", "classes"):
        before[name] = before[name].replace(b"hard,", b"difficult,")
    before["qualification"] = before["qualification"].replace(b"harbor-ui,9,7,", b"harbor-ui,9,4,")
    assert list(made.pop("ratings")["ratings"]) == [4, 3, 2, 4, 4, 1]  # there was no such table yet
    assert made.keys() - before.keys() == {
        "data",
        "provenance",
        "replies",
        "repository_structure",
        "transitions",
    }  # nor these
    made = {name: made[name] for name in before}
    assert (made["outcomes"].pop("crashed") == 0).all()
    for name in ("costs", "model_costs"):  # nor the total beside the cost of the answers that are shown
        assert (made[name].pop("spent_usd") == made[name]["cost_usd"]).all()
    one_attempt = ("leaderboard", "resolution", "patches", "localisation", "costs", "model_costs")
    for name in one_attempt:
        assert (made[name].pop("attempts") == 1).all()
    for name in ("leaderboard", "resolution"):
        assert made[name].pop("pass_at_all_pct").isna().all()
        assert not made[name].pop("subset").any()
    assert not made["pass_at_k"].pop("incomplete").any()
    assert made["instance_costs"].pop("attempt").isna().all()
    for name in ("instance_costs", "leaderboard", "model_costs"):  # requests at once now count once
        before[name], seconds = without_seconds(before[name])
        assert 0 < sum(made[name].pop(column).sum() for column in list(made[name].filter(like="seconds"))) < seconds
    rows = sorted(before.pop("instance_costs").splitlines())  # in another order
    assert sorted(plain_csv(made.pop("instance_costs")).splitlines()) == rows
    assert {name: plain_csv(table) for name, table in made.items()} == before


def without_seconds(table: bytes) -> tuple[bytes, float]:
    """A table without its columns of seconds, and their sum."""
    heads, *rows = csv.reader(table.decode().splitlines())
    kept = [index for index, head in enumerate(heads) if not head.startswith("seconds")]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([row[index] for index in kept] for row in (heads, *rows))
    left = (float(cell or 0) for row in rows for index, cell in enumerate(row) if index not in kept)
    return text.getvalue().encode(), sum(left)


@pytest.mark.rule("migration")
def test_migrated_records_have_the_same_content(store: Store) -> None:
    old = [json.loads(line) for line in (OLD / "02_dataset" / f"{REPO.slug}.jsonl").read_text().splitlines()]
    found = read_records(store.dataset(REPO), Instance)
    for before, now in zip(old, found, strict=True):
        for field in ("fixed_tests", "p2p_tests", "f2p_tests", "s2p_tests", "n2p_tests"):
            assert {n: t.model_dump(mode="json") for n, t in getattr(now, field).items()} == before[field]
        for field in ("run_result", "test_patch_result", "fix_patch_result"):
            assert getattr(now, field).model_dump(mode="json") == before[field]
        assert (now.classes, now.quarantine, now.image) == (before["classes"], before["quarantine"], before["image"])
        assert (now.schema_version, now.tool, now.law) == (2, "", "")
    assert len(read_records(store.raw(REPO) / "candidates.jsonl", Candidate)) > len(found)
    for agent, model in WHO:
        verdicts = read_records(store.evaluation(REPO, agent, model) / "verdicts.jsonl", Verdict)
        assert [verdict.instance_id for verdict in verdicts] == [record.instance_id for record in found]
        assert all(consistent(verdict, store.root) is None for verdict in verdicts)
        for one, before in zip(verdicts, _old_verdicts(agent, model), strict=True):
            assert (one.outcome, list(one.fixed)) == (before["outcome"], before["fixed"])
            assert [list(one.unfixed), list(one.broken)] == [before["unfixed"], before["broken"]]
            assert all(before["tests"][name] == status for name, status in one.tests.items())


def _old_verdicts(agent: str, model: str) -> list[dict]:
    path = OLD / "04_evaluation" / agent / REPO.slug / model / "verdicts.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.rule("migration")
def test_paid_answers_are_not_requested_again(store: Store) -> None:
    """Answers are shown, evaluated and analyzed as they are; costs stay with their experiment."""
    for agent, model in WHO:
        (folder,) = store.predictions(REPO, agent, model).iterdir()
        answers = read_answers(store, Subject(REPO, agent, model))
        dataset = read_records(store.dataset(REPO), Instance)
        assert (answers.run, len(answers.predictions)) == (folder.name, len(dataset))
    check(store, spending(store))
    (spent, *_) = spending(store)
    assert (spent.track, spent.model, spent.requests > 0) == ("repair", "scripted", True)
    experiment = Experiment(str(REPO), "scripted", "magentless", read_json(_run(store) / "run.json")["settings"])
    assert spent.experiment == experiment.id


def _run(store: Store) -> Path:
    return next(store.predictions(REPO, "magentless", "scripted").iterdir())


@pytest.mark.rule("migration")
def test_a_run_of_another_dataset_keeps_its_name(old: Path) -> None:
    """It was stale before, and remains so: its answers belong to other tasks."""
    path = old / "02_dataset" / f"{REPO.slug}.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    before = read_json(next(old.glob("03_predictions/magentless/*/*/*/run.json")))
    stage.migrate(old)
    assert read_json(_run(Store(old)) / "run.json") == before


def test_verdicts_can_be_regraded(store: Store) -> None:
    """Runs from before there was a law are no evidence under it: they are run again, and nothing breaks until then."""
    verdicts = regrade(store, Subject(REPO, "magentless", "scripted"))
    assert {str(verdict.outcome) for verdict in verdicts} == {"not_evaluated", "empty"}


def test_outcomes_of_candidates_are_read(store: Store) -> None:
    units = [Unit(path.parent) for path in store.root.glob("02_dataset/*/units/*/manifest.json")]
    assert {"reason" in unit.result() for unit in units} == {True, False}
    for unit in units:
        if "reason" not in unit.result():
            assert Instance.model_validate(unit.result()) in read_records(store.dataset(REPO), Instance)


def test_paths_of_clones_are_removed_from_the_data(store: Store) -> None:
    assert read_json(store.raw(REPO) / "source.json") == {"kind": "git"}
    assert read_json(next(store.archive_root.glob("*/01_raw/*/source.json")))["path"] == "/data/harbor-ui.git"


# -- what is in the way ----------------------------------------------------------------------------------------------
@pytest.mark.rule("schema-version")
def test_every_other_command_refuses_old_data_with_a_hint(old: Path) -> None:
    with pytest.raises(UserError, match="data of version 1; this program reads version 2") as error:
        Store(old)
    assert f"run: a11y-bench migrate --data {old}" in str(error.value)


@pytest.mark.rule("migration")
def test_replaced_files_are_archived(old: Path) -> None:
    before = content(old)
    stage.migrate(old)
    after, (archived,) = content(old), (old / "archive").iterdir()
    kept = content(archived)
    gone = {name for name, data in before.items() if after.get(name) != data}
    moved = {name for name in gone if before[name] in after.values()}
    assert gone - moved - {"schema.json", "ledger.sqlite"} <= kept.keys()
    assert all(before[name] == kept[name] for name in gone - moved - {"schema.json", "ledger.sqlite"})


@pytest.mark.rule("migration")
def test_a_second_migration_changes_nothing(store: Store) -> None:
    before = content(store.root)
    shown = CliRunner().invoke(command, ["--data", str(store.root)], catch_exceptions=False)
    assert "nothing to do, its version is 2" in shown.output + shown.stderr
    assert content(store.root) == before


@pytest.mark.rule("migration")
def test_a_migration_that_was_stopped_goes_on(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever, and however often, it was stopped."""
    whole = tmp_path / "whole"
    shutil.copytree(old, whole)
    stage.migrate(whole)
    stops = 0
    while broken_off(old, monkeypatch, after=2):
        stops += 1
        assert read_json(old / "schema.json") == {"schema_version": 1}
    assert stops > 10
    ours, theirs = content(old), content(whole)
    assert ours.keys() == theirs.keys()
    assert not [name for name in ours if ours[name] != theirs[name] and not name.startswith("ledger")]


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("line", ["{", "[]", '{"schema_version": 1}', '{"schema_version": 2}'])
def test_a_broken_line_is_named(old: Path, line: str) -> None:
    path = old / "02_dataset" / f"{REPO.slug}.jsonl"
    lines = len(path.read_text().splitlines())
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(UserError) as error:
        stage.migrate(old)
    assert (error.value.path, error.value.line) == (path, lines + 1)
    assert read_json(old / "schema.json") == {"schema_version": 1}


#: a file that people may have broken -> what it then holds, and what the error says
RUN = f"03_predictions/magentless/{REPO.slug}/scripted"
BROKEN = [
    (f"02_dataset/{REPO.slug}/units/*/manifest.json", b'{"inputs": {}, "result": null}', "field 'result': not an obje"),
    (f"02_dataset/{REPO.slug}/units/*/manifest.json", b'{"inputs": {}}', "field 'result': it is missing"),
    (f"01_raw/{REPO.slug}/source.json", b"[]", "not a JSON object"),
    (f"01_raw/{REPO.slug}/source.json", b'{"path": 7}', "field 'path': not a text"),
    (f"01_raw/{REPO.slug}/candidates.jsonl", b"[" * 100_000, ":1: invalid JSON: it nests too deep"),
    (f"{RUN}/*/tasks.jsonl", b"{", ":1: invalid JSON"),
    (f"{RUN}/*/tasks.jsonl", b"[]", ":1: not a JSON object"),
    (f"{RUN}/*/tasks.jsonl", b'{"schema_version": 1}', ":1: "),
    (f"{RUN}/*/tasks.jsonl", b"\n\xff", ":2: invalid JSON"),
    (f"{RUN}/*/predictions.jsonl", b"7", ":1: not a JSON object"),
    (f"{RUN}/*/run.json", b"[]", "not a JSON object"),
    (f"{RUN}/*/run.json", b'{"model": ["m"]}', "field 'model': not a text"),
    (f"{RUN}/*/*/*/manifest.json", b'{"inputs": []}', "field 'inputs': not an object"),
    (f"{RUN}/*/*/*/manifest.json", b'{"inputs": {"task": []}}', "field 'inputs.task': not a text"),
    (f"04_evaluation/nop/{REPO.slug}/nop/verdicts.jsonl", b"{}x", ":1: invalid JSON"),
    ("costs.csv", b'repo,model\na,"b', "costs.csv:2: invalid CSV"),
    ("ledger.sqlite", b"no database, but longer than its head" * 100, "the ledger cannot be read"),
]


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(("pattern", "data", "says"), BROKEN)
def test_a_broken_file_is_named_before_anything_is_written(old: Path, pattern: str, data: bytes, says: str) -> None:
    """Each of these ended in a traceback, and some of them after half of the migration."""
    path = sorted(old.glob(pattern))[-1]
    path.write_bytes(data)
    before = content(old)
    with pytest.raises(UserError) as error:
        stage.migrate(old)
    assert str(error.value).startswith(str(path)) and says in str(error.value)
    assert content(old) == before and not (old / "archive").exists()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("record", ["{", '{"schema_version": 1'], ids=["brace", "cut off"])
def test_a_broken_database_is_named_before_anything_is_written(bare: Path, record: str) -> None:
    path = bare / "01_raw" / "acme__ui" / "collect.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database, but longer than its head" * 100)
    with pytest.raises(UserError, match="the database cannot be read: file is not a database") as error:
        stage.migrate(bare)
    assert error.value.path == path
    path.unlink()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE pull_requests (number, record)")
        db.execute("INSERT INTO pull_requests VALUES (1, ?)", (record,))
    with pytest.raises(UserError, match="the database cannot be read: malformed JSON"):
        stage.migrate(bare)


def test_two_folders_for_one_place_are_named_before_anything_is_written(bare: Path) -> None:
    for folder in ("org_m", "org__m"):
        run = bare / "03_predictions" / "a" / "acme__ui" / folder / "1"
        older(run / "predictions.jsonl", make_prediction(1, model_name_or_path="org/m", agent="a"))
    before = content(bare)
    with pytest.raises(UserError, match="already exists"):
        stage.migrate(bare)
    assert content(bare) == before


@pytest.mark.rule("bad-input")
def test_expectations_that_contradict_the_results_are_named(old: Path) -> None:
    """Tests used to be in several lists: if these contradict each other, nobody can say which one is right."""
    path = old / "02_dataset" / f"{REPO.slug}.jsonl"
    first, *rest = path.read_text().splitlines(keepends=True)
    spoiled = json.loads(first) | {"p2p_tests": {}}
    path.write_text("".join([json.dumps(spoiled) + "\n", *rest]))
    with pytest.raises(UserError, match="does not follow from the results of the three test runs") as error:
        stage.migrate(old)
    assert (error.value.path, error.value.line, error.value.field) == (path, 1, "p2p_tests")


@pytest.mark.rule("locks")
def test_a_running_stage_blocks_the_migration(old: Path) -> None:
    store = Store(old, schema=1)
    with store.lock("build", REPO), pytest.raises(UserError, match="is under way"):
        stage.migrate(old)


# -- what the demo does not have ---------------------------------------------------------------------------------------
def older(path: Path, *records: object) -> None:
    """Records as schema 1 wrote them; only their version has changed."""
    write_records(path, records)
    write_bytes(path, path.read_bytes().replace(b'"schema_version":2,"tool":"0.1.0"', b'"schema_version":1'))


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An empty data directory of schema 1."""
    root = tmp_path / "bare"
    write_json(root / "schema.json", {"schema_version": 1})
    return root


@pytest.mark.trap("folder-collision")
def test_models_that_shared_a_folder_are_separated(bare: Path) -> None:
    """Their runs say whose they are; a run without `run.json` is identified by its predictions."""
    repo, folder = Repo("acme", "ui"), bare / "03_predictions" / "magentless" / "acme__ui" / "org_m"
    for number, model in enumerate(("org/m", "org:m", "org_m")):
        older(folder / str(number) / "predictions.jsonl", make_prediction(1, model_name_or_path=model, agent=""))
    write_json(folder / "0" / "run.json", {"agent": "magentless", "model": "org/m", "repo": "acme/ui"})
    stage.migrate(bare)
    store = Store(bare)
    for number, model in enumerate(("org/m", "org:m", "org_m")):
        path = store.predictions(repo, "magentless", model) / str(number) / "predictions.jsonl"
        assert [prediction.model_name_or_path for prediction in read_records(path, Prediction)] == [model]
    assert store.predicted(repo) == [("magentless", name) for name in ("org/m", "org:m", "org_m")]


def test_ratings_are_kept_and_evidence_is_separated_from_agents(bare: Path) -> None:
    """`04_evaluation/oracle` contained both the gold patches' verdicts and the evidence about patches."""
    repo, task = Repo("acme", "ui"), make_instance(1).task()
    run = bare / "03_predictions" / "a" / repo.slug / "m" / "1"
    older(run / "tasks.jsonl", task)
    (line,) = (run / "tasks.jsonl").read_text().splitlines()
    inputs = {"task": digest(line), "patch": "p", "model": "judge-a", "settings": "s"}
    Unit(bare / "04_evaluation" / "judge" / repo.slug / digest(inputs) / "1").finish({"missing": "x"}, **inputs)
    Unit(bare / "04_evaluation" / "oracle" / repo.slug / ("0" * 32)).finish(**inputs)
    older(bare / "04_evaluation" / "oracle" / repo.slug / "oracle" / "verdicts.jsonl")
    stage.migrate(bare)
    now = inputs | {"task": digest(task)}
    places = bare / "04_evaluation"
    assert Unit(places / "ratings" / repo.slug / digest(now) / "1").is_done(**now)
    assert (places / "evidence" / repo.slug / ("0" * 32) / "manifest.json").exists()
    assert (places / "repair" / "oracle" / repo.slug / "oracle" / "verdicts.jsonl").exists()
    assert {path.name for path in places.iterdir()} == {"ratings", "evidence", "repair"}


def test_databases_of_collected_records_are_migrated(bare: Path) -> None:
    path, one = bare / "01_raw" / "acme__ui" / "collect.sqlite", make_candidate(1)
    older(bare / "record", one)
    text = (bare / "record").read_text().strip()
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"CREATE TABLE pull_requests ({', '.join(TABLES['pull_requests'][0].split())})")
        db.execute("INSERT INTO pull_requests (number, record) VALUES (1, ?)", (text,))
    stage.migrate(bare)
    with closing(sqlite3.connect(path)) as db:
        (found,) = db.execute("SELECT record FROM pull_requests").fetchone()
    assert Candidate.model_validate_json(found) == one.model_copy(update={"tool": ""})


def test_costs_and_ledger_get_their_track(old: Path) -> None:
    with (old / "costs.csv").open(newline="") as lines:
        before = list(csv.reader(lines))
    stage.migrate(old)
    with (old / "costs.csv").open(newline="") as lines:
        after = list(csv.reader(lines))
    assert after == [["track", *before[0]], *(["repair", *row] for row in before[1:])]
    ledger = Ledger(old / "ledger.sqlite")
    assert {row.track for row in ledger.rows()} == {"repair"}
    ledger.close()
