"""Checks that a dataset must pass before anyone relies on it, for each instance by itself, without running anything.

Reads `02_dataset/` and the clone that the repository was collected from; writes nothing. A check is a row of CHECKS:
its name, its meaning, and a function that lists what is wrong. Oracle and nop are run by `examine`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from pipeline.core import verdict
from pipeline.core.git import Clone, has_commit, list_files
from pipeline.core.records import Instance
from pipeline.core.verdict import SNAPSHOT
from pipeline.dataset.applied import Applied, DoesNotApply, apply
from pipeline.execution import images

log = logging.getLogger(__name__)


class Finding(NamedTuple):
    """Something that is wrong: the instance (or the repository, for a whole dataset), the check, and what was found."""

    instance: str
    check: str
    detail: str


class Checked:
    """An instance of a dataset, and the clone to check it against."""

    def __init__(self, instance: Instance, clone: Clone) -> None:
        self.instance, self.clone = instance, clone

    @cached_property
    def gold(self) -> Applied:
        """The tree of the base with both patches. Raises DoesNotApply."""
        instance = self.instance
        return apply(self.clone, instance.base.sha, {"test": instance.test_patch, "fix": instance.fix_patch})


def expectations(checked: Checked) -> Iterator[str]:
    """The expectations follow from the transitions by the table, `transitions.csv`."""
    instance = checked.instance
    yield from (
        f"{name} is quarantined and in a result" for name in sorted(instance.quarantine.keys() & instance.tests)
    )
    if reason := verdict.qualify(instance.triples).reason:
        yield f"its results do not qualify it: {reason}"
    yield from (f"{name} is not a fixed test, but is marked {SNAPSHOT.strip()}" for name in _marked(instance))


def _marked(instance: Instance) -> list[str]:
    return sorted(set(instance.snapshot_only) - instance.fixed_tests.keys())


#: patterns of access keys, as their issuers document them
SECRETS = re.compile(
    r"""\b(?:gh[pousr]_[A-Za-z0-9]{36,} | github_pat_[A-Za-z0-9_]{60,} | glpat-[A-Za-z0-9_-]{20,} | npm_[A-Za-z0-9]{36}
      | AKIA[0-9A-Z]{16} | AIza[0-9A-Za-z_-]{35} | xox[abprs]-[A-Za-z0-9-]{10,}
      | sk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,}) | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----""",
    re.VERBOSE,
)


def secrets(checked: Checked) -> Iterator[str]:
    """Nothing in the record looks like a key. Only the first characters of a finding are shown."""
    yield from sorted({f"{match[0][:8]}…" for match in SECRETS.finditer(checked.instance.model_dump_json())})


def commits(checked: Checked) -> Iterator[str]:
    instance = checked.instance
    hashes = {"base": instance.base.sha, "merge": instance.merge_sha, "manifests": instance.manifests}
    yield from (f"{name} {sha} is not in the clone" for name, sha in hashes.items() if not _exists(checked.clone, sha))
    if instance.manifests not in (instance.base.sha, instance.merge_sha):
        yield "manifests are neither those of the base nor of the merge"


def _exists(clone: Clone, sha: str) -> bool:
    """Whether the clone has a commit; true for an unknown one, since imported datasets may lack merge commits."""
    return not sha or has_commit(clone, sha)


def digests(checked: Checked) -> Iterator[str]:
    instance = checked.instance
    recipe = images.recipe(checked.clone, instance.environment, instance.base.sha, instance.manifests)
    for field in ("environment_digest", "image"):
        if getattr(instance, field) != getattr(recipe, field):
            yield f"{field} is {getattr(instance, field)}, the clone gives {getattr(recipe, field)}"


def patches(checked: Checked) -> Iterator[str]:
    """The patches apply one by one, as in stages 02 and 04, and together give the merge commit's tree. The patches
    of other benchmarks leave parts out and have another base."""
    instance = checked.instance
    try:
        tree = checked.gold
    except DoesNotApply as error:
        yield str(error)
        return
    if (
        instance.merge_sha
        and not instance.origin
        and tree.tree != checked.clone.git.rev_parse(f"{instance.merge_sha}^{{tree}}")
    ):
        yield "the two patches do not give the merge commit's tree"


def files(checked: Checked) -> Iterator[str]:
    if checked.instance.selected == ():
        yield "no test file is run"
    paths = checked.gold.files.union(list_files(checked.clone, checked.instance.base.sha))
    unknown = (path for path in checked.instance.files if path not in paths)
    yield from (f"{path} is neither in the base nor in the patched tree" for path in unknown)


class Check(NamedTuple):
    """A check; if a `vital` one fails, those below it are skipped."""

    name: str
    meaning: str
    find: Callable[[Checked], Iterator[str]]
    vital: bool = False


CHECKS = (
    Check("expectations", "the transitions of its tests qualify it, by transitions.csv", expectations),
    Check("secrets", "nothing looks like an access key", secrets),
    Check("commits", "base, merge and manifests are commits of the clone", commits, vital=True),
    Check("digests", "the clone gives the same environment and image", digests),
    Check(
        "patches",
        "they apply to the base one by one and give the merge commit (except for imported benchmarks)",
        patches,
        vital=True,
    ),
    Check("files", "the scope's test files exist", files),
)


def check(checked: Checked) -> Iterator[Finding]:
    """All findings on an instance."""
    for row in CHECKS:
        wrong = _wrong(row, checked)
        yield from (Finding(checked.instance.instance_id, row.name, text) for text in wrong)
        if wrong and row.vital:
            return


def _wrong(row: Check, checked: Checked) -> list[str]:
    """The findings of a check. If the check itself fails, that is a finding, too."""
    try:
        return list(row.find(checked))
    except Exception as error:
        log.debug("%s: %s", checked.instance.instance_id, row.name, exc_info=True)
        return [f"{type(error).__name__}: {error}"]
