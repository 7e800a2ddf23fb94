"""Benchmark of stage 03: magentless's own time, the cost of a second index, and requests in flight.

`just bench predict --clone PATH [--instances 20] [--latency 2] [--limit 8 --limit 16] [--json FILE]`. The instances are
the newest commits of the clone, the gateway and the agent are the real ones, and the model answers after `latency`
seconds (guide.py). Own time is all the time in which the agent does not wait for an answer. Writes a temporary folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click
from factories import make_instance

from benchmarks.goals import Figure, report
from benchmarks.guide import Guide
from pipeline.core.git import open_clone
from pipeline.core.records import Instance
from pipeline.core.store import Store, read_json, write_records
from pipeline.core.work import each
from pipeline.llm.costs import requests
from pipeline.llm.experiment import SHARED, Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.opening import open_gateway
from pipeline.llm.prices import total
from pipeline.predict.agents import load_agent
from pipeline.predict.request import Ask
from pipeline.predict.run import Run, open_run
from pipeline.predict.runtime import save

SETTINGS = '[retrieval]\nmodel = "guide-embedding"\n'
MODELS = """\
model_list:
  - model_name: guide
    litellm_params: &upstream
      model: openai/guide
      api_base: os.environ/GUIDE_URL
      api_key: os.environ/GUIDE_KEY
      max_parallel_requests: {limit}
    model_info: {{mode: chat, input_cost_per_token: "0.0000003", output_cost_per_token: "0.000001"}}
  - model_name: guide-embedding
    litellm_params: *upstream
    model_info: {{mode: embedding, input_cost_per_token: "0.00000002", output_cost_per_token: "0"}}
"""


class Place(NamedTuple):
    """A data directory with a dataset, its clone, and the model behind the gateway."""

    store: Store
    clone: Path
    instances: list[Instance]
    model: Guide

    @property
    def embedded(self) -> Decimal:
        """USD for embeddings so far."""
        return total(row.cost_usd for row in requests(self.store.ledger) if row.kind == "embedding")


@click.command()
@click.option("--clone", type=click.Path(path_type=Path, exists=True), required=True, help="A clone of a repository.")
@click.option("--instances", default=20, show_default=True, help="Commits that are instances.")
@click.option("--latency", default=2.0, show_default=True, help="Seconds until the model answers.")
@click.option("--limit", "limits", type=int, multiple=True, default=(8, 16), help="Most requests in flight.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(clone: Path, instances: int, latency: float, limits: Sequence[int], path: Path | None) -> None:
    """Measure stage 03 against its goals."""
    figures = [figure for limit in limits for figure in _measured(clone, instances, latency, limit)]
    report("predict", figures, path)


def _measured(clone: Path, count: int, latency: float, limit: int) -> Iterator[Figure]:
    with TemporaryDirectory() as folder, Guide([], latency=latency) as model:
        place = Place(Store(Path(folder, "data")), clone, _instances(clone, count), model)
        with _requests(place, limit) as (run, requests):
            costs = [_answer(place, run, requests[:1]), _answer(place, run, requests[1:2])]
            model.reset()
            _answer(place, run, requests[2:])
        answers = [read_json(run.unit(instance).folder / "metadata.json") for instance in run.instances]
    own = [answer["seconds"]["own"] for answer in answers]
    patched = sum(answer["outcome"] == "SUCCESSFUL_PATCH" for answer in answers)
    at = f"at limit {limit}"
    yield Figure(f"instances with a patch, {at}", patched, f"of {count}", ("at least", count))
    yield Figure(f"own time of the first instance, {at}", own[0], "s")
    yield Figure(f"own time of the second, {at}", own[1], "s", ("at most", 10))
    yield Figure(f"own time of all others at once, mean, {at}", sum(own[2:]) / len(own[2:]), "s")
    yield Figure(
        f"embedding cost of the second, {at}", float(costs[1] / costs[0] * 100), "% of the first", ("at most", 5)
    )
    yield Figure(f"mean requests in flight, {at}", model.mean_in_flight / limit, "of the limit", ("at least", 0.8))


def _instances(clone: Path, count: int) -> list[Instance]:
    """The newest commits of the clone, the newest last; only an instance's base matters here."""
    shas = open_clone(clone).git.log("--first-parent", f"--max-count={count}", "--reverse", "--format=%H").split()
    base = {"label": "main", "ref": "main"}
    return [make_instance(number, base={**base, "sha": sha}) for number, sha in enumerate(shas, 1)]


def _answer(place: Place, run: Run, requests: Sequence[Ask]) -> Decimal:
    """Let the agent answer these tasks at the same time; returns the cost of their embeddings."""
    before = place.embedded
    instances = {instance.instance_id: instance for instance in run.instances}
    for request, left in each(requests, jobs=len(requests)):
        save(run, instances[request.name], left)
    return place.embedded - before


@contextmanager
def _requests(place: Place, limit: int) -> Iterator[tuple[Run, list[Ask]]]:
    """The run, and a request for each instance, while the gateway is open."""
    root, repo = place.store.root, place.instances[0].repository
    write_records(place.store.dataset(repo), place.instances)
    (root / "models.yaml").write_text(MODELS.format(limit=limit))
    (root / "settings.toml").write_text(SETTINGS)
    run = open_run(place.store, Experiment(str(repo), "guide", "magentless"))
    given = {**os.environ, "GUIDE_URL": place.model.url, "GUIDE_KEY": "none"}
    log = run.folder / "gateway.log"
    with open_gateway(root / "models.yaml", place.store.ledger, say=click.echo, log=log, environ=given) as gateway:
        yield run, [_request(gateway, place, run, instance) for instance in place.instances]
        gateway.settle()


def _request(gateway: Gateway, place: Place, run: Run, instance: Instance) -> Ask:
    experiment = Experiment(run.experiment.repo, "guide", "magentless", "benchmark")
    agent = load_agent("magentless", place.store.root / "settings.toml")
    keys = {
        "key": gateway.issue_key(experiment, instance.instance_id),
        "shared_key": gateway.issue_key(experiment, SHARED),
    }
    clone, task = str(open_clone(place.clone).place), instance.task()
    keys |= {"cache": str(run.cache)}
    settings = agent.settings.read_bytes()
    return Ask(agent, "guide", task, instance.base.sha, clone, gateway.base_url, settings=settings, **keys)


if __name__ == "__main__":
    main()
