"""The caches of test runners, in volumes: one per environment, and one per instance.

An instance's first run begins with a private copy of the environment's cache, and runs of the repository's own history
add their new entries to that. The instance's own cache gets only what its runs read or wrote. All its later runs,
patches included, begin with a copy of it: entries of other instances may come from later sources that contain the fix.
An instance's own cache is one compressed archive, a quarter of the size: there is one for every instance. If two runs
fill it at once, the entries of one are lost, which only costs time. Access times show what was read; a disk without
them (`noatime`) only costs a patch time. Does not cover what an entry is: runners check that themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from docker.types import Mount

from pipeline.sandbox.base import DEFAULT, Cache
from pipeline.sandbox.docker.engine import Engine
from pipeline.sandbox.docker.names import DIGEST, ENVIRONMENT, LAYER, RUNNER_CACHE, cache_volume, instance_image
from pipeline.sandbox.docker.workspace import DockerWorkspace

#: where a workspace mounts the volumes that its cache is copied from and to
SHARED, OWN = "/var/cache/a11y-bench-environment", "/var/cache/a11y-bench-instance"

#: fills the cache of a patch: a copy of the instance's, if there is one
USE = ("sh", "-c", '! test -e "$2" || tar -xzf "$2" -C "$0"')
#: fills the cache from the instance's if there is one, else from the environment's, with old access times, so that
#: every read shows, and makes a file that is older than everything the run writes
BEGIN = (
    "sh",
    "-c",
    """
if test -e "$2"
then tar -xzf "$2" -C "$0"
else cp -a "$1/." "$0" && find "$0" -type f -exec touch -a -d @1 {} +
fi
touch "$0.begun"
""",
)
#: nobody may find an incomplete file in a shared volume: new files arrive as links to complete ones, and an archive
#: under its name when it is complete. Next to an archive, an earlier version of this program kept single entries
END = (
    "sh",
    "-c",
    """
cd "$0"
here=$(hostname)
find . -type f -newerat @86400 -print0 | tar -I "gzip -1" -cf "$2.$here" --null -T - && mv "$2.$here" "$2"
rm -f "$2.$here"
find "${2%/*}" -mindepth 1 ! -name "${2##*/}*" -delete
new="$1/.new-$here"
mkdir "$new"
find . -type f -newer "$0.begun" -print0 | xargs -0 -r cp -a --parents -t "$new"
cp -alf "$new/." "$1"
rm -r "$new"
""",
)
#: the arguments of the scripts, as $0, $1 and $2
PATHS = (RUNNER_CACHE, SHARED, f"{OWN}/entries.tgz")


class RunnerCache:
    """The cache of one workspace of an instance's image; `cache` is its kind (see `base.Cache`)."""

    def __init__(self, engine: Engine, instance: str, cache: Cache) -> None:
        self._engine, self._instance, self._cache = engine, instance, cache

    def mounts(self) -> list[Mount]:
        """The volumes to mount; missing ones that will be filled are created."""
        volume = cache_volume(self._instance)
        if self._cache == "fill":
            return [self._filled(SHARED, self._environment), self._filled(OWN, self._instance)]
        is_used = self._cache == "use" and self._engine.has_volume(volume)
        return [Mount(OWN, volume, type="volume", read_only=True)] if is_used else []

    @contextmanager
    def copied(self, workspace: DockerWorkspace) -> Iterator[None]:
        """Fill the workspace's cache, and afterwards the volumes. A run that a limit ended adds nothing to them."""
        if self._cache == "none":
            yield
            return
        filling = self._cache == "fill"
        workspace.run([*(BEGIN if filling else USE), *PATHS], ours=True)
        yield
        if filling and not workspace.is_gone:
            workspace.run([*END, *PATHS], ours=True)

    @property
    def _environment(self) -> str:
        image = self._engine.image(instance_image(self._instance))
        return image.labels[ENVIRONMENT] if image else self._instance

    def _filled(self, path: str, digest: str) -> Mount:
        """A volume that the image's user may write: its first use gives it the owner of the mount point."""
        name = cache_volume(digest)
        if not self._engine.has_volume(name):
            mounts = [Mount(RUNNER_CACHE, name, type="volume", labels={LAYER: "cache", DIGEST: digest})]
            with self._engine.container(instance_image(self._instance), "cache", DEFAULT, mounts=mounts):
                pass
        return Mount(path, name, type="volume")
