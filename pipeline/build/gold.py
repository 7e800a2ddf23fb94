"""Gold's counter-runs, to which those of patches are compared: made once per instance, stored, and read again.

`make` works in a sandbox; nothing is written. `build.judge` says what the runs mean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.build.judge import CounterResults, unfixed
from pipeline.core.errors import InfrastructureError
from pipeline.core.records import Instance
from pipeline.execution import counter, runs
from pipeline.execution.applying import PatchFailed
from pipeline.execution.reading import read
from pipeline.execution.run import TestRun, pack, unpack
from pipeline.execution.runs import Plan

Say = Callable[[str], None]

#: false expectations are disguised unless gold, in disguise, fails more than one in this many of the tests that it
#: fixes: for those tests, they would show nothing
OF_HIDDEN = 10
#: what is said of a disguised run without a part of its form
WITHOUT = {"moved": ", in the repository's own folder", "boxes": ", without boxes", "site": ", at its true address"}


def warm(plan: Plan, instance: Instance, say: Say) -> None:
    """Evaluate an empty patch, so that the cache with which patches begin has the test files with their controls. The
    result is not used and not kept."""
    say("filling the runner's cache")
    runs.run_patch(plan, "", *_of(instance), cache="fill")


def make(plan: Plan, instance: Instance, say: Say) -> CounterResults:
    """Make the counter-runs, except those that could show nothing. Raises InfrastructureError, and PatchFailed if the
    gold patch does not apply."""
    say("falsifying expectations")
    made = counter.made(plan, instance.fix_patch, instance.test_patch)
    form, disguised = _disguised(plan, instance, say)
    hidden = OF_HIDDEN * unfixed(instance, disguised) <= len(instance.fixed_tests)
    results: dict[str, TestRun] = {"disguised": disguised}
    for kind in (kind for kind in counter.KINDS if made.patch(kind)):
        say(f"gold against {kind} expectations{', disguised' if hidden else ''}")
        try:
            words = (kind, plan, instance.fix_patch, *_of(instance), made.patch(kind))
            results[kind] = _settled(partial(counter.run, *words, form=form if hidden else None), say)
        except PatchFailed as failed:  # our change failed to apply: the candidate is not to blame
            say(f"run skipped: {failed}")
    return CounterResults(made, results, form, hidden)


def _disguised(plan: Plan, instance: Instance, say: Say) -> tuple[counter.Form, TestRun]:
    """The disguised run, in the form that hides most among those in which gold passes most of the tests that it fixes.
    In a folder of another name, an empty patch runs first and fills the runner's cache. The site's address is left out
    only if it is in the log of the first run, and then in all others."""
    tried: dict[counter.Form, TestRun] = {}
    for form in counter.FORMS:
        if tried and form.site == _names_site(instance, next(iter(tried.values()))):
            continue
        say(f"gold disguised{''.join(text for part, text in WITHOUT.items() if not getattr(form, part))}")
        try:
            if form == counter.FORMS[0]:
                counter.run("disguised", plan, "", *_of(instance), form=form, cache="fill")
            run = partial(counter.run, "disguised", plan, instance.fix_patch, *_of(instance), form=form)
            tried[form] = _settled(run, say)
        except InfrastructureError as error:  # a fault of the machine also shows in the run in gold's own folder
            if not form.moved:
                raise
            say(f"no disguised run in another folder: {error}")
            continue
        if not unfixed(instance, tried[form]):
            break
    best = min(tried, key=lambda form: unfixed(instance, tried[form]))
    return best, tried[best]


def _names_site(instance: Instance, run: TestRun) -> bool:
    """Whether a log names the host at which the page seemed to be, as a failing assertion about an address does."""
    return counter.host_of(instance.fix_patch, instance.test_patch).encode() in run.log


def _settled(run: Callable[[], TestRun], say: Say) -> TestRun:
    """A run of gold, made a second time if the first one did not end as it should. Without this, a machine under load
    could deprive the instance of a counter-run for good."""
    first = run()
    if first.end == "ran" and not first.doubts:
        return first
    say(f"the run did not end as it should ({', '.join((first.end, *first.doubts))}): once more")
    return run()


def _of(instance: Instance) -> tuple[str, str, Collection[str]]:
    """What each run is told about an instance: gold, its tests, and the files that get a control."""
    return instance.fix_patch, instance.test_patch, instance.expected_files


def packed(results: CounterResults) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The counter-runs as data, and their logs and reports as files by name."""
    fields: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    for kind, run in results.runs.items():
        fields[kind], files_of_run = pack(run, _file(kind))
        files |= files_of_run
    made, form = results.made.model_dump(mode="json"), results.form._asdict()
    return {"made": made, "runs": fields, "form": form, "hidden": results.hidden}, files


def unpacked(stored: Mapping[str, Any], parser: str, folder: Path) -> CounterResults:
    """The counter-runs that `packed` gave, with their files in a folder; their reports are read again."""
    results = {kind: read(parser, unpack(fields, _file(kind), folder)) for kind, fields in stored["runs"].items()}
    form = counter.Form(**stored.get("form", {}))
    return CounterResults(counter.Made.model_validate(stored["made"]), results, form, stored.get("hidden", False))


def _file(kind: str) -> str:
    return f"counter.{kind}"
