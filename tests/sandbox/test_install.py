"""Who is to blame for a failed install: excerpts of real logs, one case each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from factories import make_environment

from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.ecosystems.installation import SCRIPTS, faults, installation
from pipeline.sandbox import install
from pipeline.sandbox.base import Completed, InstallFailed
from pipeline.sandbox.install import CA_BUNDLES, check, host_ca, run_all, variables


def failure(message: str, log: str, registry: str = "") -> A11yBenchError:
    """The error for a failed install, with this text in its log."""
    return install.failure(message, log, faults(), registry)


MACHINE = [
    ("npm error code ECONNRESET\nnpm error syscall read", "registry"),
    ("npm ERR! code ETIMEDOUT\nnpm ERR! errno ETIMEDOUT", "registry"),
    ("npm ERR! code E503\nnpm ERR! 503 Service Unavailable - GET https://registry.example.org/react", "registry"),
    ("npm error code E429\nnpm error 429 Too Many Requests", "registry"),
    ("npm error code SELF_SIGNED_CERT_IN_CHAIN", "registry"),
    ("error Error: read ECONNRESET\n    at TCP.onStreamRead", "registry"),
    ('error An unexpected error occurred: "https://registry.example.org/react: ETIMEDOUT".', "registry"),
    ('ResponseError: Request failed "503 Service Unavailable"\n  responseCode: 503', "registry"),
    (
        'error Error: https://registry.example.org/a: Request "https://registry.example.org/a" returned a 429',
        "registry",
    ),
    (
        "➤ YN0035: │ a@npm:7: The registry appears to be down\n➤ YN0035: │   Response Code: 503 (Unavailable)",
        "registry",
    ),
    ("➤ YN0001: │ RequestError: read ECONNRESET\n    at ClientRequest", "registry"),
    (" ERR_PNPM_META_FETCH_FAIL  GET https://registry.example.org/a: reason: read ECONNRESET", "registry"),
    (" ERR_PNPM_FETCH_503  GET https://registry.example.org/a: Service Unavailable - 503", "registry"),
    (
        "npm error code EEXIST\nnpm error path /h/.npm/_cacache/index-v5/a1\nnpm error EEXIST: file already exists",
        "cache",
    ),
    ("npm ERR! code ENOTEMPTY\nnpm ERR! ENOTEMPTY: directory not empty, rename '/h/a' -> '/h/.a'", "cache"),
    ("npm error ENOENT: no such file or directory, rename '/h/.npm/_cacache/tmp/1' -> '/h/b'", "cache"),
    ("npm ERR! network timeout at: https://registry.example.org/a/-/a-1.0.0.tgz", "registry"),
    ("npm ERR! Client network socket disconnected before secure TLS connection was established", "registry"),
    ("npm error code UND_ERR_CONNECT_TIMEOUT", "registry"),
    ('error An unexpected error occurred: "https://registry.example.org/a: socket hang up".', "registry"),
    ("error An unexpected error occurred: \"EEXIST: file already exists, mkdir '/c/v6/npm-a'\".", "cache"),
    ("error Error: EEXIST: file already exists, mkdir '/c/v6/npm-a-1.0.0'", "cache"),
    ("➤ YN0001: │ Error: EEXIST: file already exists, copyfile '/c/a.zip' -> '/c/b.zip'", "cache"),
    (" ERR_PNPM_EEXIST  EEXIST: file already exists, link '/s/files/00/a' -> '/r/node_modules/a'", "cache"),
    (" ERR_PNPM_META_FETCH_FAIL  GET https://registry.example.org/a: UND_ERR_HEADERS_TIMEOUT", "registry"),
    ("npm error code ENOSPC\nnpm error nospc ENOSPC: no space left on device, write", "disk"),
]

REPOSITORY = [
    "npm error code ETARGET\nnpm error notarget No matching version found for is-number@99.",
    "npm error code E404\nnpm error 404 Not Found - GET https://registry.example.org/gone",
    "npm error code 1\nnpm error command failed\nnpm error Error: getaddrinfo ENOTFOUND downloads.example.org",
    'error Couldn\'t find package "gone" on the "npm" registry.',
    "error /workspace/repo/node_modules/a: Command failed.\nExit code: 1\nError: connect ETIMEDOUT 10.0.0.1:443",
    "➤ YN0035: │ gone@npm:1.0.0: Package not found\n➤ YN0035: │   Response Code: 404 (Not Found)",
    " ERR_PNPM_FETCH_404  GET https://registry.example.org/gone: Not Found - 404",
]


@pytest.mark.trap("infrastructure-is-not-failure")
@pytest.mark.invariant(4)
@pytest.mark.parametrize(("log", "cause"), MACHINE)
def test_machine_is_to_blame(log: str, cause: str) -> None:
    """Other systems score a failed registry or a full disk as a failure of the repository or the model."""
    error = failure("npm ci ended with 1", log)
    assert isinstance(error, InfrastructureError)
    assert error.cause == cause


@pytest.mark.parametrize("log", REPOSITORY)
def test_repository_is_to_blame(log: str) -> None:
    """Even if a package's script fails to download something of its own: trying again would not help."""
    assert isinstance(failure("npm ci ended with 1", log), InstallFailed)


REGISTRY = "https://registry.example.org/"
ELSEWHERE = [
    "npm error code ENOTFOUND\nnpm error syscall getaddrinfo\nnpm error errno ENOTFOUND\n"
    "npm error network request to https://npm.example.com/a/-/a-1.0.0.tgz failed, reason: getaddrinfo ENOTFOUND x",
    "error Error: getaddrinfo ENOTFOUND github.com\n    at GetAddrInfoReqWrap.onlookupall",
    'error An unexpected error occurred: "https://codeload.github.com/a/b/tar.gz/1: connect ECONNREFUSED 1.2.3.4:443".',
    "➤ YN0001: │ RequestError: getaddrinfo ENOTFOUND npm.example.com",
    " ERR_PNPM_META_FETCH_FAIL  GET https://npm.example.com/a: reason: getaddrinfo ENOTFOUND npm.example.com",
]


@pytest.mark.parametrize("log", ELSEWHERE)
def test_a_host_that_the_repository_chose_is_its_own_fault(log: str) -> None:
    """Trying again would not help; the same message about the registry is the machine's fault."""
    assert isinstance(failure("yarn install ended with 1", log, REGISTRY), InstallFailed)
    about_registry = re.sub(r"[\w.]+\.(?:com)\b", "registry.example.org", log)
    assert isinstance(failure("yarn install ended with 1", about_registry, REGISTRY), InfrastructureError)


@pytest.mark.parametrize(
    "log",
    [
        "error Error: getaddrinfo EAI_AGAIN registry.yarnpkg.com",
        'error An unexpected error occurred: "https://registry.yarnpkg.com/a: connect ETIMEDOUT 1.2.3.4:443".',
        "error Error: https://registry.yarnpkg.com/a/-/a-1.0.0.tgz: ESOCKETTIMEDOUT",
    ],
)
def test_a_bad_moment_of_a_public_registry_is_the_machines_fault(log: str) -> None:
    """A lock file names it although the host uses another registry: next time it may answer."""
    assert isinstance(failure("yarn install ended with 1", log, REGISTRY), InfrastructureError)


def test_a_busy_host_is_the_machines_fault_whoever_chose_it() -> None:
    log = " ERR_PNPM_FETCH_503  GET https://npm.example.com/a: Service Unavailable - 503"
    assert isinstance(failure("pnpm install ended with 1", log, REGISTRY), InfrastructureError)


def test_install_scripts_of_named_packages_run_after_the_install() -> None:
    ran: list[tuple[str, ...]] = []

    def execute(argv: tuple[str, ...]) -> Completed:
        ran.append(argv)
        return Completed(0, b"", 1)

    run_all(installation(make_environment(rebuild=("canvas",))), REGISTRY, execute)
    scripts = [("npm", "run", name, "--if-present", "--prefix=node_modules/canvas") for name in SCRIPTS]
    assert ran == [("npm", "ci"), *scripts]


def test_end_of_the_log_is_kept() -> None:
    error = failure("npm ci ended with 1", "\n".join(map(str, range(3000))))
    assert isinstance(error, InstallFailed)
    assert error.log.splitlines() == [str(number) for number in range(1000, 3000)]


@pytest.mark.parametrize(
    ("done", "why"),
    [
        (Completed(-9, b"", 1, "time"), "npm ci ran out of time"),
        (Completed(-9, b"", 1, "memory"), "npm ci ran out of memory"),
    ],
)
def test_a_limit_is_the_machines_fault(done: Completed, why: str) -> None:
    with pytest.raises(InfrastructureError, match=why):
        check(("npm", "ci"), done, faults())


def test_an_exit_code_is_the_repositorys_fault() -> None:
    with pytest.raises(InstallFailed, match="npm ci ended with 3"):
        check(("npm", "ci"), Completed(3, b"", 1), faults())


@pytest.mark.invariant(6)
def test_addresses_lose_their_passwords() -> None:
    """Managers print the address of a private registry with its password."""
    done = Completed(1, b"error https://me:secret@registry.example.org/x: 404", 1)
    with pytest.raises(InstallFailed) as failed:
        check(("npm", "ci"), done, faults())
    assert failed.value.log == "error https://***@registry.example.org/x: 404"


def test_specification_wins_over_our_variables() -> None:
    spec = make_environment(install_env={"npm_config_cache": "/elsewhere", "MINE": "1"})
    found = variables(installation(spec), "/tmp/x", "https://registry.example.org/", None)
    assert (found["npm_config_cache"], found["MINE"]) == ("/elsewhere", "1")


def test_whole_bundle_comes_before_additions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Managers trust only the given file, so additions alone would lock out the public registry."""
    for name in CA_BUNDLES:
        (tmp_path / name).touch()
        monkeypatch.setenv(name, str(tmp_path / name))
    assert host_ca() == tmp_path / "SSL_CERT_FILE"
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone"))
    assert host_ca() == tmp_path / "REQUESTS_CA_BUNDLE"
