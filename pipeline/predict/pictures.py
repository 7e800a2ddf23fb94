"""The pictures of a task, for a model with vision, as files `1.png`, `2.jpg`, … in the order of the statement.

Reads `01_raw/<repo>/pictures/`. Pictures that are missing or in a format that no chat interface accepts are left out,
and their numbers are not reused.
"""

from __future__ import annotations

from pipeline.core.names import Repo
from pipeline.core.records import Task
from pipeline.core.store import Store

#: media types that models accept -> the suffix of the file
SEEN = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}


def pictures(store: Store, task: Task) -> dict[str, bytes]:
    """The bytes of each available picture, by name."""
    numbered = (
        (number, picture, store.picture(Repo(task.org, task.repo), picture.digest))
        for number, picture in enumerate(task.pictures, 1)
    )
    return {
        f"{number}{SEEN[picture.media]}": path.read_bytes()
        for number, picture, path in numbered
        if picture.digest and picture.media in SEEN and path.is_file()
    }


def note(folder: str, names: list[str]) -> str:
    """The sentence about them in a prompt; empty if there are none."""
    return f"\nThe statement's pictures are in {folder}: {', '.join(names)}\n" if names else ""
