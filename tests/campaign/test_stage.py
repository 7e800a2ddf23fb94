"""The parts of a campaign without a gateway: the plan, the references, and the messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from factories import REPO
from reserving import reserved
from tiny_library import QUALIFIED, Bench

from pipeline.campaign.cli import command
from pipeline.campaign.plan import RUNS, Step, sums
from pipeline.campaign.stage import Conduct
from pipeline.core.errors import UserError
from pipeline.core.store import Store, write_json
from pipeline.dataset.lock import Lock, lock
from pipeline.llm.experiment import Experiment
from pipeline.llm.ledger import OK, Booking, Key, Ledger
from pipeline.llm.models import DEMO, load_models
from pipeline.predict import stage
from pipeline.predict.agents import Agent, load_agent
from pipeline.predict.request import Answer
from pipeline.predict.run import Wanted, open_run, view
from pipeline.predict.runtime import finish

GIVEN = {"A11Y_BENCH_SCRIPTED_URL": "http://127.0.0.1:9", "A11Y_BENCH_SCRIPTED_KEY": "none"}
FILE = f"""\
model_list = "{DEMO}"
models = ["scripted"]
sandbox = "local"
budget = 3

[[datasets]]
repo = "acme/ui"
limit = 2

[[agents]]
agent = "magentless"
settings = "lean.toml"
attempts = 2
"""


@pytest.fixture
def bench(tiny: Bench, tmp_path: Path) -> Bench:
    (tmp_path / "campaign.toml").write_text(FILE)
    (tmp_path / "lean.toml").write_text('retrieval = { model = "" }\n')
    return tiny.copy(tmp_path)


def plan(bench: Bench, folder: Path, *words: str) -> Result:
    words = (str(folder / "campaign.toml"), "--data", str(bench.store.root), "--plan", *words)
    return CliRunner().invoke(command, words, env=GIVEN, catch_exceptions=False)


def experiment(bench: Bench, folder: Path) -> Experiment:
    conduct = Conduct(bench.store, folder / "campaign.toml", environ=GIVEN)
    return next(conduct.predictors())[0].experiment


def test_the_plan_counts_existing_and_missing_answers(bench: Bench, tmp_path: Path) -> None:
    before = sorted(bench.store.root.rglob("*"))
    (step,) = json.loads(plan(bench, tmp_path, "--json").stdout)
    assert (step["wanted"], step["existing"], step["asked"]) == (4, 0, 4)
    assert step["worst"] == "3"
    assert sorted(bench.store.root.rglob("*")) == before, "a plan writes nothing"
    run = view(bench.store, experiment(bench, tmp_path), Wanted(attempts=2))
    finish(run, run.instances[0], Answer("", "DONE"), 2)
    (step,) = json.loads(plan(bench, tmp_path, "--json").stdout)
    assert (step["existing"], step["asked"]) == (1, 3)
    shown = plan(bench, tmp_path).stdout
    assert "existing answers and planned requests" in shown
    assert "tests of the planned patches: about" in shown, "as far as the build tells"
    earlier = {"inputs": {}, "finished": "", "result": {"seconds": {"tests": 60}}}
    write_json(bench.store.root / RUNS / REPO.slug / "a" / "manifest.json", earlier)
    assert "tests of the planned patches: about 01:30" in plan(bench, tmp_path).stdout, "two at once"
    file = tmp_path / "campaign.toml"
    file.write_text(f"jobs = 8\n{file.read_text()}")
    assert "tests of the planned patches: about 01:00" in plan(bench, tmp_path).stdout, "none is faster than one alone"


def test_a_first_plan_has_a_rough_cost(bench: Bench, tmp_path: Path) -> None:
    """That of the tokens which the agent's answers take on average."""
    (step,) = json.loads(plan(bench, tmp_path, "--json").stdout)
    typical = load_agent("magentless").typical
    assert typical
    assert Decimal(step["likely"]) == 4 * load_models(DEMO).get("scripted").price.cost(typical)
    assert step["rough"] and step["seconds"] is None
    shown = plan(bench, tmp_path).stdout
    assert f"~{Decimal(step['likely']):.4f}" in shown and "~: no earlier answers" in shown
    file = tmp_path / "campaign.toml"
    file.write_text(f"{file.read_text()}[[pages]]\n")
    shown = plan(bench, tmp_path).stdout
    assert "unknown" in shown and "~unknown" not in shown, "pages have no rough cost"


@pytest.mark.parametrize("fresh", [False, True])
def test_the_plan_uses_the_run_that_will_be_continued(bench: Bench, tmp_path: Path, fresh: bool) -> None:
    """If the newest run is fresh, only its own answers count for what it asked again."""
    asked = experiment(bench, tmp_path)
    old = open_run(bench.store, asked)
    new = open_run(bench.store, asked, Wanted(attempts=2, fresh=fresh))
    for run, attempt in ((old, 1), (new, 2)):
        finish(run, run.instances[0], Answer("", "DONE"), attempt)
    (step,) = json.loads(plan(bench, tmp_path, "--json").stdout)
    assert (step["wanted"], step["existing"]) == (4, 1 if fresh else 2)


def test_the_plan_refuses_a_name_that_other_settings_have(bench: Bench, tmp_path: Path) -> None:
    """The plan counted the answers to ask; then the campaign failed."""
    named = FILE.replace('agent = "magentless"', 'agent = "magentless"\nname = "lean"')
    (tmp_path / "campaign.toml").write_text(named)
    open_run(bench.store, experiment(bench, tmp_path))
    (tmp_path / "lean.toml").write_text('retrieval = { model = "" }\nsamples = { sets = 1 }\n')
    with pytest.raises(UserError, match="other settings already have the name 'lean'") as error:
        Conduct(bench.store, tmp_path / "campaign.toml", environ=GIVEN).plan()
    place = (error.value.path, error.value.line, error.value.field)
    assert place == (tmp_path / "campaign.toml", named.splitlines().index('name = "lean"') + 1, "agents[0].name")


def test_other_instances_of_a_run_are_not_missing(bench: Bench, tmp_path: Path) -> None:
    """A stopped run shows all instances; the campaign selects two of them."""
    asked = experiment(bench, tmp_path)
    run = open_run(bench.store, asked, Wanted(attempts=3))
    for instance in run.instances[:2]:
        for attempt in (1, 2):
            finish(run, instance, Answer("", "DONE"), attempt)
    conduct = Conduct(bench.store, tmp_path / "campaign.toml", True, bench.sandbox, GIVEN)
    assert [step.asked for step in conduct.plan()] == [0]
    assert conduct.conduct() == []
    assert len(run.unanswered()) == 3 * len(run.instances) - 4


def test_an_experiment_is_counted_once(bench: Bench, tmp_path: Path) -> None:
    """A model listed twice, or two names for the same settings, give the same answers, which are paid for once."""
    (tmp_path / "campaign.toml").write_text(FILE.replace('["scripted"]', '["scripted", "scripted"]'))
    (step,) = json.loads(plan(bench, tmp_path, "--json").stdout)
    assert step["asked"] == 4
    same = FILE[FILE.index("[[agents]]") :].replace("attempts", 'name = "same"\nattempts')
    (tmp_path / "campaign.toml").write_text(FILE + same)
    steps = Conduct(bench.store, tmp_path / "campaign.toml", environ=GIVEN).plan()
    assert [step.asked for step in steps] == [4, 0] and sums(steps).worst == 3
    spent = [step._replace(spent=Decimal(2)) for step in steps]
    assert sums(spent).spent == 2


@pytest.mark.rule("bad-input")
def test_a_repository_that_is_listed_twice_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_text(FILE + '\n[[datasets]]\nrepo = "acme__ui"\n')
    with pytest.raises(UserError, match="acme/ui is listed twice") as error:
        Conduct(bench.store, tmp_path / "campaign.toml", environ=GIVEN).plan()
    assert error.value.field == "datasets[1].repo"


@pytest.mark.parametrize("count", [2, 6])
def test_a_plan_looks_at_each_experiment_a_fixed_number_of_times(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """The plan of 120 experiments took an hour: each one read the budget, which looked at all of them."""
    settings = "".join(f'[[agents]]\nname = "n{number}"\nsettings = "lean.toml"\n' for number in range(1, count))
    (tmp_path / "campaign.toml").write_text(FILE + settings)
    looked: list[str] = []

    def load(name: str, settings: Path | None) -> Agent:
        looked.append(name)
        return load_agent(name, settings)

    monkeypatch.setattr(stage, "load_agent", load)
    assert len(Conduct(bench.store, tmp_path / "campaign.toml", environ=GIVEN).plan()) == count
    assert len(looked) == 2 * count


def test_a_plan_needs_no_key_and_names_the_missing_ones(bench: Bench, tmp_path: Path) -> None:
    """Whoever wants to know the costs has no key yet. Without --plan, a missing key is still an error."""
    words = [str(tmp_path / "campaign.toml"), "--data", str(bench.store.root)]
    bare = dict.fromkeys(GIVEN)
    result = CliRunner().invoke(command, [*words, "--plan"], env=bare, catch_exceptions=False)
    line = "missing key: set A11Y_BENCH_SCRIPTED_URL (for scripted) before you run the campaign"
    assert result.exit_code == 0 and line in result.output
    assert "missing key" not in plan(bench, tmp_path).output
    refused = CliRunner().invoke(command, words, env=bare)
    assert "needs the environment variable A11Y_BENCH_SCRIPTED_" in str(refused.exception)


def test_a_plan_without_agents_is_reported(bench: Bench, tmp_path: Path) -> None:
    """It used to print nothing at all."""
    (tmp_path / "campaign.toml").write_text(FILE.partition("[[agents]]")[0])
    assert "there are no agents in the file: only oracle and nop are evaluated" in plan(bench, tmp_path).output


def test_the_live_view_shows_the_money_of_the_campaign(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only that of the experiment under way."""
    run = view(bench.store, experiment(bench, tmp_path), Wanted(attempts=2))
    for instance in run.instances:
        for attempt in (1, 2):
            finish(run, instance, Answer("", "DONE"), attempt)
    shown: list[str] = []
    monkeypatch.setattr(
        stage.Predictor, "predict", lambda predictor: shown.append(predictor.money()) if predictor.money else []
    )
    conduct = Conduct(bench.store, tmp_path / "campaign.toml", True, bench.sandbox, GIVEN)
    monkeypatch.setattr(conduct, "_evaluate", lambda *_: None)
    conduct.conduct()
    assert shown == ["spent 0.0000 of 3 USD"]


def test_no_gateway_is_opened_if_all_answers_exist(bench: Bench, tmp_path: Path) -> None:
    """The dataset's check comes first; a gateway would need the model, which does not exist here."""
    run = view(bench.store, experiment(bench, tmp_path), Wanted(attempts=2))
    for instance in run.instances:
        for attempt in (1, 2):
            finish(run, instance, Answer("", "DONE"), attempt)
    conduct = Conduct(bench.store, tmp_path / "campaign.toml", True, bench.sandbox, GIVEN)
    assert conduct.conduct() == []
    folder = bench.store.root / "04_evaluation" / "repair" / "magentless" / "acme__ui" / "scripted"
    for path in (folder, folder / "attempts" / "2"):
        verdicts = (path / "verdicts.jsonl").read_text().splitlines()
        assert [json.loads(verdict)["outcome"] for verdict in verdicts] == ["empty", "empty"]
    oracle = bench.store.evaluation(run.instances[0].repository, "oracle", "oracle") / "verdicts.jsonl"
    assert len(oracle.read_text().splitlines()) == 2 < len(QUALIFIED)


@contextmanager
def locked(store: Store) -> Iterator[None]:
    with store.lock("evaluate", REPO, "oracle", "oracle"):
        yield


@contextmanager
def a_file_in_the_way(store: Store) -> Iterator[None]:
    """An error of the file system, like a full disk, and not one of ours."""
    write_json(store.root / "04_evaluation" / "repair" / "oracle", {})
    yield


@pytest.mark.parametrize("fails", [locked, a_file_in_the_way])
def test_a_failed_reference_does_not_stop_the_others(
    bench: Bench, tmp_path: Path, fails: Callable[[Store], AbstractContextManager[None]]
) -> None:
    (tmp_path / "campaign.toml").write_text(FILE)
    conduct = Conduct(bench.store, tmp_path / "campaign.toml", True, bench.sandbox, GIVEN)
    run = view(bench.store, next(conduct.predictors())[0].experiment, Wanted(attempts=2))
    for one, attempt in product(run.instances, (1, 2)):
        finish(run, one, Answer("", "DONE"), attempt)
    with fails(bench.store):
        failed = conduct.conduct()
    assert [line.partition(":")[0] for line in failed] == ["oracle on acme/ui"]
    for agent, model in ("nop", "nop"), ("magentless", "scripted"):
        assert (bench.store.evaluation(REPO, agent, model) / "verdicts.jsonl").exists()


def test_nothing_is_evaluated_without_a_sandbox(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine may be gone in the middle of a campaign: each failure says so, and none waits for it."""
    conduct = Conduct(bench.store, tmp_path / "campaign.toml", True, bench.sandbox, GIVEN)
    run = view(bench.store, next(conduct.predictors())[0].experiment, Wanted(attempts=2))
    for instance, attempt in product(run.instances, (1, 2)):
        finish(run, instance, Answer("", "DONE"), attempt)

    def check() -> None:
        raise UserError("no engine", hint="start it")

    monkeypatch.setattr(bench.sandbox, "check", check)
    failed = conduct.conduct()
    titles = ["oracle on acme/ui", "nop on acme/ui", "magentless with scripted on acme/ui"]
    assert failed == [f"{title}: no engine\n  start it" for title in titles]


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('models = ["scripted"]', 'models = ["scripted", "gpt-0"]', "2: field 'models': unknown model 'gpt-0'"),
        ('sandbox = "local"', 'sandbox = "podman"', "3: field 'sandbox': unknown sandbox 'podman'"),
        ('sandbox = "local"', 'sandbox = "scripted"', "3: field 'sandbox': unknown sandbox 'scripted'"),
        ('repo = "acme/ui"', 'repo = "acme"', r"7: field 'datasets\[0\].repo': 'acme' is not a repository"),
        ('repo = "acme/ui"', 'repo = "acme/no"', r"7: field 'datasets\[0\].repo': acme/no has no dataset"),
        ("limit = 2", 'instances = ["acme/ui#999"]', r"8: field 'datasets\[0\].instances': unknown instance"),
        ("limit = 2", 'instances = "lite"', r"8: field 'datasets\[0\].instances': there is no subset 'lite'"),
        ("limit = 2", 'filter = {lang = ["py"]}', r"8: field 'datasets\[0\].filter': no instance is selected"),
        ('agent = "magentless"', 'agent = "nobody"', r"11: field 'agents\[0\].agent': unknown agent 'nobody'"),
        (
            'agent = "magentless"\nsettings = "lean.toml"',
            'agent = "command"',
            r"11: field 'agents\[0\].agent': the agent 'command' needs settings",
        ),
        ("attempts = 2", 'models = ["gpt-0"]', r"13: field 'agents\[0\].models': unknown model 'gpt-0'"),
    ],
)
def test_an_impossible_campaign_is_refused_before_anything_is_written(
    bench: Bench, tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "campaign.toml"
    path.write_text(FILE.replace(old, new))
    before = sorted(Store(bench.store.root).root.rglob("*"))
    with pytest.raises(UserError, match=message):
        Conduct(bench.store, path, environ=GIVEN).plan()
    assert sorted(bench.store.root.rglob("*")) == before


@pytest.mark.parametrize(
    ("selected", "count"),
    [("", 2), ("limit = 1", 1), ("pr = [9]", 1), ('instances = ["acme/web#1", "acme/web#9"]', 2)]
    + [('filter = {statement_source = ["pull_request"]}', 1), ('filter = {lang = ["vue"]}', 2)],
)
def test_instances_of_a_list_that_is_not_rebuilt_yet_are_planned(
    bench: Bench, tmp_path: Path, selected: str, count: int
) -> None:
    """Whoever starts from published lists wants to know the cost before anything is built. Nothing exists yet."""
    facts = [
        {**_lock(bench), "instance_id": "acme__web-1", "statement_source": "issue"},
        {**_lock(bench), "instance_id": "acme__web-9", "statement_source": "pull_request"},
    ]
    (tmp_path / "web.jsonl").write_text("".join(f"{Lock.model_validate(fact).model_dump_json()}\n" for fact in facts))
    (tmp_path / "campaign.toml").write_text(
        f'{FILE}cap = 0.25\n[[datasets]]\nlock = "web.jsonl"\ngithub = true\n{selected}\n'
    )
    plan_text = plan(bench, tmp_path)
    assert "acme/web: its list is rebuilt first; the plan counts all its instances as missing" in plan_text.output
    ui, web = json.loads(plan(bench, tmp_path, "--json").stdout)
    assert (ui["repo"], web["repo"]) == ("acme/ui", "acme/web")
    assert (web["wanted"], web["existing"], web["asked"]) == (2 * count, 0, 2 * count)
    assert (Decimal(web["worst"]), web["rough"]) == (Decimal("0.5") * count, True)


def test_an_unbuilt_list_is_reported_and_does_not_stop_the_plan(bench: Bench, tmp_path: Path) -> None:
    """A dataset that must be rebuilt first does not prevent the others from being planned."""
    listed = Lock.model_validate({**_lock(bench), "instance_id": "acme__web-1"})
    (tmp_path / "web.jsonl").write_text(listed.model_dump_json() + "\n")
    path = tmp_path / "campaign.toml"
    path.write_text(FILE + '[[datasets]]\nlock = "web.jsonl"\n')
    with pytest.raises(UserError, match="it differs from its list, and has nothing to be rebuilt from") as error:
        plan(bench, tmp_path)
    assert (error.value.path, error.value.line, error.value.field) == (path, 15, "datasets[1].lock")
    path.write_text(FILE + '[[datasets]]\nlock = "web.jsonl"\ngithub = true\n')
    plan_text = plan(bench, tmp_path)
    assert "acme/web: its list is rebuilt first" in plan_text.output and "acme/ui" in plan_text.stdout
    assert [str(step.repo) for step in Conduct(bench.store, path, environ=GIVEN).plan()] == ["acme/ui"]


def test_a_repository_that_differs_from_its_list_is_not_asked_about(bench: Bench, tmp_path: Path) -> None:
    """Each run reports it, not only the one that rebuilt the dataset."""
    listed = [lock(bench.instance(name)) for name in ("menu", "badge")]
    listed[1] = listed[1].model_copy(update={"fix_patch": "0" * 64})
    (tmp_path / "ui.jsonl").write_text("".join(f"{entry.model_dump_json()}\n" for entry in listed))
    path = tmp_path / "campaign.toml"
    path.write_text(FILE.replace('repo = "acme/ui"', f'lock = "ui.jsonl"\nclone = "{bench.library}"'))
    words = [str(path), "--data", str(bench.store.root), "--plan"]
    planned = CliRunner().invoke(command, words, env=dict.fromkeys(GIVEN), catch_exceptions=False).output
    assert "acme/ui: its list is rebuilt first" in planned and "missing key: set A11Y_BENCH_SCRIPTED_URL" in planned
    for _ in range(2):
        conduct = Conduct(bench.store, path, True, bench.sandbox, GIVEN)
        (failure,) = conduct.conduct()
        assert "1 facts differ from the list, as acme__ui-2: fix_patch; nothing is asked" in failure
        assert conduct.plan() == [] and not (bench.store.root / "03_predictions").exists()


def test_a_list_that_differs_only_in_its_environments_is_planned(bench: Bench, tmp_path: Path) -> None:
    """Its tests end as listed, so its results are comparable. Every list is older than some change of the inference."""
    listed = lock(bench.instance("menu")).model_copy(update={"environment": "0" * 32, "image": "1" * 32})
    (tmp_path / "ui.jsonl").write_text(f"{listed.model_dump_json()}\n")
    path = tmp_path / "campaign.toml"
    path.write_text(FILE.replace('repo = "acme/ui"', f'lock = "ui.jsonl"\nclone = "{bench.library}"'))
    plan_text = plan(bench, tmp_path)
    assert "its list is rebuilt first" not in plan_text.output and "acme/ui" in plan_text.stdout


def _lock(bench: Bench) -> dict[str, object]:
    return lock(bench.instance("menu")).model_dump(mode="json")


def test_the_total_cost_is_limited_by_the_campaigns_budget() -> None:
    """Each experiment may spend the whole budget, but together they cannot spend more; the plan used to add it up."""
    steps = [Step(str(REPO), "magentless", name, 4, 0, Decimal(1), Decimal(4), None, None) for name in ("one", "other")]
    assert sums(steps).worst == 6
    assert sums(steps, Decimal(3)).worst == 3
    assert sums(steps, Decimal(50)).worst == 6
    assert sums([step._replace(limit=None) for step in steps], Decimal(3)).worst == 3
    assert sums(steps, Decimal(0)).worst == 0


@pytest.mark.parametrize(
    ("further", "settings", "worst"),
    [
        ("cap = 0.5", "", "2.0"),
        ("cap = 0.5\nbudget = 1.5", "", "1.5"),
        ("cap = 0.5\nbudget = 9", "", "2.0"),
        ("", "", None),
        ("cap = 0.5", "scripted-embedding", None),
    ],
)
def test_caps_limit_the_worst_cost_except_that_of_shared_work(
    bench: Bench, tmp_path: Path, further: str, settings: str, worst: str | None
) -> None:
    """No cap covers an index that all answers use."""
    (tmp_path / "lean.toml").write_text(f'retrieval = {{ model = "{settings}" }}\n')
    (tmp_path / "campaign.toml").write_text(f"{FILE.replace('budget = 3', '')}{further}\n")
    (step,) = json.loads(plan(bench, tmp_path, "--json").stdout)
    assert (step["asked"], step["worst"]) == (4, worst)


@pytest.mark.rule("budget")
@pytest.mark.parametrize(("model", "left"), [("scripted", "2.5"), ("another", "3")])
def test_spending_with_other_settings_counts_towards_the_budget(
    bench: Bench, tmp_path: Path, model: str, left: str
) -> None:
    """Editing an agent's settings made the whole budget available again."""
    asked = experiment(bench, tmp_path)
    earlier = Experiment(asked.repo, model, asked.agent, "other settings", name=asked.name)
    ledger = Ledger(bench.store.ledger)
    key = Key("alias", earlier.id, earlier.repo, model, earlier.label, earlier.settings, "acme__ui-1")
    ledger.issue("earlier", key)
    ledger.book(reserved(ledger, "earlier", Decimal(1)), Booking(OK, cost_usd=Decimal("0.5")))
    ledger.close()
    conduct = Conduct(bench.store, tmp_path / "campaign.toml", environ=GIVEN)
    assert conduct.left == Decimal(left)
    (step,) = conduct.plan()
    assert (step.spent, step.worst) == (0, Decimal(left))


@pytest.mark.rule("budget")
def test_requests_of_unknown_cost_count_towards_the_budget(bench: Bench, tmp_path: Path) -> None:
    """Lost requests may have been paid for; the budget used to allow spending their money again."""
    asked = experiment(bench, tmp_path)
    ledger = Ledger(bench.store.ledger)
    key = Key("alias", asked.id, asked.repo, asked.model, asked.label, asked.settings, "acme__ui-1")
    ledger.issue("lost", key)
    ledger.book(reserved(ledger, "lost", Decimal(1)), Booking(OK, cost_usd=Decimal("0.5")))
    reserved(ledger, "lost", Decimal("0.75"))
    ledger.lose(asked.id)
    ledger.close()
    conduct = Conduct(bench.store, tmp_path / "campaign.toml", environ=GIVEN)
    assert conduct.left == Decimal("1.75") and "spent 0.5000 of 3 USD" in conduct.money()
    (step,) = conduct.plan()
    assert (step.spent, step.worst) == (Decimal("0.5"), Decimal("1.75"))
    (tmp_path / "campaign.toml").write_text(FILE.replace("attempts = 2", "budget = 1"))
    (step,) = Conduct(bench.store, tmp_path / "campaign.toml", environ=GIVEN).plan()
    assert step.worst == 0
