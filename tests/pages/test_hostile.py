"""Pages and cases that misbehave (hostile.toml): each is bounded and recorded, and the next page is unaffected."""

from __future__ import annotations

import math
import os
import tempfile
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pages_bench import SHORT, TEST, look_at, make_case, page, running

from pipeline.pages.cases import Case, load_case
from pipeline.pages.engine import GRACE, Job, Worker, close, look
from pipeline.pages.records import Observed
from pipeline.pages.running import LARGEST, Doubts, RunPage, code_of
from pipeline.pages.verdict import judge

pytestmark = [pytest.mark.engine("browser"), pytest.mark.rule("hostile-pages")]

KINDS = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text(encoding="utf-8"))


def of(kind: dict[str, Any]) -> str:
    return kind["html"] if "html" in kind else page(*(kind.get(part, "") for part in ("script", "body", "head")))


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return make_case(tmp_path_factory.mktemp("cases") / "harbour")


@pytest.mark.parametrize("kind", KINDS["page"], ids=lambda kind: kind["kind"])
def test_a_hostile_page_is_limited_and_does_not_affect_the_next(kind: dict[str, Any], case: Case) -> None:
    since = time.monotonic()
    seen = look_at(of(kind), case).observed
    took = time.monotonic() - since
    judged = judge(seen, doubt=Doubts(SHORT).settle(case, seen))
    assert took < SHORT.page + GRACE + 10
    assert judged.result in kind.get("result", "passed failed"), (judged, seen)
    assert judged.cause == kind.get("cause", judged.cause), (judged, seen)
    assert set(kind.get("recorded", ())) <= set(seen.incidents), (judged, seen)
    assert Observed.model_validate_json(seen.model_dump_json()) == seen, "it can be stored"
    after = look_at(page(), case).observed
    assert (judge(after), after.incidents) == (("passed", "", ""), {})


@pytest.mark.parametrize("kind", KINDS["case"], ids=lambda kind: kind["kind"])
def test_a_hostile_case_is_an_error_and_does_not_affect_others(
    kind: dict[str, str], case: Case, tmp_path: Path
) -> None:
    bad = make_case(tmp_path / "bad", kind["test"])
    seen = look_at(page(), bad).observed
    judged = judge(seen, doubt=Doubts(SHORT).settle(bad, seen))
    assert (judged.result, judged.cause) == ("error", "case"), (judged, seen)
    assert judge(look_at(page(), case).observed).result == "passed"


#: what a case finds in its process, some time after the start
MEETS = """
const known = [process.listenerCount("unhandledRejection"), process.cwd()];
module.exports.run = async ({ page, assert }) => {
  const browser = page.context().browser();
  await page.waitForTimeout(1000);
  await assert("time passes", async () => {
    const since = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return since > 1e12 && Date.now() - since > 50;
  });
  await assert("nothing has more", () => [globalThis, [], page, require("fs")].every((one) => one.left === undefined));
  await assert("nobody else listens", () => process.listenerCount("unhandledRejection") === 1);
  await assert("nobody else waits for contexts", () => browser.listenerCount("context") === 0);
  await assert("its context is the only one", () => browser.contexts().length === 1);
  await assert("it is at home", () => process.cwd() === process.env.HOME && process.env.LEFT === undefined);
  await assert("its browser is its only child", () => {
    const children = require("fs").readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
    return children.trim().split(" ").length === 1;
  });
  await assert("nothing is served", () => !process.getActiveResourcesInfo().includes("TCPServerWrap"));
};
"""


@pytest.mark.parametrize("kind", KINDS["left"], ids=lambda kind: kind["kind"])
def test_leftovers_of_a_case_affect_no_page_of_another(kind: dict[str, str], tmp_path: Path) -> None:
    worker = Worker()
    try:
        for test in (kind["test"], MEETS):
            case = make_case(tmp_path / str(len(test)), test)
            seen = worker.look(Job(page(), code_of(case), limits=SHORT)).observed
    finally:
        worker.end()
    assert judge(seen).result == "passed" and not seen.is_doubtful, seen


def test_a_limit_holds_even_if_a_case_replaces_timers(tmp_path: Path) -> None:
    test = """
      module.exports.run = async ({ assert }) => {
        const { setTimeout } = globalThis;
        globalThis.setTimeout = (work, _, ...given) => work(...given);
        const deciding = assert("it is decided in time", async () => true);
        globalThis.setTimeout = setTimeout;
        await deciding;
      };"""
    seen = look_at(page(), make_case(tmp_path / "timed", test)).observed
    assert [(assertion.status, assertion.message) for assertion in seen.assertions] == [("pass", "")]


def test_a_process_serves_pages_of_several_cases_that_leave_nothing(case: Case, tmp_path: Path) -> None:
    """Starting a browser for every page would take a second each."""
    worker, processes = Worker(), set()
    other = make_case(tmp_path / "other", MEETS)
    try:
        for each in (case, other, case, case):
            worker.look(Job(page(), code_of(each), limits=SHORT))
            processes.add(worker._process)
    finally:
        worker.end()
    assert len(processes) == 1 and None not in processes


def test_an_idle_process_that_died_is_replaced(case: Case) -> None:
    worker = Worker()
    try:
        for _ in range(2):
            assert judge(worker.look(Job(page(), code_of(case), limits=SHORT)).observed).result == "passed"
            assert worker._process
            worker._process.kill()
            worker._process.wait()
    finally:
        worker.end()


#: how a case starts a process that would outlive it
OUTLIVES = {
    "its page": "spawn('sleep', [LEFT], { detached: true, stdio: 'ignore' }).unref();",
    "its parent": "execSync('setsid sleep ' + LEFT + ' > /dev/null 2>&1 &');",
    "its process": "spawn('sleep', [LEFT], { detached: true }); process.kill(process.pid, 'SIGKILL');",
}


@pytest.mark.parametrize("kind", OUTLIVES)
def test_no_process_of_a_case_outlives_its_page(kind: str, tmp_path: Path) -> None:
    left = f"4{os.getpid()}.{len(kind)}"
    test = f"""
      const {{ execSync, spawn }} = require("child_process");
      module.exports.run = async () => {{ {OUTLIVES[kind].replace("LEFT", repr(left))} }};"""
    worker = Worker()
    try:
        worker.look(Job(page(), code_of(make_case(tmp_path / "starting", test)), limits=SHORT))
        assert (running(left), worker._process) == ([], None)
    finally:
        worker.end()


#: kills its browser, always or once
KILLS = """
const fs = require("fs");
module.exports.run = async ({ page, assert }) => {
  if (!ONCE || !fs.existsSync(ONCE)) {
    if (ONCE) fs.writeFileSync(ONCE, "");
    const browser = fs.readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
    process.kill(-Number(browser), "SIGKILL"); // its group
  }
  await page.waitForTimeout(500);
  await assert("it goes on", () => true);
};
"""


def test_a_page_whose_browser_died_is_run_once_more(tmp_path: Path) -> None:
    """It may have run out of memory, which is the page's fault only if it happens again."""
    ends = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)  # the case runs as another user
        for name, once in (("once", f"{folder}/killed"), ("always", "")):
            killing = make_case(tmp_path / name, KILLS.replace("ONCE", repr(once)))
            seen = RunPage(name, page(), code_of(killing), limits=SHORT).perform(lambda _: None).observed
            ends.append((seen.ended, judge(seen).result, judge(seen).cause, seen.is_doubtful))
    assert ends == [("", "passed", "", False), ("ended", "failed", "crashed", True)]


def test_an_error_that_the_good_example_does_not_cause_is_the_pages_fault(tmp_path: Path) -> None:
    test = "module.exports.run = async ({page}) => { await (await page.$('#deck')).click(); };"
    script = '<script id="a11y-assertions" type="application/json">{"assertions": {}, "passes": true}</script>'
    strict = make_case(tmp_path / "strict", test, good=page(body='<button id="deck">Deck</button>', head=script))
    seen = look_at(page(), strict).observed
    assert seen.threw and judge(seen, doubt=Doubts(SHORT).settle(strict, seen))[:2] == ("failed", "unfinished")


def test_a_page_that_warns_before_it_is_left_can_be_loaded_again(tmp_path: Path) -> None:
    """A form with unsaved changes asks for it: a person's browser then asks whether to leave, and the person leaves."""
    test = """module.exports.run = async ({page, assert, utils}) => {
      await page.click('.ferry');
      await assert('It comes back', async () => { await utils.reload(); return true; }, {type: 'R'});
    };"""
    again = make_case(tmp_path / "again", test)
    seen = look_at(page(script="onbeforeunload = (event) => { event.preventDefault(); return ''; }"), again).observed
    assert [assertion.status for assertion in seen.assertions] == ["pass"], seen
    assert seen.incidents["dialog"] == 1


#: tests that take longer than a page may, and whether they go on to decide assertions
SLOW = {
    'for (let i = 0; i < 40; i++) await assert(`${i}`, () => page.click("#deck"));': True,
    'await assert("first", () => true); await new Promise(() => {});': False,
    "for (let i = 0; i < 40; i++) await assert(`${i}`, () => new Promise(() => {}));": False,
}


@pytest.mark.parametrize("does", SLOW)
def test_it_is_known_whether_a_test_that_used_up_the_time_decided_assertions(does: str, tmp_path: Path) -> None:
    """If so, a page without what each of them waits for is to blame, even if the case has no good example."""
    test = f"module.exports.run = async ({{ page, assert }}) => {{ {does} }};"
    limits = replace(SHORT, page=7, action=0.4, assertion=1)
    seen = look_at(page(), make_case(tmp_path / "slow", test), limits).observed
    assert (seen.ended, seen.used) == ("time", True), seen
    assert (seen.seconds.get("undecided", math.inf) <= limits.assertion) is SLOW[does], seen


def test_an_assertion_that_times_out_fails_and_the_next_one_runs(tmp_path: Path) -> None:
    asked = '"Has a heading", async () =>'
    slow = make_case(tmp_path / "slow", TEST.replace(asked, f"{asked} await new Promise(() => {{}}) ||"))
    seen = look_at(page(), slow).observed
    assert [assertion.status for assertion in seen.assertions] == ["fail", "pass", "pass"]
    assert seen.assertions[0].message == "it took longer than 2 s"


@pytest.mark.invariant(6)
def test_a_test_sees_only_its_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    close()  # the next process is started with this environment
    monkeypatch.setenv("A11Y_BENCH_PROXY_KEY", "sk-canary")
    (tmp_path / "secret.txt").write_text("canary")
    (tmp_path / "secret.txt").chmod(0o600)
    test = """
      const fs = require("fs");
      module.exports.run = async ({ assert }) => {
        await assert("it is not root", () => process.getuid() !== 0);
        await assert("our variables are not there", () => !JSON.stringify(process.env).includes("canary"));
        await assert("our files cannot be read", () => {
          try { return !fs.readFileSync(SECRET, "utf8"); } catch { return true; }
        });
        await assert("its helper is there", () => require("./helper.js").here);
      };""".replace("SECRET", repr(str(tmp_path / "secret.txt")))
    case = make_case(tmp_path / "nosy", test)
    (case.folder / "helper.js").write_text("exports.here = true;")
    seen = look_at(page(), load_case(case.folder)).observed
    close()
    failed = {assertion.name for assertion in seen.assertions if assertion.status == "fail"}
    assert failed <= (set() if os.geteuid() == 0 else {"our files cannot be read"}) and len(seen.assertions) == 4


def test_a_page_that_is_too_large_is_not_run(case: Case) -> None:
    asked = RunPage("large", "x" * (LARGEST + 1), code_of(case))
    seen = asked.perform(lambda _: None).observed
    assert judge(seen)[:2] == ("failed", "too_large")


def test_a_page_without_a_case_is_only_loaded() -> None:
    seen = look(Job(page(script="console.error('no'); throw Error('none')"), limits=SHORT)).observed
    assert (seen.assertions, seen.violations, seen.audits) == ((), (), 1)
    assert (seen.incidents, seen.examples["error"]) == ({"console": 1, "error": 1}, ["none"])
