"""Pages and cases that misbehave: each is bounded and recorded, and the next page is not touched."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pages_bench import SHORT, TEST, look_at, make_case, page

from pipeline.pages.cases import Case
from pipeline.pages.engine import GRACE
from pipeline.pages.running import Doubts
from pipeline.pages.verdict import judge

pytestmark = [pytest.mark.engine("browser"), pytest.mark.rule("hostile-pages")]

#: what is wrong with a picture without a text, whatever the page says of it
BARE = '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'
FAKE = "{run: () => Promise.resolve({violations: []}), setup() {}, teardown() {}, commons: {}, utils: {}}"
STORM = "for (let i = 0; i < 1e5; i++) "

#: kind -> page, how it ends (result and cause), and what is recorded of it
KINDS = {
    "loop while it loads": (page("while (true) {}"), ("failed", "time"), ()),
    "loop after it has loaded": (page("addEventListener('load', () => setTimeout(() => { while (true) {} }))"), "failed", ()),
    "loop when it is used": (page("document.querySelector('.ferry').onclick = () => { while (true) {} }"), ("failed", ""), ()),
    "promises without end": (page("const go = () => Promise.resolve().then(go); go()"), ("failed", "time"), ()),
    "it never ends to load": (page(body='<img alt="" src="/slow.png">') + "<script>document.write('<plaintext>')</script>", "any", ("network",)),
    "20,000 links": (page("document.querySelector('main').innerHTML += '<a href=\"#x\">x</a> '.repeat(20000)"), "any", ()),
    "a gigabyte of text": (page("let all = []; while (true) all.push('x'.repeat(2 ** 28).split(''))"), ("failed", "crashed"), ()),
    "a deep tree": (page("let at = document.body; for (let i = 0; i < 3e4; i++) at = at.appendChild(document.createElement('div'))"), "any", ()),
    "alerts": (page("for (let i = 0; i < 3; i++) alert(i)"), ("passed", ""), ("dialog",)),
    "alerts without end": (page("while (true) alert(1)"), ("failed", "too_much"), ("dialog",)),
    "a prompt before it is left": (page("onbeforeunload = () => 'stay'"), ("passed", ""), ()),
    "a popup": (page("open('about:blank')"), ("passed", ""), ("popup",)),
    "popups without end": (page(f"{STORM} open('about:blank')"), ("failed", "too_much"), ("popup",)),
    "a download": (page("const a = document.createElement('a'); a.href = 'data:application/zip,x'; a.download = 'x.zip'; a.click()"), ("passed", ""), ("download",)),
    "another document": (page("location = 'https://example.org/'"), ("passed", ""), ("navigation",)),
    "an empty document": (page("setTimeout(() => { location = 'about:blank' })"), ("failed", "left"), ("navigation",)),
    "a document of its own making": (page("location = URL.createObjectURL(new Blob(['<h1>clean</h1>'], {type: 'text/html'}))"), ("failed", "left"), ("navigation",)),
    "it loads itself again": (page("location.reload()"), ("failed", "too_much"), ("reload",)),
    "it closes itself": (page("open(location, '_self').close()"), "any", ()),
    "requests": (page("fetch('https://example.org/a'); new Image().src = 'http://127.0.0.1:9/b'; navigator.sendBeacon('https://example.org/c')"), ("passed", ""), ("network",)),
    "requests without end": (page(f"{STORM} fetch('https://example.org/' + i).catch(() => 0)"), ("failed", "too_much"), ("network",)),
    "a socket": (page("new WebSocket('wss://example.org/')"), ("passed", ""), ("network",)),
    "a service worker": (page("navigator.serviceWorker.register('/worker.js')"), ("passed", ""), ()),
    "workers": (page("const code = URL.createObjectURL(new Blob(['while (true) {}'])); for (let i = 0; i < 8; i++) new Worker(code)"), "any", ()),
    "frames in frames": (page(body='<iframe title="more" src="/"></iframe>'), ("passed", ""), ("network",)),
    "a log without end": (page(f"{STORM} console.log('x'.repeat(1000))"), ("failed", "too_much"), ("console",)),
    "errors without end": (page("setInterval(() => { for (let i = 0; i < 500; i++) setTimeout(() => { throw Error('no') }) })"), ("failed", "too_much"), ("error",)),
    "a crash": (page("location = 'chrome://crash'"), "any", ()),
    "printing": (page("print()"), ("passed", ""), ()),
    "axe that is there already": (page(f"window.axe = {FAKE}", BARE, f"<script>window.axe = {FAKE}</script>"), ("failed", ""), ()),
    "axe that can not be set": (page(body=BARE, head=f"<script>Object.defineProperty(window, 'axe', {{get: () => ({FAKE}), set() {{}}}})</script>"), ("failed", ""), ()),
    "a document that answers wrongly": (page(body=BARE, head="<script>for (const kind of [Document, Element]) kind.prototype.querySelectorAll = () => []; Element.prototype.matches = () => false; Array.prototype.filter = () => []</script>"), ("failed", ""), ()),
    "names that stand before the document's": (page(body=f'{BARE}<form name="querySelectorAll"></form><form name="body"></form>'), ("failed", "unaudited"), ()),
    "a closed shadow root": (page("const host = document.querySelector('main').appendChild(document.createElement('div')); host.attachShadow({mode: 'closed'}).innerHTML = '<img src=\"data:image/gif;base64,R0lGODlhAQABAAAAACw=\">'"), ("failed", ""), ()),
    "a frame of its own making": (page(body="<iframe title='more' srcdoc=\"<!doctype html><html lang=en><title>a</title><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>\"></iframe>"), ("failed", ""), ()),
    "a policy that allows nothing": (page(body=BARE, head="<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; script-src 'unsafe-inline'\">"), ("failed", ""), ()),
    "nothing": ("", ("failed", "off_task"), ()),
    "something else": (page().replace("ferry", "boat"), ("failed", "off_task"), ()),
    "no text that is one": ("\x00\ud800<h1>".encode("utf-8", "replace").decode(), ("failed", "off_task"), ()),
    "it is too large": ("<h1>a</h1>" * 2**20, "any", ()),
}  # fmt: skip


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return make_case(tmp_path_factory.mktemp("cases") / "harbour")


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_bounded_and_recorded_and_the_next_one_is_untouched(kind: str, case: Case) -> None:
    html, ends, recorded = KINDS[kind]
    since = time.monotonic()
    seen = look_at(html, case).observed
    took = time.monotonic() - since
    judged = judge(seen, doubt=Doubts(SHORT).settle(case, seen))
    assert took < SHORT.page + GRACE + 10
    assert ends == "any" or judged.result == ends or (judged.result, judged.cause) == ends, (judged, seen)
    assert judged.result != "error" and set(recorded) <= set(seen.incidents), (judged, seen)
    after = look_at(page(), case).observed
    assert (judge(after), after.incidents) == (("passed", "", ""), {})


#: kind -> a test.js that misbehaves
CASES = {
    "it ends the process": "module.exports.run = async () => { process.exit(0); };",
    "it ends the process later": "module.exports.run = async ({page}) => { setTimeout(() => process.exit(3)); await page.waitForTimeout(2000); };",
    "it kills the process": "module.exports.run = async () => { process.kill(process.pid, 'SIGKILL'); };",
    "it never ends": "module.exports.run = async () => { while (true) {} };",
    "it uses up memory": "module.exports.run = async () => { const all = []; while (true) all.push('x'.repeat(1e6).split('')); };",
    "it can not be read": "module.exports.run = async ( => {",
    "it has no run": "module.exports.walk = async () => {};",
    "it throws": "module.exports.run = async () => { undefined.click(); };",
    "it throws where nobody waits": "module.exports.run = async ({page}) => { setTimeout(() => { throw Error('late'); }); await page.waitForTimeout(300); };",
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_a_case_that_misbehaves_is_an_error_and_costs_no_other_its_result(
    kind: str, case: Case, tmp_path: Path
) -> None:
    bad = make_case(tmp_path / "bad", CASES[kind])
    seen = look_at(page(), bad).observed
    judged = judge(seen, doubt=Doubts(SHORT).settle(bad, seen))
    assert (judged.result, judged.cause) == ("error", "case"), (judged, seen)
    assert judge(look_at(page(), case).observed).result == "passed"


def test_what_a_case_throws_on_a_page_and_not_on_its_good_example_is_the_pages_fault(tmp_path: Path) -> None:
    test = "module.exports.run = async ({page}) => { await (await page.$('#deck')).click(); };"
    good = page(body='<button id="deck">Deck</button>')
    strict = make_case(
        tmp_path / "strict",
        test,
        good=good.replace(
            "</head>",
            '<script id="a11y-assertions" type="application/json">{"assertions": {}, "passes": true}</script></head>',
        ),
    )
    seen = look_at(page(), strict).observed
    assert seen.threw and judge(seen, doubt=Doubts(SHORT).settle(strict, seen))[:2] == ("failed", "unfinished")


def test_an_assertion_that_takes_too_long_fails_and_the_next_one_is_asked(tmp_path: Path) -> None:
    slow = make_case(
        tmp_path / "slow",
        TEST.replace('"Has a heading", async () =>', '"Has a heading", async () => await new Promise(() => {}) ||'),
    )
    seen = look_at(page(), slow).observed
    assert [(one.status, one.message) for one in seen.assertions] == [
        ("fail", "it took longer than 2 s"),
        ("pass", ""),
        ("pass", ""),
    ]
