"""What an agent finds, in a container or on the host, and how its end is judged: real engine, real gateway.

The solution contains canaries: one in the gold patch, one in the test patch, one in a later commit.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import docker
import factories
import pytest
from tiny_library import NAMED, Pull, make_library

from pipeline.build.qualify import Settings
from pipeline.build.stage import build
from pipeline.collect.stage import collect
from pipeline.core.cache import cache_root
from pipeline.core.errors import UserError
from pipeline.core.git import open_clone
from pipeline.core.progress import Progress
from pipeline.core.records import Instance
from pipeline.core.store import Store, Unit, read_json
from pipeline.core.vendors import VENDORS
from pipeline.llm.gateway import Gateway
from pipeline.llm.models import DEMO
from pipeline.llm.opening import open_gateway
from pipeline.llm.provider import Fault
from pipeline.llm.scripted import Answer, ScriptedModel
from pipeline.predict.stage import Predictor
from pipeline.sandbox.docker.names import instance_image
from pipeline.sandbox.docker.sandbox import DockerSandbox

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]
REPO = factories.REPO
GOLD, TEST, LATER = (f"canary-of-the-{place}" for place in ("gold-patch", "test-patch", "later-commit"))
CANARIES = (GOLD, TEST, LATER)
HOST, BASE = "canary-of-the-host", "canary-of-the-base"
EXAMPLES = VENDORS / "command" / "examples"
#: how often the gateway tries a request
TRIES = 6
#: how the smallest agent asks a model: it sends the file `$1`, and exits with 0 whatever the answer
ASK = """
ask() {
  node -e 'const [model, path, most] = process.argv.slice(1), content = require("fs").readFileSync(path, "utf8");
    console.log(JSON.stringify({ model, max_tokens: Number(most), messages: [{ role: "user", content }] }))' \
    "$MODEL" "$1" "${2:-100}" |
    curl --silent --max-time 60 --header "Authorization: Bearer $OPENAI_API_KEY" \\
      --header "Content-Type: application/json" --data @- "$OPENAI_BASE_URL/chat/completions"
}
"""
#: an agent that searches everywhere and tells the model everything; the pattern does not match itself
LOOK = """
{
  echo look; cat "$TASK"; env; git log --all --format='%H %s'; git remote --verbose
  git cat-file --batch-all-objects --batch
  cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline
  grep --recursive --text --no-messages --exclude-dir=proc --exclude-dir=sys 'canary-[o]f-[tT]he' /
  cat src/*
} > "$OUT/seen" 2> /dev/null || true
tr -cd '[:print:]\\n' < "$OUT/seen" > "$OUT/told"
ask "$OUT/told"
echo changed >> src/menu.js
"""


class World(NamedTuple):
    """A library with one instance, the gateway, and its provider."""

    store: Store
    instance: Instance
    gateway: Gateway
    model: ScriptedModel
    given: dict[str, str]
    folder: Path

    def run(self, script: str, seconds: int = 120, install: str = "", **more: Any) -> Unit:
        """Let an agent do this in the instance's container; its unit belongs to a run of its own."""
        settings = self.folder / "settings.toml"
        variables = '{ MODEL = "{model}", TASK = "{task}", OUT = "{out}" }'
        command = json.dumps(["sh", "-c", ASK + script])
        settings.write_text(f"command = {command}\nenvironment = {variables}\nseconds = {seconds}\n{install}")
        return self.ask("command", settings, **more)

    def ask(self, agent: str, settings: Path | None = None, **more: Any) -> Unit:
        more |= {"models": DEMO, "settings": settings, "environ": self.given}
        predictor = Predictor(self.store, REPO, agent, "scripted", **more)
        run = predictor.preprocess()
        clone = open_clone(self.folder / "library")
        rooms = predictor.rooms(print) if predictor.agent.runs_code else None
        with Progress("predicting", 1) as progress:
            request = predictor.request(self.gateway, run, self.instance, clone, rooms)
            predictor.ask(self.gateway, run, [request], progress)
        return run.unit(self.instance)

    def told(self) -> str:
        """Everything that reached the provider; it is then forgotten."""
        requests, self.model.requests[:] = list(self.model.requests), []
        return json.dumps([request._asdict() for request in requests])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    pull = Pull("qualified", f"{NAMED}{TEST}\n", fix=f"old new {GOLD}\n")
    library = make_library(folder, {"menu": pull}, {"src/known.js": f"{BASE}\n"})
    library.commit(f"Later: {LATER}", {"src/later.js": f"{LATER}\n"})
    library.git("tag", LATER)
    store = Store(folder / "data")
    collect(store, REPO, library.folder)
    (instance,) = build(store, REPO, Settings(DockerSandbox(cache_root()), repeats=1), numbers=[1])
    assert isinstance(instance, Instance), instance
    with ExitStack() as stack:
        model = stack.enter_context(ScriptedModel([Answer((), "I have no idea.")]))
        given = {"A11Y_BENCH_SCRIPTED_URL": model.url, "A11Y_BENCH_SCRIPTED_KEY": HOST, "INITIAL_RETRY_DELAY": "0.01"}
        given = {**os.environ, **given, "MAX_RETRY_DELAY": "0.02", "JITTER": "0"}
        opened = open_gateway(DEMO, store.ledger, say=print, log=folder / "gateway.log", environ=given)
        yield World(store, instance, stack.enter_context(opened), model, given, folder)


def failure(unit: Unit) -> dict[str, Any]:
    return read_json(unit.folder / "error.json")


# -- what an agent finds ---------------------------------------------------------------------------------------------
@pytest.mark.invariant(1)
@pytest.mark.trap("history-in-image")
def test_nothing_of_the_solution_is_in_the_container(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkout with every git object, the environment, all files of the image, and everything that reached the
    model."""
    for name in ("GITHUB_TOKEN", "OPENAI_MODEL", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, HOST)
    unit = world.run(LOOK)
    seen, sent = (unit.folder / "seen").read_bytes().decode(errors="replace"), world.told()
    assert all(text in seen for text in (BASE, "OPENAI_BASE_URL", " base\n")) and BASE in sent, "it looks, and tells"
    wanted = (*CANARIES, world.instance.merge_sha, world.instance.fix_patch)
    assert [text for text in wanted if text in seen or text in sent] == []
    assert HOST not in seen, "neither what the host's environment says nor the provider's key"
    assert unit.result()["patch"].endswith("@@ -1 +1,2 @@\n old\n+changed\n")


@pytest.mark.invariant(1)
@pytest.mark.trap("history-in-image")
def test_nothing_of_the_solution_is_in_the_saved_image(world: World) -> None:
    """In another benchmark, gold patch and test patch lie in the image in which an agent works."""
    canaries, rest, found = re.compile(b"canary-of-the-[a-z-]+"), b"", set()
    for chunk in docker.from_env().images.get(instance_image(world.instance.image)).save():
        found.update(canaries.findall(rest + chunk))
        rest = chunk[-100:]
    assert found == {BASE.encode()}


@pytest.mark.invariant(1)
def test_an_agent_on_the_host_gets_no_solution_either(world: World) -> None:
    """Its checkout and environment are covered by test_runtime.py."""
    settings = world.folder / "magentless.toml"
    settings.write_text('samples = {sets = 1, per_set = 1}\nretrieval = {model = ""}\n')
    unit = world.ask("magentless", settings)
    sent = world.told()
    assert "menu.js" in sent and unit.result()["patch"] == "", "it was asked, and had no idea"
    left = b"".join(path.read_bytes() for path in unit.folder.rglob("*") if path.is_file()).decode()
    assert [text for text in (*CANARIES, world.instance.merge_sha) if text in sent or text in left] == []


@pytest.mark.rule("agent-container")
@pytest.mark.invariant(5)
def test_only_the_gateway_is_reachable(world: World) -> None:
    """A registry has the release with the fix, and the git host the fix itself. The provider is reached through the
    gateway only."""
    tries = ("https://registry.npmjs.org", "http://172.17.0.1", "https://github.com", world.model.url)
    script = "".join(f"curl --silent --max-time 5 {url}; echo {url} $? >> $OUT/ends\n" for url in tries)
    unit = world.run(f"ls /sys/class/net > $OUT/net\n{script}")
    assert (unit.folder / "net").read_text() == "lo\n"
    assert all(line.split()[1] in ("6", "7") for line in (unit.folder / "ends").read_text().splitlines())
    assert world.told() == "[]"


# -- what it may do --------------------------------------------------------------------------------------------------
@pytest.mark.rule("agent-diff")
def test_the_answer_is_the_diff_of_the_checkout(world: World) -> None:
    """Committed or not, with new and removed files, without what the repository ignores, and independent of git
    settings."""
    script = """
    git config diff.external /bin/false; git config user.email a@b; git config user.name a
    echo one > new.js; git rm --quiet src/menu.test.js; git add --all; git commit --quiet --message done
    mkdir node_modules/mine; echo two > node_modules/mine/index.js; touch .git/index.lock; printf 'a\\0b' > picture.bin
    """
    patch = world.run(script).result()["patch"]
    assert re.findall(r"^diff --git a/(\S+)", patch, re.MULTILINE) == ["new.js", "picture.bin", "src/menu.test.js"]
    assert "GIT binary patch" in patch


@pytest.mark.invariant(6)
@pytest.mark.trap("token-in-log")
def test_leftover_files_are_kept_without_keys_and_manifests(world: World) -> None:
    unit = world.run(
        "env; env > $OUT/deep; echo {} > $OUT/manifest.json; ln -s /etc/passwd $OUT/link; echo changed > new.js"
    )
    assert unit.result()["outcome"] == "SUCCESSFUL_PATCH"
    kept = {path.name: path.read_text() for path in unit.folder.iterdir()}
    assert set(kept) == {"agent.log", "deep", "manifest.json", "metadata.json", "patch.diff"}
    assert "OPENAI_API_KEY=***" in kept["deep"] and "OPENAI_API_KEY=***" in kept["agent.log"]


def test_an_agents_tools_cannot_be_changed(world: World) -> None:
    install = "install = 'echo installed > tool; id -u > user'"
    unit = world.run(
        "cat /opt/agent/tool /opt/agent/user > $OUT/tool; echo x > /opt/agent/tool; id -u >> $OUT/tool", install=install
    )
    assert (unit.folder / "tool").read_text() == "installed\n0\n1000\n"


def test_a_command_line_agent_works_unmodified(world: World) -> None:
    """Qwen Code from the npm registry, with the example's settings: it streams, calls tools and edits the checkout."""
    edit = {"command": "echo changed >> src/menu.js && echo all-is-writ", "description": "-", "is_background": False}
    answers = [Answer(("all-is-writ",), "Done."), Answer((), "On it.", ("run_shell_command", json.dumps(edit)))]
    world.model.answers[:0] = answers
    unit = world.ask("command", EXAMPLES / "qwen-code.toml")
    del world.model.answers[: len(answers)]
    asked = [request.body for request in world.model.requests]
    assert unit.result()["outcome"] == "SUCCESSFUL_PATCH" and "+changed" in unit.result()["patch"]
    assert len(asked) == 2 and all(body["stream"] and body["tools"] for body in asked)
    assert [canary for canary in CANARIES if canary in world.told()] == []


# -- how it ends -----------------------------------------------------------------------------------------------------
@pytest.mark.rule("provider-failure")
@pytest.mark.invariant(4)
@pytest.mark.trap("infrastructure-is-not-failure")
@pytest.mark.parametrize("status", [500, 429])
def test_a_failing_provider_gives_no_answer(world: World, status: int) -> None:
    """Real command-line agents print the error and exit with 0; scored, this would be the model's failure."""
    world.model.fail(*[Fault(status)] * TRIES)
    unit = world.run('ask "$TASK"; exit 0')
    assert failure(unit)["cause"] == f"provider_{status}"
    assert not unit.path.exists()


@pytest.mark.rule("provider-failure")
def test_a_provider_that_refuses_the_key_ends_the_experiment(world: World) -> None:
    """Every other task would fail in the same way."""
    world.model.fail(Fault(401))
    with pytest.raises(UserError, match="the model 'scripted' cannot be asked"):
        world.run('ask "$TASK"; exit 0 # with a wrong key')


@pytest.mark.rule("provider-failure")
@pytest.mark.parametrize("fault", [Fault(empty=True), Fault(truncated=True)], ids=["empty", "truncated"])
def test_an_empty_reply_is_the_models_answer(world: World, fault: Fault) -> None:
    world.model.fail(fault)
    unit = world.run('ask "$TASK"')
    assert unit.result() == {"patch": "", "outcome": "NO_EDITS"}


def test_a_temporary_failure_does_not_count(world: World) -> None:
    world.model.fail(*[Fault(500)] * TRIES)
    unit = world.run('ask "$TASK"; ask "$TASK"; echo changed > src/menu.js')
    assert unit.result()["outcome"] == "SUCCESSFUL_PATCH"


@pytest.mark.rule("budget")
@pytest.mark.parametrize(("limit", "cause"), [("budget", "budget_exceeded"), ("cap", "cap_reached")])
def test_an_answer_cut_short_by_a_limit_is_unanswered(world: World, limit: str, cause: str) -> None:
    """The agent does not report the refusal, so nobody could tell its patch from a complete one."""
    unit = world.run('ask "$TASK"; ask "$TASK" 1000000; echo half > src/menu.js', **{limit: Decimal("0.1")})
    assert failure(unit)["cause"] == cause and not unit.path.exists()


@pytest.mark.rule("budget")
def test_an_answer_within_the_budget_is_complete(world: World) -> None:
    unit = world.run('ask "$TASK"; echo whole > src/menu.js', budget=Decimal("0.1"))
    assert unit.result()["outcome"] == "SUCCESSFUL_PATCH"


@pytest.mark.rule("agent-diff")
def test_an_agent_that_times_out_answers_with_its_changes_so_far(world: World) -> None:
    unit = world.run("echo changed > src/menu.js; sleep 60", seconds=2)
    assert unit.result()["outcome"] == "TIME_LIMIT" and "+changed" in unit.result()["patch"]


@pytest.mark.invariant(7)
@pytest.mark.trap("bought-fault")
@pytest.mark.parametrize(
    "script",
    [
        "mkdir -p $OUT/metadata.json/x; echo y > $OUT/metadata.json/x/y",
        "printf '{' > $OUT/metadata.json",
        """printf '{"outcome": 3, "funnel": {"a": "b"}}' > $OUT/metadata.json""",
        "mkdir -p $OUT/patch.diff $OUT/agent.log; echo y > $OUT/patch.diff/y",
        "d=$OUT; for i in $(seq 60); do d=$d/d; done; mkdir -p $d; echo y > $d/y",
        "rm -r $OUT; ln -s /proc/self $OUT",
        "rm -r $OUT; mkfifo $OUT",
    ],
)
def test_invalid_leftover_files_do_not_affect_the_patch(world: World, script: str) -> None:
    """Its patch counts; nothing that it writes makes the answer look like a failure of the machine."""
    unit = world.run(f"echo changed > src/menu.js; {script}")
    assert unit.result()["outcome"] == "SUCCESSFUL_PATCH" and "+changed" in unit.result()["patch"]


@pytest.mark.invariant(4)
@pytest.mark.trap("bought-fault")
def test_an_agent_that_blames_its_provider_is_not_believed(world: World) -> None:
    unit = world.run("""printf '{"cause": "rate_limit"}' > $OUT/error.json; exit 75""")
    assert failure(unit)["cause"] == "agent_error"


@pytest.mark.invariant(7)
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 3", "exit code 3"),
        ("no-such-agent", "exit code 127"),
        ("rm -rf .git", "git read-tree in the agent's checkout"),
    ],
)
def test_an_agent_that_breaks_leaves_its_task_unanswered(world: World, script: str, message: str) -> None:
    unit = world.run(script)
    assert failure(unit)["cause"] == "agent_error" and message in failure(unit)["message"]
    assert (unit.folder / "agent.log").exists() and not unit.path.exists()
