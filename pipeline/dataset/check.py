"""What must hold for a dataset before anyone stands on it: each instance by itself, without running anything.

Reads `02_dataset/` and the clone that the repository was collected from; writes nothing. A check is a row of the table:
what it is called, what it means, and a function that names what is wrong. Does not cover the references (examine.py).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from pipeline.core import verdict
from pipeline.core.git import Clone, has_commit, list_files
from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.verdict import SNAPSHOT
from pipeline.dataset.applied import Applied, DoesNotApply, apply
from pipeline.execution import images

log = logging.getLogger(__name__)


class Finding(NamedTuple):
    """Something that is wrong: with which instance (of a whole dataset: the repository), by which check."""

    instance: str
    check: str
    detail: str


class Checked:
    """One instance of the dataset of `repo` that is checked, beside the clone that it is of."""

    def __init__(self, repo: Repo, instance: Instance, clone: Clone) -> None:
        self.repo, self.instance, self.clone = repo, instance, clone

    @cached_property
    def gold(self) -> Applied:
        """The base with both patches. Raises DoesNotApply."""
        one = self.instance
        return apply(self.clone, one.base.sha, {"test": one.test_patch, "fix": one.fix_patch})


def names(checked: Checked) -> Iterator[str]:
    one = checked.instance
    if one.instance_id != checked.repo.instance_id(one.number) or one.repository != checked.repo:
        yield f"{one.instance_id}: the record says {one.repository}#{one.number}, the file {checked.repo}"


def expectations(checked: Checked) -> Iterator[str]:
    """What is expected follows from the transitions, by the table."""
    one = checked.instance
    yield from (f"{name} is quarantined and in a result" for name in sorted(one.quarantine.keys() & one.tests))
    if reason := verdict.qualify(one.triples).reason:
        yield f"its results do not qualify it: {reason}"
    yield from (f"{name} is no fixed test and marked {SNAPSHOT.strip()}" for name in _marked(one))


def _marked(instance: Instance) -> list[str]:
    return sorted(set(instance.snapshot_only) - instance.fixed_tests.keys())


#: what keys of people's accounts look like, in the forms that their makers document
SECRETS = re.compile(
    r"""\b(?:gh[pousr]_[A-Za-z0-9]{36,} | github_pat_[A-Za-z0-9_]{60,} | glpat-[A-Za-z0-9_-]{20,} | npm_[A-Za-z0-9]{36}
      | AKIA[0-9A-Z]{16} | AIza[0-9A-Za-z_-]{35} | xox[abprs]-[A-Za-z0-9-]{10,}
      | sk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,}) | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----""",
    re.VERBOSE,
)


def secrets(checked: Checked) -> Iterator[str]:
    """Only the first letters are shown."""
    yield from sorted({f"{found[0][:8]}…" for found in SECRETS.finditer(checked.instance.model_dump_json())})


def commits(checked: Checked) -> Iterator[str]:
    one = checked.instance
    named = {"base": one.base.sha, "merge": one.merge_sha, "manifests": one.manifests}
    yield from (f"{name} {sha} is not in the clone" for name, sha in named.items() if not _there(checked.clone, sha))
    if one.manifests not in (one.base.sha, one.merge_sha):
        yield "manifests are neither those of the base nor of the merge"


def _there(clone: Clone, sha: str) -> bool:
    """A dataset from elsewhere may not know its merge commits."""
    return not sha or has_commit(clone, sha)


def digests(checked: Checked) -> Iterator[str]:
    one = checked.instance
    made = images.recipe(checked.clone, one.environment, one.base.sha, one.manifests)
    for field in ("environment_digest", "image"):
        if getattr(one, field) != getattr(made, field):
            yield f"{field} is {getattr(one, field)}, the clone gives {getattr(made, field)}"


def patches(checked: Checked) -> Iterator[str]:
    """One by one, as stages 02 and 04 apply them; both together make the merge commit's tree, unless somebody else
    made them: a foreign benchmark's leave parts out, on a base of their own."""
    one = checked.instance
    try:
        made = checked.gold
    except DoesNotApply as error:
        yield str(error)
        return
    if one.merge_sha and not one.origin and made.tree != checked.clone.git.rev_parse(f"{one.merge_sha}^{{tree}}"):
        yield "both patches do not make the merge commit's tree"


def files(checked: Checked) -> Iterator[str]:
    if checked.instance.selected == ():
        yield "no test file is run"
    there = checked.gold.files.union(list_files(checked.clone, checked.instance.base.sha))
    unknown = (path for path in checked.instance.files if path not in there)
    yield from (f"{path} is neither in the base nor in what the patches make" for path in unknown)


class Check(NamedTuple):
    """`vital`: the ones below it need it."""

    name: str
    meaning: str
    find: Callable[[Checked], Iterator[str]]
    vital: bool = False


CHECKS = (
    Check("names", "the record is of this repository, by its number", names),
    Check("expectations", "the transitions of its tests qualify it, by transitions.csv", expectations),
    Check("secrets", "nothing looks like a key", secrets),
    Check("commits", "base, merge and manifests are commits of the clone", commits, vital=True),
    Check("digests", "environment and image are those that the clone gives", digests),
    Check(
        "patches",
        "they apply to the base one by one and make the merge (not of a foreign benchmark)",
        patches,
        vital=True,
    ),
    Check("files", "the scope's test files are there", files),
)


def check(checked: Checked) -> Iterator[Finding]:
    """All that is wrong with an instance."""
    for one in CHECKS:
        wrong = _wrong(one, checked)
        yield from (Finding(checked.instance.instance_id, one.name, text) for text in wrong)
        if wrong and one.vital:
            return


def _wrong(one: Check, checked: Checked) -> list[str]:
    """What a check finds. The instance border: what breaks it is a finding."""
    try:
        return list(one.find(checked))
    except Exception as error:
        log.debug("%s: %s", checked.instance.instance_id, one.name, exc_info=True)
        return [f"{type(error).__name__}: {error}"]
