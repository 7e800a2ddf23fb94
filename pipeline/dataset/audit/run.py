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
from pipeline.dataset.audit.variants import Drawn, Made, draw
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


class Asked(NamedTuple):
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

    named: list[Named]
    drawn: frozenset[tuple[str, Kind]]


class Work(NamedTuple):
    """How the audit is run: the arguments of `each`."""

    jobs: int = 2
    engine: str = "threads"
    trust_local: bool = False


class Named(NamedTuple):
    """A variant of an instance under a name of its own, so that one batch can hold many variants of an instance."""

    instance: Instance
    made: Made

    @property
    def name(self) -> str:
        return f"{self.instance.instance_id}~{self.made.digest[:12]}"

    @property
    def renamed(self) -> Instance:
        """The instance under this name, which does not affect the verdict."""
        return self.instance.model_copy(update={"instance_id": self.name})

    @property
    def prediction(self) -> Prediction:
        """The variant as a prediction. It is trusted, since it is gold, changed by one of our rules."""
        return Prediction(instance_id=self.name, model_name_or_path=AGENT, model_patch=self.made.patch, trusted=True)


def audit(store: Store, repos: Sequence[Repo], how: How, asked: Asked, work: Work) -> dict[Repo, list[VerdictAudit]]:
    """Audit these datasets and write the records. Raises UserError for a missing dataset."""
    drawn = {repo: _draw(store, repo, asked) for repo in repos}
    if asked.numbers and not any(drawn.values()):
        raise UserError(f"no instance of these numbers: {', '.join(map(str, asked.numbers))}", field="pr")
    turns = _in_turn(drawn, asked)
    return {repo: _audited(store, repo, drawn[repo], turns[repo], how, asked, work) for repo in repos}


def _draw(store: Store, repo: Repo, asked: Asked) -> dict[str, tuple[Instance, Drawn]]:
    """The variants of each chosen instance."""
    clone, found = images.source(store, repo), {}
    wanted = [one for one in read_dataset(store, repo) if not asked.numbers or one.number in asked.numbers]
    with Progress("drawing variants", len(wanted)) as progress:
        for one in wanted:
            try:
                drawn = draw(one, clone, asked.variants, asked.seed)
            except (DoesNotApply, UnicodeDecodeError) as error:
                progress.finish(one.instance_id, f"no variants: {error}", "none")
                continue
            found[one.instance_id] = (one, drawn)
            progress.finish(one.instance_id, f"{len(drawn.made) - 1} variants")
    return found


def _in_turn(drawn: Mapping[Repo, Mapping[str, tuple[Instance, Drawn]]], asked: Asked) -> dict[Repo, Turns]:
    """What is run, by repository. The seed decides the order, which alternates between kinds, so a larger number
    adds to a smaller one, and an interrupted audit is a sample, too. Gold comes before the first variant of its
    instance."""
    pools: dict[Kind, list[Named]] = {"same": [], "harmful": [], "hunk": []}
    gold: dict[str, Named] = {}
    for instance, variants in chain.from_iterable(each.values() for each in drawn.values()):
        gold[instance.instance_id] = Named(instance, variants.made[0])
        for made in variants.made[1:]:
            pools[made.kind].append(Named(instance, made))
    for kind, pool in pools.items():
        random.Random(f"{asked.seed} {kind}").shuffle(pool)
    turns = [one for one in chain.from_iterable(zip_longest(*pools.values())) if one]
    found: dict[Repo, list[Named]] = {repo: [] for repo in drawn}
    for one in turns[: asked.limit or None]:
        found[one.instance.repository] += (gold[one.instance.instance_id], one)
    return {
        repo: Turns(
            list({one.name: one for one in reversed(named)}.values())[::-1],
            frozenset((one.name, one.made.kind) for one in named),
        )
        for repo, named in found.items()
    }


def _audited(
    store: Store,
    repo: Repo,
    drawn: Mapping[str, tuple[Instance, Drawn]],
    turns: Turns,
    how: How,
    asked: Asked,
    work: Work,
) -> list[VerdictAudit]:
    """The audits of one repository. Equal patches are run once. An interrupted audit is written, too."""
    clone, path = images.source(store, repo), store.audit(repo)

    def write(verdicts: Mapping[str, Verdict], checked: Mapping[str, tuple[bool, str]]) -> list[VerdictAudit]:
        audits = [_audit(*drawn[name], turns, verdicts, checked, asked) for name in sorted(drawn)]
        others = [one for one in read_records(path, VerdictAudit) if one.instance_id not in drawn]
        both: list[VerdictAudit] = sorted([*others, *audits], key=lambda one: one.instance_id)
        store.replace_records(path, both)
        return audits

    with store.lock("audit", repo), log_file(path.with_suffix(".log")):
        runs = patch_runs(store, repo, how, clone)
        try:
            verdicts = _verdicts(store, runs, turns.named, how, work, clone)
        except KeyboardInterrupt:
            write(_so_far(runs, turns.named), {})
            raise
        write(verdicts, {})
        return write(verdicts, _checked(runs, turns, verdicts, how, work) if asked.checker else {})


def _so_far(runs: PatchRuns, named: Sequence[Named]) -> dict[str, Verdict]:
    """The verdicts on variants whose test runs are stored."""
    kept = [(one, runs.kept(one.instance, one.made.patch)) for one in named]
    return {
        one.name: sign(one.renamed, AGENT, AGENT, "", one.prediction, of_tested(one.instance, tested))
        for one, tested in kept
        if tested
    }


def _verdicts(
    store: Store, runs: PatchRuns, named: Sequence[Named], how: How, work: Work, clone: Clone
) -> dict[str, Verdict]:
    """The verdict on each variant, by its name."""
    instances = [one.renamed for one in named]
    answers = Answers("", store.audit(runs.repo), {one.name: one.prediction for one in named}, {})
    check(instances, answers, clone, how.sandbox, work.trust_local)
    with Progress("auditing verdicts", len(named)) as progress:
        how.sandbox.images.serve(Directory.here(store.root))
        fared = graded(
            runs, instances, answers, progress, {one.instance_id for one in instances}, **_words(progress, how, work)
        )
    return {one.instance_id: sign(one, AGENT, AGENT, "", answers.of(one), fared[one.instance_id]) for one in instances}


def _words(progress: Progress, how: How, work: Work) -> dict[str, Any]:
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
            Assessed(variant.renamed, verdicts[variant.name], variant.made.patch),
            runs,
            _PARTS[verdicts[variant.name].outcome],
        )
        for variant in turns.named
        if verdicts[variant.name].outcome in _PARTS and any((variant.name, kind) in turns.drawn for kind in _CHECKED)
    ]
    with Progress("asking the checker", len(requests)) as progress:
        assessments = examined(requests, progress, **_words(progress, how, work))
    return {
        one.instance_id: (
            one.resolved_equivalent and not (one.axe and one.axe.candidate > one.axe.gold),
            "; ".join(one.notes.values()),
        )
        for one in assessments
    }


def _audit(
    instance: Instance,
    drawn: Drawn,
    turns: Turns,
    verdicts: Mapping[str, Verdict],
    checked: Mapping[str, tuple[bool, str]],
    asked: Asked,
) -> VerdictAudit:
    return VerdictAudit(
        instance_id=instance.instance_id,
        image=instance.image,
        seed=asked.seed,
        wanted=asked.variants,
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
    for made in drawn.made:
        name = Named(instance, made).name
        was_run = (name, made.kind) in turns.drawn
        verdict, (resolved, note) = was_run and verdicts.get(name), checked.get(name, (None, ""))
        yield Variant(
            **{name: value for name, value in made._asdict().items() if name != "patch"},
            patch_digest=made.digest,
            outcome=verdict.outcome if verdict else None,
            cause=verdict.cause[:200] if verdict else "",
            checked=resolved,
            note=note[:200],
        )


def incomplete(audits: Sequence[VerdictAudit]) -> int:
    """The number of variants without a verdict because of faults of the machine."""
    number = sum(one.outcome is Outcome.NOT_EVALUATED for each in audits for one in each.variants)
    if number:
        say(f"{number} variants are not evaluated; run it again")
    return number
