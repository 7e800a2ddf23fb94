"""Building a dataset: which work is repeated, and what one broken instance does to the others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import factories
import pytest
from tiny_library import LIMITS, Bench, WatchedSandbox, instance_id

from pipeline.build import plan, stage
from pipeline.build.environments import recipe
from pipeline.build.qualify import Settings
from pipeline.build.stage import candidates_of
from pipeline.core import store as store_module
from pipeline.core.errors import UserError
from pipeline.core.git import open_clone
from pipeline.core.records import Instance, Rejection, Review
from pipeline.core.reviews import decide_finally
from pipeline.core.store import Store, digest, read_records, write_records
from pipeline.core.work import ENGINES, REMOTE
from pipeline.execution import images
from pipeline.sandbox.base import Completed, Workspace
from pipeline.sandbox.scripted import ScriptedSandbox, succeed

REPO = factories.REPO
SOME = ("menu", "badge", "toggle", "icon")
#: workspaces of an instance: three runs, one to inspect, an empty patch's plain and disguised runs, two counter-runs
PER_INSTANCE = 8


@pytest.fixture
def bench(tiny: Bench, tmp_path: Path) -> Bench:
    """Collected, but not built yet."""
    fresh = Bench(tmp_path, tiny.library, tiny.cache)
    fresh.collect()
    return fresh


def rejections(store: Store) -> dict[str, str]:
    path = store.qualification(REPO) / "rejections.jsonl"
    return {rejection.instance_id: rejection.reason for rejection in read_records(path, Rejection)}


def files(store: Store) -> list[str]:
    """What a build wrote for these pull requests; logs name a report whose name differs each time."""
    units = [store.qualification(REPO) / "units" / instance_id(name) for name in SOME]
    return sorted(str(path.relative_to(store.root)) for unit in units for path in unit.rglob("*"))


def test_a_second_build_runs_nothing(tiny: Bench, tmp_path: Path) -> None:
    again = tiny.copy(tmp_path)
    assert again.build() == tiny.outcomes
    assert again.sandbox.opened == []
    assert again.store.dataset(REPO).read_bytes() == tiny.store.dataset(REPO).read_bytes()


@pytest.mark.invariant(7)
@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
def test_a_machine_fault_affects_only_its_own_instance(bench: Bench) -> None:
    """One hang stopped another system's batch at 270 of 296. A failed instance is recorded as not done and runs
    again."""
    bench.break_image("menu")
    bench.break_image("badge", ValueError("a mistake of ours"))
    first = bench.build("menu", "badge", "toggle")
    assert [first[name].reason for name in ("menu", "badge")] == ["not_evaluated", "not_evaluated"]
    assert first["menu"].detail == "engine: the engine is gone"
    assert first["badge"].detail == "ValueError: a mistake of ours"
    assert isinstance(first["toggle"], Instance)
    assert rejections(bench.store) == {instance_id("menu"): "not_evaluated", instance_id("badge"): "not_evaluated"}
    bench.sandbox.broken.clear()
    bench.sandbox.opened.clear()
    again = bench.build("menu", "badge", "toggle")
    assert all(isinstance(outcome, Instance) for outcome in again.values())
    assert len(bench.sandbox.opened) == 2 * PER_INSTANCE
    assert rejections(bench.store) == {}


class FilledSandbox(WatchedSandbox):
    """Keeps the text of a test file at the end of each run that fills the cache."""

    def __init__(self, cache: Path, path: str) -> None:
        super().__init__(cache)
        self.path, self.filled = path, list[str]()

    @contextmanager
    def open(self, digest: str, **options: Any) -> Iterator[Workspace]:
        with super().open(digest, **options) as workspace:
            yield workspace
            if options.get("cache") == "fill":
                self.filled.append((workspace.read(f"{workspace.root}/{self.path}") or b"").decode())


def test_patches_start_with_a_cache_that_has_the_controls(tiny: Bench, tmp_path: Path) -> None:
    """A runner that had seen gold's test files without controls had to transform each of them again."""
    bench, sandbox = tiny.copy(tmp_path), FilledSandbox(tiny.cache, "src/menu.test.js")
    bench.build("menu", settings=Settings(sandbox, repeats=2, limits=LIMITS))
    instance = bench.instance("menu")
    title = digest(digest(instance.fix_patch, instance.test_patch), "src/menu.test.js")[:16]
    assert [title in text for text in sandbox.filled] == [False] * 4 + [True] * 2


def test_the_next_candidates_sources_are_added_while_tests_run(bench: Bench, tmp_path: Path) -> None:
    """Nothing waits for them: they used to take a tenth of an instance's time."""
    existing = []

    def run(argv: tuple[str, ...], files: dict[str, bytes]) -> Completed:
        until = time.monotonic() + 20
        while len(sandbox.images.instances) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        existing.append(len(sandbox.images.instances))
        return succeed(argv, files)

    sandbox = ScriptedSandbox(tmp_path, run)
    bench.build("menu", "badge", settings=Settings(sandbox, repeats=1), jobs=1)
    assert existing[0] == 2


def test_a_build_on_workers_makes_no_layers_here(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The coordinator installed environments that nobody there used, and watched its own disk for them."""
    sandbox, asked = ScriptedSandbox(tmp_path), list[str]()
    monkeypatch.setitem(ENGINES, REMOTE, ENGINES["threads"])
    monkeypatch.setattr("pipeline.build.batch.make_ahead", lambda request: asked.append(request.name))
    monkeypatch.setattr(sandbox.images, "kept", lambda: asked.append("disk") or [])
    bench.build("menu", "badge", settings=Settings(sandbox, repeats=1), jobs=1, engine=REMOTE)
    assert asked == []
    bench.build("menu", "badge", settings=Settings(sandbox, repeats=2), jobs=1)
    assert "disk" in asked and len(asked) > asked.count("disk")


@pytest.mark.rule("bad-input")
def test_a_limit_of_the_disk_is_refused_for_workers(bench: Bench) -> None:
    with pytest.raises(UserError, match="field '--disk': it limits this machine's layers") as error:
        bench.build("menu", engine=REMOTE, disk=10**9)
    assert "just build-gc" in str(error.value.hint)
    assert not (bench.store.root / "02_dataset").exists()


def command(bench: Bench) -> list[str]:
    numbers = [word for name in SOME for word in ("--pr", str(bench.candidate(name).number))]
    program = [sys.executable, "-c", "from pipeline.cli import main; main()", "build", str(REPO), *numbers]
    return [
        *program,
        "--jobs",
        "1",
        "--repeats",
        "1",
        "--sandbox",
        "local",
        "--trust-local",
        "--data",
        str(bench.store.root),
    ]


@pytest.mark.invariant(3)
@pytest.mark.rule("manifest-last")
def test_a_killed_build_resumes_and_ends_with_the_same_files(bench: Bench, tiny: Bench) -> None:
    """Half-written units would count as done, or be done twice, if their manifest were not written last."""
    given = {**os.environ, "A11Y_BENCH_CACHE": str(bench.cache)}
    with subprocess.Popen(command(bench), env=given, stderr=subprocess.DEVNULL) as process:
        while not list(bench.store.root.glob("02_dataset/*/units/*/manifest.json")) and process.poll() is None:
            time.sleep(0.02)
        process.kill()
    assert not bench.store.dataset(REPO).exists(), "it was killed before its end"
    done = subprocess.run(command(bench), env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = [instance.model_copy(update={"ran": None}) for instance in read_records(bench.store.dataset(REPO), Instance)]
    assert made == [tiny.outcomes[name].model_copy(update={"ran": None}) for name in SOME], "their limits are others"
    assert files(bench.store) == files(tiny.store)


@pytest.mark.timeout(60)
@pytest.mark.invariant(7)
def test_environments_are_made_side_by_side_from_one_clone(tiny: Bench, tmp_path: Path) -> None:
    """GitPython's own object reader is one process for all threads: two of them waited for each other for ever."""
    clone, sandbox = open_clone(tiny.library), ScriptedSandbox(tmp_path)
    recipes = [recipe(clone, tiny.candidate(name)) for name in ("menu", "icon")]
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda one: images.ensure(sandbox, clone, one, print), recipes * 10))
    assert len(made) == 20 and set(sandbox.images.instances) == {one.image for one in recipes}


def test_a_candidate_that_the_first_repeat_rejects_is_not_repeated(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two thirds of its runs could not change anything. If it is judged in another way later, all repeats are made."""
    bench = tiny.copy(tmp_path)
    thrice = Settings(bench.sandbox, repeats=3, limits=LIMITS)
    assert bench.build("alert", settings=thrice)["alert"] == tiny.outcomes["alert"]
    assert len(bench.sandbox.opened) == 3
    assert plan.stored_triples(plan.unit_of(bench.store, bench.candidate("alert")))[1]
    law = plan.of_run
    monkeypatch.setattr(
        plan, "of_run", lambda *chapters, parser: "another" if "reading" in chapters else law(*chapters, parser=parser)
    )
    assert bench.build("alert", settings=thrice)["alert"] == tiny.outcomes["alert"]
    assert len(bench.sandbox.opened) == 3
    monkeypatch.setattr(plan, "of_run", lambda *chapters, parser: law(*chapters, parser=parser))
    monkeypatch.setattr(plan, "judge", lambda *given: bench.instance("menu"))
    bench.build("alert", settings=thrice)
    assert len(bench.sandbox.opened) == 6


@pytest.mark.rule("nothing-overwritten")
def test_a_stale_unit_is_built_again_and_archived(tiny: Bench, tmp_path: Path) -> None:
    """Another number of repeats makes a unit stale; the old one and its logs are moved, not lost."""
    bench = tiny.copy(tmp_path)
    bench.build("menu", settings=Settings(bench.sandbox, repeats=2, limits=LIMITS))
    assert len(bench.sandbox.opened) == PER_INSTANCE + 3
    assert bench.instance("menu").repeats == 2
    old = next(bench.store.archive_root.glob(f"*/02_dataset/*/units/{instance_id('menu')}"))
    runs = ("run.1", "test.1", "fix.1", "counter.disguised")
    kept = {f"{run}.{kind}.gz" for run in runs for kind in ("log", "report")}
    assert {path.name for path in old.iterdir()} == {"manifest.json", "runs.json", "timings.json"} | kept
    assert bench.instance("badge") == tiny.outcomes["badge"]


# -- a dataset never shrinks in silence ------------------------------------------------------------------------------
def dataset(bench: Bench) -> dict[str, Instance]:
    return {instance.instance_id: instance for instance in read_records(bench.store.dataset(REPO), Instance)}


@pytest.mark.trap("dataset-shrinks")
@pytest.mark.invariant(4)
def test_a_dead_engine_removes_no_instance(tiny: Bench, tmp_path: Path) -> None:
    """A build with other repeats on a broken engine once wrote a dataset without the instances that it could not
    decide."""
    bench = tiny.copy(tmp_path)
    before = dataset(bench)
    bench.break_image("menu")
    bench.build("menu", settings=Settings(bench.sandbox, repeats=2, limits=LIMITS))
    after = dataset(bench)
    assert after.keys() == before.keys()
    menu = after[instance_id("menu")]
    assert menu.stale == "it could not be evaluated again"
    assert menu.model_copy(update={"stale": ""}) == before[instance_id("menu")]
    assert instance_id("menu") not in rejections(bench.store), "no pull request is both"


@pytest.mark.trap("dataset-shrinks")
def test_an_instance_of_another_law_stays_and_is_marked(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build of one candidate under a new law once wrote a dataset of one."""
    bench = tiny.copy(tmp_path)
    monkeypatch.setattr(plan, "of_run", lambda *chapters, parser: f"another {chapters[0]}")
    bench.build("menu")
    found = dataset(bench)
    assert found[instance_id("menu")].stale == ""
    assert found[instance_id("badge")].stale == "the law of running tests changed; the law of reading reports changed"
    assert len(found) == len(dataset(tiny))


def test_an_instance_with_changed_patches_stays_and_is_marked(tiny: Bench, tmp_path: Path) -> None:
    bench = tiny.copy(tmp_path)
    path = bench.store.raw(REPO) / "candidates.jsonl"
    found = read_records(path, factories.Candidate)
    other = {"fix_patch": found[1].fix_patch.replace("new", "newer")}
    write_records(path, [found[0], found[1].model_copy(update=other), *found[2:]])
    bench.build("menu")
    stale = {name: instance.stale for name, instance in dataset(bench).items() if instance.stale}
    assert stale == {found[1].instance_id: "its commits or patches changed"}


def test_a_build_of_one_candidate_reads_the_clone_for_no_other(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every known candidate was planned again: with thousands of them, this took minutes before the first container."""
    bench, planned, before = tiny.copy(tmp_path), list[str](), tiny.store.dataset(REPO).read_bytes()
    monkeypatch.setattr(stage, "planned", lambda *a: (planned.append(a[-1].instance_id), plan.planned(*a))[1])
    bench.build("menu")
    assert planned == [instance_id("menu")] and bench.sandbox.opened == []
    assert bench.store.dataset(REPO).read_bytes() == before


def test_an_instance_without_its_candidate_stays_and_is_marked(tiny: Bench, tmp_path: Path) -> None:
    bench = tiny.copy(tmp_path)
    path = bench.store.raw(REPO) / "candidates.jsonl"
    write_records(path, [candidate for candidate in read_records(path, factories.Candidate) if candidate.number != 1])
    bench.build("badge")
    assert dataset(bench)[instance_id("menu")].stale == "its candidate or its unit is gone"


@pytest.mark.rule("nothing-overwritten")
def test_a_stop_while_writing_the_dataset_loses_no_instance(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = tiny.copy(tmp_path)
    before = bench.store.dataset(REPO).read_bytes()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store_module, "write_bytes", stop)
    with pytest.raises(KeyboardInterrupt):
        bench.store.replace_records(bench.store.dataset(REPO), [])
    assert bench.store.dataset(REPO).read_bytes() == before


# -- the law ---------------------------------------------------------------------------------------------------------
@pytest.mark.rule("law")
def test_a_changed_law_of_reading_judges_again_without_running(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs and reports are read again; if no test is fixed any more, the candidate is no longer an instance."""
    bench = tiny.copy(tmp_path)
    law = plan.of_run
    monkeypatch.setattr(
        plan, "of_run", lambda *chapters, parser: "another" if "reading" in chapters else law(*chapters, parser=parser)
    )
    assert bench.build("menu")["menu"] == tiny.outcomes["menu"]
    assert bench.sandbox.opened == []
    assert dataset(bench)[instance_id("badge")].stale == ""
    assert bench.build("menu") and bench.sandbox.opened == []


@pytest.mark.rule("law")
def test_a_changed_law_of_running_runs_tests_again(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = tiny.copy(tmp_path)
    law = plan.of_run
    monkeypatch.setattr(
        plan, "of_run", lambda *chapters, parser: "another" if "running" in chapters else law(*chapters, parser=parser)
    )
    bench.build("menu")
    assert len(bench.sandbox.opened) == PER_INSTANCE


@pytest.mark.rule("law")
def test_a_rejection_is_tried_again_when_more_can_be_repaired(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The logs alone do not show whether another remedy would help; instances are left alone."""
    bench = tiny.copy(tmp_path)
    monkeypatch.setattr(plan.faults, "table_digest", lambda: "another")
    assert bench.build("menu", "alert")["alert"] == tiny.outcomes["alert"]
    assert len(bench.sandbox.opened) == 3


@pytest.mark.rule("law")
def test_additional_evidence_makes_no_instance_stale(tiny: Bench, tmp_path: Path) -> None:
    """It does not affect a run, but the record shows it."""
    bench = tiny.copy(tmp_path)
    path = bench.store.raw(REPO) / "candidates.jsonl"
    found = read_records(path, factories.Candidate)
    more = factories.Evidence(field="body", pattern="a11y", text="a11y", place=0)
    write_records(
        path, [candidate.model_copy(update={"a11y_reason": (*candidate.a11y_reason, more)}) for candidate in found]
    )
    bench.build("menu", "badge")
    assert bench.sandbox.opened == []
    assert dataset(bench)[instance_id("menu")].a11y_reason[-1] == more


@pytest.mark.rule("locks")
def test_a_second_build_of_a_repository_is_refused(bench: Bench) -> None:
    with bench.store.lock("build", REPO), pytest.raises(UserError, match="build of acme/ui is under way"):
        bench.build("menu")
    assert bench.sandbox.opened == []


@pytest.mark.rule("local-sandbox")
def test_the_local_sandbox_refuses_code_that_is_not_the_demos(bench: Bench) -> None:
    with pytest.raises(UserError, match="isolates nothing and would run code that is not the demo's") as error:
        bench.build(trust_local=False)
    assert "--trust-local" in str(error.value)
    assert not (bench.store.root / "02_dataset").exists()


def test_with_the_option_only_reviewed_candidates_are_built(bench: Bench) -> None:
    ratings = [("menu", "super"), ("badge", "accepted"), ("toggle", "rejected")]
    reviews = [Review(instance_id=instance_id(name), rater="ann", status=status) for name, status in ratings]
    write_records(bench.store.reviews(REPO), reviews)
    assert list(bench.build(reviewed=True)) == ["menu"]


@pytest.mark.rule("one-rule-for-what-is-built")
def test_a_candidate_with_conflicting_ratings_is_not_built(bench: Bench) -> None:
    ratings = [
        ("menu", "ann", "super"),
        ("menu", "bob", "super"),
        ("badge", "ann", "super"),
        ("badge", "bob", "rejected"),
    ]
    reviews = [Review(instance_id=instance_id(name), rater=rater, status=status) for name, rater, status in ratings]
    write_records(bench.store.reviews(REPO), reviews)
    assert names_of(bench) == ["menu"]
    decide_finally(bench.store, REPO, [reviews[2].model_copy(update={"rater": "cleo"})])
    assert names_of(bench) == ["badge", "menu"]


def names_of(bench: Bench) -> list[str]:
    """The reviewed candidates that a build takes."""
    numbers = {candidate.number for candidate in candidates_of(bench.store, REPO, (), True)}
    return sorted(name for name in ("menu", "badge", "toggle") if int(instance_id(name).rpartition("-")[2]) in numbers)


@pytest.mark.rule("reworked-statement")
def test_a_reworked_statement_reaches_the_task(bench: Bench) -> None:
    """If the instance already exists, nothing is run again."""
    bench.build("menu")
    opened = len(bench.sandbox.opened)
    text = "The menu cannot be told from others by ear."
    rating = Review(instance_id=instance_id("menu"), rater="ann", status="reworked", statement=text)
    write_records(bench.store.reviews(REPO), [rating])
    built = bench.build("menu")["menu"]
    assert (built.statement_source, built.task().statement[0].body) == ("review", text)
    assert len(bench.sandbox.opened) == opened


@pytest.mark.rule("bad-input")
def test_an_unknown_candidate_is_refused_with_a_list(bench: Bench) -> None:
    with pytest.raises(UserError, match="unknown candidate '#99'") as error:
        bench.build(numbers=[99])
    assert "#1, #10" in str(error.value)


@pytest.mark.rule("bad-input")
def test_a_repository_that_was_not_collected_is_refused_with_a_list(tmp_path: Path, tiny: Bench) -> None:
    empty = Bench(tmp_path, tiny.library, tiny.cache)
    with pytest.raises(UserError, match="acme/ui is not collected") as error:
        empty.build()
    assert "collected: none; run: just collect-run acme/ui" in str(error.value)
    assert not empty.store.root.exists()


@pytest.mark.rule("bad-input")
def test_broken_overrides_are_refused_before_any_work(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise every candidate would fail by itself."""
    folder = bench.folder / "repos"
    folder.mkdir()
    (folder / f"{REPO.slug}.toml").write_text("[[override]]\nset.nod = '1'\n", encoding="utf-8")
    monkeypatch.setenv("A11Y_BENCH_REPOS", str(folder))
    with pytest.raises(UserError, match="unknown field 'nod'"):
        bench.build("menu")
    assert not (bench.store.root / "02_dataset").exists()


@pytest.mark.rule("bad-input")
def test_a_clone_without_the_commit_is_refused_before_any_work(bench: Bench) -> None:
    base = factories.Base(label="acme:main", ref="main", sha="0" * 40)
    lost = factories.make_candidate(99, base=base)
    write_records(bench.store.raw(REPO) / "candidates.jsonl", [bench.candidate("menu"), lost])
    with pytest.raises(UserError, match=f"the clone has no commit {base.sha}") as error:
        bench.build()
    assert str(bench.library) in str(error.value) and "git fetch --all" in str(error.value)
    assert not (bench.store.root / "02_dataset").exists()
