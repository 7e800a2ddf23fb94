"""Choosing the first of an agent's proposals that break the fewest tests of the base (Agentless's regression step,
arXiv 2407.01489, section 3.3).

Reads the proposals of finished answers in `proposals/N.diff`, the best first; writes `chosen/` next to them. The tests
are the base's own tests of the files that any proposal changes: changes of protected files, the gold patch, the test
patch, and caches that their runs filled have no influence. Does not cover whether a proposal is a fix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from pipeline.core.git import Clone, list_files, opened_clone
from pipeline.core.patches import paths, select
from pipeline.core.progress import Progress
from pipeline.core.records import Environment, Instance, Status
from pipeline.core.retry import PATIENT, Patience, patiently
from pipeline.core.store import Unit, digest
from pipeline.core.work import DEFAULT, Event, Interrupts, Tell, each
from pipeline.ecosystems.protection import protection
from pipeline.execution import images, runs
from pipeline.execution.applying import PatchFailed
from pipeline.execution.runs import Plan
from pipeline.execution.scope import related
from pipeline.predict.request import failed
from pipeline.predict.run import Run
from pipeline.sandbox.base import Sandbox
from pipeline.sandbox.handle import Handle, handle
from pipeline.sandbox.watch import Watch

#: the most proposals of an answer that are considered, and the most bytes of one; each takes a run of the tests
MOST, LONGEST = 100, 4 * 2**20
_NUMBER = re.compile(r"[0-9]{1,9}")


class Choice(NamedTuple):
    """The number of the chosen proposal, from 0, and how many tests each proposal broke, as far as they were run."""

    number: int
    broken: tuple[int, ...] = ()


@dataclass(frozen=True)
class Choose:
    """The request: the proposals for one instance, the best first, and where the tests of its base run."""

    name: str
    proposals: tuple[bytes, ...]
    base: str
    environment: Environment
    manifests: str
    clone: str
    sandbox: Handle
    patience: Patience = PATIENT
    attempt: int = 1
    protected: tuple[str, ...] = ()

    @property
    def affinity(self) -> str:
        return ""

    def perform(self, tell: Tell) -> Choice | str:
        """The choice, or why there is none."""

        def say(text: str) -> None:
            tell(Event(self.name, text))

        texts = [content.decode() for content in self.proposals]
        return patiently(lambda: self._choice(texts, say), say, self.patience)

    def failed(self, error: Exception) -> Choice | str:
        return ": ".join(failed(error))

    def _choice(self, proposals: Sequence[str], say: Callable[[str], None]) -> Choice:
        """The first proposal that breaks nothing, else the first of those that break the fewest tests."""
        clone = opened_clone(self.clone)
        changed = {path for patch in proposals for path in paths(patch)}
        files = sorted(related(list_files(clone, self.base), changed))
        if len(proposals) < 2 or not files:
            return Choice(0)
        sandbox = self.sandbox.sandbox()
        recipe = images.recipe(clone, self.environment, self.base, self.manifests)
        images.ensure(sandbox, clone, recipe, say)
        plan = Plan(sandbox, recipe.image, recipe.environment, files, protected=self.protected)
        say("running the tests of the base")
        passing, broken = _passing(plan), []
        for number, patch in enumerate(proposals, 1):
            say(f"running them on proposal {number} of {len(proposals)}")
            broken.append(len(passing - _passing(plan, patch)))
            if not broken[-1]:
                break
        return Choice(broken.index(min(broken)), tuple(broken))


def request(
    sandbox: Sandbox, clone: Clone, run: Run, instance: Instance, patience: Patience = PATIENT, attempt: int = 1
) -> Choose:
    """The request for an answered instance."""
    return Choose(
        instance.instance_id,
        tuple(_proposals(run, instance, attempt)),
        environment=instance.environment,
        manifests=instance.manifests,
        base=instance.base.sha,
        protected=instance.protected,
        clone=str(clone.place),
        sandbox=handle(sandbox),
        patience=patience,
        attempt=attempt,
    )


def choose(
    run: Run,
    requests: Sequence[Choose],
    progress: Progress,
    jobs: int,
    interrupts: Interrupts = DEFAULT,
    engine: str = "threads",
) -> None:
    """Write the choices. Failures are shown, and the next run tries again."""
    instances = {instance.instance_id: instance for instance in run.instances}
    watch = Watch(requests[0].sandbox.sandbox() if requests else None)
    how: dict[str, Any] = {"jobs": jobs, "engine": engine, "admit": watch.admit, "interrupts": interrupts}
    for proposed, choice in each(requests, hear=progress.hear, **how):
        if isinstance(choice, str):
            watch.heed(choice)
            progress.finish(proposed.name, f"nothing chosen: {choice}")
            continue
        result = {"patch": proposed.proposals[choice.number].decode(), **choice._asdict()}
        instance = instances[proposed.name]
        chosen(run, instance, proposed.attempt).finish(result, **_inputs(run, instance, proposed.attempt))
        progress.finish(proposed.name, f"proposal {choice.number + 1} of {len(proposed.proposals)}")


def chosen(run: Run, instance: Instance, attempt: int = 1) -> Unit:
    """The unit of the choice for an instance."""
    return Unit(run.unit(instance, attempt).folder / "chosen")


def missing(run: Run, attempt: int = 1) -> list[Instance]:
    """The answered instances without a choice, or with new proposals since."""
    return [instance for instance in run.instances if is_missing(run, instance, attempt)]


def is_missing(run: Run, instance: Instance, attempt: int = 1) -> bool:
    """Whether an instance is answered, and has no choice, or new proposals since."""
    if not run.is_answered(instance, attempt):
        return False
    return not chosen(run, instance, attempt).is_done(**_inputs(run, instance, attempt))


def _inputs(run: Run, instance: Instance, attempt: int) -> dict[str, str]:
    proposals = digest(*_proposals(run, instance, attempt))
    return {"answer": run.answer(instance, attempt), "proposals": proposals}


def _proposals(run: Run, instance: Instance, attempt: int = 1) -> list[bytes]:
    """The proposals, the best first; if there are none, the answer alone. Other files, the proposals after the first
    MOST, and those that are too long are ignored."""
    unit = run.unit(instance, attempt)
    diffs = [path for path in (unit.folder / "proposals").glob("*.diff") if _NUMBER.fullmatch(path.stem)]
    first = sorted((path for path in diffs if path.is_file()), key=lambda path: int(path.stem))[:MOST]
    short = (path.read_bytes() for path in first if path.stat().st_size <= LONGEST)
    return [*filter(_is_text, short)] or [unit.result()["patch"].encode()]


def _is_text(content: bytes) -> bool:
    with suppress(UnicodeDecodeError):
        content.decode()
        return True
    return False


def _passing(plan: Plan, patch: str = "") -> frozenset[str]:
    """The tests that pass with a patch; none if it does not apply."""
    is_protected = protection(plan.protected)
    sources = select(patch, lambda path: not is_protected(path))
    try:
        run = runs.run_gold(plan, [("proposal", sources)], cache="none")
    except PatchFailed:
        return frozenset()
    return frozenset(name for name, status in run.results.items() if status is Status.PASSED)
