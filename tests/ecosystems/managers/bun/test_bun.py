"""A real Bun: inferred from its lock file, installed in the sandboxes, and the causes that its logs give for a failed
install."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import trees

from pipeline.build import faults
from pipeline.core.errors import InfrastructureError
from pipeline.ecosystems import locks
from pipeline.ecosystems.installation import faults as blamed
from pipeline.ecosystems.installation import installation, tools
from pipeline.ecosystems.locked import Locked
from pipeline.sandbox import open_sandbox
from pipeline.sandbox.base import InstallFailed
from pipeline.sandbox.install import failure

HERE = Path(__file__).parent
REGISTRY = "https://registry.npmjs.org/"
MANIFEST = json.loads((HERE.parent / "project" / "package.json").read_text(encoding="utf-8"))
SANDBOXES = [pytest.param("local", marks=pytest.mark.engine("npm")), pytest.param("docker", marks=pytest.mark.engine)]


def environment(version: str, **more: str):
    """The environment inferred for the project with the lock file of this version of bun; the project has no runner of
    its own."""
    lock = (HERE / version / "bun.lock").read_text(encoding="utf-8")
    scripts = {"scripts": {"test": "node --test"}}
    files = {"package.json": json.dumps(MANIFEST | scripts), "bun.lock": lock, ".nvmrc": "20"}
    return trees.read(trees.of(files), **more)


@pytest.mark.rule("environment-follows-the-commit")
def test_a_commit_with_a_bun_lock_file_is_installed_by_bun() -> None:
    found = environment("1.2.23")
    assert (found.manager, found.manager_version) == ("bun", "1.3.14")
    assert found.install == ("bun", "install", "--frozen-lockfile", "--ignore-scripts")
    assert [str(tool) for tool in tools(found, "20.1.0", "x64")] == ["npm@10", "@oven/bun-linux-x64-baseline@1.3.14"]
    assert [str(tool) for tool in tools(found, "20.1.0", "arm64")] == ["npm@10", "@oven/bun-linux-aarch64@1.3.14"]
    named = trees.tree({"bun.lock": '{"lockfileVersion": 1}'}, packageManager="bun@1.2.20")
    assert trees.read(named).manager_version == "1.2.20"


@pytest.mark.parametrize("name", SANDBOXES)
@pytest.mark.parametrize("version", ["1.2.23", "1.4.5"])
def test_locked_versions_are_installed(name: str, version: str, tmp_path: Path) -> None:
    """Bun's npm package gets its program by an install script, which does not run, so another package provides it."""
    manifests, checkout, found = tmp_path / "manifests", tmp_path / "checkout", environment(version)
    for folder in (manifests, checkout):
        folder.mkdir()
        (folder / "package.json").write_text(json.dumps(MANIFEST), encoding="utf-8")
        (folder / "bun.lock").write_bytes((HERE / version / "bun.lock").read_bytes())
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    for arguments in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "base")):
        subprocess.run(["git", "-C", checkout, *arguments], check=True)
    sandbox, digest = open_sandbox(name, tmp_path / "cache"), f"bun-{version}-{tmp_path.name}"
    sandbox.images.environment(installation(found), digest, manifests, print)
    sandbox.images.instance(digest, f"{digest}-image", checkout)
    try:
        with sandbox.open(f"{digest}-image", cache="none") as workspace:
            script = "const n = require('is-number/package.json').version; console.log(n, require('is-odd')(3))"
            assert workspace.run(["node", "-e", script]).output == b"7.0.0 true\n"
            assert workspace.run(["bun", "--version"]).output.decode().strip() == found.manager_version
    finally:
        if name == "docker":
            for image in (f"a11y-bench/instance:{digest}-image", f"a11y-bench/env:{digest}"):
                subprocess.run(["docker", "image", "rm", "-f", image], capture_output=True, check=True)


@pytest.mark.engine("npm")
@pytest.mark.trap("install-failure-hidden")
def test_a_lock_file_that_does_not_match_is_refused(tmp_path: Path) -> None:
    changed = MANIFEST | {"devDependencies": {"is-odd": "3.0.0"}}
    (tmp_path / "package.json").write_text(json.dumps(changed), encoding="utf-8")
    (tmp_path / "bun.lock").write_bytes((HERE / "1.2.23" / "bun.lock").read_bytes())
    (tmp_path / "manifests").mkdir()
    for name in ("package.json", "bun.lock"):
        (tmp_path / name).rename(tmp_path / "manifests" / name)
    sandbox = open_sandbox("local", tmp_path / "cache")
    with pytest.raises(InstallFailed) as failed:
        sandbox.images.environment(installation(environment("1.2.23")), "digest", tmp_path / "manifests", print)
    assert next(faults.find("install", failed.value.log)).fault.name == "lock-file-outdated"


#: real logs of bun 1.2 and 1.4
@pytest.mark.parametrize(
    ("fault", "found", "log"),
    [
        ("version-gone", {"name": "is-odd", "old": "3.0.99"}, f"error: GET {REGISTRY}is-odd/-/is-odd-3.0.99.tgz - 404"),
        ("version-gone", {"name": "gone"}, f"error: GET {REGISTRY}gone - 404\nerror: gone@3.0.1 failed to resolve"),
        (
            "version-gone",
            {"name": "is-odd", "old": "9.9.9"},
            'error: No version matching "9.9.9" found for specifier "is-odd" (but package exists)',
        ),
        (
            "lock-file-outdated",
            {},
            "error: lockfile had changes, but lockfile is frozen\nnote: try re-running without --frozen-lockfile",
        ),
    ],
)
def test_the_fault_of_a_failed_install_is_found(fault: str, found: dict[str, str], log: str) -> None:
    finding = next(faults.find("install", log))
    assert (finding.fault.name, finding.found) == (fault, found)
    assert isinstance(failure("bun install ended with 1", log, blamed()), InstallFailed)


@pytest.mark.invariant(4)
@pytest.mark.parametrize(
    "log",
    [
        "error: ConnectionRefused downloading tarball is-odd@3.0.1",
        "error: SELF_SIGNED_CERT_IN_CHAIN downloading package manifest is-odd",
        f"error: GET {REGISTRY}is-odd - 503",
    ],
)
def test_an_unreachable_registry_is_a_machine_fault(log: str) -> None:
    assert isinstance(failure("bun install ended with 1", log, blamed()), InfrastructureError)


def test_ranges_are_assigned_to_the_versions_that_they_resolve_to() -> None:
    """`is-odd` has an `is-number` of its own: whatever depends on the other one does not depend on it."""
    held = list(locks.locked("bun.lock", (HERE / "1.4.5" / "bun.lock").read_text(encoding="utf-8")))
    assert Locked("is-number", "7.0.0", ("^7.0.0",)) in held
    assert Locked("is-number", "6.0.0", ("^6.0.0",)) in held


def test_addresses_and_the_repositorys_own_packages_are_read() -> None:
    entries = {
        "@acme/ui": ["@acme/ui@workspace:packages/ui"],
        "icons": ["icons@github:acme/icons#f164", {}, "acme-icons-f164"],
        "a": ["a@1.0.0", "", {"dependencies": {"b": "^2, ]"}}, "sha"],
        "a/b": ["b@2.0.0", "", {}, "sha"],
    }
    text = json.dumps({"workspaces": {"": {"dependencies": {"icons": "acme/icons"}}}, "packages": entries})
    held = locks.locked("bun.lock", text.replace("]}", "],}"))
    assert held == [
        Locked("icons", "", ("github:acme/icons#f164", "acme/icons")),
        Locked("a", "1.0.0"),
        Locked("b", "2.0.0", ("^2, ]",)),
    ]
    after = locks.pin("bun.lock", text, "icons", "acme/icons", "4.5.0", REGISTRY)
    assert Locked("icons", "4.5.0", ("4.5.0",)) in locks.locked("bun.lock", after)
