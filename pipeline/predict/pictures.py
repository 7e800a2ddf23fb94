"""The pictures of a task, for a model with vision, as files `1.png`, `2.jpg`, … in the order of the statement.

Reads `01_raw/<repo>/pictures/`. Pictures that are missing or in a format that no chat interface accepts are left out,
and their numbers stay free.
"""

from __future__ import annotations

from pipeline.core.names import Repo
from pipeline.core.records import Task
from pipeline.core.store import Store

#: media types that models take -> the end of the file's name
SEEN = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}


def pictures(store: Store, task: Task) -> dict[str, bytes]:
    """Name -> bytes of each picture that is there."""
    places = (
        (number, one, store.picture(Repo(task.org, task.repo), one.digest))
        for number, one in enumerate(task.pictures, 1)
    )
    return {
        f"{number}{SEEN[one.media]}": path.read_bytes()
        for number, one, path in places
        if one.digest and one.media in SEEN and path.is_file()
    }


def note(folder: str, names: list[str]) -> str:
    """What a prompt says of them; empty for none."""
    return f"\nThe statement's pictures are in {folder}: {', '.join(names)}\n" if names else ""
