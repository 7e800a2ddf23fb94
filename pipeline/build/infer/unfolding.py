"""The scripts of a package.json as shell texts, also those whose commands other tools keep in fields of their own.

`wireit` runs the command that the field `wireit` has for the script, after those that it depends on; `better-npm-run
NAME` runs one of `betterScripts`. Does not cover what wireit depends on in other packages, and files of variables.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.build.infer.documents import mapping

#: a script that only starts wireit
_WIREIT = re.compile(r"(?:.*[\s/])?wireit")
_BETTER = re.compile(r"(?<![\w./@-])(?:[\w./@-]*/)?(?:better-npm-run|bnr)\s+(?:-{1,2}[\w-]+\s+)*([\w:.-]+)")
#: names of scripts and variables that need no quotes
_SCRIPT, _VARIABLE = re.compile(r"\w[\w:.-]*"), re.compile(r"[A-Za-z_]\w*")
#: what joins commands, of which a variable before the first one would not reach the others
_JOINS = re.compile(r"[&|;\n]")


def scripts(data: Mapping[str, Any]) -> dict[str, str]:
    """The scripts of a manifest by name. Malformed fields count as missing."""
    texts = {name: text for name, text in mapping(data.get("scripts")).items() if isinstance(text, str)}
    tasks, kept = mapping(data.get("wireit")), mapping(data.get("betterScripts"))
    unfolded = {name: _of_wireit(tasks, name) if _WIREIT.fullmatch(text) else "" for name, text in texts.items()}
    return {name: _with_kept(kept, unfolded[name] or text) for name, text in texts.items()}


def _of_wireit(tasks: Mapping[str, Any], name: str) -> str:
    """The scripts that a task depends on, and its command; empty if there is no such task."""
    task = mapping(tasks.get(name))
    return " && ".join([*_dependencies(tasks, task), *filter(None, [_command(task)])])


def _dependencies(tasks: Mapping[str, Any], task: Mapping[str, Any]) -> Iterator[str]:
    """The calls of the package's own scripts that come before a task, without servers."""
    listed = task.get("dependencies")
    for dependency in listed if isinstance(listed, list) else ():
        name = dependency if isinstance(dependency, str) else mapping(dependency).get("script")
        if isinstance(name, str) and _SCRIPT.fullmatch(name) and not mapping(tasks.get(name)).get("service"):
            yield f"npm run {name}"


def _with_kept(kept: Mapping[str, Any], text: str) -> str:
    """A script, with the commands of `betterScripts` in place of their calls."""
    return _BETTER.sub(lambda match: _command(kept.get(match[1])) or match[0], text) if kept else text


def _command(row: Any) -> str:
    """The command of a row with its variables; empty for none. A row may be the command itself."""
    text = row if isinstance(row, str) else mapping(row).get("command")
    if not isinstance(text, str) or not text:
        return ""
    assigned = " ".join(f"{name}={shlex.quote(value)}" for name, value in _variables(mapping(mapping(row).get("env"))))
    if not assigned:
        return text
    return f"export {assigned} && {text}" if _JOINS.search(text) else f"{assigned} {text}"


def _variables(env: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Variables with their values; of those that come from outside, the default."""
    for name, given in env.items():
        value = mapping(given).get("default") if isinstance(given, dict) else given
        if _VARIABLE.fullmatch(name) and isinstance(value, str | int):
            yield name, str(value).lower() if isinstance(value, bool) else str(value)
