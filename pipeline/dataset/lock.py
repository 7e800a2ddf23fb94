"""The published list of a dataset: facts that rebuild it and show whether it is the same.

A line contains no patch and no text of other people. The transition of a test is written as three letters for base,
test patch and gold patch (`PFP`: passed, failed, passed), followed by `snapshot` if it failed by snapshot alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from pydantic import Field

from pipeline.core.names import parse_instance_id
from pipeline.core.record import InstanceId
from pipeline.core.records import Candidate, Environment, Instance, StatementSource, Versioned
from pipeline.sandbox.base import DEFAULT

#: the separator of a test's file and its name
SEPARATOR = " > "
#: fields that are lists: each entry is a separate fact
LISTS = ("repairs", "files", "quarantine")
#: fields that are not facts by themselves: about the record, compared by test, or an input of the environment
NO_FACTS = ("schema_version", "tool", "tests", "proposed")

#: file -> transition -> names
Tests = dict[str, dict[str, tuple[str, ...]]]


class Lock(Versioned):
    """The facts that rebuild one instance. Digests of patches are SHA-256; others are those of the instance."""

    instance_id: InstanceId
    base: str = Field(description="commit that the patches apply to")
    merge: str = Field(description="commit that results from them; empty if the source did not say")
    fix_patch: str = Field(description="SHA-256 of its bytes")
    test_patch: str = Field(description="SHA-256 of its bytes")
    statement_source: StatementSource
    statement: str = Field(default="", description="SHA-256 of a statement that reviewers rewrote; empty for others")
    origin: str = Field(default="", description="the foreign benchmark whose record it is: its base and patches")
    node: str
    manager: str
    runner: str
    environment: str = Field(description="digest of the manifests and of how they are installed")
    manifests: str = Field(description="commit whose manifests are installed")
    image: str = Field(description="digest of the environment and the sources")
    set_up_by: str = Field(default="", description="the model that proposed fields of the environment; none: inferred")
    proposed: str = Field(default="", description="these fields, as a file of overrides in TOML")
    repairs: tuple[str, ...] = Field(default=(), description="packages that the install needed beyond the manifests")
    scope: Literal["touched", "full"]
    files: tuple[str, ...] = Field(description="test files that are run; none in the scope `full`")
    repeats: int = Field(ge=1)
    memory: int = Field(default=0, ge=0, description="bytes of memory of a test run; 0: the default")
    tests: Tests = Field(description="what evaluation expects: file -> transition -> names of tests")
    quarantine: tuple[str, ...] = Field(default=(), description="tests whose repeats disagree")


def lock(instance: Instance, proposed: str = "") -> Lock:
    """The facts of an instance. `proposed` are the fields of its environment that a model proposed, as in a list."""
    environment = instance.environment
    return Lock(
        instance_id=instance.instance_id,
        base=instance.base.sha,
        merge=instance.merge_sha,
        fix_patch=_sha256(instance.fix_patch),
        test_patch=_sha256(instance.test_patch),
        statement_source=instance.statement_source,
        statement=statement_of(instance),
        origin=instance.origin,
        node=environment.node,
        manager=f"{environment.manager} {environment.manager_version}".strip(),
        runner=f"{environment.runner} {environment.runner_version}",
        environment=instance.environment_digest,
        manifests=instance.manifests,
        image=instance.image,
        set_up_by=instance.set_up_by,
        proposed=proposed,
        repairs=tuple(_repairs(environment)),
        scope=instance.scope,
        files=tuple(sorted(instance.files)),
        repeats=instance.repeats,
        memory=_memory(instance),
        tests=_by_file(instance),
        quarantine=tuple(sorted(instance.quarantine)),
    )


def _memory(instance: Instance) -> int:
    limit = instance.ran.limits.get("memory", 0) if instance.ran else 0
    return 0 if limit == DEFAULT.memory else int(limit)


def statement_of(record: Candidate | Instance) -> str:
    """SHA-256 of a statement that reviewers rewrote; empty for others."""
    return _sha256(record.statement) if record.statement_source == "review" else ""


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _repairs(environment: Environment) -> Iterator[str]:
    """Changes to manifests in the order of their application, and packages whose install scripts run."""
    yield from (" ".join(filter(None, (edit.kind, edit.name, edit.old, edit.new))) for edit in environment.edits)
    yield from (f"rebuild {name}" for name in environment.rebuild)


def _by_file(instance: Instance) -> Tests:
    grouped: Tests = {}
    for name in sorted(instance.expected):
        file, _, title = name.partition(SEPARATOR)
        file = file if title else name  # a test without a title is not its file
        kind = instance.tests[name]
        grouped.setdefault(file, {}).setdefault(kind, ())
        grouped[file][kind] += (title,)
    return grouped


def lines(instances: Iterable[Instance], proposed: Mapping[str, str] | None = None) -> bytes:
    """The list of these instances, sorted by repository and number: equal datasets give equal bytes. `proposed` are the
    fields that a model proposed, by instance."""
    texts = proposed or {}
    entries = (lock(instance, texts.get(instance.instance_id, "")) for instance in instances)
    locks = sorted(entries, key=lambda entry: parse_instance_id(entry.instance_id))
    return "".join(f"{entry.model_dump_json()}\n" for entry in locks).encode()


def facts(entry: Lock) -> dict[str, str]:
    """The facts of an entry: field, or field and name -> value."""
    plain = {field: str(value) for field, value in entry if field not in (*NO_FACTS, *LISTS)}
    listed = {f"{field}: {value}": "listed" for field in LISTS for value in getattr(entry, field)}
    return plain | listed | {f"test: {name}": kind for name, kind in transitions(entry.tests).items()}


def transitions(tests: Tests) -> dict[str, str]:
    """The transition of every test by its full name; a file that counts as a test has no title."""
    return {
        f"{file}{SEPARATOR}{title}" if title else file: kind
        for file, kinds in tests.items()
        for kind, titles in kinds.items()
        for title in titles
    }
