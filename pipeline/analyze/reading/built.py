"""Stage 02: the instances, the transitions of their tests, and which candidates were rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

from pipeline.analyze.reading import checks
from pipeline.analyze.reading.rated import Ratings
from pipeline.analyze.reading.rows import KnownInstance, Rows, Statement
from pipeline.analyze.structure import structure_and_files
from pipeline.core import verdict
from pipeline.core.names import Repo
from pipeline.core.records import Instance, Rejection, Status, Triple
from pipeline.core.store import Store, each_record, unique

#: class -> its smallest number of files
_SIZES = {2: "2 files", 3: "3 to 5 files", 6: "6 files or more"}


def read(
    rows: Rows, store: Store, repo: Repo, ratings: Ratings, strength: Mapping[str, float]
) -> dict[str, KnownInstance]:
    """Add `instances`, `transitions` and `rejections` of a repository; returns its instances by name. `strength` is
    the strength of their tests, in percent."""
    path = store.dataset(repo)
    known, stale = {}, Counter[str]()
    for instance in unique(each_record(path, Instance), path):
        checks.belongs(instance, repo, path)
        known[instance.instance_id] = _add(rows, instance, ratings, strength)
        stale.update(filter(None, [instance.stale]))
    for reason, count in sorted(stale.items()):
        rows.note(
            f"02 build: {_number(count, 'instance')} of {repo} must be qualified again: {reason}"
            f" (just build-run {repo})."
        )
    rejected = store.qualification(repo) / "rejections.jsonl"
    for rejection in unique(each_record(rejected, Rejection), rejected):
        checks.not_kept(rejection, known, rejected, path)
        rows.add("rejections", Rejection=rejection, Context={"repo": repo})
    rows.known |= known
    return known


def _add(rows: Rows, instance: Instance, ratings: Ratings, strength: Mapping[str, float]) -> KnownInstance:
    name, (gold, files) = instance.instance_id, structure_and_files(instance.fix_patch)
    context = {"year": instance.merged_at[:4], "size": size(gold.files), "test_strength": strength.get(name)}
    context |= ratings.get(name, {})
    rows.add("instances", Instance=instance, Gold=gold, Context=context)
    rows.mark(instance)
    rows.extend("transitions", _transitions(instance))
    rows.statements[name] = Statement(
        instance.task().statement, instance.fix_patch, instance.deviations, tuple(instance.quarantine)
    )
    return KnownInstance(name, instance.repository, instance.merged_at, instance.image, gold, files)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def size(files: int) -> str:
    """The class of a gold patch with this number of files."""
    return next((label for least, label in reversed(_SIZES.items()) if files >= least), "1 file")


def _transitions(instance: Instance) -> Iterator[tuple[str | bool | None, ...]]:
    """A row for every test of an instance."""
    prefix = instance.instance_id, str(instance.repository)
    kinds = (instance.fixed_tests, instance.p2p_tests, instance.f2p_tests, instance.s2p_tests, instance.n2p_tests)
    triples = {name: kind[name] for kind in kinds for name in sorted(kind)}
    for name, triple in triples.items():
        *statuses, kind, must_pass = _statuses_and_class(triple.run, triple.test, triple.fix)
        yield *prefix, name, *statuses, kind, instance.classes.get(name), must_pass


@cache
def _statuses_and_class(run: Status, test: Status, fix: Status) -> tuple[str | bool, ...]:
    """The statuses of a transition, its class, and whether evaluation expects it to pass."""
    rule = verdict.table()[Triple(run=run, test=test, fix=fix)]
    return str(run), str(test), str(fix), rule.kind, rule.must_pass
