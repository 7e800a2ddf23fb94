"""Repair of old environments: one that fails by a known fault is tried again with a remedy, a bounded number of times.

Only failures of the repository come here: a failed install, or rejected tests. Every step is recorded as a deviation.
The repaired environment is data like any other, so evaluation makes the same one from the instance alone. Raises what
the last attempt raised; errors of the machine pass through unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from pipeline.build import faults
from pipeline.build.faults import Finding
from pipeline.build.reasons import Rejected
from pipeline.build.remedies import REMEDIES, Diagnosis, Situation
from pipeline.core.records import Edit, Environment
from pipeline.core.store import digest

#: the fault of a locked version that the registry has no longer
GONE = "version-gone"
#: more versions than this that are gone together are a family (nightly builds of a tool), which goes as a whole
FAMILY = 8
#: attempts of one candidate: a lock file of the oldest era met four faults
MOST = 12

T = TypeVar("T")
Attempt = Callable[["Repair"], T]


class Step(NamedTuple):
    """One remedy that was applied, and how a person reads it."""

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


def repaired(start: Repair, there: Situation, attempt: Attempt[T], keep: Callable[[str, bytes], None]) -> T:
    """What the first attempt that is not rejected returns; `keep` stores the logs of those before it.

    Before each one the locked versions are looked up, so that what is gone costs no install. No environment is tried
    twice. Raises Rejected: of the tests when they ever ran, since that is what was reached.
    """
    state, seen, ends = start, {digest(start.environment)}, []
    while len(seen) <= MOST:
        try:
            state = foreseen(state, there)
            seen.add(digest(state.environment))
            return attempt(state)
        except Rejected as end:
            ends.append(end)
            following = next((one for one in _remedied(state, end, there) if digest(one.environment) not in seen), None)
            if following is None:
                break
            keep(f"repaired.{len(ends)}", end.log.encode())
            state = following
            seen.add(digest(state.environment))
    raise next((end for end in ends if end.stage == "run"), ends[-1])


def foreseen(state: Repair, there: Situation) -> Repair:
    """The environment without what the registry has no longer: remedies for all locked versions that are gone.

    Raises Rejected where there is none for one: its install would end in a 404.
    """
    fault = next(one for one in faults.table() if one.name == GONE)
    now = there.after(state.environment)
    gone = now.look_up(now.fetched(state.environment)).missing
    left, after, fetched = [], state, set(gone)
    for name, version in gone:
        pinned = any((edit.name, edit.old) == (name, version) for edit in after.environment.edits)
        if pinned or (name, version) not in fetched:
            continue
        finding = Finding(fault, {"name": name, "old": version})
        family = apply(after, finding, "prune", {}, there) if len(gone) > FAMILY else None
        if changed := family or next(_each_remedy(after, finding, there), None):
            after = changed
            following = there.after(after.environment).fetched(after.environment)
            fetched = {(one.name, one.version) for one in following}
        else:
            left.append(f"{name} {version} is gone from the registry{_chain(now, name, version)}")
    if left:
        raise Rejected(fault.reason, "\n".join(left), log="\n".join(left), stage="install")
    return after


def _chain(there: Situation, name: str, version: str) -> str:
    """One way by which the repository asks for a package."""
    chains = there.graph(there.members()).chains(name, version)
    ways = sorted((len(way), f"{ask.folder or 'the root'}: {' > '.join(way)}") for ask, way in chains.items())
    return f" ({ways[0][1]})" if ways else ""


def apply(state: Repair, finding: Finding, remedy: str, more: dict[str, Any], there: Situation) -> Repair | None:
    """The environment after one remedy, None where it has nothing to change."""
    now = there.after(state.environment)
    after = REMEDIES[remedy](Diagnosis(state.environment, finding.found, more, now, finding.fault.name))
    if after is None:
        return None
    told = finding.fault.tells.format_map({"name": "a package", "old": "", **finding.found})
    deviation = f"{' '.join(told.split())}: {'; '.join(_changes(state.environment, after))}"
    return Repair(after, (*state.steps, Step(finding, remedy, deviation)))


def reason_of(log: str) -> str:
    """The reason for an install that could not be repaired."""
    return next((finding.fault.reason for finding in faults.find("install", log)), "environment_failed")


def _remedied(state: Repair, end: Rejected, there: Situation) -> Iterator[Repair]:
    """What to try next: a remedy for all that the log says of single packages and hosts, whatever the faults; then for
    everything of the first fault, and of the others."""
    found = groupby(faults.find(end.stage, end.log), key=lambda finding: finding.fault.name)
    groups = [list(findings) for _, findings in found]
    named = _first_of_each([finding for findings in groups for finding in findings])
    for findings in (named, *groups):
        after = state
        for finding in findings:
            after = next(_each_remedy(after, finding, there), after)
        if after.environment != state.environment:
            yield after


def _first_of_each(findings: list[Finding]) -> list[Finding]:
    """Those of single packages and hosts, of each only what the first fault says: one line may show two faults."""
    faults_of: dict[str, str] = {}
    named = [(finding, finding.found.get("name") or finding.found.get("host", "")) for finding in findings]
    return [
        finding for finding, who in named if who and faults_of.setdefault(who, finding.fault.name) == finding.fault.name
    ]


def _each_remedy(state: Repair, finding: Finding, there: Situation) -> Iterator[Repair]:
    tried = (apply(state, finding, remedy, more, there) for remedy, more in finding.fault.remedies)
    return (after for after in tried if after)


#: kind of an edit -> how a person reads it
_TOLD = {
    "drop": "{name} is left out{of}",
    "pin": "{name} {new} in place of {old}",
    "add": "{name} {new} is added",
    "rehost": "the registry in place of {name}",
    "reseal": "its new checksum is taken",
    "unset": "without the setting {name}",
}


def _changes(before: Environment, after: Environment) -> Iterator[str]:
    """How two environments differ, in words."""
    yield from (_told(edit) for edit in after.edits if edit not in before.edits)
    yield from (f"the install scripts of {name} run" for name in after.rebuild if name not in before.rebuild)
    if before.focus and not after.focus:
        yield "all packages of the workspace are installed"
    for field in ("install_env", "test_env"):
        old, new = getattr(before, field), getattr(after, field)
        yield from (f"{name}={value}" for name, value in new.items() if old.get(name) != value)
    left_out = [word for word in before.test if word not in after.test]
    if left_out:
        yield f"{' '.join(left_out)} is left out"
    if before.browser != after.browser:
        yield f"{after.browser} is in the image"
    if before.node != after.node:
        yield f"Node {after.node} in place of {before.node}"
    if before.manager_version != after.manager_version:
        yield f"{after.manager} {after.manager_version} in place of {before.manager_version or 'the one of Node'}"
    if before.install != after.install:
        yield f"{' '.join(after.install)} in place of {' '.join(before.install)}"


def _told(edit: Edit) -> str:
    of = f" of {', '.join('the root' if one == '.' else one for one in edit.folders)}" if edit.folders else ""
    return _TOLD[edit.kind].format(**edit.model_dump(), of=of)
