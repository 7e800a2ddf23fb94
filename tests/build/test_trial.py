"""What a candidate's attempts leave, one after the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from build.test_repair import install, log_of, looked
from factories import make_environment

from pipeline.build import repair, trial
from pipeline.build.reasons import Rejected
from pipeline.build.repair import Repair
from pipeline.build.search import Search
from pipeline.build.trial import Trial
from pipeline.core.records import Edit
from pipeline.ecosystems.registry import LookUp


class Ran(SimpleNamespace):
    """What is run, and how often."""

    def model_copy(self, update: dict[str, Any]) -> Ran:
        return Ran(**vars(self) | update)

    def model_dump(self, mode: str) -> dict[str, Any]:
        return {"target": self.target}


def test_stored_runs_and_their_files_are_of_one_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The results of a whole attempt used to stay beside the logs of a later one that ended early, and were judged
    again with them."""
    made = object.__new__(Trial)
    made.request, made.candidate, made.health = SimpleNamespace(moved=()), None, None
    made.files, made.stored = {"repaired.1.log.gz": b"kept"}, {}
    made.say = lambda text: None
    made._examine = made._plan = lambda *_: None
    monkeypatch.setattr(trial, "split", lambda *_: None)
    monkeypatch.setattr(trial, "_steps", lambda _: ((), (), ()))
    monkeypatch.setattr(trial.runs, "run_gold", lambda plan, steps, cache: SimpleNamespace(memory=0, cache=cache))

    def attempt(target: str, ends_with: str) -> None:
        def check(run: object, name: str) -> None:
            if name == ends_with:
                raise Rejected("no_report", name)

        monkeypatch.setattr(trial, "require_trust", check)
        monkeypatch.setattr(trial, "pack", lambda run, name: ({}, {f"{name}.log.gz": target.encode()}))
        made._runs_by_name(Ran(repeats=1, target=target), None, Repair(make_environment()))

    attempt("first", "")
    made.files["minus.log.gz"] = b"a counter-run of the first"
    assert made.stored["ran"] == {"target": "first"} and made.files["fix.1.log.gz"] == b"first"
    with pytest.raises(Rejected):
        attempt("second", "test")
    assert made.stored == {}
    names = ("repaired.1", "run.1", "test.1")
    assert made.files == dict(zip((f"{name}.log.gz" for name in names), (b"kept", b"second", b"second"), strict=True))


@pytest.mark.parametrize(
    ("selection", "found"),
    [
        (("{files}",), {"test/a.js"}),
        (("test/index.js",), {"test/index.js"}),
        (("test/gone.js",), {"test/a.js"}),
        (("--spec", "{files}"), {"test/a.js"}),
        ((), {"test/a.js"}),
    ],
)
def test_the_health_is_that_of_the_files_that_a_command_runs(
    selection: tuple[str, ...], found: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that loads the touched tests ran them all, and yet none of them seemed to load."""
    made = object.__new__(Trial)
    made.clone, made.candidate = None, SimpleNamespace(base=SimpleNamespace(sha="a" * 40))
    made.__dict__["_expected"] = frozenset({"test/a.js"})
    monkeypatch.setattr(trial, "list_files", lambda clone, sha: ["test/a.js", "test/index.js"])
    assert made._run_by(make_environment(selection=selection)) == found


# -- starting again without lessons ----------------------------------------------------------------------------------
def search(start: Repair, situation: Any, *ends: Exception) -> tuple[list[Any], dict[str, bytes]]:
    """The environments that were installed, of which each fails, and the logs that were kept."""
    tried, kept, waiting = [], {}, list(ends)

    def attempt(state: Repair) -> Any:
        tried.append(state.environment)
        raise waiting.pop(0) if waiting else install("unknown")

    made = object.__new__(Search)
    made.trial = SimpleNamespace(health=None, say=lambda text: None, keep=kept.__setitem__)
    with pytest.raises(Rejected):
        made._repaired(start, SimpleNamespace(environment=make_environment()), situation, attempt)
    return tried, kept


def test_an_environment_that_failed_with_lessons_is_not_installed_again_without() -> None:
    """What was learned is often what would have been found: the same installs failed twice."""
    situation = looked(("is-number", "7.0.99"))
    start = repair.foreseen(Repair(make_environment()), situation)
    tried, kept = search(start, situation, install(log_of("peer-rules")))
    assert len(tried) == 2 and tried[0] == start.environment
    assert kept == {"repaired.1": log_of("peer-rules").encode()}


def test_logs_of_both_searches_are_kept() -> None:
    lesson = repair.foreseen(Repair(make_environment()), looked(("is-number", "7.0.99"))).steps
    edit = Edit(kind="drop", name="other")
    start = Repair(make_environment(edits=(edit,)), lesson)
    situation = looked()
    assert situation.look_up([]) == LookUp()
    other = f"{log_of('peer-rules')}\nagain"
    tried, kept = search(start, situation, install(log_of("peer-rules")), install("unknown"), install(other))
    assert len(tried) == 4
    assert kept == {"repaired.1": log_of("peer-rules").encode(), "repaired.2": other.encode()}
