"""The snapshot verdict: when snapshots decide, and what the verdict is."""

from __future__ import annotations

import factories
import pytest

from pipeline.core.records import Outcome, Status
from pipeline.evaluate.assess import snapshots
from pipeline.evaluate.assess.updated import Updated, is_of
from pipeline.execution.runs import TestRun

SHOWS, WORKS = "src/Menu.test.tsx > Menu > renders", "src/Menu.test.tsx > Menu > works"
FILE = "src/__snapshots__/Menu.test.tsx.snap"


def entry(text: str, number: int = 1) -> str:
    return f"exports[`Menu renders {number}`] = `\n{text}\n`;\n\n"


def verdict(**fields):
    given = {"outcome": Outcome.UNRESOLVED, "unfixed": {SHOWS: "FAILED"}, "broken": {}}
    return factories.make_verdict(factories.make_prediction(), **given | fields)


def updated(gold: str, new: str, **fields) -> Updated:
    return Updated(results={SHOWS: Status.PASSED}, gold={FILE: gold}, new={FILE: new}, **fields)


# -- whether snapshots decide ----------------------------------------------------------------------------------------
@pytest.mark.rule("assessment-beside-the-verdict")
@pytest.mark.parametrize(
    ("given", "by_snapshot", "why"),
    [
        ({}, {SHOWS}, ""),
        ({"broken": {WORKS: "FAILED"}}, {SHOWS}, f"not by snapshot alone: {WORKS}"),
        ({"broken": {WORKS: "FAILED"}}, {SHOWS, WORKS}, ""),
        ({"unfixed": {SHOWS: "FAILED", WORKS: "NONE"}}, set(), f"not by snapshot alone: {SHOWS} and 1 more"),
        ({"outcome": Outcome.TAMPERED}, {SHOWS}, "the verdict is tampered"),
    ],
    ids=["snapshot", "behaviour", "both-by-snapshot", "two", "tampered"],
)
def test_a_failing_assertion_can_not_be_overruled(given, by_snapshot, why):
    """Snapshots are assessed only if nothing but snapshots fails."""
    assert snapshots.obstacle(verdict(**given), TestRun(by_snapshot=frozenset(by_snapshot)), "jest-json") == why


def test_a_runner_without_snapshots_is_noted():
    reason = snapshots.obstacle(verdict(), TestRun(by_snapshot=frozenset({SHOWS})), "karma-json")
    assert reason == "the runner of karma-json keeps no snapshots"


@pytest.mark.rule("assessment-beside-the-verdict")
def test_an_assertion_behind_the_snapshot_counts():
    """A test ends at its first failing assertion, so assertions after a snapshot are reached only with an updated
    snapshot."""
    made = Updated(results={SHOWS: Status.FAILED})
    assert snapshots.still_failing((SHOWS,), made) == f"fails with new snapshots, too: {SHOWS}"
    assert snapshots.still_failing((SHOWS,), Updated(end="timeout")) == "with new snapshots: timeout"
    assert snapshots.still_failing((SHOWS,), updated("", "", faults=("totals",))) == "with new snapshots: totals"
    assert snapshots.still_failing((SHOWS,), updated("", "")) == ""


def test_a_snapshot_file_is_that_of_its_test():
    assert is_of(FILE, "src/Menu.test.tsx")
    assert is_of("Menu.test.tsx.snap", "Menu.test.tsx")
    assert not is_of(FILE, "src/SubMenu.test.tsx")
    assert not is_of("lib/__snapshots__/Menu.test.tsx.snap", "src/Menu.test.tsx")


# -- what they say -----------------------------------------------------------------------------------------------------
@pytest.mark.engine("browser")
@pytest.mark.parametrize(
    ("gold", "new", "likeness", "reason"),
    [
        (entry('<p\n  class="a"\n/>'), entry('<p\n  class="b"\n/>'), "cosmetic", ""),
        (entry("<p />"), entry("<hr />"), "a11y-different", "aria tree:"),
        (entry("<p />"), entry("<p />"), "unparsable", "it fails by a snapshot that is in no file"),
        (entry("<p />"), entry("<p />") + entry("<b />", 2), "a11y-different", "other snapshots are taken"),
        (entry("<Menu />"), entry("<Menu\n  open={true}\n/>"), "unparsable", "<Menu> was not rendered"),
        (
            entry("[Error: a]") + entry("<p />", 2),
            entry("[Error: a]") + entry("<div>\n  <p />\n</div>", 2),
            "cosmetic",
            "",
        ),
        (entry("[Error: a]"), entry("[Error: b]"), "unparsable", "it is no markup"),
    ],
    ids=["cosmetic", "different", "elsewhere", "more", "component", "value-stays", "value"],
)
def test_snapshots_are_compared_test_by_test(viewer, gold, new, likeness, reason):
    seen = snapshots.look(viewer, (SHOWS,), updated(gold, new))
    assert (seen.likeness, seen.tests) == (likeness, {SHOWS: likeness})
    assert seen.reasons.get(SHOWS, "").startswith(reason)


@pytest.mark.engine("browser")
def test_the_worst_test_decides(viewer):
    other = SHOWS.replace("renders", "opens")
    gold, new = (
        entry(f"<p\n  class={name}\n/>") + entry(f"<{name[1]} />").replace("renders", "opens")
        for name in ('"b"', '"i"')
    )
    seen = snapshots.look(viewer, (SHOWS, other), updated(gold.replace("<b />", "<h1 />"), new))
    assert (seen.likeness, seen.tests[SHOWS]) == ("a11y-different", "cosmetic")


@pytest.mark.engine("browser")
@pytest.mark.invariant(2)
@pytest.mark.parametrize(
    ("base", "passes", "blind"),
    [
        (entry('<p\n  class="b"\n/>'), True, True),
        (entry("<Menu />"), True, True),
        (entry("<hr />"), True, False),
        (entry('<p\n  class="b"\n/>'), False, False),
    ],
    ids=["cosmetic", "unparsable", "different", "fails-anyway"],
)
def test_snapshots_in_which_base_equals_gold_decide_nothing(viewer, base, passes, blind):
    """A patch that does nothing is never equivalent: the snapshots must show what the fix is about."""
    made = updated(entry('<p\n  class="a"\n/>'), base)
    made.results[SHOWS] = Status.PASSED if passes else Status.FAILED
    assert snapshots.is_blind(viewer, (SHOWS,), made) is blind


@pytest.mark.engine("browser", "npm")
@pytest.mark.rule("assessment-beside-the-verdict")
def test_screen_reader_output_of_base_gold_and_patch(viewer):
    """For the markup in snapshots; it decides nothing."""
    lamp = entry('<button\n  role="switch"\n>\n  Lamp\n</button>') + entry("[Error: a]", 2)
    base = updated(lamp, entry("<button>\n  Lamp\n</button>"))
    made = updated(lamp, entry('<button\n  role="checkbox"\n>\n  Lamp\n</button>'))
    phrases = snapshots.spoken(viewer, (SHOWS,), made, base)[SHOWS]
    assert phrases.base[1:-1] == ("button, Lamp",)
    assert phrases.gold[1:-1] == ("switch, Lamp, not checked",) and phrases.patch[1:-1] == (
        "checkbox, Lamp, not checked",
    )
    assert snapshots.spoken(viewer, (SHOWS,), updated(entry("1"), entry("2")), None) == {}
