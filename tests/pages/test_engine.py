"""What a case's test.js can use, and what the engine reports about a page, in a real browser."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest
from automation_signs import PLACES, SCRIPT
from pages_bench import SHORT, look_at, make_case, page

from pipeline.pages import others
from pipeline.pages.cases import load_case
from pipeline.pages.checking import check
from pipeline.pages.engine import RUNNER, Job, Limits, Worker
from pipeline.pages.others import Others
from pipeline.pages.records import Observed
from pipeline.pages.running import code_of
from pipeline.pages.verdict import judge

pytestmark = pytest.mark.engine("browser")


def seen(folder: Path, test: str, **more: str) -> Observed:
    return look_at(page(**more), make_case(folder, test)).observed


def test_assertions_may_be_returned(tmp_path: Path) -> None:
    """The older form of a test, which the public harness documents."""
    test = """
      module.exports.run = async ({ page }) => {
        const found = await page.$$eval("h1", (all) => all.length);
        return { assertions: [
          { name: "one heading", status: found === 1 ? "pass" : "fail", type: "R" },
          { name: "two headings", status: found === 2 ? "pass" : "fail", type: "bp", message: `${found} of 2` },
          { name: "no type", status: "fail" },
          { name: "in capitals", status: "PASS" },
          { name: "a boolean", status: true },
          { name: "another name", pass: true },
          { name: "something else", status: "passable" },
          { name: "nothing" },
          null, "a text", 1,
        ] };
      };"""
    observed = seen(tmp_path / "older", test)
    assert [
        (assertion.name, assertion.status, assertion.type, assertion.message) for assertion in observed.assertions
    ] == [
        ("one heading", "pass", "R", ""),
        ("two headings", "fail", "BP", "1 of 2"),
        ("no type", "fail", "R", ""),
        ("in capitals", "pass", "R", ""),
        ("a boolean", "pass", "R", ""),
        ("another name", "pass", "R", ""),
        ("something else", "fail", "R", ""),
        ("nothing", "fail", "R", ""),
    ]


#: what stands in place of an assertion's function, and its result
VALUES = {
    "true": ("pass", ""),
    "(await page.locator('h1').count()) === 2": ("fail", ""),
    "{ pass: true, message: 'yes' }": ("pass", "yes"),
    "{ pass: false, message: 'no' }": ("fail", "no"),
    "page.locator('h1').isVisible()": ("pass", ""),
    "Promise.reject(new Error('none'))": ("fail", "none"),
    "undefined": ("fail", "the assertion has no function and no result"),
    "() => { throw ''; }": ("fail", "an error without a message"),
    "() => { throw Object.create(null); }": ("fail", "an error without a message"),
    "() => { throw { toString() { throw 1; } }; }": ("fail", "an error without a message"),
    "() => ({ pass: false, message: Object.create(null) })": ("fail", "Cannot convert object to primitive value"),
    "() => true": ("pass", ""),
}


def test_an_assertion_may_be_a_value(tmp_path: Path) -> None:
    asked = "".join(f"await assert('is', {value}); " for value in VALUES)
    observed = seen(tmp_path / "values", f"module.exports.run = async ({{ page, assert }}) => {{ {asked} }};")
    found = [(assertion.status, assertion.message) for assertion in observed.assertions]
    assert (found, observed.threw) == (list(VALUES.values()), "")


#: tests that throw something without a message
THROWS = {
    "its file": "throw '';",
    "its run": "module.exports.run = async ({ assert }) => { await assert('a', () => true); throw ''; };",
    "its gate": "module.exports = { run: async () => {}, onTask: async () => { throw ''; } };",
    "a promise that nobody waits for": """module.exports.run = async ({ page }) => {
      Promise.reject();
      await page.waitForTimeout(100);
    };""",
    "an object without a text": "module.exports.run = async () => { throw Object.create(null); };",
}


@pytest.mark.parametrize("kind", THROWS)
def test_a_test_that_throws_something_without_a_message_is_an_error(kind: str, tmp_path: Path) -> None:
    """An empty text passed the page."""
    observed = seen(tmp_path / "empty", THROWS[kind])
    judged = judge(observed, doubt="case")
    assert (judged.result, judged.cause) == ("error", "case"), observed
    assert observed.threw or observed.fault


#: the module of a test that counts pages; its helper counts, too
COUNTS = {
    "test.js": """
      import { count } from "./helper.mjs";
      let pages = 0;
      export const run = async ({ assert }) => {
        pages += 1;
        await assert("it is new", () => ({ pass: pages === 1 && count() === 1, message: `${pages}` }));
      };""",
    "helper.mjs": "let calls = 0; export const count = () => { calls += 1; return calls; };",
}


def test_a_test_that_is_an_es_module_is_loaded_anew_for_each_page(tmp_path: Path) -> None:
    """It knew the earlier pages, so that the order of pages decided."""
    folder = make_case(tmp_path / "counting").folder
    for name, text in COUNTS.items():
        (folder / name).write_text(text)
    worker, code = Worker(), code_of(load_case(folder))
    try:
        for _ in range(3):
            observed = worker.look(Job(page(), code, limits=SHORT)).observed
            assert [assertion.status for assertion in observed.assertions] == ["pass"], observed
            assert len(list((worker._home / "pages").iterdir())) == 1, "earlier copies are removed"
    finally:
        worker.end()


#: what a test adds to the page, and how it uses that when it evaluates code in the page
ADDS = {
    "await page.addScriptTag({ content: 'window.twice = (n) => 2 * n; // two' });": "window.twice(21)",
    "await page.addScriptTag({ path: require('path').join(__dirname, 'twice.js') });": "window.twice(21)",
    "await page.exposeFunction('twice', (n) => 2 * n);": "window.twice(21)",
    "await page.exposeFunction('twice', (n) => 2 * n); await utils.reload();": "window.twice(21)",
    "await page.exposeBinding('twice', ({ frame }, n) => 2 * n);": "window.twice(21)",
    "await page.context().exposeFunction('twice', (n) => 2 * n); await utils.reload();": "window.twice(21)",
    "await page.addInitScript((n) => { window.twice = n; }, 42); await utils.reload();": "window.twice",
    "await page.context().addInitScript('window.twice = 42'); await utils.reload();": "window.twice",
}


@pytest.mark.parametrize("adds", ADDS)
def test_a_test_finds_what_it_added_to_the_page(adds: str, tmp_path: Path) -> None:
    """It was in the page's world only, where the page could change it, and where a test does not look."""
    test = f"""module.exports.run = async ({{ page, assert, utils }}) => {{
      await assert("it is there", async () => {{
        {adds}
        return (await page.evaluate(() => {ADDS[adds]})) === 42;
      }});
    }};"""
    case = make_case(tmp_path / "adding", test)
    (case.folder / "twice.js").write_text("window.twice = (n) => 2 * n;")
    observed = look_at(page(script="setInterval(() => { window.twice = 0; })"), load_case(case.folder)).observed
    assert [(assertion.status, assertion.message) for assertion in observed.assertions] == [("pass", "")], observed


def test_what_a_test_adds_is_in_the_page_too_except_its_clock(tmp_path: Path) -> None:
    test = """module.exports.run = async ({ page, assert, utils }) => {
      await page.addInitScript(() => { window.title = "Ferries"; });
      await page.clock.install({ time: 0 });
      await utils.reload();
      await page.clock.fastForward(61000);
      await assert("the page has it", async () => (await page.title()) === "Ferries 61");
      await assert("the time is real", () => page.evaluate(() => Date.now() > 1e12));
      await assert("axe-core works", async () => (await utils.runAxeOnPage()).passes.length > 0);
    };"""
    script = "setTimeout(() => { document.title = `${window.title} ${Math.floor(Date.now() / 1000)}`; }, 60000)"
    observed = seen(tmp_path / "timed", test, script=script)
    assert (judge(observed).result, len(observed.assertions)) == ("passed", 3), observed


def test_the_helpers_of_a_test(tmp_path: Path) -> None:
    test = """
      module.exports.run = async ({ page, assert, utils }) => {
        const ferry = page.locator(".ferry");
        await assert("reload brings back the page as it was", async () => {
          await ferry.click();
          await utils.reload();
          return { pass: (await ferry.getAttribute("aria-pressed")) === "false", message: "it is still pressed" };
        });
        await assert("merge is deep, and joins lists", () => {
          const both = utils.merge({ a: { b: [1] }, c: 1 }, { a: { b: [2], d: 3 } });
          return JSON.stringify(both) === JSON.stringify({ a: { b: [1, 2], d: 3 }, c: 1 });
        });
        await assert("an audit tells what it found", async () => {
          await page.evaluate(() => document.querySelector("main").append(document.createElement("img")));
          return (await utils.runAxeOnPage()).violations.map(({ id }) => id).includes("image-alt");
        });
        await assert("an object that says no", () => ({ pass: 0, message: "no" }), { type: "BP" });
      };"""
    observed = seen(tmp_path / "helped", test)
    assert [(assertion.status, assertion.type) for assertion in observed.assertions] == [
        *[("pass", "R")] * 3,
        ("fail", "BP"),
    ], observed
    assert observed.assertions[-1].message == "no"
    assert "image-alt" in [violation.id for violation in observed.violations]


#: a page that shows what an earlier document kept for it, then keeps more, also while it is left
KEEPS = """
  const kept = [localStorage.length, sessionStorage.length, document.cookie, name, history.state, location.hash];
  const keep = () => {
    localStorage.cart = sessionStorage.tab = "1";
    document.cookie = "tab=1";
    name = "tab";
  };
  const known = () => Promise.all([indexedDB.databases(), caches.keys()]);
  const opened = () => new Promise((done) => { indexedDB.open("cart").onsuccess = done; });
  known().then(async ([databases, stores]) => {
    keep();
    await Promise.all([opened(), caches.open("cart")]);
    history.replaceState({ tab: 1 }, "", "#tab");
    document.title = JSON.stringify([...kept, databases.length, stores.length]);
  });
  for (const kind of ["beforeunload", "pagehide", "unload"]) addEventListener(kind, keep);
"""
NOTHING, ALL = '[0,0,"","",null,"",0,0]', '[1,1,"tab=1","tab",{"tab":1},"#tab",1,1]'


def test_a_page_that_is_loaded_anew_finds_nothing_that_it_kept(tmp_path: Path) -> None:
    """A page that keeps its cart or its open tab is honest. An ordinary reload brings them back."""
    test = """
      module.exports.run = async ({ page, assert, utils }) => {
        const ready = () => page.waitForFunction(() => document.title.startsWith("["));
        const kept = async () => ({ pass: true, message: await (await ready(), page.title()) });
        await assert("first", kept);
        for (const load of [utils.reload, utils.reload, () => page.reload(), utils.reload]) {
          await load();
          await assert("again", kept);
        }
      };"""
    observed = seen(tmp_path / "keeping", test, script=KEEPS)
    assert [assertion.message for assertion in observed.assertions] == [NOTHING] * 3 + [ALL, NOTHING], observed
    assert "reload" not in observed.incidents, "the case asked for it"


#: when a page goes back
BACK = [
    "history.back()",
    "onload = () => history.back()",
    "history.pushState(1, '', '#a'); onload = () => history.go(-2)",
]


@pytest.mark.parametrize("script", BACK)
def test_a_page_has_nowhere_to_go_back_to(script: str, tmp_path: Path) -> None:
    """Before it was the engine's empty document, so that an honest Back button left the page."""
    test = """
      module.exports.run = async ({ page, assert, utils }) => {
        for (const again of ["first", "again"]) {
          await page.waitForTimeout(300);
          await assert(`it stays: ${again}`, async () => (await page.locator("h1").count()) === 1);
          await utils.reload();
        }
        await assert("nor has the case", async () => (await page.goBack()) === null);
      };"""
    observed = seen(tmp_path / "back", test, script=script)
    assert (judge(observed).result, observed.incidents) == ("passed", {}), observed


def test_a_page_that_the_case_opens_is_no_popup(tmp_path: Path) -> None:
    test = """
      module.exports.run = async ({ page, assert }) => {
        const windows = () => ["opener", "noopener"].forEach((one) => { open("about:blank", "_blank", one); });
        const [other] = await Promise.all([page.context().newPage(), page.evaluate(windows)]);
        await other.setContent("<h1>Other</h1>");
        await page.waitForTimeout(300);
        await assert("it is there", async () => (await other.locator("h1").textContent()) === "Other");
        await assert("the others are closed", () => page.context().pages().length === 2);
        await other.close();
      };"""
    observed = seen(tmp_path / "opened", test)
    assert (judge(observed).result, observed.incidents) == ("passed", {"popup": 2}), observed


#: what opens several windows, and their number; each is recorded once
WINDOWS = {
    "for (let i = 0; i < 15; i++) open(`https://example.org/${i}`)": 15,
    "for (let i = 0; i < 15; i++) open(`https://example.org/${i}`, '_blank', 'noopener')": 15,
    "for (let i = 0; i < 15; i++) open('about:blank').location = 'https://example.org/'": 15,
    "for (const to of ['https://example.org/', 'about:blank', 'mailto:a@example.org', 'data:,a']) open(to)": 4,
}


@pytest.mark.parametrize("script", WINDOWS)
def test_a_popup_is_recorded_once(script: str, tmp_path: Path) -> None:
    test = "module.exports.run = async ({ page }) => { await page.waitForTimeout(1000); };"
    observed = seen(tmp_path / "windows", test, script=script)
    assert (observed.ended, observed.incidents) == ("", {"popup": WINDOWS[script]}), observed.examples


#: how a case handles the dialog that a click opens, and what the page gets: the answer to `prompt`
DIALOGS = {
    "": "null",
    "page.on('dialog', (dialog) => dialog.accept('Pier 3'));": "Pier 3",
    "page.once('dialog', async (dialog) => { await dialog.accept(dialog.message()); });": "Where?",
    "page.context().on('dialog', (dialog) => dialog.accept('Pier 4'));": "Pier 4",
    "page.waitForEvent('dialog').then((dialog) => dialog.accept('Pier 5'));": "Pier 5",
    "page.on('dialog', (dialog) => dialog.dismiss());": "null",
    "const heard = []; page.on('dialog', (dialog) => { heard.push(dialog.message()); });": "null",
    "page.on('dialog', (dialog) => { setTimeout(() => dialog.accept('late'), 1500); });": "null",
}


@pytest.mark.parametrize("handles", DIALOGS)
def test_a_case_may_answer_dialogs(handles: str, tmp_path: Path) -> None:
    """It was too late: each had been dismissed. A dialog that nobody answers does not stop the page."""
    test = f"""
      module.exports.run = async ({{ page, assert, utils }}) => {{
        {handles}
        await page.click("#where");
        await assert("answer", async () => ({{ pass: true, message: await page.locator("#to").textContent() }}));
        await utils.reload();
        await page.waitForTimeout(1500);
      }};"""
    script = "document.querySelector('#where').onclick = () => { to.textContent = `${prompt('Where?')}`; };"
    body = '<button type="button" id="where">Where</button><p id="to"></p>'
    observed = seen(tmp_path / "dialogs", test, script=script, body=body)
    assert [assertion.message for assertion in observed.assertions] == [DIALOGS[handles]], observed
    assert (judge(observed).result, observed.incidents) == ("passed", {"dialog": 1}), observed


def test_a_page_that_changes_its_address_while_it_is_left_is_loaded_anew(tmp_path: Path) -> None:
    test = """
      module.exports.run = async ({ page, assert, utils }) => {
        await page.click(".ferry");
        await utils.reload();
        await assert("it is new", async () => (await page.getAttribute(".ferry", "aria-pressed")) === "false");
      };"""
    script = """
      history.pushState(1, "", "#a");
      const change = () => history.replaceState(2, "", "/");
      setInterval(change, 20);
      for (const kind of ["beforeunload", "pagehide"]) addEventListener(kind, change);"""
    observed = seen(tmp_path / "leaving", test, script=script)
    assert (judge(observed).result, observed.incidents) == ("passed", {}), observed


@pytest.mark.parametrize("answer", ["dismiss", "accept"])
def test_a_case_that_answers_dialogs_can_load_a_page_that_warns_anew(answer: str, tmp_path: Path) -> None:
    test = f"""
      module.exports.run = async ({{ page, assert, utils }}) => {{
        page.on("dialog", (dialog) => dialog.{answer}());
        await page.click(".ferry");
        await utils.reload();
        await assert("it is new", async () => (await page.getAttribute(".ferry", "aria-pressed")) === "false");
      }};"""
    script = "onbeforeunload = (event) => { event.preventDefault(); return ''; }"
    observed = seen(tmp_path / "warned", test, script=script)
    assert (judge(observed).result, observed.threw) == ("passed", ""), observed


def test_an_audit_gives_a_case_what_axe_gives(tmp_path: Path) -> None:
    test = """
      module.exports.run = async ({ page, assert, utils }) => {
        const found = await utils.runAxeOnPage();
        const ids = (list) => list.map(({ id }) => id);
        const [image] = found.violations.filter(({ id }) => id === "image-alt");
        const [node] = image.nodes;
        await assert("a rule that is violated", () => node.failureSummary.startsWith("Fix any of the following"));
        await assert("why", () => node.any.some(({ id, message }) => id === "has-alt" && message));
        await assert("all and none", () => Array.isArray(node.all) && Array.isArray(node.none));
        await assert("impact", () => node.impact === "critical" && node.html.startsWith("<img"));
        await assert("rules that hold", () => ids(found.passes).includes("document-title"));
        await assert("nodes of one", () => found.passes.every(({ nodes }) => nodes.length));
        await assert("rules that do not apply", () => ids(found.inapplicable).includes("video-caption"));
        await assert("rules that axe-core cannot decide", () => {
          const [contrast] = found.incomplete.filter(({ id }) => id === "color-contrast");
          return { pass: contrast.nodes.length === 2, message: JSON.stringify(contrast) };
        });
      };"""
    blurred = '<p style="background-image: linear-gradient(white, black)">Timetable</p>'
    observed = seen(tmp_path / "axe", test, body=f'<img src="data:,">{blurred * 2}')
    assert {assertion.status for assertion in observed.assertions} == {"pass"}, observed
    assert [violation.count for violation in observed.violations] == [1]


RETURNED = """
  module.exports.run = async ({ assert }) => { await assert("it is there", () => true); };
  module.exports.runAxe = async ({ page, utils }) => GIVES;"""


@pytest.mark.parametrize(
    ("gives", "rules"),
    [
        ("page.evaluate(() => (document.body.append(new Image()), window.axe.run()))", {"image-alt": 1}),
        ("({ violations: [{ id: 'own-rule', tags: ['wcag2a'], nodes: [{}, {}] }] })", {"own-rule": 2}),
        ("utils.merge(await utils.runAxeOnPage(), await utils.runAxeOnPage())", {}),
        ("({ violations: 'none' })", {}),
        ("undefined", {}),
    ],
)  # fmt: skip
def test_violations_that_run_axe_returns_count(gives: str, rules: dict[str, int], tmp_path: Path) -> None:
    """The public harness merges them into its own result; a test may have run axe-core itself."""
    observed = seen(tmp_path / "returning", RETURNED.replace("GIVES", gives))
    assert {
        violation.id: violation.count for violation in observed.violations if "best-practice" not in violation.tags
    } == rules, observed
    assert judge(observed).result == ("failed" if rules else "passed")


def test_messages_of_each_type_are_recorded_after_many_others(tmp_path: Path) -> None:
    """The hybrid score uses the numbers of errors and warnings."""
    script = "for (let i = 0; i < 200; i++) console.log(i); console.error('late'); console.warn('later')"
    observed = seen(tmp_path / "harbour", RETURNED.replace("GIVES", "undefined"), script=script)
    types = Counter(message["type"] for message in observed.examples["console"])
    assert (observed.incidents["console"], types) == (202, {"log": 50, "error": 1, "warning": 1})


def test_a_page_of_the_older_form_says_only_whether_it_passes(tmp_path: Path) -> None:
    case = make_case(tmp_path / "harbour")
    for folder in ("example-pass", "example-fail"):
        (case.folder / folder).mkdir()
        (case.folder / folder / "good.html").write_text(page())
        (case.folder / folder / "bad.html").write_text(page(body="<img src='data:,'>"))
    (case.folder / "examples" / "good.html").unlink()
    found = check([load_case(case.folder)])
    assert {finding.where for finding in found.findings} == {"example-pass/bad.html", "example-fail/good.html"}
    assert (found.examples, found.expectations) == (4, 0)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("line", [b"[" * 60_000, b'{"done": ', b"\xff", b"7", b"[7]"])
def test_a_result_that_cannot_be_read_ends_the_runner(line: bytes, tmp_path: Path) -> None:
    (requests, to), (answers, told) = os.pipe(), os.pipe()
    threading.Thread(target=lambda: os.read(requests, 1) and os.write(told, line + b"\n")).start()
    worker = Worker()
    worker._home, worker._to, worker._from = tmp_path / "home", to, answers
    worker._process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    observed = worker.look(Job("<p>")).observed
    assert observed.ended == "ended" and "cannot be read" in observed.detail
    for end in (requests, told):
        os.close(end)


@pytest.mark.rule("on-task")
@pytest.mark.parametrize(("shown", "result"), [("Harbour", "passed"), ("", "failed")])
def test_a_page_that_shows_its_content_late_is_on_task(shown: str, result: str, tmp_path: Path) -> None:
    test = "module.exports.run = async ({ page }) => { await page.waitForTimeout(1500); };"
    script = f"document.querySelector('main').innerHTML = '<h1>{shown}</h1>'"
    case = make_case(tmp_path / "late", test, "Make a page: a harbour.", good="<p>harbour")
    html = f"""<!doctype html><html lang="en"><title>Boats</title><main></main>
      <script>setTimeout(() => {{ {script} }}, 1000)</script>"""
    assert judge(look_at(html, case).observed).result == result


#: what no mutation of the document shows, some time after it has loaded
LATE = {
    "a shadow root": "document.querySelector('#host').attachShadow({mode: 'closed'}).innerHTML = '<img src=\"#\">'",
    "a style": "document.querySelector('style').sheet.insertRule('p { color: #eee; background: #fff }')",
}

#: pages that show a dialog only for a moment: what their button does
MOMENTS = {
    "until the next press": "shown ? shown.remove() : document.body.append(made)",
    "in one task": "document.body.append(made); made.remove()",
    "in a shadow root": "host.shadowRoot.append(made)",
    "by its role": "note.setAttribute('role', 'dialog'); setTimeout(() => note.removeAttribute('role'))",
    "never": "",
}


@pytest.mark.rule("on-task")
@pytest.mark.parametrize("kind", MOMENTS)
def test_what_a_page_shows_only_while_it_is_used_counts(kind: str, tmp_path: Path) -> None:
    """It was looked for before and after the test only."""
    press = 'await page.getByRole("button").click();'
    test = f"""module.exports.run = async ({{ page, assert, utils }}) => {{
      await assert("opens", async () => {{ {press} {press if kind == "until the next press" else ""} return true; }});
      await assert("is loaded again", async () => {{ await utils.reload(); return true; }});
    }};"""
    html = f"""<!doctype html><html lang="en"><title>Account</title><main><h1>Account</h1><button>Delete</button>
      <p id="note">Hello</p><p id="host"></p></main><script>
      const made = document.createElement("dialog"), host = document.querySelector("#host");
      const note = document.querySelector("#note"); host.attachShadow({{ mode: "open" }});
      document.querySelector("button").onclick = () => {{
        const shown = document.querySelector("dialog"); {MOMENTS[kind]};
      }};</script>"""
    observed = look_at(html, make_case(tmp_path / "library", test, "Create a modal.", other=page())).observed
    assert observed.off_task == ("nothing that the prompt mentions is on the page" if kind == "never" else "")
    assert [assertion.status for assertion in observed.assertions] == ["pass", "pass"]


@pytest.mark.rule("on-task")
def test_names_of_the_prompt_need_not_be_there_at_once(tmp_path: Path) -> None:
    prompt = "Make a disclosure whose open content has the class `panel`, and whose closed one the class `rest`."
    html = """<!doctype html><html lang="en"><title>Rules</title><main><h1>Rules</h1><p class="rest">Quiet</p>
      <button>Rules</button></main><script>document.querySelector("button").onclick = () => {
      document.querySelector("p").className = "panel"; };</script>"""
    test = """module.exports.run = async ({ page, assert }) => {
      await assert("opens", async () => { await page.getByRole("button").click(); return true; }); };"""
    case = make_case(tmp_path / "rules", test, prompt, other=page())
    assert look_at(html, case).observed.off_task == ""
    without = look_at(html.replace('class="rest"', ""), case).observed
    assert without.off_task == "there is no .rest, which the prompt names"


@pytest.mark.rule("on-task")
def test_a_page_cannot_say_what_it_shows(tmp_path: Path) -> None:
    """What the engine notices is printed after a secret, by the isolated world's console."""
    html = """<!doctype html><html lang="en"><title>Account</title><script>
      const heard = []; for (const name of Object.keys(console)) console[name] = (...said) => heard.push(said);
      self.MutationObserver = class { observe() {} };</script><main><h1>Account</h1><dialog>Delete</dialog></main>
      <script>setTimeout(() => { document.querySelector("h1").textContent = JSON.stringify(heard); });</script>"""
    test = """module.exports.run = async ({ page, assert }) => {
      await assert("heard", async () => ({ pass: true, message: await page.locator("h1").textContent() })); };"""
    observed = look_at(html, make_case(tmp_path / "library", test, "Create a modal.", other=page())).observed
    assert (observed.off_task, observed.assertions[0].message, observed.incidents) == ("", "[]", {})


@pytest.mark.parametrize("kind", LATE)
def test_late_content_is_audited_even_if_the_test_does_not_use_it(kind: str, tmp_path: Path) -> None:
    test = """module.exports.run = async ({ page, assert }) => {
      await page.waitForTimeout(1500);
      await assert("heading", async () => (await page.locator("h1").count()) === 1);
    };"""
    html = {"head": "<style></style>", "body": "<div id='host'></div><p>Timetable</p>"}
    observed = seen(tmp_path / "late", test, script=f"setTimeout(() => {LATE[kind]}, 1000)", **html)
    assert (judge(observed).result, observed.audits) == ("failed", 2), observed


RELOADS = "await Promise.all([page.waitForEvent('load'), page.evaluate(() => location.reload())]);"


def test_a_document_that_replaces_the_audited_one_has_axe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page may reload itself at any time: here, right after its first audit."""
    runner = tmp_path / "runner"
    shutil.copytree(RUNNER, runner)
    script = (runner / "page.js").read_text().replace("  if (!job.folder) return;", RELOADS)
    (runner / "page.js").write_text(script)
    monkeypatch.setattr("pipeline.pages.engine.RUNNER", runner)
    test = """module.exports.run = async ({ page, assert }) => {
      await assert("axe is there", () => page.evaluate(() => Boolean(axe.commons.text)));
    };"""
    worker = Worker()
    try:
        observed = worker.look(Job(page(), code_of(make_case(tmp_path / "harbour", test)), limits=SHORT)).observed
    finally:
        worker.end()
    assert RELOADS in script
    assert (judge(observed).result, observed.incidents) == ("passed", {"reload": 1}), observed


#: pages too large for a screenshot
HUGE = {
    "wide": {"body": '<div style="width: 200000px">Ferry</div>'},
    "a body that scrolls": {
        "head": "<style>html, body { height: 100%; overflow: auto }</style>",
        "body": '<div style="height: 1000000px">Ferry</div>',
    },
    "tall": {"body": '<div style="height: 1000000px">Ferry</div>'},
}


@pytest.mark.parametrize("kind", HUGE)
def test_a_screenshot_is_limited_and_does_not_affect_the_test(kind: str, tmp_path: Path) -> None:
    test = """module.exports.run = async ({ page, assert }) => {
      await assert("view", () => ({ pass: true, message: JSON.stringify(page.viewportSize()) }));
    };"""
    looked = look_at(page(**HUGE[kind]), make_case(tmp_path / "sized", test), screenshot=True)
    width, height = struct.unpack(">II", looked.screenshot[16:24])
    assert 1280 <= width <= 2560 and 800 <= height <= 4000
    assert looked.observed.assertions[0].message == '{"width":1280,"height":800}'


def test_a_screenshot_ends_nothing_that_goes_on(tmp_path: Path) -> None:
    """Playwright can end all animations for a picture, and with it show a page as it is hours later."""
    head = "<style>img { animation: go 3600s forwards } @keyframes go { to { visibility: hidden } }</style>"
    looked = look_at(page(head=head, body="<img src='#'>"), make_case(tmp_path / "harbour"), screenshot=True)
    assert looked.screenshot and [violation.id for violation in looked.observed.violations] == ["image-alt"]


#: pages for a prompt about a harbour that names no specific thing: their content, and whether they are about it
ABOUT = {
    "a text": ("<p>The harbour</p>", True),
    "a hidden text": ("<p>Hello</p><p hidden>The harbour</p>", True),
    "an attribute": ('<input aria-label="Harbours">', True),
    "a shadow root": ('<p><template shadowrootmode="open">The harbour</template></p>', True),
    "the attribute of a frame": ('<iframe srcdoc="The harbour"></iframe>', True),
    "nothing": ("", False),
    "a script": ("<p>Hello</p><script>const harbour = 1;</script>", False),
    "a style": ("<p>Hello</p><style>.harbour {}</style>", False),
    "the name of an element": ("<p>Hello</p><harbour-x></harbour-x>", False),
    "a comment": ("<p>Hello</p><!-- harbour -->", False),
}


@pytest.mark.parametrize(
    ("text", "off_task"),
    [("Popular", "of what the prompt mentions, only 'popular' is on the page"), ("Popular deals", "")],
)
def test_one_of_many_words_of_a_prompt_is_not_enough(text: str, off_task: str, tmp_path: Path) -> None:
    """An unrelated page may have one of them, too."""
    prompt, test = "A shop with popular items, news and deals.", "module.exports.run = async () => {};"
    html = f"<!doctype html><html lang=en><title>Hello</title><body><h1>Herons</h1><a href=/>{text}</a></body></html>"
    case = make_case(tmp_path / "any", test, prompt, good="<p>News of popular items")
    assert look_at(html, case).observed.off_task == off_task


@pytest.mark.parametrize("kind", ABOUT)
def test_words_of_a_prompt_are_searched_in_visible_and_accessible_text(kind: str, tmp_path: Path) -> None:
    body, is_about = ABOUT[kind]
    case = make_case(
        tmp_path / "any", "module.exports.run = async () => {};", "Make a page: a harbour.", good="<p>harbour"
    )
    html = f"<!doctype html><html lang=en><title>Hello</title><body>{body}</body></html>"
    assert (look_at(html, case).observed.off_task == "") == is_about


COVER = "<div style='position: fixed; inset: 0; background: #fff; {}'></div>"
#: a style of the body, what covers it, a script, and whether people who look at the page see anything
SHOWN = {
    "an opaque cover": ("", COVER.format(""), "", False),
    "a cover that lets the pointer through": ("", COVER.format("pointer-events: none"), "", False),
    "a cover beside the text": ("", COVER.format("top: 50%"), "", True),
    "no opacity": ("opacity: 0", "", "", False),
    "a filter": ("filter: opacity(0)", "", "", False),
    "a clip": ("clip-path: circle(0)", "", "", False),
    "a transform": ("transform: translateX(-9999px)", "", "", False),
    "below the fold": ("padding-top: 3000px", "", "", True),
    "late": ("opacity: 0", "", "setTimeout(() => { document.body.style.opacity = 1; }, 1500);", True),
    "when it is used": ("opacity: 0", "", "document.onclick = () => { document.body.style.opacity = 1; };", True),
}


@pytest.mark.rule("on-task")
@pytest.mark.parametrize(
    ("kind", "screenshot"), [*((kind, False) for kind in SHOWN), ("a filter", True), ("late", True)]
)
def test_a_page_must_show_something(kind: str, screenshot: bool, tmp_path: Path) -> None:
    style, cover, script, shows = SHOWN[kind]
    test = """module.exports.run = async ({ page, assert }) => {
      await page.waitForTimeout(1500);
      await assert("pressed", async () => { await page.mouse.click(5, 5); return true; }); };"""
    html = f"""<!doctype html><html lang="en"><title>Harbour</title><body style="{style}"><main>
      <h1>The harbour</h1></main>{cover}<script>{script}</script></body></html>"""
    case = make_case(tmp_path / "harbour", test, "Make a page: a harbour.", good="<p>harbour")
    observed = look_at(html, case, screenshot=screenshot).observed
    assert observed.off_task == ("" if shows else "the page shows nothing")


def test_chromium_gets_playwrights_switches_and_ours(tmp_path: Path) -> None:
    """It reads the last --disable-features only."""
    test = """
      const fs = require("fs");
      const words = (process) => {
        try { return fs.readFileSync(`/proc/${process}/cmdline`, "utf8").split("\\0"); } catch { return []; }
      };
      module.exports.run = async ({ assert }) => {
        const all = fs.readdirSync("/proc").filter((one) => /^\\d+$/.test(one)).map(words);
        const profile = `--user-data-dir=${process.env.HOME}`;
        const own = all.find((one) => one.includes("--headless") && one.some((word) => word.startsWith(profile)));
        const off = own.filter((word) => word.startsWith("--disable-features=")).pop();
        await assert("Playwright's", () => ({ pass: off.includes("PaintHolding"), message: off }));
        await assert("ours", () => ({ pass: off.includes("RenderDocument"), message: off }));
      };"""
    observed = seen(tmp_path / "switches", test)
    assert [assertion.status for assertion in observed.assertions] == ["pass", "pass"], observed


@pytest.mark.parametrize("load", ["utils.reload()", "page.reload()", "page.evaluate(() => location.reload())"])
def test_a_page_that_is_loaded_again_is_without_the_mouse(tmp_path: Path, load: str) -> None:
    """Its documents share a frame, and a carousel that rests below the mouse would never move."""
    test = f"""
      module.exports.run = async ({{ page, assert, utils }}) => {{
        const isBelow = (ferry) => ferry.matches(":hover");
        const ferry = page.locator(".ferry");
        await ferry.hover();
        await assert("the mouse is there", () => ferry.evaluate(isBelow));
        const loaded = page.waitForEvent("load");
        await {load};
        await loaded;
        await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
        await assert("the mouse is gone", async () => !(await ferry.evaluate(isBelow)));
      }};"""
    observed = seen(tmp_path / "mouse", test)
    assert [assertion.status for assertion in observed.assertions] == ["pass", "pass"], observed


#: pages that keep all processors busy: by workers, and by frames in processes of their own
BURNING = {
    "workers": {
        "script": """const code = URL.createObjectURL(new Blob(['while (true) {}']));
          for (let i = 0; i < 8; i++) new Worker(code);"""
    },
    "frames": {
        "body": """<iframe title="frame" sandbox="allow-scripts" src="data:text/html,<script>
          setTimeout(() => { while (true) {} }, 300)</script>">
          </iframe>"""
    },
}


@pytest.mark.rule("busy-machine")
@pytest.mark.parametrize("kind", BURNING)
def test_what_a_page_uses_itself_is_no_evidence_of_a_busy_machine(kind: str, tmp_path: Path) -> None:
    """A page could buy another try, and in the end an error in place of its failure."""
    test = "module.exports.run = async ({ page }) => { await page.waitForTimeout(6000); };"
    code, worker = code_of(make_case(tmp_path / "waiting", test)), Worker()
    worker.look(Job(page(), code, limits=SHORT))
    assert worker._process
    looking = threading.Thread(target=worker.look, args=[Job(page(**BURNING[kind]), code, limits=SHORT)])
    with Others() as everything, Others(worker._process.pid) as counted:
        looking.start()
        looking.join(5)
        assert looking.is_alive()
    looking.join()
    worker.end()
    assert everything.used is not None and counted.used is not None
    assert everything.used - counted.used > 0.1


@pytest.mark.rule("busy-machine")
@pytest.mark.parametrize(("needed", "is_busy"), [(1000.0, True), (-1000.0, False)])
def test_it_is_known_whether_others_left_enough(
    needed: float, is_busy: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(others, "NEEDED", needed)
    assert bool(look_at(page(), make_case(tmp_path / "harbour")).observed.busy) is is_busy


@pytest.mark.rule("no-signs-of-automation")
def test_a_page_finds_no_sign_of_automation(tmp_path: Path) -> None:
    """It could show accessible markup to us, and something else to people."""
    test = f"""
      module.exports.run = async ({{ page, assert }}) => {{
        for (const place of {list(PLACES)}) {{
          const found = page.locator("p", {{ hasText: `${{place}}:` }});
          await assert(place, async () => ({{ pass: true, message: await found.textContent() }}));
        }}
      }};"""
    observed = look_at(page(SCRIPT), make_case(tmp_path / "signs", test), Limits()).observed
    assert [assertion.message for assertion in observed.assertions] == [f"{place}: nothing" for place in PLACES]


#: what an assertion throws, and its message
THROWN = {
    "await page.locator('.none').click();": ("locator.click: Timeout 1000ms exceeded. (waiting for locator('.none'))"),
    "await page.waitForFunction(() => false);": "page.waitForFunction: Timeout 1000ms exceeded.",
    "await page.evaluate(() => { throw new Error('no ferry'); });": "page.evaluate: Error: no ferry",
    "throw Error('a\\nb');": "a\nb",
    "try { await page.click('.none'); } catch (error) { return { pass: false, message: error.message }; }": (
        "page.click: Timeout 1000ms exceeded. (waiting for locator('.none'))"
    ),
    "throw Error('\\u001b[31mred\\u001b[1;39m');": "red",
}


@pytest.mark.parametrize("does", THROWN)
def test_a_message_is_short_and_the_same_each_time(does: str, tmp_path: Path) -> None:
    """Playwright's log of a call says how often it tried, which depends on the load of the machine."""
    test = f"module.exports.run = async ({{ page, assert }}) => {{ await assert('a', async () => {{ {does} }}); }};"
    observed = seen(tmp_path / "thrown", test)
    assert [assertion.message for assertion in observed.assertions] == [THROWN[does]]


def test_what_a_page_that_does_not_load_waited_for_is_not_a_log(tmp_path: Path) -> None:
    observed = seen(tmp_path / "loading", "module.exports.run = () => {};", script="while (true) {}")
    assert (observed.ended, observed.detail.count("\n")) == ("load", 0), observed.detail
    assert observed.detail.startswith("page.waitForNavigation: Timeout 3000ms exceeded.")


#: a control, with styles, and whether nobody can see its text
UNSEEN = {
    "a button": ('<button style="color: #fff; background: #fff">Go</button>', True),
    "a link": ('<a href="#x" style="color: white">Go</a>', True),
    "a part of a button": ('<button style="background: #fff"><span style="color: #fff">Go</span></button>', True),
    "a tab": ('<div role="tab" tabindex="0" style="color: #123; background: #123">Go</div>', True),
    "in a shadow root": (
        '<p><template shadowrootmode="open"><button style="color: #fff; background: #fff">Go</button></template></p>',
        True,
    ),
    "with a stroke": (
        '<button style="color: #fff; background: #fff; -webkit-text-stroke: 1px #000">Go</button>',
        False,
    ),
    "filled": ('<button style="color: #fff; background: #fff; -webkit-text-fill-color: #000">Go</button>', False),
    "transparent": ('<button style="color: transparent; background: #fff">Go</button>', False),
    "beside a picture": (
        '<button style="color: #fff; background: #fff"><svg width="9" height="9"><rect width="9" height="9"/></svg>Go'
        "</button>",
        False,
    ),
    "with an icon": (
        '<style>.i::before { content: "+"; color: #000 }</style><button class="i" '
        'style="color: #fff; background: #fff">Go</button>',
        False,
    ),
    "on a picture": (
        '<button style="color: #fff; background: #fff linear-gradient(#000, #000)">Go</button>',
        False,
    ),
    "only for screen readers": (
        '<button style="background: #fff"><b aria-hidden="true">+</b><span style="position: absolute; width: 1px; '
        'height: 1px; overflow: hidden; clip-path: inset(50%); color: #fff">Go</span></button>',
        False,
    ),
    "a skip link": ('<a href="#x" style="position: absolute; left: -9999px; color: #fff">Go</a>', False),
    "no control": ('<p style="color: #fff; background: #fff">Go</p>', False),
    "disabled": ('<button disabled style="color: #fff; background: #fff">Go</button>', False),
}


@pytest.mark.rule("unseen-controls")
@pytest.mark.parametrize("kind", UNSEEN)
def test_a_control_whose_text_nobody_can_see_is_a_violation(kind: str, tmp_path: Path) -> None:
    """For axe-core, people have to check such a text, and no page would fail because of it."""
    body, is_unseen = UNSEEN[kind]
    observed = seen(tmp_path / "unseen", "module.exports.run = () => {};", body=body)
    assert ("color-contrast" in {violation.id for violation in observed.violations}) is is_unseen, observed


@pytest.mark.parametrize("load", ["", "await utils.reload();", "await page.reload();"])
def test_a_test_sees_into_closed_shadow_roots_after_each_load(load: str, tmp_path: Path) -> None:
    """It saw into them until it loaded the page again, and the page failed."""
    script = """customElements.define("a-ferry", class extends HTMLElement {
      connectedCallback() { this.attachShadow({ mode: "closed" }).innerHTML = "<button>Leave</button>"; }
    }); document.querySelector("main").append(document.createElement("a-ferry"));"""
    test = f"""module.exports.run = async ({{ page, assert, utils }}) => {{
      {load}
      await assert("it is there", async () => (await page.getByRole("button", {{ name: "Leave" }}).count()) === 1);
    }};"""
    observed = seen(tmp_path / "closed", test, script=script)
    assert [assertion.status for assertion in observed.assertions] == ["pass"], observed
