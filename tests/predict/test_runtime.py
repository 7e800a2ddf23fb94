"""An agent's process: what it sees, what it may leave, and how its end is judged."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from predict.conftest import KEY, Job
from tiny_library import Bench

from pipeline.core.store import Unit, read_json
from pipeline.core.work import silent
from pipeline.predict import host
from pipeline.predict.request import AgentResult, Failure
from pipeline.predict.runtime import save

MakeJob = Callable[[str], Job]
#: an agent that reports everything it can find
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


PICTURES = """
folder = checkout.parent / "pictures"
seen = {path.name: path.read_bytes().hex() for path in folder.glob("*")} if folder.exists() else None
(out / "seen.json").write_text(json.dumps([seen, json.loads(pathlib.Path(task).read_text())["pictures"]]))
answer("a patch")
"""


def failure(unit: Unit) -> dict[str, str]:
    return read_json(unit.folder / "error.json")


def until(holds: Callable[[], object]) -> None:
    """Wait for another process's effect. Fails after a minute."""
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


@pytest.fixture
def seen(job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> dict:
    for name in ("GITHUB_TOKEN", "DEEPINFRA_API_KEY", "AWS_SECRET_ACCESS_KEY", "npm_config__authToken"):
        monkeypatch.setenv(name, "canary-of-the-host")
    return json.loads((job(TELL).done().folder / "seen.json").read_text())


@pytest.mark.invariant(1)
@pytest.mark.trap("history-in-image")
def test_an_agent_sees_one_commit_and_no_solution(seen: dict, bench: Bench) -> None:
    """21% of one model's runs found the fix in the history that was in the image."""
    assert seen["commits"].count("\n") == 1 and seen["commits"].endswith(" base\n")
    assert seen["remotes"] == ""
    assert seen["files"]["src/menu.js"] == "old\n"
    assert "src/badge.js" not in seen["files"], "that one comes with a later fix"
    everything = json.dumps([seen["task"], seen["files"], seen["objects"]])
    assert "old new" not in everything and "named | src/menu.js" not in everything
    assert bench.instance("menu").merge_sha not in everything


@pytest.mark.invariant(1)
def test_an_agent_gets_only_its_task(seen: dict, bench: Bench) -> None:
    assert json.loads(seen["task"]) == bench.instance("menu").task().model_dump(mode="json")
    assert seen["around"] == ["checkout", "out", "settings.toml", "task.json"]
    assert seen["model"] == "model-a"


@pytest.mark.invariant(6)
def test_an_agents_environment_has_no_secret_of_the_host(seen: dict) -> None:
    """It gets its instance's key, and no other."""
    assert "canary-of-the-host" not in json.dumps(seen["environment"])
    assert seen["environment"]["OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert not Path(seen["environment"]["HOME"]).exists(), "its home is gone with the task"


@pytest.mark.invariant(6)
@pytest.mark.trap("token-in-log")
def test_the_key_of_an_instance_is_in_no_file(job: MakeJob) -> None:
    """An agent may print its environment, or store the headers of its requests."""
    tells = "print(os.environ)\n(out / 'log.txt').write_text(os.environ['OPENAI_API_KEY'])\nanswer('a patch')\n"
    for end in ("sys.exit(0)", "sys.exit(1)"):
        folder = job(tells + end).done().folder
        kept = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert {"agent.log", "log.txt"} <= set(kept)
        assert [name for name, data in kept.items() if KEY.encode() in data] == []


def test_an_answer_is_stored_with_all_files_of_the_agent(job: MakeJob) -> None:
    made = job("print('working')\n(out / 'trajectory.jsonl').write_text('{}')\nanswer('a patch', 'SUCCESSFUL_PATCH')")
    unit = made.done()
    assert unit.result() == {"patch": "a patch", "outcome": "SUCCESSFUL_PATCH"}
    assert made.is_answered
    assert (unit.folder / "agent.log").read_text() == "working\n"
    assert (unit.folder / "trajectory.jsonl").exists()


def test_the_settings_come_with_the_request(job: MakeJob) -> None:
    """A worker on another machine does not have the user's files."""
    ask = job("answer(pathlib.Path(os.environ['SETTINGS']).read_text())").ask
    call = ask.agent.call.model_copy(update={"environment": {"SETTINGS": "{settings}"}})
    away = ask.agent._replace(call=call, settings=Path("/nowhere/settings.toml"))
    result = replace(ask, agent=away, settings=b"samples = 3\n").perform(silent)
    assert result.files["patch.diff"] == b"samples = 3\n"


@pytest.mark.invariant(4)
@pytest.mark.rule("run-identity")
def test_another_agent_of_the_same_name_is_not_started(job: MakeJob) -> None:
    """A worker's machine may have an older version, whose answers do not belong to the experiment."""
    made = job("answer('a patch')")
    ask = replace(made.ask, version=made.ask.agent.digest)
    assert ask.perform(silent).failure is None
    (made.ask.agent.folder / "agent.py").write_text("raise SystemExit(3)")
    failure = ask.perform(silent).failure
    assert failure and failure.cause == "worker"
    assert "'fake' has another version on" in failure.message and "just remote-push" in failure.message


@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
@pytest.mark.trap("errors-in-predictions")
def test_a_providers_failure_is_no_answer_and_is_retried(job: MakeJob) -> None:
    """Other systems store the error as an empty patch, so a resume never asks again."""
    fails = "(out / 'error.json').write_text(json.dumps({'cause': 'rate_limit', 'message': '429'}))\nsys.exit(75)"
    first = job(fails)
    unit = first.done()
    assert failure(unit) == {"cause": "rate_limit", "message": "429"}
    assert not first.is_answered
    second = job("answer('a patch')")
    assert second.run.name == first.run.name
    assert second.done().result()["patch"] == "a patch"
    assert second.is_answered and not (unit.folder / "error.json").exists()


def test_an_agent_gets_no_interrupt_and_ends_with_its_run(job: MakeJob, tmp_path: Path) -> None:
    """Ctrl-C in a terminal goes to all processes of its session, but the first one lets running work finish."""
    told = tmp_path / "session"
    tells = f"pathlib.Path({str(told)!r}).write_text(str(os.getsid(0)))"
    sleeps = job(f"subprocess.Popen(['sleep', '600'])\n{tells}\nos.wait()")
    with ThreadPoolExecutor(1) as pool:
        unit = pool.submit(sleeps.done)
        until(lambda: told.exists() and told.read_text())
        session = int(told.read_text())
        assert {session} == host.RUNNING != {os.getsid(0)}
        host.abort()
        assert failure(unit.result())["cause"] == "stopped"
    until(lambda: is_gone(session))
    assert not sleeps.is_answered


@pytest.mark.invariant(4)
def test_a_providers_failure_needs_no_message(job: MakeJob) -> None:
    assert failure(job("sys.exit(75)").done())["cause"] == "provider"


@pytest.mark.invariant(7)
@pytest.mark.parametrize(
    ("code", "cause", "message"),
    [
        ("raise RuntimeError('a bug')", "agent_error", "exit code 1"),
        ("answer('a patch')\nsys.exit(2)", "bad_input", "it does not say why"),
        ("print('sets is no field')\nsys.exit(2)", "bad_input", "cannot use its input: sets is no field"),
        ("pass", "agent_error", "exit code 0"),
        ("os.kill(os.getpid(), 9)", "agent_error", "exit code -9"),
        ("(out / 'patch.diff').write_text('a patch')", "agent_error", "metadata.json"),
        ("answer()\n(out / 'metadata.json').write_text('no JSON')", "agent_error", "outcome"),
        ("answer()\n(out / 'patch.diff').write_bytes(b'\\xff')", "agent_error", "UnicodeDecodeError"),
    ],
)
def test_an_agent_that_breaks_leaves_its_task_unanswered(job: MakeJob, code: str, cause: str, message: str) -> None:
    """No way of ending raises an error: the other tasks continue."""
    made = job(code)
    unit = made.done()
    assert failure(unit)["cause"] == cause and message in failure(unit)["message"]
    assert not made.is_answered
    assert (unit.folder / "agent.log").exists()


def test_a_checkout_that_fails_is_recorded_too(job: MakeJob, bench: Bench) -> None:
    made = job("answer()")
    made.ask = replace(made.ask, base="0" * 40)
    unit = made.done()
    assert failure(unit)["cause"] == "UserError" and "the clone has no commit" in failure(unit)["message"]


@pytest.mark.rule("budget")
def test_a_reached_budget_writes_only_the_cause(job: MakeJob) -> None:
    made = job("answer()")
    save(made.run, made.instance, AgentResult(failure=Failure("budget_exceeded", "reached")))
    folder = made.run.unit(made.instance).folder
    assert read_json(folder / "error.json")["cause"] == "budget_exceeded"
    assert sorted(path.name for path in folder.iterdir()) == ["error.json"]


@pytest.mark.invariant(5)
def test_a_link_that_an_agent_leaves_is_not_followed(job: MakeJob, tmp_path: Path) -> None:
    """Otherwise it would copy a file of the host into the data."""
    (tmp_path / "secret").write_text("canary-of-the-host")
    made = job(f"(out / 'link').symlink_to({str(tmp_path / 'secret')!r})\nanswer('a patch')")
    assert not (made.done().folder / "link").exists()


@pytest.mark.rule("pictures")
def test_pictures_are_beside_the_task(job: MakeJob) -> None:
    started = job(PICTURES)
    for ask, expected in ((started.ask, None), (replace(started.ask, pictures={"1.png": b"a", "3.jpg": b"b"}), PIXELS)):
        left = ask.perform(silent)
        assert json.loads(left.files["seen.json"])[0] == expected


PIXELS = {"1.png": "61", "3.jpg": "62"}
