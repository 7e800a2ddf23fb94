"""Which files of a data directory are transferred between machines, as filters of rsync.

Files that can be recreated from others (indexes, analyses, reports) are not transferred, nor are locks and archives.
None of the files contains secrets. The ledger is copied by SQLite, since its file alone may lack the latest writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from pipeline.core.errors import unknown
from pipeline.core.names import Repo

#: stage -> its folder
STAGES = {
    "triage": "00_viewer",
    "collect": "01_raw",
    "build": "02_dataset",
    "predict": "03_predictions",
    "evaluate": "04_evaluation",
}
#: the folder of named subsets, by which campaigns select: transferred with every stage
SUBSETS = "subsets"
#: files of the data directory itself
FILES = ("schema.json", "ledger.sqlite")
#: files that stay on their machine: indexes, clones, analyses, locks, incomplete lines (journal.py), temporary files
#: (store.py, rsync)
LEFT = (
    *("collect.sqlite*", "/01_raw/*/clone/", "/05_analysis/", "/.*"),
    *(".keep.lock", "*.torn", ".*.half", ".*.????????", ".rsync-partial"),
)
#: files that are appended to in place, at any time: a hard link to one would receive what is appended later
LIVE = ("/00_viewer/**", "/01_raw/*/pages.jsonl.gz")


def travels(path: str) -> bool:
    """Whether a file or folder of a data directory (by its relative path) is transferred."""
    top, name = path.split("/")[0], path.rpartition("/")[2]
    anchored = (path for pattern in LEFT if pattern.startswith("/") and fnmatchcase(f"/{path}/", pattern))
    floating = (name for pattern in LEFT if not pattern.startswith("/") and fnmatchcase(name, pattern))
    return top in (*STAGES.values(), SUBSETS, *FILES) and not any(anchored) and not any(floating)


def is_live(path: str) -> bool:
    """Whether a file of a data directory is appended to in place."""
    return any(fnmatchcase(f"/{path}", pattern) for pattern in LIVE)


def filters(stages: Sequence[str] = (), repos: Sequence[Repo] = ()) -> list[str]:
    """Arguments of rsync for these stages (all without any) and repositories, and for named subsets. Raises UserError
    for an unknown stage."""
    for stage in stages:
        if stage not in STAGES:
            raise unknown("stage", stage, list(STAGES))
    folders = [STAGES[stage] for stage in stages or STAGES]
    arguments = ["--prune-empty-dirs", *(f"--exclude={pattern}" for pattern in LEFT)]
    for folder in folders:
        arguments += [f"--include=/{folder}/", *_of(folder, repos)]
    return [*arguments, f"--include=/{SUBSETS}/***", "--include=/schema.json", "--exclude=/*"]


def passes(selection: Sequence[str], held: str) -> list[list[str]]:
    """The arguments of the transfers that make a copy of the selected files (`filters`). Files that are the same in the
    folder `held` on the copy's machine are not sent: the first transfer links them, the second one copies those that
    are appended to in place, and removes from the copy what the other side lacks."""
    live = [f"--exclude={pattern}" for pattern in LIVE]
    partial = "--filter=P .rsync-partial/"  # where an interrupted transfer resumes
    return [
        ["--delete", *live, *selection, f"--link-dest={held}"],
        ["--delete-excluded", partial, *selection, f"--copy-dest={held}"],
    ]


def _of(folder: str, repos: Sequence[Repo]) -> list[str]:
    """Filters for the files of a stage that belong to these repositories; for all files without repositories."""
    if not repos:
        return [f"--include=/{folder}/**"]
    included = [f"--include=/{folder}/**/{repo.slug}/***" for repo in repos]
    included += [f"--include=/{folder}/{repo.slug}/***" for repo in repos]
    included += [f"--include=/{folder}/{parent}{repo.slug}.jsonl" for repo in repos for parent in ("", "**/")]
    return [*included, f"--include=/{folder}/**/", f"--exclude=/{folder}/**"]
