"""A campaign of three models, two agents and two attempts that is killed several times and goes on: the real gateway.

What comes of it must be what comes of one that nobody disturbed: the same answers, verdicts and money.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from tiny_library import Bench

from pipeline.core.store import Store
from pipeline.llm.costs import requests
from pipeline.llm.provider import Fault
from pipeline.llm.scripted import Answer, ScriptedModel
from pipeline.llm.spending import check, spending

pytestmark = [pytest.mark.engine("LLM gateway"), pytest.mark.timeout(1200)]
MODELS = {"small": "0.0000001", "medium": "0.000001", "large": "0.00001"}
#: requests after which a campaign is killed, counted from its own start
KILLED_AFTER = (1, 4, 9, 15)
#: what may differ: when, in which run, and how long it took
PASSING = ("run", "started", "time")
CODE = """\
import sys
from pathlib import Path
from pipeline.campaign.stage import Conduct
from pipeline.core.store import Store
from pipeline.sandbox import open_sandbox
conduct = Conduct(Store(Path(sys.argv[1])), Path(sys.argv[2]), True, open_sandbox("local", Path(sys.argv[3])))
sys.exit(1 if conduct.conduct() else 0)
"""


def campaign(folder: Path) -> Path:
    """The file, its list of models and settings of two agents."""
    entry = """\
  - model_name: {0}
    litellm_params:
      model: openai/{0}
      api_base: os.environ/A11Y_BENCH_SCRIPTED_URL
      api_key: os.environ/A11Y_BENCH_SCRIPTED_KEY
    model_info: {{mode: chat, input_cost_per_token: "{1}", output_cost_per_token: "{1}"}}
"""
    (folder / "models.yaml").write_text("model_list:\n" + "".join(entry.format(*one) for one in MODELS.items()))
    lean = 'samples = { sets = 1, per_set = 1, reasks = 0 }\nretrieval = { model = "" }\n'
    (folder / "lean.toml").write_text(lean)
    (folder / "narrow.toml").write_text(f"{lean}files = {{ top = 1 }}\n")
    path = folder / "campaign.toml"
    agents = "".join(f'[[agents]]\nname = "{name}"\nsettings = "{name}.toml"\n' for name in ("lean", "narrow"))
    path.write_text(
        f'models = {json.dumps(list(MODELS))}\nmodel_list = "models.yaml"\nattempts = 2\njobs = 2\nbudget = 5\n'
        f'references = false\n[[datasets]]\nrepo = "acme/ui"\nlimit = 2\n{agents}'
    )
    return path


class Bed:
    """A data directory, a model, and the campaign's process."""

    def __init__(self, bench: Bench, folder: Path, model: ScriptedModel) -> None:
        self.store, self.model, self.said = bench.store, model, folder / "said.txt"
        given = {**os.environ, "A11Y_BENCH_SCRIPTED_URL": model.url, "A11Y_BENCH_SCRIPTED_KEY": "none"}
        words = [sys.executable, "-c", CODE, str(bench.store.root), str(campaign(folder)), str(bench.cache)]
        self.start = lambda output: subprocess.Popen(words, env=given, stdout=output, stderr=output)

    def run(self) -> None:
        with self.said.open("ab") as output:
            assert self.start(output).wait() == 0, self.said.read_text()[-4000:]

    def kill_after(self, count: int) -> None:
        """Kill it when the model has heard so many more requests."""
        before = len(self.model.requests)
        with self.said.open("ab") as output:
            process = self.start(output)
            while len(self.model.requests) < before + count and process.poll() is None:
                time.sleep(0.01)
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def beds(tiny: Bench, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bed, Bed]]:
    """One that was left alone, and one that was killed."""
    made = []
    with ScriptedModel([Answer((), "src/menu.js")]) as first, ScriptedModel([Answer((), "src/menu.js")]) as second:
        for name, model in (("calm", first), ("killed", second)):
            folder = tmp_path_factory.mktemp(name)
            made.append(Bed(tiny.copy(folder), folder, model))
        calm, killed = made
        calm.run()
        for count in KILLED_AFTER:
            killed.model.fail(*[Fault()] * (count - 1), Fault(delay=0.2))
            killed.kill_after(count)
        killed.run()
        yield calm, killed


def content(store: Store, name: str) -> dict[str, list[dict[str, object]]]:
    """Records by their folders, without what passes."""
    found = {}
    for path in store.root.rglob(name):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        place = "/".join(part for part in path.relative_to(store.root).parts if not part.endswith("Z"))
        found[place] = [{key: value for key, value in one.items() if key not in PASSING} for one in records]
    return found


def money(store: Store) -> dict[tuple[str, str, str], Decimal]:
    """USD by agent, model and answer."""
    found: dict[tuple[str, str, str], Decimal] = {}
    for one in requests(store.ledger):
        key = one.agent, one.key_model, one.answer
        found[key] = found.get(key, Decimal(0)) + one.cost_usd
    return found


@pytest.mark.trap("grown-dataset-pays-twice")
@pytest.mark.rule("money-adds-up")
def test_a_killed_campaign_ends_as_one_that_was_left_alone(beds: tuple[Bed, Bed]) -> None:
    calm, killed = beds
    for name in ("predictions.jsonl", "verdicts.jsonl"):
        found = content(calm.store, name)
        assert len(found) == len(MODELS) * 2 * 2 and content(killed.store, name) == found
    assert len(money(calm.store)) == len(MODELS) * 2 * 2 * 2
    assert money(killed.store) == money(calm.store)
    for one in beds:
        check(one.store, spending(one.store))


def test_nothing_is_asked_a_second_time(beds: tuple[Bed, Bed]) -> None:
    calm, _ = beds
    before, heard = len(requests(calm.store.ledger)), len(calm.model.requests)
    calm.run()
    assert (len(requests(calm.store.ledger)), len(calm.model.requests)) == (before, heard)
