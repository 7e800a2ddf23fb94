import pytest

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.pages import running
from pipeline.pages.engine import Job, Limits, Looked, look
from pipeline.pages.hybrid import behaviour
from pipeline.pages.hybrid.behaviour import part
from pipeline.pages.records import Assertion, Observed

RENDERS = (Assertion(name="renders", status="pass"),)
FAILS = (Assertion(name="renders", status="fail"),)


def test_errors_and_warnings_of_the_console_count_apart():
    messages = [{"type": "error", "text": "a"}, {"type": "warning", "text": "b"}, {"type": "log", "text": "c"}]
    seen = Observed(
        assertions=RENDERS,
        incidents={"console": 3, "error": 1},
        examples={"console": messages, "error": ["TypeError: x"]},
        seconds={"load": 0.2},
    )
    found = part(seen)
    assert found.score == 100 - 2 * 20 - 5
    assert [feedback.level for feedback in found.feedback] == ["success", "error", "error", "warning"]


def test_a_fault_of_the_machine_gives_no_score():
    assert part(Observed(machine="the browser does not start")).score is None


@pytest.mark.parametrize("end", ["load", "crash", "hung", "ended", "closed", "left"])
def test_a_page_that_is_left_does_not_render(end):
    assert part(Observed(ended=end, assertions=RENDERS, seconds={"load": 0.2})).score == 0


@pytest.mark.parametrize(
    ("end", "score"), [("audit", 100), ("unaudited", 100), ("network", 80), ("console", 80), ("time", 80)]
)
@pytest.mark.parametrize("reached", [RENDERS, ()])
def test_a_page_that_is_cut_short_after_it_has_loaded_renders(end, score, reached):
    """Its audits do not affect the score; an exceeded limit is one more error."""
    found = part(Observed(ended=end, assertions=reached, seconds={"load": 0.2}))
    assert (found.score, found.detail["renders"]) == (score, True)
    assert ("cut short" in found.feedback[1].message) is (score < 100)


@pytest.mark.parametrize("end", ["console", "time"])
@pytest.mark.parametrize("seen", [{"seconds": {}}, {"seconds": {"load": 0.2}, "assertions": FAILS}])
def test_a_page_that_is_cut_short_before_it_shows_anything_does_not_render(seen, end):
    assert part(Observed(ended=end, **seen)).score == 0


#: scripts of pages that use up their time, whether the page renders, and what it exceeded
SLOW = {
    "addEventListener('load', () => setTimeout(() => { while (true) {} }))": (True, "time"),
    "window.stop()": (False, ""),
}


@pytest.mark.engine("browser")
@pytest.mark.parametrize("script", SLOW)
def test_a_page_that_uses_up_its_time_renders_if_it_had_loaded(script):
    """With equal limits, it is a matter of chance which of them ends a page that does not load."""
    html = f'<!doctype html><html lang="en"><title>Harbour</title><h1>Harbour</h1><script>{script}</script></html>'
    seen = look(Job(html, behaviour._code(), limits=Limits(page=6, load=6))).observed
    found = part(seen)
    assert (found.detail["renders"], found.detail["exceeded"]) == SLOW[script], seen


def test_a_page_that_shows_nothing_does_not_render():
    assert part(Observed(assertions=FAILS)).score == 0


@pytest.mark.parametrize("error", [UserError("there is no browser"), InfrastructureError("it broke", cause="browser")])
def test_without_a_browser_there_is_no_score(monkeypatch, error):
    def look(job):
        raise error

    monkeypatch.setattr(running, "look", look)
    assert behaviour.watch("<p>a</p>").score is None


GOOD = Observed(assertions=RENDERS, seconds={"load": 0.2})
ENDED = Observed(ended="ended", detail="the browser ended")


@pytest.mark.parametrize(
    ("seen", "score", "runs"),
    [
        ([ENDED, GOOD], 100, 2),
        ([Observed(machine="gone"), GOOD], 100, 2),
        ([ENDED, ENDED, GOOD], 0, 3),
        ([ENDED], None, 4),
        ([Observed(ended="hung")], None, 4),
        ([Observed(ended="closed"), GOOD], 0, 1),
        ([Observed(ended="load", busy="busy"), GOOD], 100, 2),
        ([Observed(ended="load", busy="busy")], None, 2),
    ],
)
def test_a_page_is_not_blamed_for_the_machine(monkeypatch, seen, score, runs):
    jobs = []
    monkeypatch.setattr(running, "PATIENCE", 0)

    def look(job):
        jobs.append(job)
        return Looked(seen[min(len(jobs), len(seen)) - 1])

    monkeypatch.setattr(running, "look", look)
    assert (behaviour.watch("<p>a</p>").score, len(jobs)) == (score, runs)
