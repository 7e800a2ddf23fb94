"""Stories in a real browser: what can only be seen there, and what foreign code cannot do."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from pipeline.evaluate.assess.stories.browser import Audited, audit
from pipeline.evaluate.assess.stories.site import Site, Story

pytestmark = pytest.mark.engine("browser")

FRAME = """<!doctype html><html lang="en"><head><title>Stories</title></head><body><div id="storybook-root"></div>
<script src="stories.js"></script></body></html>"""
IMAGE = "root.innerHTML = '<img src=\"\">'"
PALE = "root.innerHTML = '<p style=\"color: #aaa; background: white\">Not enough</p>'"
BUTTON = '<button style="width: 12px; height: 12px; padding: 0; border: 0">a</button>'
FALSE_AXE = "window.axe = { run: () => ({ violations: [] }), setup() {}, teardown() {} }"
SHOWN, FAILED = (f"document.body.className = 'sb-show-{name}'" for name in ("main", "errordisplay"))
#: story's id -> what its script does with `root`
SCRIPTS = {
    "good": "root.innerHTML = '<p>Enough</p>'",
    "pale": PALE,
    "pale-too": PALE,
    "small": f"root.innerHTML = '{BUTTON * 3}'",
    "liar": f"{FALSE_AXE}; {IMAGE}",
    "late": f"setTimeout(() => {{ {IMAGE} }}, 300)",
    "broken": f"{FAILED}; {IMAGE}",
    "elsewhere": f"{SHOWN}; document.body.append(new Image())",
    "broken-late": f"{SHOWN}; setTimeout(() => {{ {FAILED} }}, 200)",
    "nothing": "",
    "loop": "root.innerHTML = '<p>Wait</p>'; for (;;);",
    "caller": "fetch('http://127.0.0.1:%d/').catch(() => 0).then(() => (root.innerHTML = '<p>Called</p>'))",
}


class Listener(BaseHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(204)
        self.end_headers()


@pytest.fixture(scope="module")
def audited() -> Audited:
    """All stories at once; those that never render take their five seconds."""
    server = HTTPServer(("127.0.0.1", 0), Listener)
    Thread(target=server.serve_forever, daemon=True).start()
    cases = ",\n".join(f'"{name}": (root) => {{ {script} }}' for name, script in SCRIPTS.items())
    script = f"({{{cases % server.server_address[1]}}})[new URLSearchParams(location.search).get('id')]"
    files = {
        "iframe.html": FRAME.encode(),
        "stories.js": f"{script}(document.getElementById('storybook-root'))".encode(),
    }
    found = audit(Site(files, tuple(map(Story, SCRIPTS))), list(SCRIPTS), seconds=5)
    server.shutdown()
    return found


def seen(audited: Audited, story: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(violation.rule, violation.criteria) for violation in audited.violations if story in violation.tests]


def test_contrast_and_target_size_are_audited(audited: Audited) -> None:
    assert seen(audited, "good") == []
    assert seen(audited, "pale") == [("color-contrast", ("1.4.3",))]
    assert set(seen(audited, "small")) == {("target-size", ("2.5.8",))}
    assert audited.browser.startswith("Chromium 1")


def test_a_violation_is_listed_once_with_all_its_stories(audited: Audited) -> None:
    (one,) = [violation for violation in audited.violations if violation.rule == "color-contrast"]
    assert one.tests == ("pale", "pale-too")


def test_slow_stories_and_those_that_draw_elsewhere_are_waited_for(audited: Audited) -> None:
    assert seen(audited, "late") == [("image-alt", ("1.1.1",))]
    assert seen(audited, "elsewhere") == [("image-alt", ("1.1.1",))]


@pytest.mark.rule("stories-silence")
def test_stories_that_do_not_render_are_not_among_the_shown(audited: Audited) -> None:
    """An error, an empty page or an endless loop costs its own story's time only."""
    assert set(SCRIPTS) - set(audited.shown) == {"broken", "broken-late", "nothing", "loop"}


@pytest.mark.invariant(5)
def test_a_story_can_neither_change_the_audit_nor_reach_this_machine(audited: Audited) -> None:
    assert seen(audited, "liar") == [("image-alt", ("1.1.1",))]
    assert "caller" in audited.shown
    assert Listener.asked == []
