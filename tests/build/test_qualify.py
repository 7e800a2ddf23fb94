"""How the qualification of one candidate ends: every reason in the closed list, and what an instance contains."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_library import LIMITS, PULLS, QUALIFIED, Bench, instance_id

from pipeline.build import faults
from pipeline.build.environments import recipe
from pipeline.build.learned import Learned, preparations, recall
from pipeline.build.qualify import Qualified, Qualify, Settings, request
from pipeline.build.reasons import REASONS
from pipeline.build.situation import Situation
from pipeline.build.trial import Lessons
from pipeline.core.git import open_clone, show
from pipeline.core.names import Repo
from pipeline.core.records import Health, Instance, Rejection, Status, Triple
from pipeline.core.store import Unit, read_json, read_records
from pipeline.core.trust import demo_commits, require_trust
from pipeline.core.work import Event, Tell, silent
from pipeline.ecosystems import parser
from pipeline.execution import counter
from pipeline.execution.run import TestRun
from pipeline.sandbox import node
from pipeline.sandbox.base import Cache, Completed, Limit
from pipeline.sandbox.scripted import ScriptedSandbox

SCRIPT = 'export PATH="$PWD/node_modules/.bin:$PATH" SKIP_YARN_COREPACK_CHECK=1; exec npm --prefix "$0" run "$1"'
NONE, PASSED, FAILED = Status.NONE, Status.PASSED, Status.FAILED
REPO = Repo("acme", "ui")


def unit(tiny: Bench, name: str) -> Path:
    return tiny.store.qualification(REPO) / "units" / instance_id(name)


def log(tiny: Bench, name: str, run: str) -> str:
    return gzip.decompress((unit(tiny, name) / f"{run}.log.gz").read_bytes()).decode()


@pytest.mark.rule("closed-reasons")
@pytest.mark.parametrize("name", PULLS)
def test_every_pull_request_ends_as_it_should(tiny: Bench, name: str) -> None:
    """Each candidate becomes an instance or a rejection with a reason from a closed list: the counts add up."""
    outcome = tiny.outcomes[name]
    assert (outcome.reason if isinstance(outcome, Rejection) else "qualified") == PULLS[name].ends


def test_every_rejection_reason_occurs() -> None:
    """Limits that need an engine are in test_faults.py, logs of known faults in test_fault_table.py, and hostile trees
    in test_hostile_clones.py."""
    engines = {"not_evaluated", "timeout", "disk_limit", "process_limit", "unsafe_path"}
    known = {fault.reason for fault in faults.table() if fault.reason}
    assert {pull.ends for pull in PULLS.values()} | engines | known == {*REASONS, "qualified"}


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("dialog", "src/dialog.test.js > works: PASSED -> PASSED -> FAILED"),
        ("list", "src/list.test.js > works: PASSED -> PASSED -> SKIPPED"),
        ("label", "the report does not add up: PASSED: 1 read, 2 reported"),
        ("video", "the fix patch does not apply"),
        ("chip", "gone.tgz"),
        ("grid", "package.json names none of: jest, vitest"),
    ],
)
def test_a_rejection_has_a_detail(tiny: Bench, name: str, detail: str) -> None:
    assert detail in tiny.outcomes[name].detail


@pytest.mark.trap("install-failure-hidden")
def test_a_failed_install_rejects_and_leaves_its_log(tiny: Bench) -> None:
    """`yarn install || true` continues without the dependencies, and the tests then fail for another reason."""
    assert "gone.tgz" in log(tiny, "chip", "install")
    assert not (unit(tiny, "chip") / "run.1.log.gz").exists()


@pytest.mark.parametrize("name", QUALIFIED)
def test_an_instance_has_a_log_of_each_run_and_repeat(tiny: Bench, name: str) -> None:
    wanted = {f"{run}.{number + 1}" for run in ("run", "test", "fix") for number in range(tiny.outcomes[name].repeats)}
    wanted |= {"counter.disguised", "counter.falsified", "counter.first"} if name == "toggle" else {"counter.disguised"}
    wanted |= {"hash": {"repaired.1"}, "made": {"sick"}, "born": {"sick"}, "part": {"sick"}}.get(name, set())
    assert {path.name.removesuffix(".log.gz") for path in unit(tiny, name).glob("*.log.gz")} == wanted
    assert "Test results written to" in log(tiny, name, "fix.1")


@pytest.mark.invariant(2)
@pytest.mark.rule("test-run-is-a-no-op")
def test_a_test_that_golds_configuration_repairs_is_no_fix(tiny: Bench) -> None:
    """Every evaluated patch gets gold's set-up files: if these alone repaired a test, a patch that does nothing would
    be resolved."""
    assert tiny.outcomes["hint"].reason == "no_fix_transition"


@pytest.mark.trap("n2n2p-qualifies")
def test_a_fixed_test_failed_before_the_fix(tiny: Bench) -> None:
    """Multi-SWE-bench accepts a new test that never failed as proof, although its published rule requires FAILED ->
    PASSED."""
    menu = tiny.outcomes["menu"]
    assert menu.f2p_tests == {"src/menu.test.js > named": Triple(run=NONE, test=FAILED, fix=PASSED)}
    assert menu.p2p_tests == {"src/menu.test.js > works": Triple(run=PASSED, test=PASSED, fix=PASSED)}
    assert menu.fixed_tests == menu.f2p_tests
    assert menu.classes == {"src/menu.test.js > named": "new_test"}
    assert menu.test_patch_result.failed_tests == ("src/menu.test.js > named",)
    assert menu.fix_patch_result.passed_count == 2


@pytest.mark.rule("suite-is-a-test")
def test_a_test_file_that_becomes_importable_is_a_fix(tiny: Bench) -> None:
    """Its test cases are missing in the first two runs, so they alone would prove nothing."""
    badge = tiny.outcomes["badge"]
    assert badge.f2p_tests == {"src/badge.test.js": Triple(run=NONE, test=FAILED, fix=PASSED)}
    assert badge.n2p_tests == {"src/badge.test.js > named": Triple(run=NONE, test=NONE, fix=PASSED)}
    assert badge.fixed_tests == badge.f2p_tests | badge.n2p_tests


@pytest.mark.rule("quarantine")
def test_a_test_whose_repeats_disagree_decides_nothing(tiny: Bench) -> None:
    """Real bases have flaky tests. Taken for a transition, one would reject a good candidate or accept a bad one."""
    tabs = tiny.outcomes["tabs"]
    both = {"PASSED": 1, "FAILED": 1}
    assert tabs.quarantine == {"src/tabs.test.js > takes turns": {"run": both, "test": both, "fix": both}}
    assert "src/tabs.test.js > takes turns" not in tabs.expected
    assert list(tabs.f2p_tests) == ["src/tabs.test.js > named"]
    runs = (tabs.run_result, tabs.test_patch_result, tabs.fix_patch_result)
    assert not any("src/tabs.test.js > takes turns" in run.passed_tests + run.failed_tests for run in runs)


@pytest.mark.rule("snapshot-only")
def test_a_fix_seen_only_in_snapshots_is_marked(tiny: Bench) -> None:
    """Such instances can be passed only with gold's exact markup: they are a class of their own."""
    assert tiny.outcomes["toggle"].snapshot_only == ("src/toggle.test.js > renders",)
    assert tiny.outcomes["menu"].snapshot_only == ()


@pytest.mark.rule("dependencies-of-the-fix")
def test_all_runs_use_the_dependencies_of_the_fix(tiny: Bench) -> None:
    """A fix that adds a package cannot be tested without it. All three runs get it, and the record says so."""
    icon, menu = tiny.outcomes["icon"], tiny.outcomes["menu"]
    assert icon.manifests == tiny.candidate("icon").merge_sha
    assert "the environment is the fix's in all three runs" in icon.deviations[0]
    assert icon.environment_digest != menu.environment_digest
    assert (menu.manifests, menu.deviations) == (menu.base.sha, ())


@pytest.mark.rule("repairs-are-recorded")
def test_an_outdated_runner_is_repaired(tiny: Bench) -> None:
    """Its tests are good, but the runner dies on a newer Node. The record names the repair."""
    instance = tiny.outcomes["hash"]
    assert instance.environment.test_env == {"NODE_OPTIONS": "--openssl-legacy-provider"}
    assert instance.deviations == ("OpenSSL 3 refuses an old hash: NODE_OPTIONS=--openssl-legacy-provider",)
    assert instance.environment_digest == tiny.outcomes["menu"].environment_digest


@pytest.mark.rule("base-is-well")
def test_a_base_on_which_nothing_passes_is_sick(tiny: Bench) -> None:
    """It used to end as `no_fix_transition` or `gold_does_not_fix`. Now everything that was tried is listed, each with
    its health."""
    sick = tiny.outcomes["sick"]
    assert (sick.reason, sick.health) == ("environment_failed", Health(files=1, loaded=1, tests=1, passed=0))
    assert "tried:\nas read: 1 of 1 files load, 0 of 1 tests pass" in sick.detail
    assert "other-node, Node 22 in place of" in sick.detail
    assert "works | gone" not in log(tiny, "sick", "sick") and (unit(tiny, "sick") / "tried.1.log.gz").exists()


@pytest.mark.rule("base-is-well")
def test_health_is_recorded_and_reported(tiny: Bench) -> None:
    """How many of the candidates whose install succeeds have a healthy base."""
    assert tiny.outcomes["menu"].health == Health(files=1, loaded=1, tests=1, passed=1)
    assert tiny.outcomes["dialog"].health.whole
    assert tiny.outcomes["chip"].health is None
    assert tiny.outcomes["input"].health.whole, "it breaks with its own tests only"
    bases = read_json(tiny.store.qualification(REPO) / "summary.json")["bases"]
    assert bases["sick"] == [instance_id("sick")] and bases["well"] == bases["installed"] - 1


@pytest.mark.rule("prepared-files")
def test_needed_files_are_generated_and_generated_again_for_the_fix(tiny: Bench) -> None:
    """The sources come from the fix: generated files of the base would never show it."""
    made = tiny.outcomes["made"]
    assert made.environment.prepare == (("sh", "-c", SCRIPT, ".", "build"),)
    assert made.health == Health(files=1, loaded=1, tests=1, passed=1)
    assert list(made.f2p_tests) == ["src/made.test.js > named"]
    assert list(made.p2p_tests) == ["src/made.test.js > works"]
    assert "the tests need what this makes" in made.deviations[0]
    assert made.environment_digest == tiny.outcomes["menu"].environment_digest
    assert "(ended with 0)" in log(tiny, "made", "fix.1") and "(ended with 0)" not in log(tiny, "made", "test.1")


@pytest.mark.rule("prepared-files")
def test_missing_files_are_generated_even_if_some_tests_pass(tiny: Bench) -> None:
    """In a browser, every file loads, and tests that need no bundle pass: it used to end as `gold_does_not_fix`."""
    part = tiny.outcomes["part"]
    assert part.environment.prepare == (("sh", "-c", SCRIPT, ".", "build"),)
    assert part.health == Health(files=1, loaded=1, tests=2, passed=2)
    assert "the tests need what this makes" in part.deviations[0]
    assert list(part.f2p_tests) == ["src/part.test.js > named"]


@pytest.mark.rule("base-is-well")
def test_without_tests_in_the_base_gold_shows_whether_the_environment_works(tiny: Bench) -> None:
    """Its only test file is new, and it fails with gold as well until the files that it needs are generated."""
    born = tiny.outcomes["born"]
    assert born.environment.prepare and born.health == Health(files=0)
    assert born.f2p_tests == {"src/born.test.js > named": Triple(run=NONE, test=FAILED, fix=PASSED)}


@pytest.mark.rule("base-is-well")
def test_later_candidates_start_in_the_environment_that_worked(tiny: Bench) -> None:
    (row,) = [
        lesson
        for lesson in read_records(tiny.store.qualification(REPO) / "learned.jsonl", Learned)
        if lesson.fault == "base-sick"
    ]
    environment = recipe(open_clone(tiny.library), tiny.candidate("menu")).environment
    nothing = Situation({}, lambda name: [])
    assert recall([row], environment, nothing).environment == environment, "not all tests need what one needs"
    assert preparations([row], environment) == [tiny.outcomes["made"].environment.prepare]
    assert preparations([row], environment.model_copy(update={"folder": "packages/other"})) == []


def test_the_attempt_with_helpers_in_gold_begins_with_what_the_first_one_taught(
    tiny: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It repeated installs that had failed for minutes."""
    seen: list[tuple[tuple[str, ...], list[str]]] = []

    def once(asked: Qualify, tell: Tell) -> Qualified:
        seen.append((asked.needs, [row.fault for row in asked.learned]))
        row = Learned(fault=f"fault {len(seen)}", remedy="whole", found={}, era="", deviation="")
        tell(Event(asked.name, data=Lessons((row, row))))
        return Qualified(asked.rejected("no_fix_transition", ""))

    monkeypatch.setattr(Qualify, "_once", once)
    asked = request(Settings(tiny.sandbox), open_clone(tiny.library), tiny.candidate("menu"))
    replace(asked, moved=("src/wrap.js",)).perform(silent)
    assert seen == [((), []), (("src/wrap.js",), ["fault 1"])]


@pytest.mark.rule("identity")
def test_an_instance_records_the_versions_that_ran(tiny: Bench) -> None:
    """A version range or an image name identifies nothing."""
    instance = tiny.outcomes["menu"]
    assert instance.environment.node == "20"
    assert instance.ran.node == node.version()
    assert re.fullmatch(r"npm@\d+\.\d+\.\d+", instance.ran.manager)
    assert (instance.ran.sandbox, instance.ran.limits["seconds"]) == ("local", LIMITS.seconds)
    assert instance.ran.architecture and instance.ran.missing == ()


@pytest.mark.rule("lower-assurance")
def test_an_instance_records_the_safeguards_that_its_runner_lacks(tiny: Bench) -> None:
    menu = tiny.outcomes["menu"]
    assert menu.lacks == (*parser("jest-json").lacks(), *menu.counter_runs.lacks(menu.fixed_tests))


@pytest.mark.rule("test-aware")
def test_gold_is_disguised_in_another_folder_if_it_passes_there(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise in the repository's own folder: tests that depend on the folder's name are still disguised."""
    moved = tiny.outcomes["menu"].counter_runs
    assert moved.kinds == ("disguised",) and moved.moved
    monkeypatch.setattr(counter, "_MOVE", ("false",))
    bench = tiny.copy(tmp_path)
    shutil.rmtree(bench.store.qualification(REPO) / "units")
    left = bench.build("menu")["menu"].counter_runs
    assert left == moved.model_copy(update={"moved": False})


def rebuilt(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, changed: Callable[[TestRun, counter.Form, int], TestRun]
) -> tuple[Instance, list[counter.Form]]:
    """`menu`, built again with gold's counter-runs `changed` by form and number, and their forms."""
    tried, run = list[counter.Form](), counter.run

    def ran(*words: Any, form: counter.Form, cache: Cache = "use") -> TestRun:
        tried.extend([form] if cache == "use" else [])
        return changed(run(*words, form=form, cache=cache), form, len(tried))

    monkeypatch.setattr(counter, "run", ran)
    shutil.rmtree(bench.store.qualification(REPO) / "units")
    return bench.build("menu")["menu"], tried


def failing(run: TestRun, **changed: Any) -> TestRun:
    """A run in which each test fails."""
    return replace(run, results=dict.fromkeys(run.results, Status.FAILED), **changed)


@pytest.mark.rule("test-aware")
@pytest.mark.parametrize(
    ("fails", "tries", "chosen"),
    [
        (1, 2, counter.Form(moved=True, boxes=False)),
        (2, 3, counter.Form(moved=False, boxes=True)),
        (3, 4, counter.Form(moved=False, boxes=False)),
        (4, 4, counter.FORMS[0]),
    ],
)
def test_gold_is_disguised_in_the_form_that_hides_most_while_it_passes(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int, tries: int, chosen: counter.Form
) -> None:
    """Snapshots may contain the boxes of elements. With boxes, a table of a real library failed 25 of its 79 tests in
    disguise."""
    menu, tried = rebuilt(
        tiny.copy(tmp_path), monkeypatch, lambda run, form, number: failing(run) if number <= fails else run
    )
    assert tried == [form for form in counter.FORMS if form.site][:tries]
    assert counter.form_of(menu.counter_runs) == (chosen if fails < 4 else counter.Form())
    assert ("disguised" in menu.counter_runs.kinds) == (fails < 4)
    assert ("boxes" in menu.lacks) == (not chosen.boxes)


@pytest.mark.rule("test-aware")
def test_gold_gets_its_true_address_if_its_log_shows_the_other_one(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests may expect an address on this machine, in a link or in a snapshot. No other form without the site is
    tried."""
    bench = tiny.copy(tmp_path)
    gold = bench.instance("menu")
    shown = (
        f"Expected: http://localhost/ Received: https://{counter.host_of(gold.fix_patch, gold.test_patch)}/".encode()
    )
    menu, tried = rebuilt(
        bench, monkeypatch, lambda run, form, _: failing(run, log=shown) if form.site or form.boxes else run
    )
    chosen = counter.Form(moved=True, boxes=False, site=False)
    assert tried == [counter.FORMS[0], counter.Form(moved=True, site=False), chosen]
    assert counter.form_of(menu.counter_runs) == chosen and {"boxes", "site"} <= {*menu.lacks}


@pytest.mark.rule("test-aware")
@pytest.mark.parametrize("passes", [True, False])
def test_false_expectations_are_disguised_if_gold_passes_in_disguise(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: bool
) -> None:
    """If a patch can tell false expectations from true ones, it need only fail the false ones in the way gold does."""
    bench, forms, run = tiny.copy(tmp_path), {}, counter.run

    def ran(kind: str, *words: Any, form: counter.Form | None, cache: Cache = "use") -> TestRun:
        forms[kind] = form
        done = run(kind, *words, form=form, cache=cache)
        failing = kind == "disguised" and not passes
        return replace(done, results=dict.fromkeys(done.results, Status.FAILED)) if failing else done

    monkeypatch.setattr(counter, "run", ran)
    shutil.rmtree(bench.store.qualification(REPO) / "units")
    counter_runs = bench.build("toggle")["toggle"].counter_runs
    assert forms["falsified"] == forms["first"] == (counter.FORMS[0] if passes else None)
    assert counter_runs.hidden == passes


@pytest.mark.parametrize("kind", ["disguised", "falsified"])
@pytest.mark.parametrize("lost", [{"end": "timeout"}, {"died": ("the report is cut off",)}])
def test_a_counter_run_of_gold_that_does_not_end_is_repeated(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, lost: dict[str, Any]
) -> None:
    """An instance lost its counter-runs for good if the machine was busy while they were made."""
    bench, seen, run = tiny.copy(tmp_path), list[str](), counter.run

    def ran(name: str, *words: Any, form: counter.Form | None, cache: Cache = "use") -> TestRun:
        done = run(name, *words, form=form, cache=cache)
        seen.extend([name] if cache == "use" else [])
        return replace(done, **lost) if name == kind and seen.count(kind) == 1 else done

    monkeypatch.setattr(counter, "run", ran)
    shutil.rmtree(bench.store.qualification(REPO) / "units")
    made = bench.build("toggle")["toggle"].counter_runs
    assert (made, seen.count(kind)) == (tiny.outcomes["toggle"].counter_runs, 2)


@pytest.mark.trap("install-per-instance")
def test_instances_share_an_environment(tiny: Bench) -> None:
    """In other systems, a full install for each instance takes most of the time and disk."""
    assert len({tiny.outcomes[name].environment_digest for name in QUALIFIED if name != "icon"}) == 1


@pytest.mark.invariant(1)
def test_an_image_contains_only_the_base(tiny: Bench) -> None:
    """Neither patch nor history may be where an agent works."""
    repo = tiny.cache / "instances" / tiny.outcomes["menu"].image / "repo"
    assert (repo / "src" / "menu.js").read_text() == "old\n"
    assert "named" not in (repo / "src" / "menu.test.js").read_text()
    image = open_clone(repo)
    assert len(list(image.iter_commits("--all"))) == 1
    assert (list(image.remotes), image.tags) == ([], [])
    assert show(image, tiny.candidate("menu").merge_sha, "src/menu.js") is None


def scripted(tiny: Bench, tmp_path: Path, limit: Limit) -> Instance | Rejection:
    """The qualification of `menu` if every test run ends like this."""

    def respond(argv: tuple[str, ...], files: dict[str, bytes]) -> Completed:
        completed = Completed(0, "\n".join(argv).encode(), 0)
        return Completed(-9, b"the log", 3, limit) if argv[0] == "node" else completed

    settings = Settings(ScriptedSandbox(tmp_path, respond), repeats=1, limits=LIMITS)
    return request(settings, open_clone(tiny.library), tiny.candidate("menu")).perform(silent).outcome


@pytest.mark.invariant(4)
@pytest.mark.parametrize(
    ("limit", "end", "reason"),
    [
        ("memory", "out_of_memory", "not_evaluated"),
        ("time", "timeout", "timeout"),
        ("output", "output_limit", "output_limit"),
        ("disk", "disk_limit", "disk_limit"),
        ("processes", "process_limit", "process_limit"),
    ],
)
def test_a_run_that_a_limit_ends_rejects_the_candidate(
    tiny: Bench, tmp_path: Path, limit: Limit, end: str, reason: str
) -> None:
    """A lack of memory is the machine's fault and tried again; a hang is the tests' own."""
    assert scripted(tiny, tmp_path, limit) == Rejection(
        instance_id=instance_id("menu"), stage="build", reason=reason, detail=f"{end} in run, after 3 s"
    )


@pytest.mark.rule("local-sandbox")
def test_the_local_sandbox_accepts_the_demos_commits() -> None:
    """It isolates nothing. The demo's commits are known by their hashes, which nobody can forge for other code."""
    assert len(demo_commits()) > 12
    require_trust("local", False, *demo_commits())


def test_the_dataset_file_holds_the_instances(tiny: Bench) -> None:
    assert read_records(tiny.store.dataset(REPO), Instance) == [tiny.outcomes[name] for name in QUALIFIED]
    decisive = {"candidate", "environment", "files", "settings", "running", "reading"}
    assert set(Unit(unit(tiny, "menu")).inputs()) == decisive
