"""First step: files. Agentless, arXiv 2407.01489, section 3.1.1.

The model names suspicious files of the pruned tree, and irrelevant folders. From the other folders, the files nearest
to the issues are retrieved. Files that both name come first, then the suspicious ones (at most five), then the
retrieved ones, up to `top`. If one of the two finds nothing, the other is enough; only if both find nothing, the
attempt ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from magentless.causes import Cause, Ended
from magentless.prompting import FILES, FOLDERS
from magentless.replies import named
from magentless.session import Session
from magentless.tree import below, branches, folders, offered, ranked

#: ranks files by their distance to the issues, the nearest first
Nearest = Callable[[Sequence[str]], list[str]]


@dataclass
class Localisation:
    """The files and who named them. `notes` says which part found nothing, and why."""

    files: list[str] = field(default_factory=list)
    suspicious: list[str] = field(default_factory=list)
    irrelevant: list[str] = field(default_factory=list)
    retrieved: list[str] = field(default_factory=list)
    notes: list[dict[str, str]] = field(default_factory=list)

    def note(self, step: str, end: Ended) -> None:
        """Record why a step found nothing."""
        self.notes.append({"step": step, "cause": end.cause, "detail": end.detail})

    def record(self) -> dict[str, Any]:
        """The metadata of the localisation."""
        return vars(self)


def localize(session: Session, nearest: Nearest | None) -> Localisation:
    """The files of a task; `nearest` is None without retrieval. Raises Ended if there are none."""
    found, top = Localisation(), session.settings.files.top
    paths = ranked(offered(session.checkout.files, session.settings.files), session.task)
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(_suspicious, session, paths, found)
        if nearest:
            found.irrelevant = _irrelevant(session, paths, found)
            found.retrieved = nearest([path for path in paths if not below(path, found.irrelevant)])[:top]
        found.suspicious = asked.result()
    merged = _merged(found.suspicious, found.retrieved)[:top]
    found.files = list(session.checkout.texts(merged))
    if not found.files:
        raise _end(found)
    return found


def _merged(suspicious: Sequence[str], retrieved: Sequence[str]) -> list[str]:
    """Both lists merged: files that both name, then the model's, then the retrieved ones."""
    both = [path for path in suspicious if path in retrieved]
    return list(dict.fromkeys([*both, *suspicious, *retrieved]))


def _suspicious(session: Session, paths: Sequence[str], found: Localisation) -> list[str]:
    """The files that the model names."""
    try:
        prompt = session.prompter.prompt(FILES, list(branches(paths).values()))
        reply = session.ask(FILES, prompt.text)
        names, foreign = named(reply, set(paths))
        names = names or _in_folders(reply, paths)
        if foreign and not names:
            raise Ended(Cause.HALLUCINATED_FILE, f"files: not in the tree: {', '.join(foreign[:5])}")
        if not names:
            raise Ended(Cause.NO_LOCALISATION, "files: the reply names no file")
    except Ended as end:
        found.note("files", end)
        return []
    return names[: session.settings.files.suspicious]


def _in_folders(reply: str, paths: Sequence[str]) -> list[str]:
    """The files directly in folders that a reply names instead of files; the best matches for the issues come first."""
    meant, _ = named(reply, set(folders(paths)))
    return [path for path in paths if path.rpartition("/")[0] in meant]


def _irrelevant(session: Session, paths: Sequence[str], found: Localisation) -> list[str]:
    """The folders that the model rules out, provided that files are left."""
    known = folders(paths)
    try:
        prompt = session.prompter.prompt(FOLDERS, known or ["(no folders)"])
        names, _ = named(session.ask(FOLDERS, prompt.text), set(known))
    except Ended as end:
        found.note("folders", end)
        return []
    return names if not all(below(path, names) for path in paths) else []


def _end(found: Localisation) -> Ended:
    """Why there are no files: the reason for the suspicious ones."""
    told = next((note for note in found.notes if note["step"] == "files"), None)
    if told:
        return Ended(Cause(told["cause"]), told["detail"])
    return Ended(Cause.NO_LOCALISATION, "files: none of the named files is readable text")
