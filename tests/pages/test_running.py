"""Who is to blame for a doubtful end; scripted observations replace the engine, so no browser is needed."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from pathlib import Path

import pytest
from pages_bench import BROKEN, EXPECTED, HELD, expecting, make_case, page

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.pages import engine as engines
from pipeline.pages.engine import Job, Limits, Looked, Worker
from pipeline.pages.records import Observed
from pipeline.pages.running import Doubts, RunPage, code_of, run_pages

THREW = Observed(threw="no")
CUT = Observed(ended="time", used=True)
#: what other programs used
BUSY = "other programs used 1.9 of 2 processors while the page was tested"
#: a case without a good example
NONE = {"bad": page()}


class Engine:
    """Gives the scripted observations in order, repeats the last one, and counts the calls."""

    def __init__(self, *seen: Observed | Exception) -> None:
        self.seen, self.asked = seen, 0

    def look(self, _: Job) -> Looked:
        self.asked += 1
        seen = self.seen[min(self.asked, len(self.seen)) - 1]
        if isinstance(seen, Exception):
            raise seen
        return Looked(seen)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for other programs."""
    monkeypatch.setattr("pipeline.pages.running.PATIENCE", 0)


@pytest.fixture
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine(*request.param)
    monkeypatch.setattr("pipeline.pages.running.look", engine.look)
    return engine


def controlled(*seen: Observed | Exception) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("engine", [seen], indirect=True, ids=["engine"])


@pytest.mark.parametrize(
    ("engine", "blamed"),
    [
        ([Observed()], "page"),
        ([Observed(threw="no")], "case"),
        ([Observed(fault="the case ended the runner's process")], "case"),
        ([Observed(ended="time")], "case"),
        ([Observed(ended="hung")], "case"),
        ([Observed(ended="time", used=True), Observed()], "page"),
        ([Observed(machine="no browser")], "machine"),
        ([Observed(machine="no browser"), Observed()], "page"),
        ([InfrastructureError("it does not start", cause="browser")], "machine"),
        ([InfrastructureError("it does not start", cause="browser"), Observed()], "machine"),
        ([Observed(threw="no", busy=BUSY)], "machine"),
        ([Observed(busy=BUSY)], "page"),
    ],
    indirect=["engine"],
)  # fmt: skip
@pytest.mark.parametrize("seen", [THREW, CUT])
def test_the_good_example_decides_unless_the_machine_fails(
    engine: Engine, blamed: str, seen: Observed, tmp_path: Path
) -> None:
    assert Doubts(Limits()).settle(make_case(tmp_path / "harbour"), seen) == blamed


@pytest.mark.parametrize(
    ("engine", "ends", "asked"),
    [
        ([Observed(ended="ended"), Observed()], "", 2),
        ([Observed(ended="crash"), Observed()], "", 2),
        ([Observed(ended="crash")], "crash", 2),
        ([Observed(machine="no browser"), Observed(ended="time")], "time", 2),
        ([Observed(ended="time")], "time", 2),
        *([[Observed(ended=end), Observed()], "", 2] for end in ("time", "hung", "load", "audit")),
        ([Observed(ended="closed")], "closed", 1),
        ([Observed(ended="console")], "console", 1),
    ],
    indirect=["engine"],
)  # fmt: skip
def test_a_page_that_the_machine_may_have_ended_is_retried(
    engine: Engine, ends: str, asked: int, tmp_path: Path
) -> None:
    request = RunPage("one", page(), code_of(make_case(tmp_path / "harbour")))
    assert (request.perform(lambda _: None).observed.ended, engine.asked) == (ends, asked)


@pytest.mark.rule("busy-machine")
@pytest.mark.parametrize(
    ("engine", "result", "asked"),
    [
        ([Observed(assertions=(BROKEN,), busy=BUSY), Observed(assertions=(HELD,))], Observed(assertions=(HELD,)), 2),
        ([Observed(ended="time", busy=BUSY), Observed(ended="time")], Observed(ended="time"), 3),
        ([Observed(ended="time"), Observed(ended="time", busy=BUSY), Observed()], Observed(), 3),
        ([Observed(ended="time", busy=BUSY)], Observed(machine=BUSY), 2),
        ([Observed(assertions=(BROKEN,), busy=BUSY)], Observed(assertions=(BROKEN,), busy=BUSY), 2),
        ([Observed(assertions=(BROKEN,))], Observed(assertions=(BROKEN,)), 1),
        ([Observed(assertions=(HELD,), busy=BUSY)], Observed(assertions=(HELD,), busy=BUSY), 1),
    ],
    indirect=["engine"],
)
def test_a_page_that_other_programs_hindered_is_run_again(
    engine: Engine, result: Observed, asked: int, tmp_path: Path
) -> None:
    request = RunPage("one", page(), code_of(make_case(tmp_path / "harbour")))
    assert list(run_pages([request], jobs=1)) == [(request, Looked(result))]
    assert engine.asked == asked


@pytest.mark.rule("busy-machine")
def test_pages_that_were_hindered_are_run_last_and_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that run at the same time hinder each other, too."""
    code, lock = code_of(make_case(tmp_path / "harbour")), threading.Lock()
    started, under_way, most = [], [0], []

    def look(job: Job) -> Looked:
        with lock:
            started.append(job.html)
            under_way[0] += 1
            most.append(under_way[0])
        time.sleep(0.05)
        with lock:
            under_way[0] -= 1
        is_hindered = job.html.startswith("busy") and started.count(job.html) == 1
        return Looked(Observed(threw="no", busy=BUSY) if is_hindered else Observed())

    monkeypatch.setattr("pipeline.pages.running.look", look)
    names = ["busy 1", "busy 2", "quiet 1", "quiet 2"]
    ended = [request.name for request, _ in run_pages([RunPage(name, name, code) for name in names], jobs=2)]
    assert sorted(ended[:2]) == ["quiet 1", "quiet 2"] and ended[2:] == ["busy 1", "busy 2"]
    assert max(most[:4]) == 2 and most[4:] == [1, 1]


@controlled(Observed(machine="no browser"), Observed(machine="no browser"), Observed())
def test_a_doubt_left_open_by_the_machine_is_settled_by_the_next_page(engine: Engine, tmp_path: Path) -> None:
    doubts, case = Doubts(Limits()), make_case(tmp_path / "harbour")
    assert [doubts.settle(case, CUT) for _ in range(3)] == ["machine", "page", "page"]
    assert engine.asked == 3, "what is decided is known"


@controlled(Observed(threw="there is nothing"))
def test_without_a_good_example_only_its_end_decides(engine: Engine, tmp_path: Path) -> None:
    doubts, case = Doubts(Limits()), make_case(tmp_path / "harbour", **NONE)
    assert (doubts.settle(case, THREW), doubts.settle(case, CUT)) == ("case", "page")


@pytest.mark.parametrize(
    ("engine", "blamed"),
    [
        ([Observed(ended="time", seconds={"undecided": 5})], ["case", "page"]),
        ([Observed(ended="time", seconds={"undecided": 21})], ["case", "case"]),
        ([Observed(ended="time")], ["case", "case"]),
        ([Observed(ended="hung", seconds={"undecided": 5})], ["case", "case"]),
        ([Observed(fault="no", seconds={"undecided": 5})], ["case", "case"]),
    ],
    indirect=["engine"],
)  # fmt: skip
def test_a_case_that_goes_on_to_decide_assertions_on_an_empty_page_is_not_to_blame(
    engine: Engine, blamed: list[str], tmp_path: Path
) -> None:
    """Each of its assertions waits for what is not there. On its own good example, it has to end."""
    good, none = make_case(tmp_path / "good"), make_case(tmp_path / "none", **NONE)
    assert [Doubts(Limits()).settle(case, CUT) for case in (good, none)] == blamed


@controlled(Observed(threw="no"), Observed())
def test_cases_that_differ_in_their_good_example_alone_are_settled_apart(engine: Engine, tmp_path: Path) -> None:
    doubts = Doubts(Limits())
    good = {"good": expecting(page(body="<p>More</p>"), EXPECTED)}
    one, other = make_case(tmp_path / "one"), make_case(tmp_path / "other", **good)
    assert one.digest == other.digest
    assert [doubts.settle(case, THREW) for case in (one, other)] == ["case", "page"]


def descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def no_browser(*_: object) -> dict[str, object]:
    raise UserError("no browser is installed")


@pytest.mark.parametrize(
    ("node", "settings", "error"),
    [
        ("missing", dict, InfrastructureError),
        ("false", dict, InfrastructureError),
        ("false", no_browser, UserError),
    ],
)
def test_a_failed_start_leaves_nothing_open(node, settings, error, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(engines, "playwright_core", lambda: (shutil.which(node) or node, ""))
    monkeypatch.setattr(engines, "_settings", lambda *_: settings())
    before = descriptors()
    worker = Worker()
    for _ in range(2):
        with pytest.raises(error):
            worker.look(Job("<p>"))
    assert (descriptors(), list(tmp_path.iterdir())) == (before, [])
