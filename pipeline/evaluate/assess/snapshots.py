"""The snapshot verdict: if only snapshots fail, whether they equal gold's to assistive technologies.

A failing behavioral assertion cannot be overruled: neither one of the strict run, nor one that only shows once the
snapshot before it passes. Pure, except for the browser.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.browser import Browser
from pipeline.core.assessment import SnapshotVerdict, Spoken
from pipeline.core.records import Outcome, Status, Verdict
from pipeline.ecosystems import parser as named
from pipeline.evaluate.assess import compare, markup
from pipeline.evaluate.assess.compare import Compared, dressed
from pipeline.evaluate.assess.markup import Unparsable
from pipeline.evaluate.assess.updated import Updated, is_of
from pipeline.execution.runs import TestRun

#: from best to worst
ORDER = ("cosmetic", "a11y-different", "unparsable")

Snapshots = Mapping[str, str]


def failing(verdict: Verdict) -> tuple[str, ...]:
    """The expected tests that do not pass."""
    return (*verdict.unfixed, *verdict.broken)


def obstacle(verdict: Verdict, run: TestRun, parser: str) -> str:
    """Why snapshots do not decide; empty if they do."""
    if verdict.outcome is not Outcome.UNRESOLVED:
        return f"the verdict is {verdict.outcome}"
    failed = sorted(set(failing(verdict)) - run.by_snapshot)
    if failed:
        return f"not by snapshot alone: {failed[0]}" + (f" and {len(failed) - 1} more" if failed[1:] else "")
    return "" if named(parser).snapshots else f"the runner of {parser} keeps no snapshots"


def still_failing(names: tuple[str, ...], updated: Updated) -> str:
    """Why the run with new snapshots does not count; empty if it does."""
    if updated.end != "ran" or updated.faults:
        return f"with new snapshots: {'; '.join(updated.faults) or updated.end}"
    failed = [name for name in names if updated.results.get(name) != Status.PASSED]
    return f"fails with new snapshots, too: {failed[0]}" if failed else ""


def look(browser: Browser, names: tuple[str, ...], updated: Updated) -> SnapshotVerdict:
    """Compare the snapshots of these tests with gold's."""
    comparisons = {name: _of_test(browser, name, updated) for name in names}
    return SnapshotVerdict(
        likeness=max((comparison.likeness for comparison in comparisons.values()), key=ORDER.index),
        tests={name: comparison.likeness for name, comparison in comparisons.items()},
        reasons={name: comparison.reason for name, comparison in comparisons.items() if comparison.reason},
    )


def spoken(browser: Browser, names: tuple[str, ...], updated: Updated, base: Updated | None) -> dict[str, Spoken]:
    """What a screen reader says for the snapshots of these tests, if they are markup: evidence for people."""
    sides = {"base": base and base.new, "gold": updated.gold, "patch": updated.new}
    by_test = {
        name: {
            side: phrases
            for side, files in sides.items()
            if files and (phrases := _spoken(browser, side, _snapshots(updated.parser, name, files)))
        }
        for name in names
    }
    return {name: Spoken(**phrases) for name, phrases in by_test.items() if phrases}


def _spoken(browser: Browser, side: str, of_test: Snapshots) -> tuple[str, ...]:
    """What a screen reader says; empty if the snapshots of a test cannot be shown."""
    try:
        return compare.spoken(
            browser, side, dressed([key for key in of_test if markup.shows(of_test[key])], of_test).values()
        )
    except Unparsable:
        return ()


def is_blind(browser: Browser, names: tuple[str, ...], base: Updated) -> bool:
    """Whether none of these tests, which gold fixes, distinguishes base and gold, so that equality proves nothing."""
    passed = [name for name in names if base.results.get(name) == Status.PASSED]
    return (
        bool(names)
        and passed == list(names)
        and all(_of_test(browser, name, base).likeness != "a11y-different" for name in names)
    )


def _of_test(browser: Browser, name: str, updated: Updated) -> Compared:
    gold, new = (_snapshots(updated.parser, name, files) for files in (updated.gold, updated.new))
    if gold == new:
        return Compared("unparsable", "it fails by a snapshot that is in no file")
    if gold.keys() != new.keys():
        return Compared("a11y-different", f"other snapshots are taken: {', '.join(sorted(gold.keys() ^ new.keys()))}")
    try:
        return _compared(browser, gold, new)
    except Unparsable as error:
        return Compared("unparsable", str(error))


def _compared(browser: Browser, gold: Snapshots, new: Snapshots) -> Compared:
    """The first difference. Snapshots that are not markup and equal in both are ignored."""
    keys = [key for key in gold if gold[key] != new[key] or markup.shows(gold[key])]
    before, after = dressed(keys, gold), dressed(keys, new)
    if before.keys() != after.keys():
        return Compared("a11y-different", "one snapshot holds styles only")
    compared = (compare.compare(browser, before[key], after[key]) for key in before if before[key] != after[key])
    return next((comparison for comparison in compared if comparison.likeness != "cosmetic"), Compared("cosmetic"))


def _snapshots(parser: str, name: str, files: Mapping[str, str]) -> dict[str, str]:
    """A test's snapshots in the snapshot files of its test file."""
    test, form = name.partition(" > ")[0], named(parser).snapshot_form()
    read = {
        key: text for path, content in files.items() if is_of(path, test) for key, text in form.read(content).items()
    }
    return {key: read[key] for key in form.of_test(name, read)}
