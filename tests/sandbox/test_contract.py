"""The contract of all sandboxes (base.py): one suite, run on each of them.

Tests that need a command to really run are skipped for the scripted one. Only a container can cut the network, bound
memory and processes, and remove privileges: those tests are in docker/test_docker.py, and local.py says that it does
none of this.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sandbox.conftest import Bench

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.ecosystems.installation import installation
from pipeline.sandbox import SANDBOXES, open_sandbox
from pipeline.sandbox.base import Completed, InstallFailed, Limits, Workspace
from pipeline.sandbox.images import Directory, Kept, Kit
from pipeline.sandbox.scripted import ScriptedSandbox

REAL = ["local", pytest.param("docker", marks=pytest.mark.engine)]


@pytest.fixture(params=REAL)
def bench(request: pytest.FixtureRequest) -> Bench:
    """A sandbox that really runs commands."""
    return request.getfixturevalue({"local": "local", "docker": "docker_bench"}[request.param])


@pytest.fixture(params=[*REAL, "scripted"])
def any_bench(request: pytest.FixtureRequest, tmp_path: Path, spec, manifests: Path, checkout: Path) -> Bench:
    if request.param != "scripted":
        return request.getfixturevalue({"local": "local", "docker": "docker_bench"}[request.param])
    scripted = Bench(ScriptedSandbox(tmp_path), spec, manifests, checkout)
    scripted.make()
    return scripted


def shell(workspace: Workspace, script: str, **options: Any) -> Completed:
    return workspace.run(["sh", "-c", script], **options)


# -- the repository -------------------------------------------------------------------------------------------------
FORGE = 'cd "$0" && touch -r package.json "$1/time" && tr a-z A-Z < package.json > "$1/new"'
FORGE += ' && cat "$1/new" > package.json && touch -r "$1/time" package.json && git diff --name-only HEAD'


def test_git_does_not_reread_files_of_a_fresh_workspace(bench: Bench) -> None:
    """A fresh workspace is a copy with other inodes and change times; reading all files of a large repository took a
    second and a half. Other content at the same time shows whether a file was read."""
    with bench.sandbox.open(bench.instance) as workspace:
        forged = workspace.run(["sh", "-c", FORGE, workspace.root, workspace.scratch])
        assert (forged.code, forged.output) == (0, b"")
        assert shell(workspace, "touch package.json && git diff --name-only HEAD").output == b"package.json\n"


# -- commands --------------------------------------------------------------------------------------------------------
def test_the_most_memory_is_a_number(any_bench: Bench) -> None:
    """0 if the sandbox does not measure it."""
    with any_bench.sandbox.open(any_bench.instance) as workspace:
        assert workspace.peak() >= 0


OURS = pytest.mark.parametrize("ours", [False, True], ids=["the-repository's", "ours"])


@OURS
@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -9)])
def test_exit_code_is_returned(bench: Bench, script: str, code: int, ours: bool) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        done = shell(workspace, script, ours=ours)
    assert (done.code, done.output, done.limit) == (code, b"", None)


@OURS
def test_missing_program_is_a_failed_command(bench: Bench, ours: bool) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        done = workspace.run(["no-such-program"], ours=ours)
    assert done.code in (126, 127)
    assert b"no-such-program" in done.output


@OURS
def test_output_of_both_streams_is_merged(bench: Bench, ours: bool) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        done = shell(workspace, "echo one; echo two >&2; pwd", ours=ours)
        assert done.output.decode().split() == ["one", "two", workspace.root]
        assert done.limit is None
        assert 0 < done.seconds < 30


HOSTILE = ["$(touch x); 'a b' && *", "'\n$(touch x)\nEOF\n`touch y`", "\\' \"", ""]


@pytest.mark.rule("arguments-are-not-shell")
@pytest.mark.parametrize(
    ("hostile", "ours"), [*((text, ours) for text in HOSTILE for ours in (False, True)), ("no text: \udcff", True)]
)
def test_arguments_are_passed_as_they_are(bench: Bench, hostile: str, ours: bool) -> None:
    """Invariant 5: a file name cannot become a command, whatever it contains."""
    with bench.sandbox.open(bench.instance) as workspace:
        done = workspace.run(["printf", "%s", hostile], ours=ours)
        assert done.output == hostile.encode(errors="surrogateescape")
        assert workspace.run(["ls"], ours=ours).output.split() == [b"node_modules", b"package.json"]


def test_our_commands_and_others_share_files_and_variables(bench: Bench) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        ours = [shell(workspace, f"echo {n} >> mark; cat mark; env | sort", ours=True).output for n in range(2)]
        other = shell(workspace, "cat mark; env | sort").output
        last = shell(workspace, "rm mark; ls mark", ours=True)
    assert ours[1].startswith(b"0\n1\n") and other.startswith(b"0\n1\n")
    assert _named(ours[1]) == _named(other), "the variables are the same"
    assert last.code != 0


def _named(output: bytes) -> list[bytes]:
    """The output of `env`, without the lines that shells add for themselves."""
    return [
        line for line in output.splitlines() if b"=" in line and not line.startswith((b"OLDPWD=", b"_=", b"SHLVL="))
    ]


def test_variables_of_a_command_are_set(bench: Bench) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        done = shell(workspace, "echo $CI $TZ $LANG $MINE", env={"MINE": "yes"})
    assert done.output.decode().split() == ["1", "UTC", "C.UTF-8", "yes"]


def test_a_command_runs_in_the_root_or_a_folder_below_it(bench: Bench) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        workspace.run(["mkdir", "-p", "packages/ui"])
        assert workspace.run(["pwd"]).output.decode().strip() == workspace.root
        assert workspace.run(["pwd"], folder="packages/ui").output.decode().strip() == f"{workspace.root}/packages/ui"


@pytest.mark.trap("no-limits-around-tests")
@OURS
def test_output_is_capped(bench: Bench, ours: bool) -> None:
    """Other systems read a runaway log into memory to its end."""
    with bench.sandbox.open(bench.instance, limits=Limits(output=100_000)) as workspace:
        done = workspace.run(["yes"], ours=ours)
        assert done.limit == "output"
        assert len(done.output) == 100_000


@pytest.mark.trap("no-limits-around-tests")
@OURS
def test_time_out_kills_the_whole_tree(bench: Bench, ours: bool) -> None:
    """Other systems have no time limit: one hang stopped a night's batch at 270 of 296."""
    with bench.sandbox.open(bench.instance) as workspace:
        started = time.monotonic()
        script = "(sleep 3; echo late > child) & echo begun; sleep 60"
        done = shell(workspace, script, seconds=1, ours=ours)
        assert (done.limit, done.code) == ("time", -9)
        assert done.output == b"begun\n"
        assert time.monotonic() - started < 20
        time.sleep(max(0, 4 - (time.monotonic() - started)))
        assert workspace.read(f"{workspace.root}/child") is None


def test_a_limit_ends_the_workspace_but_its_files_stay(bench: Bench) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        shell(workspace, "echo kept > kept; sleep 60", seconds=1)
        assert workspace.read(f"{workspace.root}/kept") == b"kept\n"
        with pytest.raises(InfrastructureError) as caught:
            workspace.run(["true"])
    assert caught.value.cause == "workspace_gone"


def test_command_ends_even_if_a_child_keeps_its_output_open(bench: Bench) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        done = shell(workspace, "sleep 60 & echo hi", seconds=30)
    assert (done.code, done.output, done.limit) == (0, b"hi\n", None)


# -- files -----------------------------------------------------------------------------------------------------------
def test_written_file_is_read_back(any_bench: Bench) -> None:
    every = bytes(range(256)) * 1000
    with any_bench.sandbox.open(any_bench.instance) as workspace:
        for data in (b"", b"no end of line", every, every * 2):
            for path in (f"{workspace.scratch}/file", f"{workspace.scratch}/a 'b/file", f"{workspace.root}/new/file"):
                workspace.write(path, data)
                assert workspace.read(path) == data


def test_missing_file_is_read_as_none(any_bench: Bench) -> None:
    with any_bench.sandbox.open(any_bench.instance) as workspace:
        assert workspace.read(f"{workspace.root}/no/such/file") is None


def test_written_file_belongs_to_the_commands(bench: Bench) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        workspace.write(f"{workspace.root}/new/file", b"one\n")
        assert (
            shell(workspace, "echo two >> new/file && echo three > new/other && cat new/file").output == b"one\ntwo\n"
        )


@pytest.mark.trap("report-through-a-link")
def test_only_regular_files_within_the_limit_are_read(bench: Bench) -> None:
    """A link in place of a report would show a candidate any file of the host, and a pipe would block the reader."""
    script = "echo x > real; ln -s real link; mkdir folder; mkfifo pipe; head -c 2000 /dev/zero > large"
    with bench.sandbox.open(bench.instance, limits=Limits(output=1000)) as workspace:
        assert shell(workspace, script).code == 0
        assert workspace.read(f"{workspace.root}/real") == b"x\n"
        for name in ("link", "folder", "pipe", "large"):
            assert workspace.read(f"{workspace.root}/{name}") is None


@pytest.mark.trap("write-through-a-link")
def test_writing_replaces_a_link(bench: Bench) -> None:
    """A link placed where the harness will write must not redirect the write."""
    with bench.sandbox.open(bench.instance) as workspace:
        for folder in (workspace.root, workspace.scratch):
            shell(workspace, f"cd {folder}; echo old > target; ln -s target report", ours=True)
            workspace.write(f"{folder}/report", b"new\n")
            assert shell(workspace, f"cd {folder}; cat target report", ours=True).output == b"old\nnew\n"


# -- isolation -------------------------------------------------------------------------------------------------------
def test_fresh_workspace_has_no_traces_of_an_earlier_one(bench: Bench) -> None:
    traces = "cat $HOME/trace /workspace/scratch/trace trace $TMPDIR/trace"
    with bench.sandbox.open(bench.instance) as workspace:
        shell(workspace, f"echo x | tee $HOME/trace trace {workspace.scratch}/trace; rm package.json")
    with bench.sandbox.open(bench.instance) as workspace:
        assert shell(workspace, traces).code != 0
        for path in (f"{workspace.root}/trace", f"{workspace.scratch}/trace"):
            assert workspace.read(path) is None
        assert workspace.read(f"{workspace.root}/package.json")


def test_workspaces_side_by_side_are_apart(bench: Bench) -> None:
    def own(mark: int) -> bytes:
        with bench.sandbox.open(bench.instance) as workspace:
            return shell(workspace, f"echo {mark} >> mark; sleep 1; cat mark").output

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(own, range(4))) == [b"0\n", b"1\n", b"2\n", b"3\n"]


@pytest.mark.invariant(6)
def test_secrets_of_the_host_are_not_visible(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test run could print or send any variable that it finds."""
    monkeypatch.setenv("GITHUB_TOKEN", "s3cret-of-the-host")
    with bench.sandbox.open(bench.instance) as workspace:
        assert b"s3cret-of-the-host" not in workspace.run(["env"]).output


# -- layers ----------------------------------------------------------------------------------------------------------
@pytest.mark.invariant(1)
def test_repository_has_one_commit_and_a_clean_working_tree(bench: Bench) -> None:
    """Later history would contain the fix."""
    with bench.sandbox.open(bench.instance) as workspace:
        assert workspace.run(["git", "rev-list", "--all", "--count"]).output == b"1\n"
        status = workspace.run(["git", "status", "--porcelain"])
    assert (status.code, status.output) == (0, b"")


def test_dependencies_are_installed(bench: Bench) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        done = workspace.run(["node", "-e", "console.log(require('is-number')(5), process.versions.node)"])
    assert done.output.startswith(b"true 20.")


@pytest.mark.trap("install-per-instance")
def test_environment_is_made_once(any_bench: Bench) -> None:
    """A full install per instance, at 1 to 2 GB each, is how 140 images filled 1.3 TB elsewhere."""
    assert any_bench.said
    before, started = list(any_bench.said), time.monotonic()
    any_bench.make()
    assert any_bench.said == before
    assert time.monotonic() - started < 2


def test_instance_is_known_once_made(any_bench: Bench) -> None:
    assert any_bench.sandbox.images.has(any_bench.instance)
    assert not any_bench.sandbox.images.has(uuid.uuid4().hex)


# -- the disk --------------------------------------------------------------------------------------------------------
def kept(bench: Bench) -> dict[str, Kept]:
    """The two layers of the bench, by kind."""
    mine = (bench.environment, bench.instance)
    return {
        layer.kind: layer for layer in bench.sandbox.images.kept() if layer.digest in mine and layer.kind != "cache"
    }


def test_layers_are_listed_without_the_layers_below(any_bench: Bench) -> None:
    """Engines report an image's size with all layers below it, so ten instances would count their environment ten
    times."""
    found = kept(any_bench)
    environment, instance = found["environment"], found["instance"]
    assert instance.on == environment.name
    assert 0 < instance.size < 100_000 and 0 < environment.size < 1_000_000
    assert not environment.busy and not instance.busy


def test_open_layer_is_not_removed(any_bench: Bench) -> None:
    with any_bench.sandbox.open(any_bench.instance):
        listed = kept(any_bench)["instance"]
        assert listed.busy
        assert not any_bench.sandbox.images.remove(listed._replace(busy=False)), "it was not in use when it was listed"
    assert any_bench.sandbox.images.has(any_bench.instance)


def test_removed_layer_is_made_again(any_bench: Bench) -> None:
    for kind in ("instance", "environment"):
        assert any_bench.sandbox.images.remove(kept(any_bench)[kind])
    assert not any_bench.sandbox.images.has(any_bench.instance) and kept(any_bench) == {}
    any_bench.make()
    assert set(kept(any_bench)) == {"environment", "instance"}


def test_the_machine_reports_its_cpus_and_memory(any_bench: Bench) -> None:
    assert all(amount > 0 for amount in any_bench.sandbox.images.machine())


def test_abort_ends_running_commands_and_starts_none(bench: Bench) -> None:
    """A second Ctrl-C must leave no test run behind that continues for half an hour, or that is tried again."""
    sandbox = open_sandbox(bench.sandbox.name, bench.sandbox.cache)
    threading.Timer(1, sandbox.abort).start()
    started = time.monotonic()
    with pytest.raises(InfrastructureError), sandbox.open(bench.instance) as workspace:
        shell(workspace, "sleep 60")
    assert time.monotonic() - started < 30
    with pytest.raises(InfrastructureError) as caught, sandbox.open(bench.instance) as workspace:
        shell(workspace, "true")
    assert caught.value.cause == "stopped"


@pytest.mark.trap("install-failure-hidden")
def test_failed_install_is_reported_with_its_log(bench: Bench, tmp_path: Path) -> None:
    """`yarn install || true` hides the failure, and the tests then fail because modules are missing."""
    (tmp_path / "package.json").write_text('{"dependencies": {"is-number": "99.99.99"}}')
    with pytest.raises(InstallFailed) as caught:
        bench.sandbox.images.environment(installation(bench.spec), uuid.uuid4().hex, tmp_path, print)
    assert "ETARGET" in caught.value.log
    assert "npm install" in str(caught.value)


def test_failed_install_does_not_count_as_made(bench: Bench, tmp_path: Path) -> None:
    digest = uuid.uuid4().hex
    broken = bench.spec.model_copy(update={"install": ("sh", "-c", "echo no; exit 3")})
    for _ in range(2):
        with pytest.raises(InstallFailed, match="ended with 3"):
            bench.sandbox.images.environment(installation(broken), digest, bench.manifests, print)


# -- the runner's cache ----------------------------------------------------------------------------------------------
@pytest.mark.trap("poisoned-cache")
def test_cache_is_filled_then_copied(bench: Bench) -> None:
    """The next candidate must not see what another one wrote into its cache."""
    with bench.sandbox.open(bench.instance, cache="fill") as workspace:
        assert shell(workspace, f"mkdir {workspace.cache}/a && echo filled > {workspace.cache}/a/entry").code == 0
    for _ in range(2):
        with bench.sandbox.open(bench.instance) as workspace:
            assert workspace.read(f"{workspace.cache}/a/entry") == b"filled\n"
            assert workspace.read(f"{workspace.cache}/own") is None
            assert shell(workspace, f"cd {workspace.cache}; echo x | tee own a/entry").code == 0
    with bench.sandbox.open(bench.instance, cache="none") as workspace:
        assert shell(workspace, f"ls {workspace.cache}").output == b""


def test_cache_is_at_the_same_place_when_filled_and_when_used(bench: Bench) -> None:
    """Runners derive the names of cache entries from the absolute paths of cache and repository."""
    with bench.sandbox.open(bench.instance, cache="fill") as workspace:
        places = (workspace.root, workspace.cache)
    with bench.sandbox.open(bench.instance, cache="use") as workspace:
        assert (workspace.root, workspace.cache) == places


# -- agents ----------------------------------------------------------------------------------------------------------
@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    folder = tmp_path / "agent"
    folder.mkdir()
    (folder / "agent.sh").write_text("echo works\n")
    return Kit(folder, uuid.uuid4().hex, "echo installed > more; id -u > who")


class Hello(BaseHTTPRequestHandler):
    """Says hello to every client."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *values: object) -> None:
        """Log nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hello) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


GET = "fetch(process.argv[1]).then(r => r.text()).then(console.log, () => console.log('no way'))"


@pytest.mark.rule("agent-container")
def test_an_agent_reaches_only_one_address(any_bench: Bench, address: str) -> None:
    """A registry has the release with the fix. A sandbox that cannot isolate refuses."""
    sandbox = any_bench.sandbox
    if "reach" not in sandbox.can:
        with pytest.raises(UserError, match="single way out"), sandbox.open(any_bench.instance, reach=address):
            pass
        return
    with sandbox.open(any_bench.instance, cache="none", reach=address) as workspace:
        assert workspace.url
        if sandbox.name != "scripted":
            others = ("http://172.17.0.1:80", "https://registry.npmjs.org")
            outputs = [workspace.run(["node", "-e", GET, url]).output for url in (workspace.url, *others)]
            assert outputs == [b"hello\n", b"no way\n", b"no way\n"]
    with sandbox.open(any_bench.instance) as workspace:
        assert workspace.url == ""


def test_tools_are_made_once_and_can_be_read_and_not_changed(any_bench: Bench, kit: Kit) -> None:
    images = any_bench.sandbox.images
    if "reach" not in any_bench.sandbox.can:
        with pytest.raises(UserError, match="single way out"):
            images.tools(kit, print)
        return
    tools = images.tools(kit, print)
    assert images.tools(kit, pytest.fail) == tools, "nothing is said: they are there"
    if any_bench.sandbox.name == "scripted":
        return
    with any_bench.sandbox.open(any_bench.instance, tools=tools) as workspace:
        seen = shell(
            workspace,
            'cd "$0"; sh agent.sh; cat more who; echo x > more || echo not mine'.replace("$0", workspace.tools),
        )
        assert seen.output.decode().splitlines()[:3] == ["works", "installed", "0"] and b"not mine" in seen.output


def test_a_sandbox_without_browsers_refuses_before_the_install(any_bench: Bench) -> None:
    """A sandbox without browsers refuses before an install; otherwise tests would fail one by one."""
    spec = installation(any_bench.spec.model_copy(update={"browser": "chromium"}))
    if "browse" in any_bench.sandbox.can:
        return  # test_browser.py, in docker/
    with pytest.raises(UserError, match="give tests a browser"):
        any_bench.sandbox.images.environment(spec, "no-such-digest", any_bench.manifests, print)


def test_failed_install_of_tools_is_reported(bench: Bench, kit: Kit) -> None:
    with pytest.raises(UserError):
        bench.sandbox.images.tools(kit._replace(script="echo the reason; exit 3"), print)


def test_a_folder_is_fetched_without_links(bench: Bench, tmp_path: Path) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        script = "mkdir -p out/deep && cd out && echo one > one && echo two > deep/two && ln -s /etc/passwd link"
        assert shell(workspace, script).code == 0
        workspace.fetch(f"{workspace.root}/out", tmp_path / "got")
        workspace.fetch(f"{workspace.root}/no-such", tmp_path / "got")
    found = {
        str(path.relative_to(tmp_path / "got")): path.read_text()
        for path in (tmp_path / "got").rglob("*")
        if path.is_file()
    }
    assert found == {"one": "one\n", "deep/two": "two\n"}


# -- what it says of itself ------------------------------------------------------------------------------------------
def test_identity_describes_the_actual_sandbox(any_bench: Bench) -> None:
    found = any_bench.sandbox.images.identity()
    assert found.sandbox == any_bench.sandbox.name and found.architecture in ("amd64", "arm64")
    assert found == any_bench.sandbox.images.identity()
    assert found.base_image.startswith("sha256:") or found.sandbox != "docker"


def test_data_directories_that_use_a_sandbox_are_recorded(any_bench: Bench, tmp_path: Path) -> None:
    images, mine, theirs = any_bench.sandbox.images, Directory.here(tmp_path), Directory("elsewhere", "/data of ümlaut")
    for _ in range(2):
        images.serve(mine)
        images.serve(theirs)
    assert {mine, theirs} <= set(images.served())
    assert not mine.is_gone and not theirs.is_gone and Directory.here(tmp_path / "none").is_gone
    for one in (mine, theirs):
        images.forget(one)
        images.forget(one)
    assert not {mine, theirs} & set(images.served())


# -- the table -------------------------------------------------------------------------------------------------------
def test_unknown_sandbox_lists_the_available_ones(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="docker, local"):
        open_sandbox("vm", tmp_path)


@pytest.mark.parametrize("name", ["local", "scripted", pytest.param("docker", marks=pytest.mark.engine)])
def test_sandboxes_know_their_name(name: str, tmp_path: Path) -> None:
    assert name in SANDBOXES
    assert open_sandbox(name, tmp_path).name == name


class Mine(ScriptedSandbox):
    """A sandbox of the user's own."""

    name = "mine"


def test_a_new_sandbox_is_a_module_and_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SANDBOXES, "mine", f"{__name__}:Mine")
    assert open_sandbox("mine", tmp_path).name == "mine"
    with pytest.raises(UserError, match="docker, local, mine"):
        open_sandbox("vm", tmp_path)
