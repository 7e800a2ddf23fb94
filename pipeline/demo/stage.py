"""All stages on the embedded benchmark, one after the other, as a user would call them."""

from __future__ import annotations

from pathlib import Path

from pipeline.build.plan import Listed
from pipeline.build.qualify import Settings
from pipeline.build.stage import build
from pipeline.campaign.steps import evaluate_and_say, say_stage
from pipeline.collect.stage import collect
from pipeline.core.cache import cache_root
from pipeline.core.console import say
from pipeline.core.dataset import read_candidates
from pipeline.core.names import Repo
from pipeline.core.store import Store, read_json
from pipeline.demo.assess import assess_demo
from pipeline.demo.history import build_history
from pipeline.demo.model import scripted_model, surroundings
from pipeline.predict.stage import Predictor
from pipeline.sandbox import open_sandbox
from pipeline.sandbox.base import Sandbox
from pipeline.triage.stage import import_file

REPO = Repo("a11y-bench", "harbor-ui")


def choose_sandbox(name: str | None) -> Sandbox:
    """The named sandbox, otherwise the local one, which every machine has. Prints why."""
    if not name:
        say("sandbox: local, since the demo is this project's own code; use --sandbox docker for containers")
    return open_sandbox(name or "local", cache_root())


def run_demo(store: Store, demo: Path, sandbox: Sandbox, *, jobs: int = 2, assess: bool = False) -> None:
    """Run stages 01 to 04 with the agents oracle, nop and magentless; `assess` also assesses their patches."""
    clone = store.root / "harbor-ui.git"
    say_stage("history", "making the demo's repository from files")
    build_history(demo, clone)
    say_stage("01 collect", "pull requests with accessibility evidence and tests")
    collect(store, REPO, clone, demo / "issues.jsonl")
    import_file(store, REPO, demo / "reviews.jsonl")
    say_stage("02 build", "environments, and three runs for each candidate")
    listed = {int(number): Listed(repeats) for number, repeats in read_json(demo / "repeats.json").items()}
    build(store, REPO, Settings(sandbox, repeats=1), jobs=jobs, listed=listed)
    for model in ("oracle", "nop"):
        say_stage("03 predict", model)
        Predictor(store, REPO, model, model, models=demo / "models.yaml").predict()
        evaluate_and_say(store, REPO, model, model, sandbox, jobs=jobs)
    say_stage("03 predict", "magentless with a scripted model, through the LLM gateway")
    _predict_scripted(store, demo, jobs)
    evaluate_and_say(store, REPO, "magentless", "scripted", sandbox, jobs=jobs)
    if assess:
        assess_demo(store, REPO, demo, sandbox, jobs=jobs)


def _predict_scripted(store: Store, demo: Path, jobs: int) -> None:
    candidates = read_candidates(store, REPO)
    with scripted_model(demo, candidates) as model:
        settings = demo / "magentless.toml"
        predictor = Predictor(
            store,
            REPO,
            "magentless",
            "scripted",
            models=demo / "models.yaml",
            settings=settings,
            jobs=jobs,
            environ=surroundings(model),
        )
        predictor.predict()
