"""What a registry on loopback says about locked versions, and what happens if it does not answer properly."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from registry_double import Registry as Double

from pipeline.ecosystems.locked import Locked
from pipeline.ecosystems.registry import CONNECTS, LookUp, Registry, elsewhere

THERE, GONE, NOBODY = Locked("kept", "1.0.0"), Locked("kept", "1.9.9"), Locked("@no/body", "2.0.0")


def look_up(address: str, cache: Path, *packages: Locked) -> LookUp:
    return Registry(address, cache).look_up(packages)


def test_missing_versions_are_told_from_existing_ones(tmp_path: Path) -> None:
    """This registry's archives are only where its documents say, so a missing one is looked up again."""
    with Double(host="127.0.0.1", packages={"kept": "1.0.0", "-": "0.0.1"}) as double:
        found = look_up(double.address, tmp_path, THERE, GONE, NOBODY, Locked("-", "0.0.1"), Locked("own", ""))
    assert found == LookUp((("@no/body", "2.0.0"), ("kept", "1.9.9")))


@pytest.mark.invariant(5)
def test_only_the_registry_is_asked_whatever_a_package_is_called(tmp_path: Path) -> None:
    """An address as a name was taken as the address of the request."""
    with Double(host="127.0.0.1", packages={"kept": "1.0.0"}) as double, Double(host="127.0.0.1") as other:
        odd = [Locked(name, "1.0.0") for name in (f"{other.address}x", "../x", "x?y", "a/b", ".", "kept\nleft")]
        found = look_up(double.address, tmp_path, THERE, Locked("kept", "1/../../x"), *odd)
        assert found == LookUp() and other.asked == []
        assert all(path.startswith("/kept") and ".." not in path for path in double.asked)


def test_a_version_found_earlier_is_not_looked_up_again(tmp_path: Path) -> None:
    with Double(host="127.0.0.1", packages={"kept": "1.0.0"}) as double:
        look_up(double.address, tmp_path, THERE)
        before = len(double.asked)
        assert look_up(double.address, tmp_path, THERE) == LookUp()
        assert len(double.asked) == before
        assert look_up(double.address, tmp_path, THERE, GONE).missing == (("kept", "1.9.9"),)


@pytest.mark.invariant(4)
@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_a_registry_that_gives_no_answer_makes_no_version_missing(tmp_path: Path, status: int) -> None:
    with Double(status, for_ever=True, host="127.0.0.1") as double:
        found = look_up(double.address, tmp_path, THERE, GONE)
    assert (found.missing, found.unknown) == ((), 2)


@pytest.mark.invariant(4)
def test_without_a_registry_no_version_is_missing(tmp_path: Path) -> None:
    with Double(host="127.0.0.1") as double:
        address = double.address
    found = look_up(address, tmp_path, THERE, GONE)
    assert (found.missing, found.unknown) == ((), 2)
    assert found.reason.startswith("it cannot be reached")


@pytest.mark.parametrize(("failures", "unknown"), [(CONNECTS - 1, 0), (CONNECTS, 1)])
def test_a_name_that_is_not_resolved_at_once_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, unknown: int
) -> None:
    """32 queries at once were too many for a name server, and no version was looked up."""
    resolve, left = socket.getaddrinfo, iter(range(failures))

    def unreliable(*given: Any, **options: Any) -> Any:
        if next(left, None) is not None:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return resolve(*given, **options)

    with Double(host="127.0.0.1", packages={"kept": "1.0.0"}) as double:
        monkeypatch.setattr(socket, "getaddrinfo", unreliable)
        found = look_up(double.address, tmp_path, THERE)
    assert (found.missing, found.unknown) == ((), unknown)
    assert ("name resolution" in found.reason) is bool(unknown)


def test_a_look_up_ends_within_its_time_limit(tmp_path: Path) -> None:
    times = iter([0.0, 1000.0, 1000.0])
    with Double(host="127.0.0.1") as double:
        found = Registry(double.address, tmp_path, lambda: next(times)).look_up([THERE, GONE])
        assert (found.unknown, double.asked) == (2, [])


@pytest.mark.parametrize(
    ("path", "text", "name", "is_elsewhere"),
    [
        (".npmrc", "@acme:registry=https://npm.acme.example/\n", "@acme/a", True),
        (".npmrc", "@acme:registry=https://npm.acme.example/\n", "@acmes/a", False),
        (".yarnrc.yml", 'npmScopes:\n  acme:\n    npmRegistryServer: "https://x"\n', "@acme/a", True),
        ("yarn.lock", 'resolved "https://npm.acme.example:443/x/%40acme%2fa/-/a-1.0.0.tgz#ff"', "@acme/a", True),
        ("yarn.lock", 'resolved "https://npm.acme.example/api/b/-/b-1.0.0.tgz#ff"', "b", True),
        ("yarn.lock", 'resolved "https://registry.yarnpkg.com/@acme/a/-/a-1.0.0.tgz#ff"', "@acme/a", False),
        ("package-lock.json", '"resolved": "https://registry.npmjs.org/b/-/b-1.0.0.tgz"', "b", False),
        ("README.md", "@acme:registry=https://npm.acme.example/\n", "@acme/a", False),
    ],
)
def test_packages_of_other_hosts_are_not_looked_up(path: str, text: str, name: str, is_elsewhere: bool) -> None:
    assert elsewhere({path: text.encode()})(name) is is_elsewhere
