"""The browser: what is read from a page, and that a misbehaving page is reported by name and does not affect others."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from automation_signs import PLACES, SCRIPT
from namespaces import until

from pipeline import browser
from pipeline.browser import Browser, Markup, Node, Page, Served
from pipeline.core.errors import InfrastructureError, UserError

pytestmark = pytest.mark.engine("browser")

GOOD = '<!doctype html><html lang="en"><title>a</title><body><p>Good</p><button>One</button>'
PICTURE = GOOD + '<img src="">'
DIALOG = """<!doctype html><div role="dialog" aria-label="Delete all" class="c0"><div><img src="a"><img src="b"></div>
<p style="color: #aaa; background: #fff">pale</p><button>a</button></div>"""
#: a page's time limit here, in seconds
SECONDS = 3


@pytest.fixture(scope="module")
def viewer() -> Iterator[Browser]:
    with browser.opened() as viewer:
        yield viewer


def site(text: str, name: str = "page", *wants: str, **more: object) -> Page:
    return Page(name, Served({"index.html": text.encode()}), wants or ("axe",), SECONDS, **more)


def script(text: str) -> str:
    return f"{GOOD}<script>{text}</script>"


# -- what is wanted of a page ------------------------------------------------------------------------------------------
def test_every_result_for_a_site(viewer: Browser) -> None:
    seen = viewer.look(site(PICTURE, "page", "axe", "trees", "screenshot"))
    assert (seen.page, seen.cause) == ("page", "")
    assert [row["rule"] for row in seen.violations] == ["image-alt"]
    assert "paragraph: Good" in seen.trees.aria and "tab stop 1: button 'One'" in seen.trees.browser
    assert seen.screenshot.startswith(b"\x89PNG")
    assert viewer.version.startswith("Chromium 1")


@pytest.mark.rule("no-signs-of-automation")
def test_a_site_finds_no_sign_of_automation(viewer: Browser) -> None:
    ready = f"""async () => {{
      while (document.querySelectorAll("main p").length < {len(PLACES)}) await new Promise((go) => setTimeout(go, 50));
      return true;
    }}"""
    text = f"{GOOD}<main></main><script>{SCRIPT}</script>"
    seen = viewer.look(replace(site(text, "signs", "trees", ready=ready), seconds=20))
    assert seen.trees, seen.cause
    said = re.findall(r"paragraph: \"?([^\"\n]*: [^\"\n]*)", seen.trees.aria)
    assert sorted(said) == sorted(f"{place}: nothing" for place in PLACES)


def test_every_result_for_markup(viewer: Browser) -> None:
    markup = Markup(".a { color: #aaa; background: #fff }", [["p", {"class": "a"}, ["pale"]], {"html": "<img>"}])
    seen = viewer.look(Page("markup", markup, ("axe", "trees", "screenshot")))
    assert sorted(row["rule"] for row in seen.violations) == ["color-contrast", "image-alt"]
    assert "paragraph: pale" in seen.trees.aria and seen.screenshot.startswith(b"\x89PNG")


@pytest.mark.engine("browser", "npm")
def test_screen_reader_output(viewer: Browser) -> None:
    """In a page that had another text before, in which no script runs; for an empty page, nothing is said."""

    def said(*nodes: Node) -> tuple[str, ...] | None:
        return viewer.look(Page("spoken", Markup("", list(nodes)), ("spoken",))).spoken

    switch = ["button", {"role": "switch", "aria-checked": "true"}, ["Lamp"]]
    assert said(switch) == ("document", "switch, Lamp, checked", "end of document")
    assert said(["p", {"class": "a"}, ["On"]]) == ("document", "paragraph", "On", "end of paragraph", "end of document")
    assert said() == said(["p", {"aria-hidden": "true"}, ["On"]]) == ()
    assert "button, One" in (viewer.look(site(GOOD, "page", "spoken")).spoken or ())


def test_contrast_is_audited_and_elements_are_named_by_role_and_name(viewer: Browser) -> None:
    """Never by a class; the second element with the same role and name gets a number."""
    rows = viewer.look(site(DIALOG)).violations
    assert [(row["rule"], *row["criteria"], row["element"]) for row in rows] == [
        ("color-contrast", "1.4.3", 'dialog "Delete all" > p "pale"'),
        ("image-alt", "1.1.1", 'dialog "Delete all" > img'),
        ("image-alt", "1.1.1", 'dialog "Delete all" > img [2]'),
    ]


def test_a_slow_page_is_waited_for(viewer: Browser) -> None:
    ready = (
        "async () => { while (!document.images.length) await new Promise((done) => setTimeout(done, 20)); return true }"
    )
    late = site(script("setTimeout(() => document.body.append(new Image()), 200)"), ready=ready)
    assert [row["rule"] for row in viewer.look(late).violations] == ["image-alt"]
    assert viewer.look(site(GOOD, ready="() => false")).cause == "it is not shown"


# -- what a page can not do --------------------------------------------------------------------------------------------
class Listener(BaseHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(204)
        self.end_headers()


@pytest.mark.invariant(5)
@pytest.mark.parametrize("form", ["site", "markup"])
def test_a_page_reaches_no_network(viewer: Browser, form: str) -> None:
    with HTTPServer(("127.0.0.1", 0), Listener) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        image = f'<img alt="" src="http://127.0.0.1:{server.server_address[1]}/">'
        calls = f"<script>fetch('http://127.0.0.1:{server.server_address[1]}/')</script>"
        shows = Page("a", Markup("", [{"html": image}])) if form == "markup" else site(GOOD + image + calls)
        assert viewer.look(shows).cause == ""
        server.shutdown()
    assert Listener.asked == []


@pytest.mark.invariant(5)
def test_a_page_cannot_change_the_audit_or_our_marks(viewer: Browser) -> None:
    lies = "window.axe = { run: () => ({ violations: [] }), setup() {}, teardown() {} };"
    marks = "document.querySelector('p').setAttribute('data-a11y-bench-stop', 'none')"
    seen = viewer.look(site(f"{PICTURE}<script>{lies}{marks}</script>", "liar", "axe", "trees"))
    assert [row["rule"] for row in seen.violations] == ["image-alt"]
    assert seen.trees.browser.count("tab stop") == 1


@pytest.mark.invariant(5)
def test_pages_share_no_storage(viewer: Browser) -> None:
    written = viewer.look(site(script("localStorage.a = 1; document.cookie = 'a=1'")))
    found = "if (localStorage.a || document.cookie) document.body.append(new Image())"
    seen = viewer.look(site(script(found)))
    assert (written.cause, seen.cause, seen.violations) == ("", "", ())


@pytest.mark.invariant(5)
def test_the_browser_runs_as_nobody_in_its_own_sandbox() -> None:
    """Other tests' browsers may still run."""
    before = _browsers().keys()
    with browser.opened():
        (process,) = until(lambda: _browsers().keys() - before)
        command, owner = _browsers()[process], Path(f"/proc/{process}").stat().st_uid
    assert owner == (os.geteuid() or 65534)
    assert "--proxy-server=http://127.0.0.1:9" in command and "--no-sandbox" not in command


# -- what goes wrong ---------------------------------------------------------------------------------------------------
EATER = "const held = []; for (;;) held.push(new Uint8Array(1 << 26).fill(1))"
DEEP = "let at = document.body; for (let n = 0; n < 5000; n++) at = at.appendChild(document.createElement('ul'))"
AWAY = '<meta http-equiv="refresh" content="0">'
BAD = {
    "crash": (Page("crash", Served({}, "crash", "chrome:/"), ("axe",), SECONDS), "the page crashed"),
    "loop": (site(script("for (;;);"), "loop"), "it takes longer than 3 s"),
    "later": (site(script("setTimeout(() => { for (;;); }, 50)"), "later"), "it takes longer than 3 s"),
    "never": (site(GOOD, "never", ready="() => new Promise(() => 0)"), "it takes longer than 3 s"),
    "eater": (site(script(f"for (;;) {{ try {{ {EATER} }} catch {{}} }}"), "eater"), "it takes longer than 3 s"),
    "deep": (site(script(DEEP), "deep"), "the page crashed"),
    "nothing": (Page("nothing", Served({}), seconds=SECONDS), "Page.goto: net::ERR_FAILED at"),
    "away": (Page("away", Markup("", [{"html": AWAY}]), ready="() => new Promise(() => 0)"), "CDPSession.send: "),
    "dialog": (site(script("alert(1); confirm(2); open('/')"), "dialog"), ""),
}


@pytest.mark.rule("page-ends-browser")
@pytest.mark.parametrize("name", BAD)
def test_a_bad_page_is_named_and_leaves_the_others_intact(viewer: Browser, name: str) -> None:
    bad, cause = BAD[name]
    good = (site(PICTURE, "before"), bad, Page("markup", Markup("", [["p", {}, ["a"]]])), site(PICTURE, "after"))
    before, seen, markup, after = map(viewer.look, good)
    assert (seen.page, seen.cause[: len(cause)]) == (name, cause)
    assert bool(seen.cause) == bool(cause)
    assert [row["rule"] for row in (*before.violations, *after.violations)] == ["image-alt", "image-alt"]
    assert "paragraph: a" in markup.trees.aria


def _browsers() -> dict[int, list[str]]:
    """The browsers of this process: number and command line."""
    listed = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = {int(pid): (int(ppid), args) for pid, ppid, args in (line.split(None, 2) for line in listed.splitlines())}

    def is_ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in rows and is_ours(rows[pid][0]))

    mains = {
        pid: args for pid, (_, args) in rows.items() if "--remote-debugging-pipe" in args and "--type=" not in args
    }
    # Debian's program is a script around the browser; a browser's process starts as a copy of it
    found = {pid: args.split() for pid, args in mains.items() if is_ours(pid) and not args.startswith("/bin/sh ")}
    return {pid: words for pid, words in found.items() if rows[pid][0] not in found}


class Deadly(dict[str, bytes]):
    """Files of a page; a request for one kills the browsers of this process, a limited number of times."""

    def __init__(self, times: int, kill: Callable[[], None]) -> None:
        super().__init__({"index.html": GOOD.encode()})
        self.times, self.asked, self.kill = times, 0, kill

    def __getitem__(self, name: str) -> bytes:
        self.asked += 1
        if self.asked <= self.times:
            self.kill()
        return super().__getitem__(name)


def _kill_browser() -> None:
    for process in _browsers():
        os.kill(process, signal.SIGKILL)


def _kill_driver() -> None:
    """Playwright's own process, the browser's parent."""
    at = next(iter(_browsers()))
    while "run-driver" not in Path(f"/proc/{at}/cmdline").read_text():
        at = int(Path(f"/proc/{at}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(at, signal.SIGKILL)


@pytest.mark.rule("page-ends-browser")
@pytest.mark.parametrize("kill", [_kill_browser, _kill_driver], ids=["browser", "driver"])
@pytest.mark.parametrize(("times", "cause"), [(1, ""), (9, "the browser ended 2 times while showing it")])
def test_a_page_that_crashes_the_browser_is_retried_once_and_no_other_is_lost(times, cause, kill) -> None:
    """Of 420 foreign documents, one killed the browser, and 197 had no result."""
    deadly = Deadly(times, kill)
    pages = [site(PICTURE, f"page {number}") for number in range(5)]
    pages[2] = Page("deadly", Served(deadly), ("axe",), SECONDS)
    with browser.opened() as viewer:
        seen = [viewer.look(page) for page in pages]
    assert [(audited.page, audited.cause) for audited in seen] == [
        (page.name, cause * (page.name == "deadly")) for page in pages
    ]
    assert all(
        [row["rule"] for row in audited.violations] == ["image-alt"] for audited in seen if audited.page != "deadly"
    )
    assert deadly.asked == 2


@pytest.mark.invariant(7)
def test_a_browser_that_ends_between_two_pages_is_started_again() -> None:
    with browser.opened() as viewer:
        _kill_browser()
        assert viewer.look(site(PICTURE)).cause == ""
    assert _browsers() == {}


@pytest.mark.rule("bad-input")
def test_a_missing_browser_is_reported_with_a_hint(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("A11Y_BENCH_BROWSER", raising=False)
    with pytest.raises(UserError, match="just browser-install"), browser.opened():
        pass


@pytest.mark.invariant(4)
def test_a_browser_that_does_not_start_is_the_machines_fault(monkeypatch) -> None:
    monkeypatch.setenv("A11Y_BENCH_BROWSER", "/bin/false")
    with pytest.raises(InfrastructureError, match="does not start") as failure, browser.opened():
        pass
    assert failure.value.cause == "browser"
