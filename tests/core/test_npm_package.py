"""A pinned npm package: downloaded once, and only with the pinned digest."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from registry_double import Registry

from pipeline.core.errors import InfrastructureError
from pipeline.core.npm_package import NpmPackage
from pipeline.sandbox.docker import tar


@pytest.fixture(autouse=True)
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with Registry(host="127.0.0.1") as double:
        files = {"package/package.json": b'{"name": "dep", "version": "1.0.0"}', "package/lib/a.js": b"a"}
        double.archives["dep"] = tar.of_entries(files | {"package/lib/b/c.js": b"c", "package/library.js": b"d"})
        monkeypatch.setenv("A11Y_BENCH_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("npm_config_registry", double.address)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
        yield double


def pinned(registry: Registry, member: str) -> NpmPackage:
    digest = hashlib.sha512(registry.archives["dep"]).digest()
    return NpmPackage("dep@1.0.0", f"sha512-{base64.b64encode(digest).decode()}", member)


def test_a_folder_is_downloaded_once_and_alone(registry: Registry) -> None:
    package = pinned(registry, "lib")
    folder = package.file()
    assert sorted(path.name for path in folder.parent.rglob("*.js")) == ["a.js", "c.js"]
    asked = len(registry.asked)
    assert package.file() == folder and len(registry.asked) == asked


def test_another_digest_is_refused_each_time(registry: Registry) -> None:
    for _ in range(2):
        with pytest.raises(InfrastructureError, match="dep@1.0.0 has the digest sha512-.*, but sha512-other is pinned"):
            NpmPackage("dep@1.0.0", "sha512-other", "lib").file()


def test_a_package_that_npm_cannot_download_is_a_fault_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InfrastructureError, match="npm could not download gone@1.0.0") as error:
        NpmPackage("gone@1.0.0", "sha512-other", "lib").file()
    assert error.value.cause == "registry"
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InfrastructureError, match="npm is needed to download gone@1.0.0"):
        NpmPackage("gone@1.0.0", "sha512-other", "lib").file()
