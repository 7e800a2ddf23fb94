"""What continuous integration runs: the jobs of all services (services/), its test commands, and what precedes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pipeline.build.infer import documents, makefiles, scripts, services, shell, uses
from pipeline.build.infer.services import Job, Reader, Step, azure, circle, github, gitlab, travis
from pipeline.build.infer.tree import Tree, above, table

READERS: Mapping[str, Reader] = {
    "github": github.read,
    "circle": circle.read,
    "circle-1": circle.read_first,
    "travis": travis.read,
    "gitlab": gitlab.read,
    "azure": azure.read,
    "other": services.whole,
}
#: what is known only when a job runs
EXPRESSION = re.compile(r"(?:\$\{\{|<<)\s*[\w.-]*?([\w-]+)\s*(?:\}\}|>>)|\$\(([A-Za-z]\w*(?:\.\w+)*)\)")
_UNKNOWN = re.compile(r"\$\{\{|<<\s*[\w.-]+\s*>>|\$\([A-Za-z]\w*\.[\w.]+\)")

_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
#: a call of a package manager
_CALLS = re.compile(r"(?:\w+=\S* +)*(?:npm|yarn|pnpm|bun)\b")


class File(NamedTuple):
    """A configuration: the row of its service (ci.toml), its path, its content, and its jobs."""

    service: Mapping[str, Any]
    path: str
    document: dict[str, Any]
    jobs: tuple[Job, ...]


def configurations(tree: Tree) -> list[File]:
    """The configurations of all services, in the order of ci.toml."""
    found = []
    for service in table("ci.toml")["service"]:
        for path in _paths(tree, service):
            document = documents.mapping(documents.load(tree.text(path)))
            read = READERS[service["reader"]](tree, path, document)
            jobs = (job._replace(steps=tuple(_without_make(tree, job.steps))) for job in read)
            found.append(File(service, path, document, tuple(jobs)))
    return found


def _paths(tree: Tree, service: Mapping[str, Any]) -> list[str]:
    """The files of a service. Some services let a repository choose their names."""
    named = tree.matching(re.compile(service["files"]).search)
    others = tree.matching(re.compile(service["anywhere"]).search) if "anywhere" in service else ()
    return [*named, *(path for path in others if path not in named and re.search(service["says"], tree.text(path)))]


def _without_make(tree: Tree, steps: Sequence[Step]) -> Iterator[Step]:
    """These steps, with the commands of a Makefile in place of the call of `make`."""
    for step in steps:
        texts = makefiles.commands(tree, step.folder, step.text)
        made = (command for text in texts for command in shell.commands(text, step.folder)[0])
        yield from (step._replace(text=command.text, folder=command.folder) for command in made)
        if not texts:
            yield step


def testing(tree: Tree, files: Sequence[str] = ()) -> list[Step]:
    """The test commands of the jobs that test, those of unit tests first, and of these, those of the package of these
    test files."""
    found = _testing(tree, configurations(tree), files)
    steps = {(step.text, step.folder): step for _, job in found for step in job.steps if tests(tree, step)}
    others = re.compile(table("ci.toml")["jobs"]["other_tests"])
    return sorted(filter(_known, steps.values()), key=lambda step: bool(others.search(step.text)))


def before_tests(tree: Tree, files: Sequence[str] = ()) -> list[Step]:
    """The commands before the tests of the first job that tests, preferably the package of these test files, with those
    of the jobs that it needs. Installs, checks and what has no effect on files are left out."""
    for file, job in _testing(tree, configurations(tree), files):
        index = next((index for index, step in enumerate(job.steps) if tests(tree, step)), len(job.steps))
        steps = [*(step for name in _needed(file, job) for step in _named(file, name)), *job.steps[:index]]
        if found := [step for step in steps if makes(step) and not tests(tree, step) and _known(step)]:
            return list({(step.text, step.folder): step for step in found}.values())
    return []


def installs(tree: Tree) -> list[Step]:
    """The commands that install the dependencies of the root, those of jobs that test first."""
    words = re.compile(table("ci.toml")["jobs"]["dependencies"])
    configured = configurations(tree)
    ordered = [*(job for _, job in _testing(tree, configured)), *(job for file in configured for job in file.jobs)]
    return [step for job in ordered for step in job.steps if not step.folder and words.search(step.text)]


def tests(tree: Tree, step: Step) -> bool:
    """Whether a command runs tests: by its words, or because the script that it calls starts a runner."""
    words = table("ci.toml")["jobs"]
    if re.search(words["installs"], step.text):
        return False
    return bool(re.search(words["tests"], step.text)) or _starts_runner(tree, step)


def is_other(path: str, name: str) -> bool:
    """Whether a job has another purpose than testing, by its name and file."""
    return bool(re.search(table("ci.toml")["jobs"]["others"], f"{path} {name}", re.IGNORECASE))


def makes(step: Step) -> bool:
    """Whether a command may make files: it neither installs nor checks, and has an effect on them."""
    words = table("ci.toml")["jobs"]
    return not re.search(words["installs"], step.text) and not re.search(words["idle"], _QUOTED.sub("", step.text))


def _starts_runner(tree: Tree, step: Step) -> bool:
    manifest = tree.manifest(step.folder)
    named = [word for word in step.text.split() if manifest and word in manifest.scripts]
    if not manifest or not _CALLS.match(step.text):
        return False
    calls = scripts.calls(tree, step.folder, manifest, tuple(uses.programs()), named)
    return any(True for call in calls for _ in uses.started(call))


def _testing(tree: Tree, configured: Iterable[File], files: Sequence[str] = ()) -> list[tuple[File, Job]]:
    """The jobs of these configurations that test: first those that test the package of these files, and last those in
    which no package manager does, since they may test a server."""
    found = [
        (file, job)
        for file in configured
        for job in file.jobs
        if not is_other(file.path, job.name) and any(tests(tree, step) for step in job.steps)
    ]
    about = _about(tree, files)

    def order(pair: tuple[File, Job]) -> tuple[bool, bool]:
        own = [step for step in pair[1].steps if tests(tree, step)]
        return not any(map(about, own)), not any(_CALLS.match(step.text) for step in own)

    return sorted(found, key=order)


def _about(tree: Tree, files: Sequence[str]) -> Callable[[Step], bool]:
    """Whether a step runs in the package of these files, or names its folder or name; never for the root."""
    package = next((folder for file in files[:1] for folder in above(file) if tree.is_package(folder)), "")
    manifest = tree.manifest(package) if package else None
    words = [re.escape(word) for word in (package, manifest.text("name") if manifest else "") if word]
    named = re.compile(rf"(?<![\w@-])(?:{'|'.join(words)})(?![\w-])")
    return lambda step: bool(package) and (step.folder == package or bool(named.search(step.text)))


def _needed(file: File, job: Job) -> list[str]:
    """The names of the jobs that come before a job, the first ones first."""
    needs = {other.name: other.needs for other in file.jobs}
    found: dict[str, None] = {}

    def add(name: str, below: tuple[str, ...]) -> None:
        for before in needs.get(name, ()):
            if before not in (*found, *below):
                add(before, (*below, name))
                found.setdefault(before)

    add(job.name, (job.name,))
    return [name for name in found if not is_other("", name)]


def _named(file: File, name: str) -> Iterator[Step]:
    return (step for job in file.jobs if job.name == name for step in job.steps)


def _known(step: Step) -> bool:
    return not _UNKNOWN.search(step.text)
