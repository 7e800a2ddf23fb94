"""An agent's process: what it sees, what it may leave, and what its end means."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tiny_library import Bench

from pipeline.core.progress import Progress
from pipeline.core.store import Unit, read_json
from pipeline.predict.job import Job
from pipeline.predict.runtime import work
from tests.predict.conftest import KEY

MakeJob = Callable[[str], Job]
#: an agent that tells all that it can find
TELL = """
def git(*words):
    return subprocess.run(["git", "-C", checkout, *words], capture_output=True).stdout.decode(errors="replace")
seen = {
    "environment": dict(os.environ),
    "task": pathlib.Path(task).read_text(),
    "files": {str(path.relative_to(checkout)): path.read_text() for path in checkout.rglob("*.js*")},
    "around": sorted(path.name for path in checkout.parent.iterdir()),
    "commits": git("log", "--all", "--format=%H %s"),
    "remotes": git("remote"),
    "objects": git("cat-file", "--batch-all-objects", "--batch"),
    "model": model,
}
(out / "seen.json").write_text(json.dumps(seen))
answer("a patch")
"""


def done(job: Job) -> Unit:
    """The unit of the job's instance, after the agent worked on it."""
    with Progress("predicting", 1) as progress:
        work(job, progress)
    return job.run.unit(job.instance)


def failure(unit: Unit) -> dict[str, str]:
    return read_json(unit.folder / "error.json")


def until(holds: Callable[[], object]) -> None:
    """Wait for what another process does. Fails after a minute."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_gone(session: int) -> bool:
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return True
    return False


def answered(job: Job) -> bool:
    return job.instance not in job.run.missing()


@pytest.fixture
def seen(job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> dict:
    for name in ("GITHUB_TOKEN", "DEEPINFRA_API_KEY", "AWS_SECRET_ACCESS_KEY", "npm_config__authToken"):
        monkeypatch.setenv(name, "canary-of-the-host")
    return json.loads((done(job(TELL)).folder / "seen.json").read_text())


@pytest.mark.invariant(1)
@pytest.mark.trap("history-in-image")
def test_an_agent_sees_one_commit_and_no_solution(seen: dict, bench: Bench) -> None:
    """21 % of one model's runs found the fix in the history that lay in the image."""
    assert seen["commits"].count("\n") == 1 and seen["commits"].endswith(" base\n")
    assert seen["remotes"] == ""
    assert seen["files"]["src/menu.js"] == "old\n"
    assert "src/badge.js" not in seen["files"], "that one comes with a later fix"
    everything = json.dumps([seen["task"], seen["files"], seen["objects"]])
    assert "old new" not in everything and "named | src/menu.js" not in everything
    assert bench.instance("menu").merge_sha not in everything


@pytest.mark.invariant(1)
def test_a_task_is_all_that_it_is_told(seen: dict, bench: Bench) -> None:
    assert json.loads(seen["task"]) == bench.instance("menu").task().model_dump(mode="json")
    assert seen["around"] == ["checkout", "out", "task.json"]
    assert seen["model"] == "model-a"


@pytest.mark.invariant(6)
def test_an_agents_environment_holds_no_secret_of_the_host(seen: dict) -> None:
    """It gets the key of its instance, and no other."""
    assert "canary-of-the-host" not in json.dumps(seen["environment"])
    assert seen["environment"]["OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert not Path(seen["environment"]["HOME"]).exists(), "its home is gone with the task"


@pytest.mark.invariant(6)
@pytest.mark.trap("token-in-log")
def test_the_key_of_an_instance_is_in_no_file(job: MakeJob) -> None:
    """An agent may print its environment, or keep the headers of its requests."""
    tells = "print(os.environ)\n(out / 'log.txt').write_text(os.environ['OPENAI_API_KEY'])\nanswer('a patch')\n"
    for end in ("sys.exit(0)", "sys.exit(1)"):
        folder = done(job(tells + end)).folder
        kept = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert {"agent.log", "log.txt"} <= set(kept)
        assert [name for name, data in kept.items() if KEY.encode() in data] == []


def test_an_answer_is_finished_with_all_that_the_agent_left(job: MakeJob) -> None:
    made = job("print('working')\n(out / 'trajectory.jsonl').write_text('{}')\nanswer('a patch', 'SUCCESSFUL_PATCH')")
    unit = done(made)
    assert unit.result() == {"patch": "a patch", "outcome": "SUCCESSFUL_PATCH"}
    assert answered(made)
    assert (unit.folder / "agent.log").read_text() == "working\n"
    assert (unit.folder / "trajectory.jsonl").exists()


@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
@pytest.mark.trap("errors-in-predictions")
def test_a_providers_failure_is_no_answer_and_is_asked_again(job: MakeJob) -> None:
    """Systems in use keep the error as an empty patch, so that a resume never asks again."""
    fails = "(out / 'error.json').write_text(json.dumps({'cause': 'rate_limit', 'message': '429'}))\nsys.exit(75)"
    first = job(fails)
    unit = done(first)
    assert failure(unit) == {"cause": "rate_limit", "message": "429"}
    assert not answered(first)
    second = job("answer('a patch')")
    assert second.run.name == first.run.name
    assert done(second).result()["patch"] == "a patch"
    assert answered(second) and not (unit.folder / "error.json").exists()


def test_an_agent_hears_of_no_interrupt_and_ends_with_its_run(job: MakeJob, tmp_path: Path) -> None:
    """Ctrl-C in a terminal goes to all processes of its session: the first one lets what is under way end."""
    told = tmp_path / "session"
    tells = f"pathlib.Path({str(told)!r}).write_text(str(os.getsid(0)))"
    sleeps = job(f"subprocess.Popen(['sleep', '600'])\n{tells}\nos.wait()")
    with ThreadPoolExecutor(1) as pool:
        unit = pool.submit(done, sleeps)
        until(lambda: told.exists() and told.read_text())
        session = int(told.read_text())
        assert {session} == sleeps.running != {os.getsid(0)}
        sleeps.running.end()
        assert "exit code -9" in failure(unit.result())["message"]
    until(lambda: is_gone(session))
    assert not answered(sleeps)


@pytest.mark.invariant(4)
def test_a_providers_failure_may_come_without_a_word(job: MakeJob) -> None:
    assert failure(done(job("sys.exit(75)")))["cause"] == "provider"


@pytest.mark.invariant(7)
@pytest.mark.parametrize(
    ("code", "cause", "said"),
    [
        ("raise RuntimeError('a bug')", "agent_error", "exit code 1"),
        ("answer('a patch')\nsys.exit(2)", "agent_error", "exit code 2"),
        ("pass", "agent_error", "exit code 0"),
        ("os.kill(os.getpid(), 9)", "agent_error", "exit code -9"),
        ("(out / 'patch.diff').write_text('a patch')", "FileNotFoundError", "metadata.json"),
        ("answer()\n(out / 'metadata.json').write_text('no JSON')", "JSONDecodeError", ""),
        ("answer()\n(out / 'patch.diff').write_bytes(b'\\xff')", "UnicodeDecodeError", ""),
    ],
)
def test_an_agent_that_breaks_leaves_its_task_unanswered(job: MakeJob, code: str, cause: str, said: str) -> None:
    """No way to end raises: the other tasks go on."""
    made = job(code)
    unit = done(made)
    assert failure(unit)["cause"] == cause and said in failure(unit)["message"]
    assert not answered(made)
    assert (unit.folder / "agent.log").exists()


def test_a_checkout_that_fails_is_recorded_too(job: MakeJob, bench: Bench) -> None:
    made = job("answer()")
    base = made.instance.base.model_copy(update={"sha": "0" * 40})
    unit = done(made._replace(instance=made.instance.model_copy(update={"base": base})))
    assert failure(unit)["cause"] == "UserError" and "the clone has no commit" in failure(unit)["message"]


@pytest.mark.rule("budget")
def test_without_money_a_task_is_not_begun(job: MakeJob) -> None:
    unit = done(job("answer()")._replace(exhausted=lambda: True))
    assert read_json(unit.folder / "error.json")["cause"] == "budget_exceeded"
    assert sorted(path.name for path in unit.folder.iterdir()) == ["error.json"]
