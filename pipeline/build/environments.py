"""The environments of a repository's candidates: inferred, overridden, and written to one file per era.

Reads the clone and `repos/`; writes `02_dataset/<repo>/environments/<digest>.toml`, with the evidence for every field.
An era is all instances with the same layer of dependencies. The same instances give the same bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import tomli_w

from pipeline.build import overrides
from pipeline.build.helpers import importers
from pipeline.build.infer import Tree, Unsupported, infer
from pipeline.core.git import Clone, committed, has_commit, list_files, require_commit, show
from pipeline.core.names import Repo
from pipeline.core.patches import created, is_named_test, is_runnable, paths
from pipeline.core.records import Candidate, Environment, Instance
from pipeline.core.store import Store
from pipeline.core.trees import UNSAFE_PATH, UnsafeTree
from pipeline.ecosystems.protection import is_manifest
from pipeline.execution import images, scope

#: fixed fields of an environment: value and evidence
Fields = Mapping[str, tuple[Any, str]]


def manifest_commit(candidate: Candidate) -> str:
    """The commit whose manifests make the environment: the base, or the fix if the gold patch changes dependencies and
    its commit is known."""
    return candidate.merge_sha if changes_manifests(candidate) and candidate.merge_sha else candidate.base.sha


def changes_manifests(candidate: Candidate) -> bool:
    """Whether the gold patch changes dependencies."""
    return any(is_manifest(path) for path in paths(candidate.fix_patch))


def environment_of(clone: Clone, candidate: Candidate, fixed: Fields | None = None) -> Environment:
    """The environment of a candidate, with the `fixed` fields (value, evidence) taken as they are.

    Raises Unsupported, and UserError for a broken file of overrides.
    """
    tree, day = tree_of(clone, candidate), committed(clone, manifest_commit(candidate))
    touched = scope.touched(tree.paths, candidate.test_patch, tree.text("package.json"))
    return infer(tree, day, touched, overrides.fixed(candidate) | dict(fixed or {}))


def tree_of(clone: Clone, candidate: Candidate) -> Tree:
    """The files of the commit whose manifests make the environment, and the texts of new tests. Raises Unsupported for
    an unsafe tree."""
    sha = manifest_commit(candidate)
    return Tree(safe_files(clone, sha), lambda path: show(clone, sha, path), created(candidate.test_patch))


@contextmanager
def supported() -> Iterator[None]:
    """Raise Unsupported if a path of a tree that is read in this block must not be written to a disk."""
    try:
        yield
    except UnsafeTree as error:
        raise Unsupported(UNSAFE_PATH, str(error)) from None


def safe_files(clone: Clone, sha: str) -> list[str]:
    """Every path of a commit. Raises Unsupported."""
    with supported():
        return list_files(clone, sha)


def recipe(clone: Clone, candidate: Candidate, fixed: Fields | None = None) -> images.Recipe:
    """The image of a candidate, with `fixed` fields taken as they are. If the gold patch changes dependencies, all
    three runs use the fix's.

    Raises Unsupported, and UserError when the clone lacks a commit.
    """
    require_commit(clone, candidate.base.sha)
    environment = environment_of(clone, candidate, fixed)
    return images.recipe(clone, environment, candidate.base.sha, manifest_commit(candidate))


def selected(clone: Clone, candidate: Candidate, scope_name: str) -> tuple[str, ...]:
    """The test files that are run for a candidate; empty for the scope `full`. Raises Unsupported.

    A file that is not named like a test may be a suite that several tests load. If tests that are named so do, these
    are run in its place.
    """
    if scope_name == "full":
        return ()
    tree = safe_files(clone, candidate.base.sha)
    manifest = show(clone, candidate.base.sha, "package.json")
    files = scope.files(scope_name, tree, candidate.fix_patch, candidate.test_patch, manifest)
    suites = [path for path in files if is_runnable(path) and not is_named_test(path)]
    sha = candidate.merge_sha if has_commit(clone, candidate.merge_sha) else candidate.base.sha
    with supported():
        loaded_by = importers(clone, sha, suites) if suites else {}
    tests = {path: [test for test in loaded_by[path] if is_named_test(test) and is_runnable(test)] for path in suites}
    loaded = {path for path in suites if tests[path]}
    return tuple(sorted({*files, *chain(*tests.values())} - loaded))


def write(store: Store, repo: Repo, instances: Sequence[Instance]) -> None:
    """Write the environments of these instances, and archive all others."""
    folder = store.qualification(repo) / "environments"
    eras: dict[str, list[Instance]] = defaultdict(list)
    for instance in instances:
        eras[instance.environment_digest].append(instance)
    for digest, members in eras.items():
        store.replace(folder / f"{digest}.toml", tomli_w.dumps(_era(digest, members)).encode())
    for path in sorted(folder.glob("*.toml")):
        if path.stem not in eras:
            store.displace(path)


def _era(digest: str, instances: Sequence[Instance]) -> dict[str, Any]:
    """One table per environment, with its instances. Environments of an era differ only in tests or evidence."""
    tables: list[dict[str, Any]] = []
    for environment in dict.fromkeys(instance.environment.model_dump_json() for instance in instances):
        same = [instance for instance in instances if instance.environment.model_dump_json() == environment]
        fields = same[0].environment.model_dump(mode="json")
        tables.append({"instances": [instance.instance_id for instance in same]} | fields)
    return {"digest": digest, "environment": tables}
