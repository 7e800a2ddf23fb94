"""A model proposes environments for rejected candidates: proposals are data that is checked, tried with the same runs,
and paid for."""

from __future__ import annotations

import csv
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import factories
import pytest
from tiny_library import NUMBERS, Bench

from pipeline.build import proposals
from pipeline.build.setup_agent import AGENT, Setup, SetupAgent, messages, read, set_up
from pipeline.build.stage import build
from pipeline.core.errors import UserError
from pipeline.core.git import open_clone
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Rejection
from pipeline.llm.asking import BadAnswer
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.ledger import Ledger
from pipeline.llm.models import DEMO, load_models
from pipeline.llm.panel import Asked
from pipeline.llm.provider import Output
from pipeline.llm.scripted import ScriptedModel

GIVEN = {"A11Y_BENCH_SCRIPTED_URL": "unused", "A11Y_BENCH_SCRIPTED_KEY": "unused"}
#: what `chip` of the tiny library needs: it depends on an archive that does not exist
RIGHT = '[[override]]\nset.edits = [{ kind = "drop", name = "gone" }]\nset.install = ["npm", "install"]\n'
WRONG = '[[override]]\nset.test_env = { TZ = "UTC" }\n'


def answer(text: str) -> str:
    return f"The log says why.\n\n```toml\n{text}```\nThat is all."


# -- what is read of an answer ---------------------------------------------------------------------------------------
def test_the_last_file_of_overrides_counts() -> None:
    assert read(f"{answer(WRONG)}\nor rather\n{answer(RIGHT)}").text == RIGHT
    assert read(RIGHT).text == RIGHT


@pytest.mark.invariant(5)
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I do not know.", "invalid TOML"),
        ("[[override]]\nset.nodes = '16'\n", "unknown field 'nodes'"),
        ("[[override]]\nset.node = 16\n", "valid string"),
        ("[[override]]\nset.runner = 'cypress'\n", "unknown runner 'cypress'"),
        ("", "it sets no field"),
        ('[[override]]\nset.test = ["node", "-e", "forge()"]\n', "unknown field of a proposal 'test'"),
        ('[[override]]\nset.parser = "jest-text"\n', "unknown field of a proposal 'parser'"),
        ('[[override]]\nset.entries = ["forge.js"]\n', "unknown field of a proposal 'entries'"),
        ('[[override]]\nset.install = ["sh", "-c", "forge"]\n', "install calls 'sh'"),
        ('[[override]]\nset.test_env = { NODE_OPTIONS = "--import=data:text/javascript,x" }\n', "contains a program"),
    ],
)
def test_proposals_that_run_code_or_decide_how_tests_end_are_refused(text: str, why: str) -> None:
    """The model may not decide how tests are called and read: it could make them pass."""
    with pytest.raises(BadAnswer, match=why):
        read(answer(text))


# -- with a scripted model ---------------------------------------------------------------------------------------------
@dataclass
class Speaker(ScriptedModel):
    """Gives its answers one after the other, and repeats the last one."""

    said: list[str] = field(default_factory=list)

    def reply(self, prompt: str) -> Output:
        return Output(self.said.pop(0) if self.said[1:] else self.said[0])


class Direct(Gateway):
    """A gateway without a proxy: its keys open everything and cost nothing."""

    def _new_key(self, experiment: Experiment, holder: str, budget_usd: object) -> str:
        return secrets.token_hex(8)

    def settle(self, experiment: Experiment | None = None) -> None:
        """No costs are recorded."""


@dataclass
class Workshop:
    """The tiny library's `chip`, rejected, and a model that is asked about it."""

    bench: Bench
    speaker: Speaker
    tries: int = 2

    def __post_init__(self) -> None:
        self.gateway = Direct(load_models(DEMO), Ledger(self.bench.store.ledger), GIVEN)
        self.gateway.base_url = self.speaker.url

    def rejection(self) -> Rejection:
        found = self.bench.build("chip")["chip"]
        assert isinstance(found, Rejection)
        return found

    def set_up(self) -> list[Instance]:
        """The instances that resulted from the model's proposals."""
        from tiny_library import IMPATIENT, LIMITS

        from pipeline.build.qualify import Settings
        from pipeline.build.stage import planned

        clone, rejection = open_clone(self.bench.library), self.rejection()
        settings = Settings(self.bench.sandbox, repeats=1, limits=LIMITS)
        unit = planned(self.bench.store, clone, settings, {}, IMPATIENT, self.bench.candidate("chip"))
        setup = Setup(Asked("scripted", models=DEMO, environ=GIVEN), self.tries)
        with Progress("setting up", 1) as progress:
            agent = SetupAgent(self.bench.store, factories.REPO, clone, setup, progress)
            wanted = [(unit, rejection)] if agent.wants(rejection) else []
            return [result.outcome for _, result in set_up(agent, lambda: nullcontext(self.gateway), wanted)]

    def rows(self) -> list[proposals.Proposal]:
        return proposals.read(self.bench.store, factories.REPO)


@pytest.fixture
def workshop(tiny: Bench, tmp_path: Path) -> Iterator[Callable[..., Workshop]]:
    speakers: list[Speaker] = []

    def make(*said: str, **more: int) -> Workshop:
        speakers.append(Speaker([], said=list(said)).__enter__())
        return Workshop(tiny.copy(tmp_path), speakers[-1], **more)

    yield make
    for one in speakers:
        one.__exit__()


def test_a_proposal_that_works_makes_a_marked_instance(workshop: Callable[..., Workshop]) -> None:
    """After the same three runs; the instance, and the evidence of what the model set, contain the model's name."""
    shop = workshop(answer(RIGHT))
    (instance,) = shop.set_up()
    assert instance.set_up_by == "scripted" and instance.f2p_tests
    assert instance.environment.evidence["edits"] == "proposed by scripted"
    (row,) = shop.rows()
    assert (row.ended, row.number, row.text) == (proposals.ACCEPTED, 1, RIGHT)


def test_a_proposal_that_does_not_help_is_explained_and_another_is_requested(workshop: Callable[..., Workshop]) -> None:
    shop = workshop(answer(WRONG), answer(RIGHT))
    assert len(shop.set_up()) == 1
    assert [row.ended for row in shop.rows()] == ["environment_failed", proposals.ACCEPTED]
    first, second = (request.body["messages"][1]["content"] for request in shop.speaker.requests)
    assert "You proposed" not in first and "gone.tgz" in first
    assert WRONG.strip() in second and "How your proposal ended" in second


def test_proposals_end_after_the_given_number_of_tries(workshop: Callable[..., Workshop]) -> None:
    """Neither in this build nor in the next one: the tries for a rejection are recorded."""
    shop = workshop(answer(WRONG), answer(WRONG.replace("UTC", "CET")), answer(RIGHT))
    assert shop.set_up() == [] and len(shop.speaker.requests) == 2
    assert shop.set_up() == [] and len(shop.speaker.requests) == 2
    assert isinstance(shop.bench.build("chip")["chip"], Rejection)


def test_more_tries_continue_where_earlier_ones_ended(workshop: Callable[..., Workshop]) -> None:
    """The earlier questions were paid for again, since they were made from less of the log than at first."""
    words = [WRONG, WRONG.replace("UTC", "CET"), WRONG.replace("UTC", "EST")]
    shop = workshop(*map(answer, words))
    assert shop.set_up() == [] and len(shop.speaker.requests) == 2
    shop.tries = 3
    assert shop.set_up() == [] and len(shop.speaker.requests) == 3
    assert [row.text for row in shop.rows()] == words
    _, second, third = (request.body["messages"][1]["content"] for request in shop.speaker.requests)
    assert third.startswith(second.rstrip()) and words[1].strip() in third


def test_an_unusable_answer_counts_as_a_try_and_runs_nothing(workshop: Callable[..., Workshop]) -> None:
    """The model is asked once more and told what was wrong."""
    shop = workshop("no idea", tries=1)
    shop.rejection()
    shop.bench.sandbox.opened.clear()
    assert shop.set_up() == []
    assert [(row.text, row.ended) for row in shop.rows()] == [("", "environment_failed")]
    assert len(shop.speaker.requests) == 2 and shop.bench.sandbox.opened == []


def test_an_accepted_proposal_becomes_part_of_the_inferred_environment(workshop: Callable[..., Workshop]) -> None:
    """The next build finds it and runs nothing: no model is asked again, and no answer is lost."""
    shop = workshop(answer(RIGHT))
    assert len(shop.set_up()) == 1
    candidate = shop.bench.candidate("chip")
    assert proposals.fixed(shop.bench.store, candidate)["edits"][1] == "proposed by scripted"
    assert proposals.fixed(shop.bench.store, shop.bench.candidate("menu")) == {}
    found = shop.bench.build("chip")["chip"]
    assert isinstance(found, Instance) and found.set_up_by == "scripted"


def test_only_rejections_that_the_environment_may_explain_are_asked_about(workshop: Callable[..., Workshop]) -> None:
    shop = workshop(answer(RIGHT))
    rejections = shop.bench.build("alert", "dialog", "chip", "grid")
    setup = Setup(Asked("scripted", models=DEMO, environ=GIVEN))
    with Progress("setting up", 1) as progress:
        clone = open_clone(shop.bench.library)
        agent = SetupAgent(shop.bench.store, factories.REPO, clone, setup, progress)
        wanted = {name for name, rejection in rejections.items() if agent.wants(rejection)}
    assert {"chip", "grid"} <= wanted and wanted.isdisjoint({"alert", "dialog", "menu"})


def test_a_model_that_is_not_in_the_list_is_refused_at_once(tiny: Bench, tmp_path: Path) -> None:
    bench = tiny.copy(tmp_path)
    with Progress("setting up", 1) as progress, pytest.raises(UserError, match="nobody"):
        SetupAgent(bench.store, factories.REPO, open_clone(bench.library), Setup(Asked("nobody")), progress)


def test_the_prompt_names_every_field_that_may_be_set() -> None:
    from pipeline.build.setup_agent import PROMPT, Question

    assert [name for name in proposals.FIELDS if f"`{name}`" not in PROMPT] == []
    system, user = messages(Question("acme__ui-1", "node 20", "no_report: x", "the log", "the repository"))
    assert system["content"] == PROMPT and "the log" in user["content"]


@pytest.mark.engine("LLM gateway")
def test_the_setup_agent_has_its_own_key_and_costs(
    tiny: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the real gateway: the instance is in the dataset, and the costs are recorded for the agent `setup`."""
    from tiny_library import IMPATIENT, LIMITS

    from pipeline.build.qualify import Settings

    bench = tiny.copy(tmp_path)
    with Speaker([], said=[answer(RIGHT)]) as model:
        given = {**os.environ, "A11Y_BENCH_SCRIPTED_URL": model.url, "A11Y_BENCH_SCRIPTED_KEY": "none"}
        setup = Setup(Asked("scripted", models=DEMO, environ=given))
        settings = Settings(bench.sandbox, repeats=1, limits=LIMITS)
        how = {"numbers": [NUMBERS["chip"]], "trust_local": True, "patience": IMPATIENT, "setup": setup}
        build(bench.store, factories.REPO, settings, **how)
    assert bench.instance("chip").set_up_by == "scripted"
    with bench.store.costs.open(encoding="utf-8", newline="") as lines:
        (row,) = [row for row in csv.DictReader(lines) if row["agent"] == AGENT]
    assert (row["model"], row["req_llm"]) == ("scripted", "1")
