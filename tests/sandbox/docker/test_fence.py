"""The network of an install: the registry and the hosts that lock files name; nothing on this machine, and nothing
else."""

from __future__ import annotations

import http.server
import json
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import docker
import pytest

from pipeline.core.cache import cache_root
from pipeline.core.errors import UserError
from pipeline.core.records import Environment
from pipeline.ecosystems.installation import installation
from pipeline.sandbox.docker import fence, relay
from pipeline.sandbox.docker.fence import routes
from pipeline.sandbox.docker.names import environment_image
from pipeline.sandbox.docker.sandbox import DockerSandbox

REGISTRY = "https://registry.npmjs.org/"
PUBLIC = ["registry.npmjs.org", "registry.yarnpkg.com"]


@pytest.mark.rule("install-fence")
def test_only_public_registries_are_reachable() -> None:
    found = routes(
        REGISTRY, {"package.json": b'{"homepage": "https://acme.org/", "dependencies": {"a": "^1.0.0"}}'}, ""
    )
    assert list(found.hosts) == PUBLIC
    assert set(found.forwarded.values()) == {(host, 443) for host in PUBLIC}
    assert len(set(found.hosts.values())) == 2 and all(host.startswith("127.") for host in found.hosts.values())


def test_a_private_registry_is_reachable_at_its_port() -> None:
    found = routes("http://npm.acme.org:4873/", {}, "nodejs.org cache.acme.org:8443")
    assert {*found.forwarded.values()} >= {("npm.acme.org", 4873), ("nodejs.org", 443), ("cache.acme.org", 8443)}
    assert found.chosen == {"npm.acme.org", "nodejs.org", "cache.acme.org", *PUBLIC}


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("word", ["reg.example:abc", "https://reg.example", "reg.example:", "reg.example:70000", "a/b"])
def test_a_host_that_is_none_is_refused(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A protocol was taken for a host, and a port that is none ended every candidate."""
    monkeypatch.setenv(fence.MORE, f"nodejs.org {word}")
    with pytest.raises(UserError, match=f"{fence.MORE}.*{word}"):
        fence.configured()
    monkeypatch.setenv(fence.MORE, "nodejs.org  cache.acme.org:8443 10.0.0.5:80 [::1]:81")
    assert fence.configured() == [("nodejs.org", 443), ("cache.acme.org", 8443), ("10.0.0.5", 80), ("::1", 81)]


@pytest.mark.engine
@pytest.mark.rule("bad-input")
def test_wrong_hosts_are_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fence.MORE, "https://reg.example")
    with pytest.raises(UserError, match=fence.MORE):
        DockerSandbox(tmp_path).check()


def test_an_unreachable_host_is_left_out() -> None:
    """A refused connection looks like a registry with a temporary problem, and managers retry it for minutes."""
    files = {"package.json": b'{"dependencies": {"b": "github:a/b", "c": "git+https://gitlab.com/a/c.git"}}'}
    found = routes("http://npm.acme.org:4873/", files, "", lambda host: host == "gitlab.com")
    assert list(found.hosts) == ["npm.acme.org", "gitlab.com"]


def test_a_registry_without_a_name_is_the_loopback() -> None:
    found = routes("http://10.0.0.5:4873/npm/", {}, "")
    assert (found.registry, list(found.hosts)) == ("http://127.0.0.1:4873/npm/", PUBLIC)
    assert found.forwarded["127.0.0.1", 4873] == ("10.0.0.5", 4873) and "10.0.0.5" in found.chosen
    assert routes(REGISTRY, {}, "").registry == REGISTRY


@pytest.mark.parametrize(
    ("path", "text", "hosts"),
    [
        ("yarn.lock", 'resolved "https://codeload.github.com/a/b/tar.gz/c0ffee"', ["codeload.github.com"]),
        ("yarn.lock", '  resolution: "b@https://github.com/a/b.git#commit=c0"', ["github.com", "codeload.github.com"]),
        (
            "package-lock.json",
            '"resolved": "git+ssh://git@github.com/a/b.git#c0"',
            ["github.com", "codeload.github.com"],
        ),
        ("package-lock.json", '"version": "github:a/b#c0"', ["github.com", "codeload.github.com"]),
        ("package-lock.json", '"funding": {"url": "https://opencollective.com/a"}', []),
        ("package-lock.json", '"resolved": "https://registry.npmjs.org/a/-/a-1.tgz"', []),
        ("pnpm-lock.yaml", "resolution: {tarball: https://pkg.pr.new/a/b@1}", ["pkg.pr.new"]),
        ("package.json", '{"devDependencies": {"b": "git+https://gitlab.com/a/b.git"}}', ["gitlab.com"]),
        ("package.json", '{"dependencies": {"b": "github:a/b"}}', ["github.com", "codeload.github.com"]),
        ("package.json", '{"repository": "github:a/b", "bugs": "https://github.com/a/b/issues"}', []),
        ("package.json", "no JSON", []),
        (".npmrc", "registry=https://npm.acme.org/", ["npm.acme.org"]),
        (".npmrc", "@acme:registry=https://npm.pkg.acme.org\nfund=false\n", ["npm.pkg.acme.org"]),
        (".npmrc", "@acme:registry=https://npm.pkg.acme.org", ["npm.pkg.acme.org"]),
        (".yarnrc.yml", "  acme:\n    npmRegistryServer: 'https://npm.pkg.acme.org'\n", ["npm.pkg.acme.org"]),
        (".npmrc", "@acme:registry=https://npm.${SECRET}.org", []),
    ],
)
def test_hosts_of_lock_files_are_reachable(path: str, text: str, hosts: list[str]) -> None:
    assert list(routes(REGISTRY, {f"a/{path}": text.encode()}, "").hosts)[2:] == hosts


@pytest.mark.rule("install-fence")
def test_a_host_that_a_repository_chose_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may resolve to any address, so private ones are refused, except for hosts that this machine's
    configuration names."""
    reached: list[tuple[str, int]] = []
    monkeypatch.setattr(fence, "connect", lambda address: reached.append(address))
    places = {"localhost.acme.org": "127.0.0.1", "metadata.acme.org": "169.254.169.254", "acme.org": "93.184.215.14"}

    def resolve(host: str, port: int, **_: object) -> list:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (places[host], port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for host in ("localhost.acme.org", "metadata.acme.org"):
        with pytest.raises(OSError, match="none of|has no public address"):
            fence._connect((host, 443), {"registry.npmjs.org"})
    fence._connect(("acme.org", 443), {"registry.npmjs.org"})
    fence._connect(("registry.npmjs.org", 443), {"registry.npmjs.org"})
    assert reached == [("93.184.215.14", 443), ("registry.npmjs.org", 443)]


@pytest.mark.rule("install-fence")
@pytest.mark.parametrize(
    ("ip", "is_elsewhere"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("10.0.0.1", False),
        ("224.0.0.1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::5db8:d70e", True),
        ("2002:7f00:1::", False),
        ("fec0::1", False),
        ("fe80::1%eth0", False),
    ],
)
def test_addresses_of_this_machine_and_its_network_are_refused(ip: str, is_elsewhere: bool) -> None:
    """Also inside of addresses of IPv6."""
    assert fence._is_elsewhere(ip) is is_elsewhere


@pytest.mark.rule("install-fence")
def test_the_public_address_of_this_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its services listen there, too."""
    assert fence._is_own("127.0.0.1") and not fence._is_own("93.184.215.14")
    monkeypatch.setattr(fence, "_is_own", lambda ip: ip == "93.184.215.14")
    assert not fence._is_elsewhere("93.184.215.14") and not fence._is_elsewhere("64:ff9b::5db8:d70e")


def test_no_more_hosts_are_tried_than_are_allowed() -> None:
    """Each one that does not answer takes a minute."""
    tried: list[str] = []
    text = "\n".join(f'resolved "https://host{number}.acme.org/a.tgz"' for number in range(1000))
    routes(REGISTRY, {"yarn.lock": text.encode()}, "", lambda host: tried.append(host) or False)
    assert len([host for host in tried if host.endswith("acme.org")]) == fence.MOST


def test_the_number_of_hosts_is_limited() -> None:
    text = "\n".join(f'resolved "https://host{number}.acme.org/a.tgz"' for number in range(1000))
    found = routes(REGISTRY, {"yarn.lock": text.encode()}, "")
    assert len(found.hosts) == fence.MOST == len(set(found.hosts.values()))
    assert {host for host, _ in found.forwarded.values()} == set(found.hosts)


def test_a_connection_goes_to_the_address_of_its_place() -> None:
    """The container's end names the destination, and it only knows its own addresses."""
    asked: list[tuple[str, int]] = []

    def connect(address: tuple[str, int]) -> socket.socket:
        asked.append(address)
        raise OSError

    first = relay.HEAD.pack(1, 4) + relay.INDEX.pack(1) + b"hi"
    carried = relay.Relay(lambda _: None, iter([first]), [("one", 1), ("other", 2)], connect)
    carried.run()
    deadline = threading.Event()
    while not asked and not deadline.wait(0.01):
        pass
    assert asked == [("other", 2)]


# -- in the engine ---------------------------------------------------------------------------------------------------
TRY = """
const net = require("net"), https = require("https"), dns = require("dns"), fs = require("fs");
const [port, ...hosts] = process.argv.slice(2), said = {};
const reach = (host, port) => new Promise((done) => {
  const socket = net.connect({ host, port, timeout: 5000 }, () => { socket.write("GET / HTTP/1.0\\r\\n\\r\\n"); });
  socket.on("data", () => { socket.destroy(); done("reached"); });
  socket.on("error", (error) => done(error.code)); socket.on("close", () => done("closed"));
  socket.on("timeout", () => { socket.destroy(); done("timeout"); });
});
(async () => {
  for (const host of hosts) said[host] = await reach(host, Number(port));
  said.metadata = await reach("169.254.169.254", 80);
  said.listener = await reach("registry.npmjs.org", Number(port));
  said.unknown = await new Promise((done) => dns.lookup("acme.org", (error) => done(error ? error.code : "found")));
  said.registry = await new Promise((done) => https.get("https://registry.npmjs.org/is-number", (answer) =>
    done(answer.statusCode)).on("error", (error) => done(error.message)));
  fs.mkdirSync("node_modules"); fs.writeFileSync("node_modules/said.json", JSON.stringify(said)); process.exit();
})();
"""


@pytest.fixture
def listener() -> Iterator[int]:
    """A server on this machine, on all its addresses."""
    with http.server.ThreadingHTTPServer(("0.0.0.0", 0), http.server.SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.engine
@pytest.mark.timeout(300)
@pytest.mark.rule("install-fence")
@pytest.mark.invariant(5)
def test_an_install_reaches_the_registry_but_not_this_machine(listener: int, tmp_path: Path, spec: Environment) -> None:
    """The install used to be in a network whose gateway is this machine, with everything that listens here."""
    (tmp_path / "try.js").write_text(TRY)
    (tmp_path / "package.json").write_text("{}")
    own = socket.gethostbyname(socket.gethostname())
    hosts = ["172.17.0.1", own, "host.docker.internal", "127.0.0.1"]
    command = ("node", "try.js", str(listener), *hosts)
    asked = installation(spec)._replace(commands=(command,))
    digest, sandbox = uuid.uuid4().hex, DockerSandbox(cache_root())
    client = docker.from_env()
    try:
        sandbox.images.environment(asked, digest, tmp_path, print)
        words = "cat /workspace/repo/node_modules/said.json; cat /etc/nsswitch.conf"
        output = client.containers.run(environment_image(digest), ["sh", "-c", words], remove=True, network_mode="none")
        answer, rest = json.JSONDecoder().raw_decode(output.decode())
        files = client.containers.run("a11y-bench/base:bookworm", ["cat", "/etc/nsswitch.conf"], remove=True)
        assert output.decode()[rest:] == files.decode(), "it is as it was"
    finally:
        with suppress(docker.errors.ImageNotFound):
            client.images.remove(environment_image(digest), force=True)
    assert answer.pop("registry") == 200
    assert answer.pop("unknown") == "ENOTFOUND"
    assert "reached" not in answer.values(), answer
