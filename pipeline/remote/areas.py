"""Which files of a data directory travel between machines, as filters of rsync.

What can be made again from what travels (indexes, analyses, reports) stays where it is, and so do locks and archives.
Secrets are in none of these files. The ledger is copied by SQLite, since a file of it may lack what was written last.
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
#: files of the data directory itself
FILES = ("schema.json", "ledger.sqlite")
#: what no side needs of the other: indexes, clones, analyses, locks, and what is being written (store.py)
LEFT = ("collect.sqlite*", "/01_raw/*/clone/", "/05_analysis/", "/.*", ".keep.lock", ".*.half", ".*.????????")


def travels(place: str) -> bool:
    """Whether a file or folder (relative) of a data directory is one that travels."""
    first, name = place.split("/")[0], place.rpartition("/")[2]
    anchored = (place for one in LEFT if one.startswith("/") and fnmatchcase(f"/{place}/", one))
    floating = (name for one in LEFT if not one.startswith("/") and fnmatchcase(name, one))
    return first in (*STAGES.values(), *FILES) and not any(anchored) and not any(floating)


def filters(stages: Sequence[str] = (), repos: Sequence[Repo] = ()) -> list[str]:
    """Arguments of rsync for these stages (all without any) and repositories. Raises UserError for an unknown stage."""
    for stage in stages:
        if stage not in STAGES:
            raise unknown("stage", stage, list(STAGES))
    kept = [STAGES[stage] for stage in stages or STAGES]
    wanted = ["--prune-empty-dirs", *(f"--exclude={one}" for one in LEFT)]
    for folder in kept:
        wanted += [f"--include=/{folder}/", *_of(folder, repos)]
    return [*wanted, "--include=/schema.json", "--exclude=/*"]


def _of(folder: str, repos: Sequence[Repo]) -> list[str]:
    """Of a stage's folder what belongs to these repositories, wherever their names stand; all without any."""
    if not repos:
        return [f"--include=/{folder}/**"]
    named = [f"--include=/{folder}/**/{one.slug}/***" for one in repos]
    named += [f"--include=/{folder}/{one.slug}/***" for one in repos]
    named += [f"--include=/{folder}/**{one.slug}.jsonl" for one in repos]
    return [*named, f"--include=/{folder}/**/", f"--exclude=/{folder}/**"]
