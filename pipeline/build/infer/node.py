"""Which Node a commit was developed with: what its files name, most exact first, else the long-term line of its day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.build.infer import ci, lines
from pipeline.build.infer.tree import Found, Manifest, Tree, table
from pipeline.ecosystems import versions
from pipeline.ecosystems.manager_folder import RunsOn, all_managers


def find(tree: Tree, manifest: Manifest, date: str) -> Found:
    """The Node version for a commit of `date` (ISO), and its evidence."""
    for field, pinned in (("volta.node", manifest.table("volta").get("node", "")), *_runtimes(manifest)):
        if versions.exact(pinned):
            return Found(versions.exact(pinned), f"package.json: {field}")
    named = _file(tree, date) or _integration(tree, manifest, date)
    return _dated(tree, named) if named else _likely(tree, manifest, date)


def _runtimes(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """The versions of Node that `devEngines` ask for, each with the name of the field."""
    engines = manifest.data.get("devEngines")
    named = engines.get("runtime") if isinstance(engines, dict) else None
    for runtime in named if isinstance(named, list) else [named]:
        if isinstance(runtime, dict) and runtime.get("name") == "node" and isinstance(runtime.get("version"), str):
            yield "devEngines.runtime", runtime["version"]


def for_reporter(named: Found, runner: str) -> Found:
    """A version, or the first line on which our reporter for the runner works if the version is older."""
    rows = (row for row in table("node.toml")["reporter"] if runner in row["runners"])
    return next((_at_least(named, row["node"], row["says"]) for row in rows), named)


def _dated(tree: Tree, named: Found) -> Found:
    """A named version, or, if an install without a lock file cannot be limited to a date on it, the first line on which
    it can. Otherwise dependencies would have today's versions."""
    rows = (row for manager in all_managers().values() for row in manager.runs_on if not row.path)
    fitting = (_at_least(named, row.node, f"no lock file: {row.says}") for row in rows if _applies(tree, row))
    return next((found for found in fitting if found != named), named)


def _at_least(named: Found, wanted: str, why: str) -> Found:
    """A named version if it may satisfy a range, else the first line that does."""
    newest = ".".join([*named.value.split("."), "99", "99"][:3])
    if versions.satisfies(newest, wanted):
        return named
    first = min(line.major for line in lines.lines() if versions.satisfies(line.last, wanted))
    return Found(str(first), f"{named.evidence}, which names {named.value}; {why}")


def _file(tree: Tree, date: str) -> Found | None:
    for row in table("node.toml")["file"]:
        match = re.search(row["pattern"], tree.text(row["path"]), re.MULTILINE)
        if match and (version := lines.named(match[1], date)):
            return Found(version, row["path"] + ("" if versions.exact(match[1]) else f": {match[1]}"))
    return None


def _integration(tree: Tree, manifest: Manifest, date: str) -> Found | None:
    """The version of the first job that names one; of a matrix, the one closest to the day's long-term line."""
    for job in ci.named(tree):
        found = list(dict.fromkeys(filter(None, (lines.named(text, date) for text in job.versions))))
        if not found:
            continue
        allowed = [version for version in found if _allows(manifest, version)] or found
        choice = f", of {', '.join(found)} the closest to the long-term line of the time" if len(found) > 1 else ""
        return Found(_closest(allowed, date), job.where + choice)
    return None


def _closest(found: Sequence[str], date: str) -> str:
    order = [line.major for line in lines.preferred(date)]
    known = [version for version in found if versions.major(version) in order]
    return min(known or found, key=lambda version: order.index(versions.major(version)) if known else 0)


def _allows(manifest: Manifest, version: str) -> bool:
    wanted = manifest.table("engines").get("node", "")
    return not wanted or bool(
        lines.within(wanted, [line for line in lines.lines() if line.major == versions.major(version)])
    )


def _likely(tree: Tree, manifest: Manifest, date: str) -> Found:
    """Without a named version: the likeliest line that `engines` allows and that the lock file's manager ran on."""
    candidates, why = _by_types(manifest, date)
    for row in (row for manager in all_managers().values() for row in manager.runs_on if _applies(tree, row)):
        fitting = [line for line in candidates if versions.satisfies(line.last, row.node)]
        if fitting != candidates:
            candidates, why = fitting, f"{why}; {row.path or 'no lock file'}: {row.says}"
    wanted = manifest.table("engines").get("node", "")
    if wanted and (allowed := lines.within(wanted, candidates) or lines.within(wanted, lines.preferred(date))):
        return Found(allowed, f"package.json: engines.node {wanted}; {why}")
    return Found(str(candidates[0].major), why)


def _applies(tree: Tree, row: RunsOn) -> bool:
    """Whether a row's lock file is there and matches; a row without one is for commits without any lock file."""
    if not row.path:
        return not any(manager.lock_of(tree.paths) for manager in all_managers().values())
    return bool(re.search(row.pattern, tree.text(row.path)[:2000], re.MULTILINE))


def _by_types(manifest: Manifest, date: str) -> tuple[list[lines.Line], str]:
    """The lines by likelihood: first the one of `@types/node`, if it was a maintained long-term line on that day."""
    found = lines.preferred(date)
    known = re.search(r"\d+", manifest.dependencies.get("@types/node", ""))
    if known and lines.maintained(int(known[0]), date):
        first = [line for line in found if line.major == int(known[0])]
        return first + [line for line in found if line not in first], "package.json: @types/node"
    return found, f"the long-term line of the time ({found[0].major})"
