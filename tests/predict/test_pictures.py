"""Which images of a task a model sees, and in which form agents send them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import factories
import pytest
from magentless.causes import BadInput
from magentless.inputs import load_pictures
from magentless.provider import shown
from predict.test_stage import GIVEN
from tiny_library import Bench

from pipeline.core.git import open_clone
from pipeline.core.records import Picture, Task
from pipeline.core.store import Store, write_bytes, write_records
from pipeline.llm.models import DEMO, SHIPPED, load_models
from pipeline.predict.pictures import note, pictures
from pipeline.predict.run import open_run
from pipeline.predict.stage import Predictor

REPO = factories.REPO
THREE = (
    Picture(address="https://example.org/a.png", media="image/png", digest="a" * 64),
    Picture(address="https://example.org/b.svg", media="image/svg+xml", digest="b" * 64),
    Picture(address="https://example.org/gone.gif", media="image/gif"),
    Picture(media="image/jpeg", digest="d" * 64),
)


def with_pictures(store: Store) -> Task:
    """A task with these images, whose bytes are their digests."""
    for picture in filter(lambda one: one.digest, THREE):
        write_bytes(store.picture(REPO, picture.digest), picture.digest.encode())
    return factories.make_instance(pictures=THREE).task()


@pytest.mark.rule("pictures")
def test_only_stored_raster_pictures_are_shown(tmp_path: Path) -> None:
    """In the order of the statement; no chat interface accepts vector graphics."""
    store = Store(tmp_path / "data")
    assert pictures(store, with_pictures(store)) == {"1.png": b"a" * 64, "4.jpg": b"d" * 64}
    store.picture(REPO, "a" * 64).unlink()
    assert list(pictures(store, with_pictures(store).model_copy(update={"pictures": THREE[1:]}))) == ["3.jpg"]


class _Gateway:
    """Only gives keys."""

    base_url = "http://127.0.0.1:9/v1"

    def issue_key(self, *_: object, **__: object) -> str:
        return "sk-1"

    def choices(self, _: object) -> int:
        return 1


@pytest.mark.rule("pictures")
@pytest.mark.parametrize("sees", [True, False])
def test_only_a_model_with_vision_gets_pictures(bench: Bench, sees: bool) -> None:
    """Any other model gets the statement only: its task names no images."""
    with_pictures(bench.store)
    instance = bench.instance("menu").model_copy(update={"pictures": THREE})
    write_records(bench.store.dataset(REPO), [instance])
    asked = {"models": DEMO, "settings": DEMO.with_name("magentless.toml"), "environ": GIVEN}
    predictor = Predictor(bench.store, REPO, "magentless", "scripted", **asked)
    info = predictor.model.entry["model_info"] | {"supports_vision": sees}
    predictor._model = replace(predictor.model, entry=predictor.model.entry | {"model_info": info})
    run = open_run(bench.store, predictor.experiment)
    ask = predictor.request(_Gateway(), run, instance, open_clone(bench.library))
    assert (list(ask.pictures), len(ask.task.pictures)) == ((["1.png", "4.jpg"], 4) if sees else ([], 0))


def test_the_shipped_list_names_models_with_vision() -> None:
    models = load_models(SHIPPED).models
    assert models["gpt-5"].sees and not models["GLM-4.6"].sees


@pytest.mark.rule("pictures")
def test_magentless_sends_pictures_with_its_question(tmp_path: Path) -> None:
    """In the order of their numbers, after the text; without images, the messages are unchanged."""
    for name in ("10.png", "2.jpg"):
        (tmp_path / name).write_bytes(name.encode())
    addresses = load_pictures(tmp_path)
    assert [address.partition(";")[0] for address in addresses] == ["data:image/jpeg", "data:image/png"]
    messages = [{"role": "user", "content": "why"}, {"role": "assistant", "content": "so"}]
    first, second = shown(messages, addresses)
    assert [part["type"] for part in first["content"]] == ["text", "image_url", "image_url"]
    assert (first["content"][0]["text"], second) == ("why", messages[1])
    assert shown(messages, load_pictures(tmp_path / "none")) == messages


def test_magentless_refuses_other_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(BadInput, match="pictures are 1.png"):
        load_pictures(tmp_path)


def test_a_prompt_names_the_paths_of_pictures() -> None:
    assert "in /s/pictures: 1.png, 4.jpg" in note("/s/pictures", ["1.png", "4.jpg"])
    assert note("/s/pictures", []) == ""
