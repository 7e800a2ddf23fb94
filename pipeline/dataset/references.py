"""Whether the references hold for instances that are to be published: oracle resolves each, nop none.

Reads the verdicts of oracle and nop in `04_evaluation/` and the inputs of gold's stored runs; runs and writes nothing.
A verdict counts if it is on the reference's patch, on the instance as it is now, and by the current law.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from pipeline.core.console import counted, say
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Instance, Verdict
from pipeline.core.store import Store, digest, each_record
from pipeline.evaluate import kept
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.grade import law_for
from pipeline.predict.references import REQUIRED


def require(store: Store, repo: Repo, instances: Sequence[Instance], *, unchecked: bool = False) -> None:
    """Raise UserError unless both references hold for these instances of a repository. If `unchecked`, only warn."""
    found = doubts(store, repo, instances)
    if not found:
        return
    doubted = set().union(*found.values())
    reasons = "; ".join(f"{reason}: {_shortened(names)}" for reason, names in found.items())
    share = f"{len(doubted)} of {counted(len(instances), 'instance')}"
    message = f"{repo}: {share} without current proof that oracle resolves them and nop does not: {reasons}"
    if not unchecked:
        raise UserError(message, hint=_hint(repo, any(instance.stale for instance in instances)))
    say(f"warning: {message}")


def doubts(store: Store, repo: Repo, instances: Sequence[Instance]) -> dict[str, list[str]]:
    """Why the references do not hold: reason -> names of instances."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for instance in instances:
        if instance.stale:
            found[f"it must be built again, since {instance.stale}"].append(instance.instance_id)
    for reference in REQUIRED:
        for name, reason in _of_reference(store, repo, instances, reference):
            found[f"{reference}: {reason}"].append(name)
    return dict(found)


def _of_reference(store: Store, repo: Repo, instances: Sequence[Instance], reference: str) -> Iterator[tuple[str, str]]:
    """Instance and reason for each that a reference does not vouch for."""
    folder = Subject(repo, reference, reference).folder(store)
    verdicts = {verdict.instance_id: verdict for verdict in each_record(folder / "verdicts.jsonl", Verdict)}
    runs = kept.names(folder / "runs.json") if (folder / "runs.json").exists() else {}
    for instance in instances:
        name, verdict = instance.instance_id, verdicts.get(instance.instance_id)
        patch = instance.fix_patch if reference == "oracle" else ""
        if verdict is None:
            yield name, "no verdict"
        elif not (_is_current(verdict, instance, patch) and _is_stored(store, instance, patch, runs.get(name, "none"))):
            yield name, "an outdated verdict"
        elif verdict.outcome is not REQUIRED[reference]:
            yield name, f"the outcome {verdict.outcome}"


def _is_current(verdict: Verdict, instance: Instance, patch: str) -> bool:
    """Whether a verdict is on this patch and instance, and by the current law."""
    current = digest(patch), instance.image, len(instance.expected), law_for(instance)
    tests = set(verdict.fixed) | verdict.unfixed.keys()
    is_on_its_tests = not tests or tests == instance.fixed_tests.keys()
    return is_on_its_tests and (verdict.patch_digest, verdict.image, verdict.expected, verdict.law) == current


def _is_stored(store: Store, instance: Instance, patch: str, name: str) -> bool:
    """Whether the stored run of a patch, if it needs one, has the inputs that a run would have now."""
    unit = kept.unit_of(store.root, instance.repository, name)
    return not patch or kept.run_digests(instance, patch).items() <= unit.inputs().items()


def _shortened(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _hint(repo: Repo, is_stale: bool) -> str:
    build = f"just build-run {repo}, then " if is_stale else ""
    runs = f"just agt-run {repo} oracle and just eval-run {repo} oracle, and the same with nop"
    return f"run: {build}{runs} (just dataset-check {repo} does both); or add --unchecked"
