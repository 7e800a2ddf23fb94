"""Among an agent's candidates, the first of those that break the fewest tests of the base (Agentless's regression step,
arXiv 2407.01489, section 3.3).

Reads what agents leave in `candidates/N.diff`, the best first, of answers that are finished; writes `chosen/` in the
run's folder. The tests are those that belong to the files that any candidate changes, as the base has them: no change
of a protected file, no gold patch or test patch has a part in it, nor a cache that their runs filled. Does not cover
what passes a candidate for a fix.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import git

from pipeline.core.git import list_files
from pipeline.core.patches import paths, select
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Status
from pipeline.core.retry import PATIENT, Patience, patiently
from pipeline.core.store import Unit, digest
from pipeline.ecosystems.protection import is_protected
from pipeline.execution import images, runs
from pipeline.execution.applying import PatchFailed
from pipeline.execution.runs import Plan
from pipeline.execution.scope import related
from pipeline.predict.run import Run
from pipeline.sandbox.base import Sandbox

log = logging.getLogger(__name__)


class Choice(NamedTuple):
    """The number of the candidate that was taken, and how many tests each one broke that was run; from 0."""

    number: int
    broken: tuple[int, ...] = ()


@dataclass(frozen=True)
class Regression:
    """Where the tests of one run's candidates are run."""

    sandbox: Sandbox
    clone: git.Repo
    run: Run
    patience: Patience = PATIENT

    def work(self, instance: Instance, progress: Progress) -> None:
        """Choose for one instance. The instance border: what breaks is told, and the next run of it tries again."""
        name = instance.instance_id
        say = partial(progress.step, name)
        try:
            candidates = [content.decode() for content in _candidates(self.run, instance)]
            choice = patiently(lambda: self._choose(instance, candidates, say), say, self.patience)
        except Exception as error:
            log.exception("%s", name)
            progress.finish(name, f"nothing chosen: {error}")
            return
        result = {"patch": candidates[choice.number], **choice._asdict()}
        chosen(self.run, instance).finish(result, **_inputs(self.run, instance))
        progress.finish(name, f"candidate {choice.number + 1} of {len(candidates)}")

    def _choose(self, instance: Instance, candidates: Sequence[str], say: Callable[[str], None]) -> Choice:
        """The first candidate that breaks nothing, else the first of those that break least."""
        changed = {path for patch in candidates for path in paths(patch)}
        files = sorted(related(list_files(self.clone, instance.base.sha), changed))
        if len(candidates) < 2 or not files:
            return Choice(0)
        made = images.recipe(self.clone, instance.environment, instance.base.sha, instance.manifests)
        images.ensure(self.sandbox, self.clone, made, say)
        plan = Plan(self.sandbox, made.image, made.environment, files)
        say("running the tests of the base")
        before, broken = _passing(plan), []
        for number, patch in enumerate(candidates, 1):
            say(f"running them on candidate {number} of {len(candidates)}")
            broken.append(len(before - _passing(plan, patch)))
            if not broken[-1]:
                break
        return Choice(broken.index(min(broken)), tuple(broken))


def chosen(run: Run, instance: Instance) -> Unit:
    """The unit of what was chosen for an instance."""
    return Unit(run.folder / "chosen" / instance.instance_id)


def missing(run: Run) -> list[Instance]:
    """The answered instances of which nothing is chosen yet, or other candidates are there since."""
    owed = {one.instance_id for one in run.missing()}
    answered = (one for one in run.instances if one.instance_id not in owed)
    return [one for one in answered if not chosen(run, one).is_done(**_inputs(run, one))]


def _inputs(run: Run, instance: Instance) -> dict[str, str]:
    return {"run": run.digest, "candidates": digest(*_candidates(run, instance))}


def _candidates(run: Run, instance: Instance) -> list[bytes]:
    """The candidates, the best first; an agent that leaves none has its answer alone. Files of other names are none."""
    unit = run.unit(instance)
    found = [path for path in (unit.folder / "candidates").glob("*.diff") if path.stem.isdecimal()]
    ordered = sorted(found, key=lambda path: int(path.stem))
    return [path.read_bytes() for path in ordered] or [unit.result()["patch"].encode()]


def _passing(plan: Plan, patch: str = "") -> frozenset[str]:
    """The tests that pass with a patch; none for one that does not apply."""
    sources = select(patch, lambda path: not is_protected(path))
    try:
        run = runs.run_gold(plan, [("candidate", sources)], cache="none")
    except PatchFailed:
        return frozenset()
    return frozenset(name for name, status in run.results.items() if status is Status.PASSED)
