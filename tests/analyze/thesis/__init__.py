"""The thesis's printed numbers, as a data directory that the pipeline's own code can read.

    funnel.csv    table 4.1                  patches.csv   the table under figure 5.6
    costs.csv     table 4.2                  results.toml  what the text says

What is not printed is made up, and nothing printed depends on it: which instances have an empty patch, the numbers of
pull requests (except elastic/eui 8849, the resolved one), and the patches themselves. The numbers of patches that touch
exactly, partly and none of gold's files follow from the shares in figure 5.4.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from factories import make_instance, make_prediction, make_verdict

from pipeline.core.names import Repo, parse_repo
from pipeline.core.records import REPAIR, CostRow, Instance, Outcome, Prediction
from pipeline.core.store import Store, write_bytes, write_json, write_records

FOLDER = Path(__file__).parent
RESULTS = tomllib.loads((FOLDER / "results.toml").read_text(encoding="utf-8"))
INSTANCES = {Repo("grommet", "grommet"): 24, Repo("elastic", "eui"): 14, Repo("carbon-design-system", "carbon"): 13}
RESOLVED = 8849
RUN = "20251203T000000Z"
GLM, QWEN, DEEPSEEK = "GLM-4.6", "Qwen3-Coder-480B-A35B-Instruct-Turbo", "DeepSeek-V3.1-Terminus"
#: how many patches change exactly, partly and none of gold's files: of 33, 22 and 19 that are not empty
LOCALISED = {DEEPSEEK: (5, 17, 11), QWEN: (1, 9, 12), GLM: (1, 7, 11)}
#: the files of a patch of each kind; gold changes files one and two
GOLD, KINDS = ("one.tsx", "two.tsx"), (("one.tsx", "two.tsx"), ("one.tsx",), ("other.tsx",))


def printed(name: str) -> list[dict[str, str]]:
    """The rows of one of the tables."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def make_thesis(store: Store) -> Store:
    """Write everything that is printed, as the stages would have left it."""
    datasets = {repo: _instances(repo, number) for repo, number in INSTANCES.items()}
    for repo, instances in datasets.items():
        write_records(store.dataset(repo), instances)
    for row in printed("funnel"):
        counts = {name: int(row[name]) for name in ("total", "tests", "a11y", "issues", "sample")}
        path = store.raw(parse_repo(row["repo"])) / "funnel.json"
        write_json(path, {"repo": row["repo"], "without_issue": 0, **counts})
    kinds = {model: _kinds(*counts) for model, counts in LOCALISED.items()}
    for row in printed("patches"):
        _model(store, row, datasets[parse_repo(row["repo"])], kinds[row["model"]])
    _costs(store)
    return store


def _instances(repo: Repo, number: int) -> list[Instance]:
    numbers = [*range(1, number), RESOLVED if repo.repo == "eui" else number]
    return [make_instance(pull, repo, fix_patch=_patch(GOLD)) for pull in numbers]


def _patch(files: tuple[str, ...]) -> str:
    return "".join(f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-a\n+b\n" for file in files)


def _kinds(*counts: int) -> Iterator[str]:
    for files, count in zip(KINDS, counts, strict=True):
        yield from [_patch(files)] * count


def _model(store: Store, row: dict[str, str], instances: list[Instance], patches: Iterator[str]) -> None:
    """One row of the table under figure 5.6: its number of answers; the empty ones come first."""
    repo, model = parse_repo(row["repo"]), row["model"]
    answered, changing = instances[-int(row["instances"]) :], int(row["non_empty_patches"])
    texts = [""] * (len(answered) - changing) + [next(patches) for _ in range(changing)]
    predictions = [_prediction(*pair, repo, model) for pair in zip(answered, texts, strict=True)]
    write_records(store.predictions(repo, "magentless", model) / RUN / "predictions.jsonl", predictions)
    verdicts = [make_verdict(prediction, _outcome(prediction, model), fixed=()) for prediction in predictions]
    write_records(store.evaluation(repo, "magentless", model) / "verdicts.jsonl", verdicts)


def _prediction(instance: Instance, patch: str, repo: Repo, model: str) -> Prediction:
    return make_prediction(instance.number, repo, model_name_or_path=model, model_patch=patch, run=RUN)


def _outcome(prediction: Prediction, model: str) -> Outcome:
    """The thesis does not print which model resolved the one instance; DeepSeek has the most patches."""
    if not prediction.model_patch:
        return Outcome.EMPTY
    solved = prediction.instance_id.endswith(f"-{RESOLVED}") and model == DEEPSEEK
    return Outcome.RESOLVED if solved else Outcome.UNRESOLVED


def _costs(store: Store) -> None:
    """Table 4.2 has no column for the agent: all experiments used MagentLess."""
    rows: list[dict[str, Any]] = [{**row, "agent": "magentless", "track": REPAIR} for row in printed("costs")]
    lines = [",".join(CostRow.model_fields), *(",".join(row[name] for name in CostRow.model_fields) for row in rows)]
    write_bytes(store.costs, "\n".join([*lines, ""]).encode())
