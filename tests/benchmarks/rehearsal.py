"""Rehearsal of stage 03: a model that knows the gold patches takes magentless through all of its steps, on real tasks.

`just bench rehearsal REPO --data DIR [--json FILE]`. What it does not solve is no model's fault: a file that the agent
does not show, an edit that it cannot make. Writes DIR/03_predictions/repair/magentless/REPO/rehearsal, the ledger and
costs.csv, so DIR should be a copy of a data directory; `just eval-run REPO rehearsal --data DIR` judges the patches.
Embeddings are by words (provider.py), prices are made up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from os.path import commonprefix
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click
import git

from benchmarks.goals import Figure, report
from pipeline.core.dataset import read_dataset
from pipeline.core.git import changed_files, show
from pipeline.core.options import data_option, jobs_option, repo_argument
from pipeline.core.patches import sections
from pipeline.core.records import Instance, Prediction
from pipeline.execution.images import source
from pipeline.llm.provider import Refusal, Said
from pipeline.llm.scripted import ScriptedModel
from pipeline.llm.spending import check, spending
from pipeline.predict.stage import Predictor

STEP = re.compile(r"^Step: (\w+)")
SETTINGS = '[retrieval]\nmodel = "rehearsal-embedding"\n'
MODELS = """\
model_list:
  - model_name: rehearsal
    litellm_params: &upstream {model: openai/rehearsal, api_base: os.environ/REHEARSAL_URL, api_key: none}
    model_info: {mode: chat, input_cost_per_token: "0.0000003", output_cost_per_token: "0.000001"}
  - model_name: rehearsal-embedding
    litellm_params: *upstream
    model_info: {mode: embedding, input_cost_per_token: "0.00000002", output_cost_per_token: "0"}
"""


class Change(NamedTuple):
    """One file before and after; None where there is none."""

    path: str
    before: str | None
    after: str | None

    @property
    def span(self) -> tuple[int, int]:
        """The changed lines of the file before, from 0, the end excluded: as many as it takes to be there once."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        start, end = _common(old, new), len(old)
        end -= min(_common(old[::-1], new[::-1]), end - start, len(new) - start)
        while not _once(old, start, end) and end - start < len(old):
            start, end = max(start - 1, 0), min(end + 1, len(old))
        return start, end

    @property
    def edit(self) -> str:
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        start, end = self.span
        put = new[start : len(new) - (len(old) - end)]
        return "\n".join(
            [f"### {self.path}", "<<<<<<< SEARCH", *old[start:end], "=======", *put, ">>>>>>> REPLACE", ""]
        )


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same from the first on."""
    return len(commonprefix([one, other]))


def _once(lines: list[str], start: int, end: int) -> bool:
    wanted, most = lines[start:end], len(lines) - (end - start)
    alike = sum(lines[place : place + len(wanted)] == wanted for place in range(most + 1))
    return not lines or (any(map(str.strip, wanted)) and alike == 1)


def gold(clone: git.Repo, instance: Instance) -> list[Change]:
    """What the gold patch changes, file by file."""
    tests = {path for path, _ in sections(instance.test_patch)}
    paths = [path for path in changed_files(clone, instance.base.sha, instance.merge_sha) if path not in tests]
    return [Change(path, show(clone, instance.base.sha, path), show(clone, instance.merge_sha, path)) for path in paths]


def answer(step: str, changes: Sequence[Change]) -> str:
    """What magentless asks for in a step."""
    there = [change for change in changes if change.before is not None]
    if step == "repair":
        return "\n".join(change.edit for change in changes)
    if step == "lines":
        return "\n".join(f"{one.path}\nline: {one.span[0] + 1}-{one.span[1]}" for one in there)
    return "\n".join(change.path for change in there) if step != "folders" else ""


class Rehearsal(ScriptedModel):
    """Knows the instance of a prompt by its issues, which are in every one."""

    def __init__(self, clone: git.Repo, instances: Sequence[Instance]) -> None:
        super().__init__([])
        self.known = [(_markers(one), gold(clone, one)) for one in instances]

    def reply(self, prompt: str) -> Said:
        step = STEP.match(prompt)
        found = [changes for markers, changes in self.known if all(marker in prompt for marker in markers)]
        if not step or len(found) != 1:
            raise Refusal(400, f"{len(found)} instances for a prompt that begins: {prompt[:200]}")
        return Said(f"```\n{answer(step[1], found[0])}\n```")


def _markers(instance: Instance) -> list[str]:
    return [f"Issue: {one.title}\n" for one in instance.task().statement]


@click.command()
@repo_argument
@jobs_option
@data_option
@click.option("--json", "path", type=click.Path(path_type=Path), help="Where to write the figures.")
def main(repo: Any, jobs: int, store: Any, path: Path | None) -> None:
    """Let magentless answer every instance of REPO with the model that knows."""
    instances = read_dataset(store, repo)
    with TemporaryDirectory() as made, Rehearsal(source(store, repo), instances) as model:
        models, settings = Path(made, "models.yaml"), Path(made, "settings.toml")
        models.write_text(MODELS)
        settings.write_text(SETTINGS)
        given = {**os.environ, "REHEARSAL_URL": model.url}
        asked = {"models": models, "settings": settings, "jobs": jobs, "given": given}
        predictions = Predictor(store, repo, "magentless", "rehearsal", **asked).predict()
    check(store, spending(store))
    report("rehearsal", _figures(instances, predictions), path)


def _figures(instances: Sequence[Instance], predictions: Sequence[Prediction]) -> list[Figure]:
    patched = sum(one.outcome == "SUCCESSFUL_PATCH" for one in predictions)
    whole = len(instances)
    return [
        Figure("instances with an answer", len(predictions), f"of {whole}", ("at least", whole)),
        Figure("instances with a patch", patched, f"of {whole}", ("at least", whole)),
    ]


if __name__ == "__main__":
    main()
