"""Repair of old environments: one with a known fault is tried again with a remedy, a bounded number of times.

Only failures of the repository come here: a failed install, or rejected tests. Every step is recorded as a deviation.
The repaired environment is data like any other, so evaluation makes the same one from the instance alone. Raises what
the last attempt raised; errors of the machine pass through unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, Generic, NamedTuple, TypeVar

from pipeline.build import faults
from pipeline.build.faults import Fault, Finding
from pipeline.build.reasons import Rejected
from pipeline.build.remedies import REMEDIES, Diagnosis
from pipeline.build.situation import Situation
from pipeline.core.records import Edit, Environment
from pipeline.core.store import digest
from pipeline.ecosystems.locks import Locked

#: the fault of a locked version that is gone from the registry
GONE = "version-gone"
#: if more versions than this are gone, they are a family (nightly builds of a tool) and are pruned as a whole
FAMILY = 8
#: attempts for one candidate: the oldest lock files had four faults
MOST = 12

#: the stage of a rejection -> the stages of the faults that its log may show
_STAGES: dict[str, tuple[faults.Stage, ...]] = {
    "install": ("install",), "prepare": ("install", "run"), "run": ("run",),
}  # fmt: skip

T = TypeVar("T")
Attempt = Callable[["Repair"], T]


class Step(NamedTuple):
    """One remedy that was applied, and its description for people."""

    finding: Finding
    remedy: str
    deviation: str

    @property
    def stage(self) -> str:
        return self.finding.fault.stage


@dataclass(frozen=True)
class Repair:
    """An environment, and the steps that led to it."""

    environment: Environment
    steps: tuple[Step, ...] = ()

    @property
    def deviations(self) -> list[str]:
        return [step.deviation for step in self.steps]


class Attempts(Generic[T]):
    """The attempts for one candidate in several repairs: an environment that was rejected is not tried again, and each
    log is kept once."""

    def __init__(self, attempt: Attempt[T], keep: Callable[[str, bytes], None]) -> None:
        self._attempt, self._keep = attempt, keep
        self._ends: dict[str, Rejected] = {}
        self._logs: list[bytes] = []

    def __call__(self, state: Repair) -> T:
        key = digest(state.environment)
        if key in self._ends:
            raise self._ends[key]
        try:
            return self._attempt(state)
        except Rejected as end:
            self._ends[key] = end
            raise

    def keep(self, _: str, log: bytes) -> None:
        """Keep a log under the next number."""
        if log not in self._logs:
            self._logs.append(log)
            self._keep(f"repaired.{len(self._logs)}", log)


def repaired(start: Repair, situation: Situation, attempt: Attempt[T], keep: Callable[[str, bytes], None]) -> T:
    """The result of the first attempt that is not rejected; `keep` stores the logs of those before it.

    Locked versions are looked up before each attempt, so that missing ones cost no install. No environment is tried
    twice. Raises the Rejected of the tests if they ever ran, since that is the furthest, else of the last attempt.
    """
    state, seen, ends, surprised = start, {digest(start.environment)}, [], False
    while len(seen) <= MOST:
        try:
            state = foreseen(state, situation, everywhere=surprised)
            seen.add(digest(state.environment))
            return attempt(state)
        except Rejected as end:
            ends.append(end)
            surprised = surprised or _shows_gone(end)
            remedied = _remedied(state, end, situation)
            following = next((repair for repair in remedied if digest(repair.environment) not in seen), None)
            if following is None:
                break
            keep(f"repaired.{len(ends)}", end.log.encode())
            state = following
            seen.add(digest(state.environment))
    raise next((end for end in ends if end.stage == "run"), ends[-1])


def foreseen(state: Repair, situation: Situation, *, everywhere: bool = False) -> Repair:
    """The environment after remedies for all locked versions that are gone from the registry: those that its install
    fetches, and with `everywhere` also those of the packages of the workspace that are out of focus.

    Raises Rejected if one that its install fetches has no remedy: it would end in a 404.
    """
    after, unrepaired = _without_gone(state, situation, state.environment.focus)
    if unrepaired:
        detail = "\n".join(unrepaired)
        raise Rejected(_gone().reason, detail, log=detail, stage="install")
    return _without_gone(after, situation, ())[0] if everywhere else after


def _without_gone(state: Repair, situation: Situation, packages: tuple[str, ...]) -> tuple[Repair, list[str]]:
    """The environment after remedies for what these packages of the workspace lock (all, if there are none) and the
    registry does not have; and in words, what has no remedy."""

    def fetched(repair: Repair) -> tuple[Situation, list[Locked]]:
        now = situation.after(repair.environment)
        return now, now.fetched(repair.environment.model_copy(update={"focus": packages}))

    now, locked = fetched(state)
    gone = now.look_up(locked).missing
    unrepaired, after, wanted = [], state, set(gone)
    for name, version in gone:
        pinned = any((edit.name, edit.old) == (name, version) for edit in after.environment.edits)
        if pinned or (name, version) not in wanted:
            continue
        finding = Finding(_gone(), {"name": name, "old": version})
        family = apply(after, finding, "prune", {}, situation) if len(gone) > FAMILY else None
        if changed := family or next(_each_remedy(after, finding, situation), None):
            after = changed
            wanted = {(package.name, package.version) for package in fetched(after)[1]}
        else:
            unrepaired.append(f"{name} {version} is gone from the registry{_chain(now, state, name, version)}")
    return after, unrepaired


def _gone() -> Fault:
    return next(fault for fault in faults.table() if fault.name == GONE)


def _shows_gone(end: Rejected) -> bool:
    """Whether an install failed because of a version that the look-up did not foresee: a manager that rewrites its lock
    file requests the versions of all packages of the workspace, one after the other."""
    return end.stage == "install" and any(finding.fault.name == GONE for finding in faults.find("install", end.log))


def _chain(situation: Situation, state: Repair, name: str, version: str) -> str:
    """The shortest chain of dependencies that leads to a package."""
    chains = situation.chains(state.environment, name, version)
    paths = sorted((len(path), f"{ask.folder or 'the root'}: {' > '.join(path)}") for ask, path, _ in chains)
    return f" ({paths[0][1]})" if paths else ""


def apply(
    state: Repair, finding: Finding, remedy: str, arguments: dict[str, Any], situation: Situation
) -> Repair | None:
    """The environment after one remedy; None if it has nothing to change."""
    now = situation.after(state.environment)
    after = REMEDIES[remedy](Diagnosis(state.environment, finding.found, arguments, now, finding.fault.name))
    if after is None:
        return None
    message = finding.fault.tells.format_map({"name": "a package", "old": "", **finding.found})
    deviation = f"{' '.join(message.split())}: {'; '.join(_changes(state.environment, after))}"
    return Repair(after, (*state.steps, Step(finding, remedy, deviation)))


def reason_of(log: str) -> str:
    """The reason for an install that could not be repaired."""
    return next((finding.fault.reason for finding in faults.find("install", log)), "environment_failed")


def _remedied(state: Repair, end: Rejected, situation: Situation) -> Iterator[Repair]:
    """What to try next: remedies for all findings that name a package or host, whatever the fault; then those for all
    findings of the first fault, then of each further fault."""
    findings_by_stage = (faults.find(stage, end.log) for stage in _STAGES[end.stage])
    found = groupby(chain.from_iterable(findings_by_stage), key=lambda finding: finding.fault.name)
    groups = [list(findings) for _, findings in found]
    named = _first_of_each([finding for findings in groups for finding in findings])
    for findings in (named, *groups):
        after = state
        for finding in findings:
            after = next(_each_remedy(after, finding, situation), after)
        if after.environment != state.environment:
            yield after


def _first_of_each(findings: list[Finding]) -> list[Finding]:
    """Findings that name a package or host, for each package or host only those of its first fault: a line may show two
    faults."""
    faults_of: dict[str, str] = {}
    named = [(finding, finding.found.get("name") or finding.found.get("host", "")) for finding in findings]
    return [
        finding
        for finding, subject in named
        if subject and faults_of.setdefault(subject, finding.fault.name) == finding.fault.name
    ]


def _each_remedy(state: Repair, finding: Finding, situation: Situation) -> Iterator[Repair]:
    tried = (apply(state, finding, remedy, arguments, situation) for remedy, arguments in finding.fault.remedies)
    return (after for after in tried if after)


#: kind of an edit -> its description for people
_PHRASES = {
    "drop": "{name} is left out{of}",
    "pin": "{name} {new} in place of {old}",
    "add": "{name} {new} is added",
    "rehost": "the registry in place of {name}",
    "reseal": "its new checksum is taken",
    "unset": "without the setting {name}",
    "gather": "the packages in {name} are a workspace",
}


def _changes(before: Environment, after: Environment) -> Iterator[str]:
    """How two environments differ, in words."""
    yield from (_phrase(edit) for edit in after.edits if edit not in before.edits)
    yield from (f"the install scripts of {name} run" for name in after.rebuild if name not in before.rebuild)
    if before.focus and not after.focus:
        yield "all packages of the workspace are installed"
    for field in ("install_env", "test_env"):
        old, new = getattr(before, field), getattr(after, field)
        yield from (f"{name}={value}" for name, value in new.items() if old.get(name) != value)
    left_out = [word for word in before.test if word not in after.test]
    if left_out:
        yield f"{' '.join(left_out)} is left out"
    if more := [word for word in after.test if word not in before.test]:
        yield f"{' '.join(more)} is added"
    if before.browser != after.browser:
        yield f"{after.browser} is in the image"
    if before.node != after.node:
        yield f"Node {after.node} in place of {before.node}"
    if before.manager_version != after.manager_version:
        yield f"{after.manager} {after.manager_version} in place of {before.manager_version or 'the one of Node'}"
    installs = [
        (environment.install, *(nested.install for nested in environment.nested)) for environment in (before, after)
    ]
    pairs = zip(*installs, strict=True)
    yield from (f"{' '.join(new)} in place of {' '.join(old)}" for old, new in pairs if old != new)


def _phrase(edit: Edit) -> str:
    of = f" of {', '.join('the root' if folder == '.' else folder for folder in edit.folders)}" if edit.folders else ""
    return _PHRASES[edit.kind].format(**edit.model_dump(), of=of)
