"""`a11y-bench images`: which images are moved, and what is reported; then the whole way between two engines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import layer_registry
import pytest
from click.testing import CliRunner, Result
from factories import REPO, make_instance
from faulty_batch import LIMITS, PAIR, Batch
from layer_registry import Gate, LayerRegistry
from own_engine import OwnEngine

from pipeline.build.images import command
from pipeline.build.share import Shared, images_of, share
from pipeline.core.errors import UserError
from pipeline.core.store import Store, write_records
from pipeline.ecosystems.installation import installation
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.stage import evaluate
from pipeline.llm.models import SHIPPED
from pipeline.predict.stage import Predictor
from pipeline.sandbox.docker.sandbox import DockerSandbox
from pipeline.sandbox.scripted import ScriptedSandbox

INSTANCES = [make_instance(number, environment_digest="env", image=f"image{number}") for number in (1, 2)]


@pytest.fixture
def two(tmp_path: Path) -> tuple[ScriptedSandbox, ScriptedSandbox]:
    """A sandbox with the images of the first instance, and an empty one with the same registries."""
    here, elsewhere = ScriptedSandbox(tmp_path), ScriptedSandbox(tmp_path)
    here.images.environment(installation(INSTANCES[0].environment), "env", tmp_path, print)
    here.images.instance("env", "image1", tmp_path)
    elsewhere.images.registries = here.images.registries
    return here, elsewhere


def test_an_environment_is_shared_once_and_first() -> None:
    first, second = (instance.instance_id for instance in INSTANCES)
    assert list(images_of(INSTANCES).items()) == [
        (("environment", "env"), [first, second]),
        (("instance", "image1"), [first]),
        (("instance", "image2"), [second]),
    ]


def test_a_missing_image_does_not_stop_the_others(two: tuple[ScriptedSandbox, ScriptedSandbox]) -> None:
    here, elsewhere = two
    messages: list[str] = []

    def states(images: list[Shared]) -> list[tuple[str, int | None, int | None]]:
        return [(image.state, image.wire_bytes, image.disk_bytes) for image in images]

    assert states(share(here, INSTANCES, "host", "push", messages.append)) == [
        ("pushed", 10, 1),
        ("pushed", 10, 1),
        ("missing", 0, None),
    ]
    assert states(share(here, INSTANCES, "host", "push", print))[:2] == [("there", 0, 1), ("there", 0, 1)]
    assert states(share(elsewhere, INSTANCES, "host", "pull", print)) == [
        ("pulled", 10, 1),
        ("pulled", 10, 1),
        ("missing", 0, None),
    ]
    assert elsewhere.images.has("image1") and not elsewhere.images.has("image2")


def called(store: Store, *words: str) -> Result:
    return CliRunner().invoke(command, [*words, "--data", str(store.root)])


def test_a_sandbox_that_cannot_share_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path)
    write_records(store.dataset(REPO), INSTANCES)
    result = called(store, "push", "host:5000", "--sandbox", "local")
    assert isinstance(result.exception, UserError)
    assert "cannot send images to a registry or fetch them" in str(result.exception)


@pytest.mark.parametrize(
    ("words", "hint"), [("push", "2 images not on this machine: push where"), ("pull", "2 images not in the registry")]
)
def test_missing_images_are_counted_and_the_exit_code_is_1(tmp_path: Path, words: str, hint: str) -> None:
    store = Store(tmp_path)
    write_records(store.dataset(REPO), INSTANCES)
    result = called(store, words, "host:5000", "--pr=1", "--sandbox", "scripted")
    assert result.exit_code == 1 and hint in result.stderr and "missing" in result.stdout


# -- two engines -----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    """Two instances of one environment, built and predicted."""
    batch = Batch(tmp_path_factory.mktemp("batch"), PAIR)
    assert batch.build() == {"menu": "qualified", "tabs": "qualified"}
    Predictor(batch.store, REPO, "oracle", "oracle", models=SHIPPED).predict()
    yield batch
    batch.forget()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LayerRegistry]:
    layer_registry.require()
    with LayerRegistry(tmp_path) as server:
        yield server


def rows(result: Result, code: int = 0) -> list[dict[str, Any]]:
    assert result.exit_code == code, (result.output, result.exception)
    return json.loads(result.stdout)


def layers(sandbox: DockerSandbox) -> set[tuple[str, int]]:
    return {
        (kept.name, kept.size) for kept in sandbox.images.kept() if kept.kind in ("environment", "instance", "tools")
    }


@pytest.mark.engine
@pytest.mark.timeout(600)
def test_another_engine_evaluates_pulled_images_without_building(
    batch: Batch, server: LayerRegistry, own_engine: OwnEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, registry = "--pr=1", f"{server.host}/some/layers"
    pushed = [
        *rows(called(batch.store, "push", registry, number, "--json")),
        *rows(called(batch.store, "push", registry, "--json")),
    ]
    assert [row["state"] for row in pushed] == ["pushed", "pushed", "there", "there", "pushed"]
    environment, first, _, _, second = (row["wire_bytes"] for row in pushed)
    assert environment > 10_000_000 and max(first, second) < 100_000, "the sources of one small commit"

    monkeypatch.setenv("DOCKER_HOST", own_engine.host)
    batch.forget()  # other tests may have built them there
    with Gate(server, own_engine.process) as gate:
        pulled = rows(called(batch.store, "pull", registry, "--json"))
    assert [row["state"] for row in pulled] == ["pulled"] * 3
    assert sum(row["wire_bytes"] for row in pulled) <= gate.passed
    assert pulled[0]["wire_bytes"] <= environment and [row["wire_bytes"] for row in pulled[1:]] == [first, second]

    sandbox = DockerSandbox(batch.sandbox.cache)
    before = layers(sandbox)
    verdicts = evaluate(batch.store, Subject(REPO, "oracle", "oracle"), sandbox, limits=LIMITS)
    assert [str(verdict.outcome) for verdict in verdicts] == ["resolved"] * 2
    assert layers(sandbox) == before and len(before) >= 3
    assert {verdict.differs for verdict in verdicts} == {()}
