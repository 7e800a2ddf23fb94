"""The environments of a repository's candidates: inferred, overridden, and written to one file per era.

Reads the clone and `repos/`; writes `02_dataset/<repo>/environments/<digest>.toml`, with the evidence for every field.
Instances with the same layer of dependencies are of one era. The same instances give the same bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import tomli_w

from pipeline.build import overrides
from pipeline.build.infer import Tree, Unsupported, infer
from pipeline.core.git import Clone, committed, list_files, show
from pipeline.core.names import Repo
from pipeline.core.patches import paths
from pipeline.core.records import Candidate, Environment, Instance
from pipeline.core.store import Store
from pipeline.core.trees import UNSAFE_PATH, UnsafeTree
from pipeline.ecosystems.protection import is_manifest
from pipeline.execution import scope

#: fields of an environment that are given: value, and what says so
Fields = Mapping[str, tuple[Any, str]]


def manifest_commit(candidate: Candidate) -> str:
    """The commit whose manifests make the environment: the base; the fix, where the gold patch changes dependencies
    and the commit that has them is known."""
    return candidate.merge_sha if changes_manifests(candidate) and candidate.merge_sha else candidate.base.sha


def changes_manifests(candidate: Candidate) -> bool:
    """Whether the gold patch changes dependencies."""
    return any(is_manifest(path) for path in paths(candidate.fix_patch))


def environment_of(clone: Clone, candidate: Candidate, more: Fields | None = None) -> Environment:
    """The environment of a candidate, in which `more` fields (value, evidence) are as they are given.

    Raises Unsupported, and UserError for a broken file of overrides.
    """
    tree, day = tree_of(clone, candidate), committed(clone, manifest_commit(candidate))
    touched = scope.touched(tree.paths, candidate.test_patch, tree.text("package.json"))
    return infer(tree, day, touched, overrides.fixed(candidate) | dict(more or {}))


def tree_of(clone: Clone, candidate: Candidate) -> Tree:
    """The files of the commit whose manifests make the environment. Raises Unsupported for an unsafe tree."""
    sha = manifest_commit(candidate)
    return Tree(safe_files(clone, sha), lambda path: show(clone, sha, path))


def safe_files(clone: Clone, sha: str) -> list[str]:
    """Every path of a commit. Raises Unsupported where one of them may stand on no disk."""
    try:
        return list_files(clone, sha)
    except UnsafeTree as error:
        raise Unsupported(UNSAFE_PATH, str(error)) from None


def write(store: Store, repo: Repo, instances: Sequence[Instance]) -> None:
    """Write the environments of these instances, and archive what is none of theirs."""
    folder = store.qualification(repo) / "environments"
    eras: dict[str, list[Instance]] = defaultdict(list)
    for instance in instances:
        eras[instance.environment_digest].append(instance)
    for digest, several in eras.items():
        store.replace(folder / f"{digest}.toml", tomli_w.dumps(_era(digest, several)).encode())
    for path in sorted(folder.glob("*.toml")):
        if path.stem not in eras:
            store.displace(path)


def _era(digest: str, instances: Sequence[Instance]) -> dict[str, Any]:
    """One table for all instances of the same environment: of those that differ, the tests or the evidence do."""
    tables: list[dict[str, Any]] = []
    for environment in dict.fromkeys(instance.environment.model_dump_json() for instance in instances):
        same = [one for one in instances if one.environment.model_dump_json() == environment]
        fields = same[0].environment.model_dump(mode="json")
        tables.append({"instances": [one.instance_id for one in same]} | fields)
    return {"digest": digest, "environment": tables}
