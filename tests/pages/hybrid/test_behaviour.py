import pytest

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.pages.hybrid import behaviour
from pipeline.pages.hybrid.behaviour import part
from pipeline.pages.records import Assertion, Observed

RENDERS = (Assertion(name="renders", status="pass"),)


def test_errors_and_warnings_of_the_console_count_apart():
    said = [{"type": "error", "text": "a"}, {"type": "warning", "text": "b"}, {"type": "log", "text": "c"}]
    seen = Observed(
        assertions=RENDERS,
        incidents={"console": 3, "error": 1},
        examples={"console": said, "error": ["TypeError: x"]},
        seconds={"load": 0.2},
    )
    found = part(seen)
    assert found.score == 100 - 2 * 20 - 5
    assert [one.level for one in found.feedback] == ["success", "error", "error", "warning"]


def test_what_the_machine_failed_at_is_absent():
    assert part(Observed(machine="the browser does not start")).score is None


def test_a_page_that_is_cut_short_does_not_render():
    assert part(Observed(ended="time", assertions=RENDERS)).score == 0


def test_a_page_that_shows_nothing_does_not_render():
    assert part(Observed(assertions=(Assertion(name="renders", status="fail"),))).score == 0


@pytest.mark.parametrize("error", [UserError("there is no browser"), InfrastructureError("it broke", cause="browser")])
def test_without_a_browser_it_is_absent(monkeypatch, error):
    def look(job):
        raise error

    monkeypatch.setattr(behaviour, "look", look)
    assert behaviour.watch("<p>a</p>").score is None
