"""Rehearsal of a campaign: three scripted models, two agents, two attempts; killed, and run to its end.

`just bench rehearsal [--repos REPO,REPO] [--data DIR] [--demo] [--limit N] [--kills N] [--work FOLDER] [--json FILE]`.
The same campaign runs twice on copies of DIR: one is left alone, the other is killed (SIGKILL) at points that are
spread over all of its work, and resumed. Answers, records, tables and money must be the same. DIR is only read. Without
one, the demo is collected and built; with one, `--demo` adds the demo. Magentless runs in two settings, and where tests
run in containers, mini-swe-agent runs there, too. Writes the copies below FOLDER, where they stay, or in a temporary
folder.

What passes is not compared: times, durations, the names of runs, how often a request was sent, and how often a run of
tests was repeated because a test is flaky. What verdicts say of flaky tests is compared.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

from benchmarks.goals import Figure, report
from benchmarks.knowing import SKILLS, Knowing, Known, known
from pipeline.core import console
from pipeline.core.dataset import read_dataset
from pipeline.core.names import Repo, parse_repo
from pipeline.core.store import Store, read_json
from pipeline.core.subset import Subset
from pipeline.evaluate.grade import OF_OTHERS
from pipeline.execution.counter import KINDS
from pipeline.execution.images import source
from pipeline.llm.costs import requests
from pipeline.llm.spending import check, spending

ATTEMPTS = 2
#: agents of the campaign, each a name with its settings: the agent's defaults, and one request for each step
AGENTS = {
    "rehearsed": '[retrieval]\nmodel = "rehearsal-embedding"\n',
    "lean": 'samples = { sets = 1, per_set = 1, reasks = 0 }\nretrieval = { model = "" }\n',
}
#: an agent that runs code, which needs containers
CODE_AGENT = '[[agents]]\nagent = "mini-swe-agent"\n'
ENTRY = """\
  - model_name: {0}
    litellm_params: {{model: openai/{0}, api_base: os.environ/REHEARSAL_{1}, api_key: none}}
    model_info: {{mode: {2}, max_choices: {5}, input_cost_per_token: "{3}", output_cost_per_token: "{4}"}}
"""
#: how many answers one request to each model may ask for
CHOICES = {"knows": 4, "guesses": 1, "talks": 2}
#: invented prices of the models, in USD per token in and out
PRICES = {"knows": ("0.00001", "0.00003"), "guesses": ("0.000001", "0.000003"), "talks": ("0.0000001", "0.0000003")}
EMBEDDING_PRICE = "0.00000002"
#: fields of records and columns of tables that differ between runs
PASSING = ("run", "started", "finished", "time", "duration_s")
#: fields of stored results that differ between runs: durations, the report's place, the moved run's files, and repeats
REPEATED = tuple(f"{kind}.{number}" for kind in KINDS for number in range(2, OF_OTHERS + 2))
RESULTS_PASSING = (*PASSING, "seconds", "place", "root", "repeats", "flips", *REPEATED)
#: how often something was sent: repeated requests are answered from a cache, without tokens or costs
SENT = ("requests", "req_llm", "req_emb")
#: the exit code of a campaign that ended with a failure, such as a gold patch whose tests are flaky
FAILED = 1
#: seconds between two checks of a campaign's progress
LOOK_EVERY = 0.02

#: the command that runs a campaign, given a data directory and the campaign's file
Command = Callable[[Path, Path], list[str]]


class Kill(NamedTuple):
    """One interruption: the planned number of units, the seconds, the units before and after, and the differences
    then."""

    at: int
    seconds: float
    before: int
    after: int
    differs: tuple[str, ...]

    @property
    def row(self) -> tuple[str, str, int, int, str]:
        return f"unit {self.at}", f"{self.seconds:.1f}", self.before, self.after, ", ".join(self.differs) or "nothing"


class Outcome(NamedTuple):
    """The two campaigns' data, the interruptions, the differences at the end, and the requests of one more run."""

    calm: Store
    killed: Store
    kills: list[Kill]
    differs: list[str]
    again: int


def console_program(data: Path, file: Path) -> list[str]:
    """The campaign as a user starts it."""
    program = "from pipeline.cli import main; main()"
    return [sys.executable, "-c", program, "campaign", str(file), "--data", str(data), "--trust-local"]


class Bed:
    """A campaign on a data directory of its own. `asked` is the number of requests to its models so far."""

    def __init__(self, store: Store, models: Sequence[Knowing], file: Path, command: Command) -> None:
        self.store, self.models, self.said = store, models, file.parent / "said.txt"
        self._words = command(store.root, file)
        urls = {f"REHEARSAL_{model.skill.upper()}": model.url for model in models}
        self._given = {**os.environ, **urls}

    @property
    def asked(self) -> int:
        return sum(len(model.requests) for model in self.models)

    @property
    def units(self) -> int:
        """Answers and test runs that are finished."""
        answers = self.store.root.glob("03_predictions/answers/*/*/*/manifest.json")
        runs = self.store.root.glob("04_evaluation/runs/*/*/manifest.json")
        return sum(1 for _ in answers) + sum(1 for _ in runs)

    @contextmanager
    def _running(self) -> Iterator[subprocess.Popen[bytes]]:
        with self.said.open("ab") as output:
            process = subprocess.Popen(self._words, env=self._given, stdout=output, stderr=output)
            try:
                yield process
            finally:
                process.kill()
                process.wait()

    def run(self) -> None:
        """Run to the end, even if something failed, which the comparison shows. Raises RuntimeError with the output if
        the campaign does not end."""
        with self._running() as process:
            if process.wait() not in (0, FAILED):
                raise RuntimeError(self.said.read_text(encoding="utf-8")[-4000:])

    def kill_at(self, units: int, further: int) -> tuple[float, int]:
        """Kill it when that many units are done and, if it then asks models, that many further requests were received;
        returns the seconds that it ran, and the units at its end."""
        began = time.monotonic()
        with self._running() as process:
            while self.units < units and process.poll() is None:
                time.sleep(LOOK_EVERY)
            heard, done = self.asked, self.units
            while self.asked < heard + further and self.units == done and process.poll() is None:
                time.sleep(LOOK_EVERY)
        return time.monotonic() - began, self.units


def rehearse(
    folder: Path, data: Store, chosen: Mapping[Repo, int | None], kills: int, command: Command, **more: Any
) -> Outcome:
    """Both campaigns, on copies of `data` below `folder`. `chosen` is the number of instances in each repository, None
    for all; `more` are fields of the campaign's file. Raises RuntimeError if one does not end."""
    tasks = [
        known(source(data, repo), instance)
        for repo, limit in chosen.items()
        for instance in Subset(limit=limit).of(read_dataset(data, repo))
    ]
    with ExitStack() as stack:
        calm, killed = (
            stack.enter_context(_bed(folder / name, data, chosen, tasks, command, more)) for name in ("calm", "killed")
        )
        began = time.monotonic()
        calm.run()
        total = calm.units
        console.say(f"the undisturbed campaign: {total} answers and test runs in {time.monotonic() - began:.0f} s")
        done = [_kill(calm, killed, total * place // (kills + 1), place % 3) for place in range(1, kills + 1)]
        killed.run()
        console.say("the killed campaign has ended; comparing, and running it once more")
        differ, asked = differences(calm.store, killed.store), killed.asked
        killed.run()
        return Outcome(calm.store, killed.store, done, differ, killed.asked - asked)


def _kill(calm: Bed, killed: Bed, at: int, further: int) -> Kill:
    before = killed.units
    seconds, after = killed.kill_at(max(at, before + 1), further)
    console.say(f"killed after {seconds:.0f} s, with {after} answers and test runs")
    return Kill(at, seconds, before, after, tuple(unlike(calm.store, killed.store, _units, partly=True)))


@contextmanager
def _bed(
    folder: Path,
    data: Store,
    chosen: Mapping[Repo, int | None],
    tasks: Sequence[Known],
    command: Command,
    more: Mapping[str, Any],
) -> Iterator[Bed]:
    store = Store(folder / "data")
    copied(data, store, list(chosen))
    file = campaign_file(folder, chosen, more)
    with ExitStack() as stack:
        models = [stack.enter_context(Knowing(tasks, skill)) for skill in SKILLS]
        yield Bed(store, models, file, command)


def copied(data: Store, store: Store, repos: Sequence[Repo]) -> None:
    """What stages 00 to 02 wrote for these repositories; a clone in it is shared."""
    store.begin()
    for folder, repo in product(("00_viewer", "01_raw", "02_dataset"), repos):
        place = data.root / folder
        if (place / repo.slug).is_dir():
            shutil.copytree(place / repo.slug, store.root / folder / repo.slug, ignore=shutil.ignore_patterns("clone"))
        if (place / f"{repo.slug}.jsonl").exists():
            (store.root / folder).mkdir(exist_ok=True)
            shutil.copyfile(place / f"{repo.slug}.jsonl", store.root / folder / f"{repo.slug}.jsonl")
        if (clone := place / repo.slug / "clone").is_dir():
            (store.root / folder / repo.slug / "clone").symlink_to(clone.absolute())


def campaign_file(folder: Path, chosen: Mapping[Repo, int | None], more: Mapping[str, Any]) -> Path:
    """The campaign's file, its list of models, and the settings of its agents."""
    models = [ENTRY.format(name, name.upper(), "chat", *PRICES[name], CHOICES[name]) for name in SKILLS]
    models.append(ENTRY.format("rehearsal-embedding", SKILLS[0].upper(), "embedding", EMBEDDING_PRICE, "0", 1))
    (folder / "models.yaml").write_text("model_list:\n" + "".join(models), encoding="utf-8")
    top = {"models": list(SKILLS), "model_list": "models.yaml", "attempts": ATTEMPTS, **more}
    lines = [f"{name} = {json.dumps(value)}" for name, value in top.items()]
    for repo, limit in chosen.items():
        lines += ["[[datasets]]", f'repo = "{repo}"', *([f"limit = {limit}"] if limit else [])]
    for name, settings in AGENTS.items():
        (folder / f"{name}.toml").write_text(settings, encoding="utf-8")
        lines += ["[[agents]]", f'name = "{name}"', f'settings = "{name}.toml"']
    path = folder / "campaign.toml"
    code_agent = CODE_AGENT if more.get("sandbox", "local") != "local" else ""
    path.write_text("\n".join(lines) + f"\n{code_agent}", encoding="utf-8")
    return path


# -- what must be the same ------------------------------------------------------------------------------------------
Content = dict[str, Any]


def differences(calm: Store, killed: Store) -> list[str]:
    """Names of what differs, or is only in one of them."""
    found = [name for part in (_units, _records, _tables, _money) for name in unlike(calm, killed, part)]
    for one in (calm, killed):
        check(one, spending(one))
    return found


def unlike(calm: Store, killed: Store, part: Callable[[Store], Content], *, partly: bool = False) -> list[str]:
    """The differences of one part; with `partly`, the second one may be incomplete."""
    first, second = part(calm), part(killed)
    names = second if partly else first | second
    return sorted(name for name in names if name not in first or first[name] != second.get(name))


def _units(store: Store) -> Content:
    """The results of finished answers and of test runs, by the digest of all their inputs."""
    found = {}
    for kind in ("03_predictions/answers", "04_evaluation/runs"):
        for path in (store.root / kind).glob("**/manifest.json"):
            found[_place(store, path.parent)] = _still(read_json(path), RESULTS_PASSING)
    return found


def _records(store: Store) -> Content:
    """Predictions and verdicts by their folders, without the names of runs."""
    found = {}
    for name in ("predictions.jsonl", "verdicts.jsonl", "metadata.json"):
        for path in store.root.glob(f"0[34]_*/repair/**/{name}"):
            text = path.read_text(encoding="utf-8")
            found[_place(store, path)] = [_still(json.loads(line)) for line in _documents(path, text)]
    return found


def _documents(path: Path, text: str) -> list[str]:
    return text.splitlines() if path.suffix == ".jsonl" else [text]


def _tables(store: Store) -> Content:
    """Every table of the analysis, without columns that contain seconds or count requests."""
    described = _rows(store.analysis / "columns.csv") if (store.analysis / "columns.csv").exists() else []
    passing = {column["name"] for column in described if column["unit"] in ("s", "seconds")} | {*SENT, *PASSING}
    return {
        _place(store, path): [{key: value for key, value in row.items() if key not in passing} for row in _rows(path)]
        for path in (store.analysis / "tables").glob("*.csv")
    }


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _money(store: Store) -> Content:
    """USD by agent, model and answer."""
    found: Content = {}
    for request in requests(store.ledger):
        name = f"USD of {request.agent} {request.key_model} {request.answer}"
        found[name] = found.get(name, Decimal(0)) + request.cost_usd
    return {name: amount for name, amount in found.items() if amount}


def _place(store: Store, path: Path) -> str:
    """A path, without the name of a run."""
    return "/".join(part for part in path.relative_to(store.root).parts if not re.fullmatch(r"\d{8}T\d+Z", part))


def _still(value: Any, passing: Sequence[str] = PASSING) -> Any:
    """The same without the fields that differ between runs."""
    if isinstance(value, dict):
        return {key: _still(part, passing) for key, part in value.items() if key not in passing}
    return [_still(part, passing) for part in value] if isinstance(value, list) else value


# -- the command ----------------------------------------------------------------------------------------------------
@click.command()
@click.option("--repos", default="", help="Repositories whose instances are asked for [default: the demo].")
@click.option("--data", type=click.Path(path_type=Path, exists=True), help="A data directory that holds them.")
@click.option("--demo", "with_demo", is_flag=True, help="The demo's instances, too.")
@click.option("--limit", type=click.IntRange(1), help="The most instances of each repository.")
@click.option("--kills", type=click.IntRange(0), default=10, show_default=True)
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True)
@click.option("--sandbox", default="", help="Where tests run [default: docker, and local for the demo].")
@click.option("--work", type=click.Path(path_type=Path), help="Where both copies are kept [default: nowhere].")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(
    repos: str,
    data: Path | None,
    with_demo: bool,
    limit: int | None,
    kills: int,
    jobs: int,
    sandbox: str,
    work: Path | None,
    path: Path | None,
) -> None:
    """Run an undisturbed campaign and one that is killed, and compare the results."""
    if bool(repos) != bool(data):
        raise click.UsageError("--repos and --data belong together; without both, the demo is built and asked for")
    if work and any((work / name).exists() for name in ("all", "calm", "killed")):
        raise click.UsageError(f"{work} holds an earlier rehearsal: remove it, or name another folder")
    with TemporaryDirectory() as made:
        folder = work or Path(made)
        store, place = Store(folder / "all"), sandbox or ("docker" if data else "local")
        chosen = {parse_repo(name): limit for name in filter(None, repos.split(","))}
        if data:
            copied(Store(data), store, list(chosen))
        if with_demo or not data:
            build_demo(store, folder, place)
            chosen[_demo_repo()] = limit
        outcome = rehearse(folder, store, chosen, kills, console_program, jobs=jobs, sandbox=place)
        header = ("killed at", "seconds", "units before", "units after", "differed")
        console.table("a campaign that was killed and resumed", header, [kill.row for kill in outcome.kills])
        for name in outcome.differs:
            click.echo(f"differs: {name}", err=True)
        report("rehearsal", figures(outcome), path)


def _demo_repo() -> Repo:
    from pipeline.demo.stage import REPO

    return REPO


def build_demo(store: Store, folder: Path, sandbox: str) -> None:
    """Collect and build the embedded benchmark, with its history in a folder."""
    from pipeline.build.qualify import Settings
    from pipeline.build.stage import build
    from pipeline.collect.stage import collect
    from pipeline.core.cache import cache_root
    from pipeline.core.trust import DEMO
    from pipeline.demo.history import build_history
    from pipeline.sandbox import open_sandbox

    repo, history = _demo_repo(), folder / "harbor-ui.git"
    build_history(DEMO, history)
    collect(store, repo, history, DEMO / "issues.jsonl")
    build(store, repo, Settings(open_sandbox(sandbox, cache_root()), repeats=1))


def figures(outcome: Outcome) -> list[Figure]:
    """The results, with the goals that nothing differs and nothing is asked twice."""
    early = sum(len(kill.differs) for kill in outcome.kills)
    records = _records(outcome.killed)
    predictions = [row for name, all_ in records.items() if name.endswith("predictions.jsonl") for row in all_]
    verdicts = [row for name, all_ in records.items() if name.endswith("verdicts.jsonl") for row in all_]
    knowing = [verdict for verdict in verdicts if verdict["model"] == SKILLS[0]]
    return [
        Figure("answers", len(predictions), "answers"),
        Figure(
            "answers with a patch",
            sum(prediction["outcome"] == "SUCCESSFUL_PATCH" for prediction in predictions),
            "answers",
        ),
        Figure(
            "resolved by the model that knows", sum(verdict["outcome"] == "resolved" for verdict in knowing), "answers"
        ),
        Figure("spent", float(sum(_money(outcome.killed).values())), "USD"),
        Figure("interruptions", len(outcome.kills), "kills"),
        Figure("differed at an interruption", early, "units", ("at most", 0)),
        Figure("requests of one more run", outcome.again, "requests", ("at most", 0)),
        Figure("differ at the end", len(outcome.differs), "units, records, tables, sums", ("at most", 0)),
    ]


if __name__ == "__main__":
    main()
