"""A campaign of three models, two agents and two attempts that is killed several times and resumed, with the real
gateway.

Its result must equal that of an undisturbed one: the same answers, verdicts, tables and costs. `just bench rehearsal`
does this at any size, and on other repositories.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.knowing import SKILLS
from benchmarks.rehearsal import AGENTS, ATTEMPTS, Outcome, figures, rehearse, unlike
from factories import REPO
from tiny_library import Bench

pytestmark = [pytest.mark.engine("LLM gateway"), pytest.mark.timeout(1800)]
INSTANCES, KILLS = 3, 4
#: pull requests of the tiny library whose gold patch is JavaScript: other answers do not parse, and so count as none
PARSE = 1
#: the campaign's command, with a sandbox that already has its images
CODE = """\
import sys
from pathlib import Path
from pipeline.analyze.cli import present
from pipeline.campaign.stage import Conduct
from pipeline.core.store import Store
from pipeline.sandbox import open_sandbox
conduct = Conduct(Store(Path(sys.argv[1])), Path(sys.argv[2]), True, open_sandbox("local", Path(sys.argv[3])))
failed = conduct.conduct()
present(conduct.store)
sys.exit("\\n".join(failed) or 0)
"""


@pytest.fixture(scope="module")
def outcome(tiny: Bench, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    def command(data: Path, file: Path) -> list[str]:
        return [sys.executable, "-c", CODE, str(data), str(file), str(tiny.cache)]

    how = {"jobs": 2, "budget": 50, "references": False}
    return rehearse(tmp_path_factory.mktemp("rehearsal"), tiny.store, {REPO: INSTANCES}, KILLS, command, **how)


@pytest.mark.trap("grown-dataset-pays-twice")
@pytest.mark.rule("money-adds-up")
def test_a_killed_campaign_has_the_results_of_an_undisturbed_one(outcome: Outcome) -> None:
    assert outcome.differs == []
    assert [kill.differs for kill in outcome.kills] == [()] * KILLS


def test_every_kill_happens_in_the_middle_of_the_work(outcome: Outcome) -> None:
    """Every interruption must find something done and leave something to do; otherwise nothing is proved."""
    units = [kill.after for kill in outcome.kills]
    assert units == sorted(set(units)) and units[0] > 0 and len(units) == KILLS
    named = {figure.name: figure.value for figure in figures(outcome)}
    assert named["answers"] == len(SKILLS) * len(AGENTS) * ATTEMPTS * INSTANCES
    assert named["resolved by the model that knows"] == len(AGENTS) * ATTEMPTS * PARSE
    assert named["answers with a patch"] > 2 * len(AGENTS) * ATTEMPTS, "the same of who guesses, and a guess"
    assert named["spent"] > 0


def test_no_request_is_sent_twice(outcome: Outcome) -> None:
    assert outcome.again == 0


def test_the_comparison_detects_a_difference(outcome: Outcome) -> None:
    """The comparison itself must be able to fail."""
    both = outcome.calm, outcome.killed
    assert unlike(*both, lambda store: {"place": str(store.root)}) == ["place"]
    assert unlike(*both, lambda store: {} if store is outcome.calm else {"more": 1}, partly=True) == ["more"]
