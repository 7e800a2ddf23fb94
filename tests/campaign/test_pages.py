"""Case sets of the page track in a campaign's plan."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pages_bench import make_case

from pipeline.campaign.cli import command
from pipeline.campaign.plan import TYPICAL_SIZE, Step, disk, sums
from pipeline.campaign.stage import Conduct
from pipeline.core.errors import UserError
from pipeline.core.records import PAGES
from pipeline.core.store import Store
from pipeline.llm.ledger import OK, Booking, Key, Ledger
from pipeline.pages.generate import Generation, Written
from pipeline.pages.runs import Run

MODELS = """
model_list:
  - model_name: one
    litellm_params: {model: openai/one, api_base: os.environ/PAGES_URL, api_key: os.environ/PAGES_KEY}
    model_info: {mode: chat, input_cost_per_token: "0.001", output_cost_per_token: "0.002"}
"""
GIVEN = {"PAGES_URL": "http://127.0.0.1:9", "PAGES_KEY": "none"}
HEAD = 'model_list = "models.yaml"\nmodels = ["one"]\n'
HARBOUR = '[[pages]]\ncases = "harbour"\nsamples = 2\nseed = 1\n'
#: two sets; the second one contains a case of the first
OVERLAPPING = HARBOUR + HARBOUR.replace("seed", 'case = ["pier"]\nseed')


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "models.yaml").write_text(MODELS)
    for name in ("pier", "quay"):
        make_case(tmp_path / "harbour" / name, prompt=f"Make a page about a {name}.")
    return Store(tmp_path / "data")


def conducted(store: Store, text: str) -> Conduct:
    path = store.root.parent / "campaign.toml"
    path.write_text(HEAD + text)
    return Conduct(store, path, environ=GIVEN)


def generation(store: Store, text: str) -> Generation:
    conduct = conducted(store, text)
    return conduct._generation(conduct.campaign.pages[0], None)


def keep(made: Generation, *keys: tuple[str, str, int], cost: Decimal = Decimal("0.25")) -> None:
    """Answers, and their costs."""
    made.store.begin()
    run = Run(made.store, "earlier", made.case_set, made.asked, tuple(made.cases))
    ledger = Ledger(made.store.ledger)
    for case, model, sample in keys:
        made._keep(run, (case, model, sample), Written("<!doctype html>"))
        experiment, name = made.experiment(model), made.unit(run, (case, model, sample)).folder.name
        key = Key(name, experiment.id, experiment.repo, model, experiment.agent, "", case, track=PAGES, answer=name)
        ledger.issue(name, key)
        ledger.book(ledger.open(name, model, "llm"), Booking(OK, cost_usd=cost, latency_ms=4000))
    ledger.close()


def planned(store: Store, text: str, *words: str) -> Any:
    conducted(store, text)
    words = (str(store.root.parent / "campaign.toml"), "--data", str(store.root), "--plan", *words)
    return CliRunner().invoke(command, words, env=GIVEN, catch_exceptions=False)


def test_a_plan_counts_existing_pages_and_estimates_the_cost_of_the_others(store: Store) -> None:
    (step,) = json.loads(planned(store, HARBOUR + "budget = 3\n", "--json").stdout)
    assert (step["track"], step["label"], step["wanted"], step["existing"], step["asked"]) == ("pages", "page", 4, 0, 4)
    assert (step["likely"], step["seconds"], step["worst"]) == (None, None, "3")
    assert not store.root.exists(), "a plan writes nothing"
    keep(generation(store, HARBOUR), ("pier", "one", 0))
    (step,) = json.loads(planned(store, HARBOUR + "budget = 3\n", "--json").stdout)
    assert (step["existing"], step["asked"], step["spent"]) == (1, 3, "0.25")
    assert (step["likely"], step["seconds"], step["worst"]) == ("0.75", 6.0, "2.75"), "two are asked at once"
    shown = planned(store, HARBOUR).stdout
    assert "harbour-" in shown and "0.7500" in shown and "no limit" in shown


def test_no_gateway_is_opened_if_all_pages_exist(store: Store) -> None:
    keep(generation(store, HARBOUR), *((case, "one", sample) for case in ("pier", "quay") for sample in (0, 1)))
    conduct = conducted(store, HARBOUR)
    (step,) = conduct.plan()
    assert (step.asked, step.worst, step.likely) == (0, 0, 0)
    assert not conduct._asks()


def test_a_page_that_two_sets_share_is_asked_once(store: Store) -> None:
    steps = conducted(store, OVERLAPPING).plan()
    assert [(step.wanted, step.asked) for step in steps] == [(4, 4), (2, 0)]
    other = OVERLAPPING + HARBOUR.replace("seed = 1", "seed = 7")
    assert [step.asked for step in conducted(store, other).plan()] == [4, 0, 4], "another seed is another answer"


@pytest.mark.rule("bad-input")
def test_two_sets_cannot_be_one_run(store: Store) -> None:
    named = HARBOUR + 'run = "friday"\n'
    with pytest.raises(UserError, match="friday is listed twice") as error:
        conducted(store, named + named.replace("samples = 2", "samples = 3"))
    assert (error.value.line, error.value.field) == (12, "pages[1].run")


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ("k = [5]", "k", "pass@5 needs at least 5 samples"),
        ('run = "../../x"', "run", "'../../x' cannot name a run"),
        ('run = "kept"', "run", "'kept' cannot name a run"),
        ("temperature = nan", "temperature", "'nan' is not a temperature"),
        ("temperature = inf", "temperature", "'inf' is not a temperature"),
        ("temperature = -5.0", "temperature", "'-5.0' is not a temperature"),
    ],
)
def test_an_impossible_set_is_refused_with_its_place(store: Store, line: str, field: str, message: str) -> None:
    """Before anything is asked: the campaign's repair tasks come first, and are paid for."""
    with pytest.raises(UserError, match=re.escape(message)) as error:
        conducted(store, f"{HARBOUR}{line}\n")
    assert (error.value.path, error.value.line) == (store.root.parent / "campaign.toml", 7)
    assert error.value.field == f"pages[0].{field}"


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(("text", "message"), [(HARBOUR + 'case = ["none"]\n', "no case none")])
def test_a_set_that_cannot_be_asked_is_refused_in_the_plan(store: Store, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        conducted(store, text).plan()
    assert not store.root.exists()


def test_the_campaigns_budget_does_not_limit_pages() -> None:
    answers = Step("acme/ui", "magentless", "one", 4, 0, Decimal(0), Decimal(9), None, None)
    pages = Step("own-1", "page", "one", 4, 0, Decimal(0), Decimal(5), None, None, PAGES)
    assert sums([answers, pages], Decimal(3)).worst == 8
    assert sums([answers, pages._replace(limit=None)], Decimal(3)).worst is None


def test_the_disk_space_of_pages_is_estimated_from_earlier_pages(store: Store) -> None:
    steps = conducted(store, HARBOUR).plan()
    assert disk(store).needed(steps) == 4 * TYPICAL_SIZE[PAGES]
    keep(generation(store, HARBOUR), ("pier", "one", 0))
    size = sum(path.stat().st_size for path in store.pages("kept").rglob("*") if path.is_file())
    assert disk(store).needed(conducted(store, HARBOUR).plan()) == 3 * size
