"""Images in a real registry: what is transferred, what the engine holds afterwards, and the message when a registry
refuses."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
import uuid
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import docker
import layer_registry
import pytest
from factories import make_environment
from layer_registry import Gate, LayerRegistry
from sandbox.conftest import Bench

from pipeline.core.errors import UserError
from pipeline.ecosystems.installation import installation
from pipeline.sandbox.base import DEFAULT
from pipeline.sandbox.docker.engine import Engine, commit, put
from pipeline.sandbox.docker.layers import Layers
from pipeline.sandbox.docker.names import DIGEST, ENVIRONMENT, INSTALLED, LAYER, environment_image, instance_image
from pipeline.sandbox.docker.registry import Registry
from pipeline.sandbox.images import Installed, Layer, Transfer

pytestmark = pytest.mark.engine
#: bytes of an incompressible file, and the overhead of HTTP for an image
LARGE, OVERHEAD = 3_000_000, 60_000
#: the build information of environments
MADE = Installed("20.0.0", ("npm@10.0.0",), "an id")
Image = tuple[Layer, str]


class Library:
    """Images with one file each: an environment from scratch, and instances on it."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.names = engine, list[str]()

    def environment(self) -> Image:
        digest, name = uuid.uuid4().hex, f"a11y-bench/bottom:{uuid.uuid4().hex}"
        docker.from_env().api.import_image(archive("bottom", 10), *name.split(":"))
        labels = {LAYER: "environment", DIGEST: digest, INSTALLED: json.dumps(MADE)}
        self._made(name, environment_image(digest), labels, LARGE)
        self.engine.api.remove_image(name, force=True)  # its container is removed in the background
        return "environment", digest

    def instance(self, environment: Image, size: int = 1000) -> Image:
        digest = uuid.uuid4().hex
        labels = {LAYER: "instance", DIGEST: digest, ENVIRONMENT: environment[1]}
        self._made(environment_image(environment[1]), instance_image(digest), labels, size)
        return "instance", digest

    def _made(self, parent: str, name: str, labels: dict[str, str], size: int) -> None:
        with self.engine.container(parent, "build", DEFAULT) as container:
            put(container, "/", archive(name.split(":")[1], size))
            commit(container, name, labels)
        self.names.append(name)

    def remove(self) -> None:
        for name in reversed(self.names):
            if self.engine.image(name):
                self.engine.api.remove_image(name, force=True)


def archive(name: str, size: int) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = size
        tar.addfile(entry, io.BytesIO(os.urandom(size)))
    return packed.getvalue()


@pytest.fixture
def library() -> Iterator[Library]:
    made = Library(Engine())
    yield made
    made.remove()


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    layer_registry.require()
    with LayerRegistry(tmp_path) as server, Gate(server) as gate:
        yield gate


def wire(transfer: Transfer | None) -> int:
    assert transfer and transfer.moved and transfer.wire is not None
    return transfer.wire


def test_a_second_instance_of_an_environment_sends_only_its_sources(library: Library, gate: Gate) -> None:
    registry, environment = Registry(library.engine, gate.host), library.environment()
    messages: list[str] = []
    assert LARGE < wire(registry.push(*environment, messages.append)) < LARGE + OVERHEAD
    assert messages[0].startswith("pushing a11y-bench/env:") and "done" in messages[-1]
    for size in (1000, 100_000):
        before = gate.passed
        sent = wire(registry.push(*library.instance(environment, size), print))
        assert size < sent <= gate.passed - before < sent + OVERHEAD
    before = gate.passed
    assert registry.push(*environment, pytest.fail) == Transfer(moved=False)
    assert gate.passed - before < OVERHEAD


def test_a_pulled_image_equals_the_pushed_one(library: Library, gate: Gate) -> None:
    """`gc` and `remove` use names, so no other name of an image may remain."""
    registry, environment = Registry(library.engine, gate.host), library.environment()
    instance = library.instance(environment)
    pushed = {name: library.engine.image(name) for name in library.names}
    for layer in (environment, instance):
        registry.push(*layer, print)
    library.remove()
    before = gate.passed
    assert LARGE < wire(registry.pull(*environment, print)) <= gate.passed - before < LARGE + OVERHEAD
    assert 1000 < wire(registry.pull(*instance, print)) < OVERHEAD, "the environment is here"
    for name, image in pushed.items():
        pulled = library.engine.image(name)
        assert image and pulled and (pulled.id, pulled.labels, pulled.tags) == (image.id, image.labels, [name])
    assert registry.pull(*instance, pytest.fail) == Transfer(moved=False)


def test_a_missing_image_is_no_error(library: Library, gate: Gate) -> None:
    registry = Registry(library.engine, gate.host)
    assert registry.push("instance", "0" * 32, pytest.fail) is None
    assert registry.pull("instance", "0" * 32, pytest.fail) is None


def test_another_image_under_the_name_is_refused(library: Library, gate: Gate) -> None:
    """Whoever can write to a registry can put anything there."""
    registry, environment = Registry(library.engine, gate.host), library.environment()
    registry.push(*environment, print)
    tag = f"env-{'0' * 32}-{library.engine.architecture}"
    library.engine.api.tag(library.names[0], registry.repository, tag)
    library.engine.api.push(registry.repository, tag)
    library.engine.api.remove_image(f"{registry.repository}:{tag}")
    with pytest.raises(UserError, match=f"{tag} is another image"):
        registry.pull("environment", "0" * 32, print)
    assert not library.engine.image(f"{registry.repository}:{tag}")


def test_an_environment_that_the_registry_has_is_not_made(
    library: Library, gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its manifests are not even read."""
    environment = library.environment()
    Registry(library.engine, gate.host).push(*environment, print)
    library.remove()
    monkeypatch.setenv("A11Y_BENCH_REGISTRY", gate.host)
    messages: list[str] = []
    spec = installation(make_environment())
    made = Layers(library.engine, tmp_path).environment(spec, environment[1], tmp_path / "none", messages.append)
    assert made == MADE and messages[0].startswith("pulling ")
    monkeypatch.setenv("A11Y_BENCH_REGISTRY", "127.0.0.1:1")
    assert Layers(library.engine, tmp_path).environment(spec, environment[1], tmp_path / "none", pytest.fail) == MADE


@pytest.mark.parametrize("registry", ["lacks it", "127.0.0.1:1"])
def test_an_environment_that_the_registry_does_not_give_is_made(
    docker_bench: Bench, gate: Gate, library: Library, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A registry saves time, but a build never fails because of it."""
    monkeypatch.setenv("A11Y_BENCH_REGISTRY", gate.host if registry == "lacks it" else registry)
    digest, messages = uuid.uuid4().hex, list[str]()
    library.names.append(environment_image(digest))
    images = docker_bench.sandbox.images
    assert images.environment(installation(docker_bench.spec), digest, docker_bench.manifests, messages.append).node
    reported = "does not reach the registry 127.0.0.1:1: making the layer here" in messages[0]
    assert reported is (registry != "lacks it")


@pytest.mark.parametrize("name", ["https://registry.example", "registry.example:port", "Registry/x", "a/b:tag", ""])
def test_an_invalid_registry_name_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="is not a registry"):
        Registry(Engine(), name)


def test_an_unreachable_registry_is_reported(library: Library) -> None:
    environment = library.environment()
    for transfer in (Registry(library.engine, "127.0.0.1:1").push, Registry(library.engine, "127.0.0.1:1").pull):
        library.remove() if transfer.__name__ == "pull" else None
        with pytest.raises(UserError, match=r"does not reach the registry 127\.0\.0\.1:1\n.*runs"):
            transfer(*environment, print)


def test_a_registry_that_requires_a_login_is_reported(library: Library, tmp_path: Path) -> None:
    layer_registry.require()
    with (
        LayerRegistry(tmp_path, layer_registry.CLOSED) as server,
        pytest.raises(UserError, match=f"docker login {server.host}"),
    ):
        Registry(library.engine, server.host).push(*library.environment(), print)


@pytest.mark.parametrize(
    ("settings", "says"),
    [("", r'answers without TLS(.|\n)*"insecure-registries": \["HOST"\]'),
     (layer_registry.CERTIFIED, r"does not trust the certificate(.|\n)*/etc/docker/certs\.d/HOST/ca\.crt")],
    ids=["without TLS", "unknown certificate"],
)  # fmt: skip
def test_an_untrusted_registry_is_reported(library: Library, tmp_path: Path, settings: str, says: str) -> None:
    """Engines trust any registry on loopback, so this one uses the address of the engine's own network."""
    layer_registry.require()
    network = library.engine.api.inspect_network("bridge")["IPAM"]["Config"][0]
    address = network.get("Gateway") or str(next(ip_network(network["Subnet"]).hosts()))  # unnamed until a restart
    command = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=test -keyout key -out certificate"
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    with (
        LayerRegistry(tmp_path, settings, address) as server,
        pytest.raises(UserError, match=says.replace("HOST", server.host)),
    ):
        Registry(library.engine, server.host).pull("environment", "0" * 32, print)
