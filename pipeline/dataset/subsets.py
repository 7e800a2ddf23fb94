"""Named subsets of the built datasets: `lite`, a seeded sample, and `reviewed`, those rated super or reworked.

Reads datasets and, for `reviewed`, the ratings. Writes `subsets/NAME.txt`, the newest version, and
`subsets/NAME-vN.txt`, which never changes: the same instances stay the same version, other instances become the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.reviews import standings
from pipeline.core.store import Store, digest, write_bytes
from pipeline.core.subset import read_names

#: instances of `lite`, over all repositories, and its seed
SIZE, SEED = 50, 20251203


class Sampling(NamedTuple):
    """How a subset is made: how many instances, and the seed of the draw."""

    size: int = SIZE
    seed: int = SEED


#: the sampling that commands use unless told otherwise
DEFAULT = Sampling()


class WrittenSubset(NamedTuple):
    """A written subset: its version, its file, and the names of its instances."""

    version: int
    path: Path
    names: tuple[str, ...]


def lite(store: Store, repos: Sequence[Repo], sampling: Sampling) -> list[str]:
    """A sample with a proportional share of every repository, at least one instance each if the size allows. The
    draw depends on each instance's own name, so additional instances change little."""
    drawn = {repo: _shuffled(store, repo, sampling.seed) for repo in repos}
    count = sum(map(len, drawn.values()))
    if count <= sampling.size:
        return [name for names in drawn.values() for name in names]
    shares = {repo: max(1, sampling.size * len(names) // count) for repo, names in drawn.items()}
    while sum(shares.values()) > max(sampling.size, len(shares)):
        shares[max(shares, key=lambda repo: (shares[repo], str(repo)))] -= 1
    remaining = sampling.size - sum(shares.values())
    by_deficit = sorted(drawn, key=lambda repo: (shares[repo] * count - sampling.size * len(drawn[repo]), str(repo)))
    for repo in by_deficit[: max(0, remaining)]:
        shares[repo] += 1
    return [name for repo, names in drawn.items() for name in names[: shares[repo]]][: sampling.size]


def reviewed(store: Store, repos: Sequence[Repo], sampling: Sampling) -> list[str]:
    """The instances that the final rating, or all raters, call super or reworked."""
    accepted = []
    for repo in repos:
        standing = standings(store, repo)
        names = [instance.instance_id for instance in read_dataset(store, repo)]
        accepted += [name for name in names if name in standing and standing[name].is_built]
    return accepted


#: name -> the function that chooses its instances
SUBSETS: dict[str, Callable[[Store, Sequence[Repo], Sampling], list[str]]] = {"lite": lite, "reviewed": reviewed}


def make(store: Store, name: str, repos: Sequence[Repo], sampling: Sampling = DEFAULT) -> WrittenSubset:
    """Write a subset. Raises UserError for an unknown name, and for a subset without instances."""
    if name not in SUBSETS:
        raise unknown("subset", name, list(SUBSETS))
    names = tuple(sorted(SUBSETS[name](store, repos, sampling)))
    if not names:
        raise UserError(f"'{name}' has no instance", hint="build first; `reviewed` needs ratings (just triage)")
    versions = _versions(store, name)
    version = next((number for number, path in versions.items() if read_names(str(path)) == names), 0)
    version = version or max(versions, default=0) + 1
    seed = f", seed {sampling.seed}" if name == "lite" else ""
    head = f"# {name}, version {version}: {len(names)} instances{seed}\n# digest {digest(names)}\n"
    data = (head + "".join(f"{instance}\n" for instance in names)).encode()
    for path in (store.subset(f"{name}-v{version}"), store.subset(name)):
        write_bytes(path, data)
    return WrittenSubset(version, store.subset(name), names)


def _versions(store: Store, name: str) -> dict[int, Path]:
    paths = store.subset(name).parent.glob(f"{name}-v*.txt")
    numbered = {path.stem.removeprefix(f"{name}-v"): path for path in paths}
    return {int(number): path for number, path in sorted(numbered.items()) if number.isdecimal()}


def _shuffled(store: Store, repo: Repo, seed: int) -> list[str]:
    """The names of a dataset in an order that depends only on each name and the seed."""
    return sorted((instance.instance_id for instance in read_dataset(store, repo)), key=lambda name: digest(seed, name))
