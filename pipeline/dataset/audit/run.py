"""The verdicts on variants of gold, by stage 04 unchanged, and the audit's records of them.

Reads `02_dataset/` and the clones. Test runs and evidence are stored in `04_evaluation/`, as for any patch, so an
interrupted audit resumes. Writes `02_dataset/<repo>/audit.jsonl`; instances that this audit does not cover stay in it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from pipeline.core.audit import Kind, Variant, VerdictAudit
from pipeline.core.console import log_file, say
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError
from pipeline.core.git import Clone
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Outcome, Prediction, Verdict
from pipeline.core.store import Store, read_records
from pipeline.core.work import Interrupts
from pipeline.dataset.applied import DoesNotApply
from pipeline.dataset.audit.variants import Drawn, DrawnVariant, draw
from pipeline.evaluate.answers import Answers
from pipeline.evaluate.assess.evidence import audits_of, snapshots_of
from pipeline.evaluate.assess.request import Assessed, Examine, Find
from pipeline.evaluate.assess.stage import examined
from pipeline.evaluate.grade import of_tested, sign
from pipeline.evaluate.runs import How, PatchRuns, patch_runs
from pipeline.evaluate.stage import check, graded
from pipeline.execution import images
from pipeline.execution.law import of_run
from pipeline.sandbox.images import Directory

#: the agent's name in verdicts on variants; there are no predictions by it
AGENT = "audit"
#: outcome by the tests -> what the checker looks at
_PARTS: dict[Outcome, Mapping[str, Find]] = {
    Outcome.RESOLVED: {"axe": audits_of},
    Outcome.UNRESOLVED: {"snapshot": snapshots_of},
}


#: kinds of variants that the checker judges
_CHECKED: tuple[Kind, ...] = ("same", "harmful")


class AuditOptions(NamedTuple):
    """What is drawn: variants of each kind, by a seed; at most `limit` of these are run (0: all). `numbers` are pull
    requests, none for all. `checker` asks the accessibility checker, too."""

    variants: int = 20
    seed: int = 0
    limit: int = 0
    numbers: tuple[int, ...] = ()
    checker: bool = True


class Turns(NamedTuple):
    """The variants of a repository that are run, in order, and those that were drawn, by name and kind: one patch
    may be a variant of two kinds."""

    order: list[Turn]
    drawn: frozenset[tuple[str, Kind]]


class Work(NamedTuple):
    """How the audit is run: the arguments of `each`."""

    jobs: int = 2
    engine: str = "threads"
    trust_local: bool = False


class Turn(NamedTuple):
    """A variant of an instance under a name of its own, so that one batch can hold many variants of an instance."""

    instance: Instance
    variant: DrawnVariant

    @property
    def name(self) -> str:
        return f"{self.instance.instance_id}~{self.variant.digest[:12]}"

    @property
    def renamed(self) -> Instance:
        """The instance under this name, which does not affect the verdict."""
        return self.instance.model_copy(update={"instance_id": self.name})

    @property
    def prediction(self) -> Prediction:
        """The variant as a prediction. It is trusted, since it is gold, changed by one of our rules."""
        return Prediction(instance_id=self.name, model_name_or_path=AGENT, model_patch=self.variant.patch, trusted=True)


def audit(
    store: Store, repos: Sequence[Repo], how: How, options: AuditOptions, work: Work
) -> dict[Repo, list[VerdictAudit]]:
    """Audit these datasets and write the records. Raises UserError for a missing dataset."""
    drawn = {repo: _draw(store, repo, options) for repo in repos}
    if options.numbers and not any(drawn.values()):
        hint = "`a11y-bench dataset stats` shows what is built"
        raise UserError(f"no instance has number {', '.join(map(str, options.numbers))}", field="pr", hint=hint)
    turns = _in_turn(drawn, options)
    return {repo: _audited(store, repo, drawn[repo], turns[repo], how, options, work) for repo in repos}


def _draw(store: Store, repo: Repo, options: AuditOptions) -> dict[str, tuple[Instance, Drawn]]:
    """The variants of each chosen instance."""
    clone, by_name = images.source(store, repo), {}
    instances = [
        instance for instance in read_dataset(store, repo) if not options.numbers or instance.number in options.numbers
    ]
    with Progress("drawing variants", len(instances)) as progress:
        for instance in instances:
            try:
                drawn = draw(instance, clone, options.variants, options.seed)
            except (DoesNotApply, UnicodeDecodeError) as error:
                progress.finish(instance.instance_id, f"no variants: {error}", "none")
                continue
            by_name[instance.instance_id] = (instance, drawn)
            progress.finish(instance.instance_id, f"{len(drawn.variants) - 1} variants")
    return by_name


def _in_turn(drawn: Mapping[Repo, Mapping[str, tuple[Instance, Drawn]]], options: AuditOptions) -> dict[Repo, Turns]:
    """What is run, by repository. The seed decides the order, which alternates between kinds, so a larger number
    adds to a smaller one, and an interrupted audit is a sample, too. Gold comes before the first variant of its
    instance."""
    pools: dict[Kind, list[Turn]] = {"same": [], "harmful": [], "hunk": []}
    gold: dict[str, Turn] = {}
    for instance, draws in chain.from_iterable(by_name.values() for by_name in drawn.values()):
        gold[instance.instance_id] = Turn(instance, draws.variants[0])
        for variant in draws.variants[1:]:
            pools[variant.kind].append(Turn(instance, variant))
    for kind, pool in pools.items():
        random.Random(f"{options.seed} {kind}").shuffle(pool)
    turns = [turn for turn in chain.from_iterable(zip_longest(*pools.values())) if turn]
    by_repo: dict[Repo, list[Turn]] = {repo: [] for repo in drawn}
    for turn in turns[: options.limit or None]:
        by_repo[turn.instance.repository] += (gold[turn.instance.instance_id], turn)
    return {
        repo: Turns(
            list({turn.name: turn for turn in reversed(order)}.values())[::-1],
            frozenset((turn.name, turn.variant.kind) for turn in order),
        )
        for repo, order in by_repo.items()
    }


def _audited(
    store: Store,
    repo: Repo,
    drawn: Mapping[str, tuple[Instance, Drawn]],
    turns: Turns,
    how: How,
    options: AuditOptions,
    work: Work,
) -> list[VerdictAudit]:
    """The audits of one repository. Equal patches are run once. An interrupted audit is written, too."""
    clone, path = images.source(store, repo), store.audit(repo)

    def write(verdicts: Mapping[str, Verdict], checked: Mapping[str, tuple[bool, str]]) -> list[VerdictAudit]:
        audits = [_audit(*drawn[name], turns, verdicts, checked, options) for name in sorted(drawn)]
        uncovered = [record for record in read_records(path, VerdictAudit) if record.instance_id not in drawn]
        records: list[VerdictAudit] = sorted([*uncovered, *audits], key=lambda record: record.instance_id)
        store.replace_records(path, records)
        return audits

    with store.lock("audit", repo), log_file(path.with_suffix(".log")):
        runs = patch_runs(store, repo, how, clone)
        try:
            verdicts = _verdicts(store, runs, turns.order, how, work, clone)
        except KeyboardInterrupt:
            write(_so_far(runs, turns.order), {})
            raise
        write(verdicts, {})
        return write(verdicts, _checked(runs, turns, verdicts, how, work) if options.checker else {})


def _so_far(runs: PatchRuns, order: Sequence[Turn]) -> dict[str, Verdict]:
    """The verdicts on variants whose test runs are stored."""
    stored = [(turn, runs.kept(turn.instance, turn.variant.patch)) for turn in order]
    return {
        turn.name: sign(turn.renamed, AGENT, AGENT, "", turn.prediction, of_tested(turn.instance, tested))
        for turn, tested in stored
        if tested
    }


def _verdicts(
    store: Store, runs: PatchRuns, order: Sequence[Turn], how: How, work: Work, clone: Clone
) -> dict[str, Verdict]:
    """The verdict on each variant, by its name."""
    instances = [turn.renamed for turn in order]
    answers = Answers("", store.audit(runs.repo), {turn.name: turn.prediction for turn in order}, {})
    check(instances, answers, clone, how.sandbox, work.trust_local)
    with Progress("auditing verdicts", len(order)) as progress:
        how.sandbox.images.serve(Directory.here(store.root))
        names = {instance.instance_id for instance in instances}
        grades = graded(runs, instances, answers, progress, names, **_batch_options(progress, how, work))
    return {
        instance.instance_id: sign(instance, AGENT, AGENT, "", answers.of(instance), grades[instance.instance_id])
        for instance in instances
    }


def _batch_options(progress: Progress, how: How, work: Work) -> dict[str, Any]:
    interrupts = Interrupts(progress.stopping, how.sandbox.abort)
    return {"jobs": work.jobs, "engine": work.engine, "interrupts": interrupts}


def _checked(
    runs: PatchRuns, turns: Turns, verdicts: Mapping[str, Verdict], how: How, work: Work
) -> dict[str, tuple[bool, str]]:
    """What the checker says, by name, and why it says nothing. A patch is resolved if all failures are snapshots
    with the same accessibility, and if axe-core finds no more violations than with gold. Asked only if that can
    change the tests' verdict."""
    requests = [
        Examine(
            Assessed(turn.renamed, verdicts[turn.name], turn.variant.patch),
            runs,
            _PARTS[verdicts[turn.name].outcome],
        )
        for turn in turns.order
        if verdicts[turn.name].outcome in _PARTS and any((turn.name, kind) in turns.drawn for kind in _CHECKED)
    ]
    with Progress("asking the checker", len(requests)) as progress:
        assessments = examined(requests, progress, **_batch_options(progress, how, work))
    return {
        assessment.instance_id: (
            assessment.resolved_equivalent and not (assessment.axe and assessment.axe.candidate > assessment.axe.gold),
            "; ".join(assessment.notes.values()),
        )
        for assessment in assessments
    }


def _audit(
    instance: Instance,
    drawn: Drawn,
    turns: Turns,
    verdicts: Mapping[str, Verdict],
    checked: Mapping[str, tuple[bool, str]],
    options: AuditOptions,
) -> VerdictAudit:
    return VerdictAudit(
        instance_id=instance.instance_id,
        image=instance.image,
        seed=options.seed,
        wanted=options.variants,
        left_out={name: count for name, count in sorted(drawn.left_out.items()) if count},
        variants=tuple(_variants(instance, drawn, turns, verdicts, checked)),
        law=of_run("running", "reading", "grading", parser=instance.environment.parser),
    )


def _variants(
    instance: Instance,
    drawn: Drawn,
    turns: Turns,
    verdicts: Mapping[str, Verdict],
    checked: Mapping[str, tuple[bool, str]],
) -> Iterator[Variant]:
    for variant in drawn.variants:
        name = Turn(instance, variant).name
        was_run = (name, variant.kind) in turns.drawn
        verdict, (resolved, note) = was_run and verdicts.get(name), checked.get(name, (None, ""))
        yield Variant(
            **{name: value for name, value in variant._asdict().items() if name != "patch"},
            patch_digest=variant.digest,
            outcome=verdict.outcome if verdict else None,
            cause=verdict.cause[:200] if verdict else "",
            checked=resolved,
            note=note[:200],
        )


def incomplete(audits: Sequence[VerdictAudit]) -> int:
    """The number of variants without a verdict because of faults of the machine."""
    number = sum(variant.outcome is Outcome.NOT_EVALUATED for audit in audits for variant in audit.variants)
    if number:
        say(f"{number} variants are not evaluated; run it again")
    return number
