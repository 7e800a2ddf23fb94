"""The caches of test runners, in volumes: one for an environment, and one for each of its instances.

An instance's first run begins with a private copy of the environment's; runs of the repository's own history leave
there what is new. The instance's gets only what its own runs read or wrote, and all its later runs begin with a copy of
that, a patch's too: what other instances left holds later sources, and these hold the fix. What was read shows in
access times; a disk that keeps none (`noatime`) costs a patch time, nothing else. Does not cover what an entry is:
runners check that themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from docker.types import Mount

from pipeline.sandbox.base import DEFAULT, Cache
from pipeline.sandbox.docker.engine import Engine
from pipeline.sandbox.docker.names import DIGEST, ENVIRONMENT, LAYER, RUNNER_CACHE, cache_volume, instance_image
from pipeline.sandbox.docker.workspace import DockerWorkspace

#: where a workspace finds the volumes that its own cache is copied from, and to
SHARED, OWN = "/var/cache/a11y-bench-environment", "/var/cache/a11y-bench-instance"

#: what a patch's cache begins with: a copy of the instance's, where there is one
USE = ("sh", "-c", '! test -d "$2" || cp -a "$2/." "$0"')
#: what is there of the instance's, else all of the environment's, with old access times, so that every read of the run
#: shows, and a file that is older than all that it writes
BEGIN = (
    "sh",
    "-c",
    """
from=$2
test -n "$(ls -A "$from")" || from=$1
cp -a "$from/." "$0"
find "$0" -type f -exec touch -a -d @1 {} +
touch "$0.begun"
""",
)
#: nobody may find half a file in what is shared: new files arrive as links to whole ones
END = (
    "sh",
    "-c",
    """
cd "$0"
find . -type f -newerat @86400 -print0 | xargs -0 -r cp -a --parents -t "$2"
new="$1/.new-$(hostname)"
mkdir "$new"
find . -type f -newer "$0.begun" -print0 | xargs -0 -r cp -a --parents -t "$new"
cp -alf "$new/." "$1"
rm -r "$new"
""",
)
#: what the scripts are given, as $0, $1 and $2
PLACES = (RUNNER_CACHE, SHARED, OWN)


class RunnerCache:
    """The cache of one workspace of an instance's image, as `cache` says (see `base.Cache`)."""

    def __init__(self, engine: Engine, instance: str, cache: Cache) -> None:
        self._engine, self._instance, self._cache = engine, instance, cache

    def mounts(self) -> list[Mount]:
        """The volumes; those to be filled are made when they are missing."""
        own = cache_volume(self._instance)
        if self._cache == "fill":
            return [self._filled(SHARED, self._environment), self._filled(OWN, self._instance)]
        found = self._cache == "use" and self._engine.has_volume(own)
        return [Mount(OWN, own, type="volume", read_only=True)] if found else []

    @contextmanager
    def copied(self, workspace: DockerWorkspace) -> Iterator[None]:
        """Fill the workspace's cache, and at the end the volumes. A run that a limit ended leaves nothing."""
        if self._cache == "none":
            yield
            return
        filling = self._cache == "fill"
        workspace.run([*(BEGIN if filling else USE), *PLACES])
        yield
        if filling and not workspace.is_gone:
            workspace.run([*END, *PLACES])

    @property
    def _environment(self) -> str:
        image = self._engine.image(instance_image(self._instance))
        return image.labels[ENVIRONMENT] if image else self._instance

    def _filled(self, place: str, digest: str) -> Mount:
        """A volume that the user of the image may write: its first use gives it the owner of that folder."""
        name = cache_volume(digest)
        if not self._engine.has_volume(name):
            first = [Mount(RUNNER_CACHE, name, type="volume", labels={LAYER: "cache", DIGEST: digest})]
            with self._engine.container(instance_image(self._instance), "cache", DEFAULT, mounts=first):
                pass
        return Mount(place, name, type="volume")
