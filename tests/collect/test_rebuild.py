"""Both patches of a candidate, applied to its base, give exactly the merge commit's tree, for every source."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from collecting import outcomes, reasons
from factories import REPO
from github_double import World
from github_double.clones import changed_files
from github_double.records import File
from histories import Content, History, git

from pipeline.collect.stage import collect, collect_from
from pipeline.core.records import Candidate
from pipeline.core.store import Store

#: a clone of a real repository, to test every candidate in it: `org/repo=PATH`
REAL = os.environ.get("A11Y_BENCH_REAL_CLONE", "")
TEXTS = ["one\ntwo\nthree\n" * 9, "no newline at the end", "", "\r\nline ends\r\n", "é ☃\n", "x" * 5000 + "\n"]


def rebuilt(clone: Path, one: Candidate, folder: Path) -> str:
    """The tree after both patches on the base, made without a checkout; objects go to `folder`."""
    folder.mkdir(parents=True)
    objects = git(clone, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    where = {"GIT_INDEX_FILE": f"{folder}/index", "GIT_OBJECT_DIRECTORY": str(folder / "objects")}
    where["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = objects
    (folder / "objects").mkdir()
    git(clone, "read-tree", one.base.sha, **where)
    for name, patch in (("fix", one.fix_patch), ("test", one.test_patch)):
        (folder / name).write_bytes(patch.encode())
        if patch:
            git(clone, "apply", "--cached", "--whitespace=nowarn", str(folder / name), **where)
    return git(clone, "write-tree", "--missing-ok", **where)


def generate(folder: Path, pulls: int, seed: int) -> History:
    """A history whose pull requests change everything that can change: texts, binary files, modes, names, links."""
    chance, history = random.Random(seed), History(folder)
    files: dict[str, Content] = {f"{place}/{n}.ts": chance.choice(TEXTS) for place in ("src", "test") for n in range(9)}
    history.commit("first", files)
    for number in range(1, pulls + 1):
        changed = _change(chance, files, number)
        for name in chance.sample(sorted(n for n, content in changed.items() if content is not None), 1):
            (folder / name).exists() and (folder / name).chmod(chance.choice((0o644, 0o755)))
        if number % 3:
            history.commit(f"Aria (#{number})", changed)
        else:
            history.merge(f"Merge pull request #{number} from bob/topic\n\nAria", changed)
        files = {name: content for name, content in (files | changed).items() if content is not None}
    return history


def _change(chance: random.Random, files: dict[str, Content], number: int) -> dict[str, Content]:
    """Change, add, remove and rename some files on both sides."""
    changed: dict[str, Content] = {}
    for place in ("src", "test"):
        old, moved, gone = chance.sample(sorted(name for name in files if name.startswith(place)), 3)
        changed |= {old: chance.choice(TEXTS) + f"{number}\n", moved: None, gone: None}
        changed[f"{chance.choice(('src', 'test'))}/moved {number}.{place}"] = files[moved]
        changed[f"{place}/new {number}.ts"] = f"{number}"
        changed[f"{place}/ü{number}.png"] = b"\0" + chance.randbytes(300)
    return changed


@pytest.mark.rule("two-patches")
@pytest.mark.parametrize("seed", range(3))
def test_patches_of_a_clone_rebuild_the_merge(store: Store, tmp_path: Path, seed: int) -> None:
    history = generate(tmp_path / "clone", 6, seed)
    collect(store, REPO, history.folder)
    assert reasons(store) == dict.fromkeys(range(1, 7), "candidate")
    for number, candidate in outcomes(store).items():
        assert isinstance(candidate, Candidate)
        assert rebuilt(history.folder, candidate, tmp_path / str(number)) == history.tree(candidate.merge_sha)


@pytest.mark.rule("two-patches")
@pytest.mark.parametrize("seed", range(3))
def test_patches_of_github_rebuild_the_merge(
    store: Store, source: Any, world: World, tmp_path: Path, seed: int
) -> None:
    """GitHub's diff detects renames and omits binary content; once split and completed, it is as exact."""
    history = generate(tmp_path / "clone", 6, seed)
    repo = world.repository(str(REPO), clone=history.folder)
    for number, merge in enumerate(history.git("rev-list", "--first-parent", "--reverse", "HEAD").split()[1:], 1):
        base = history.git("rev-parse", f"{merge}^1")
        names = history.git("diff", "-z", "--name-only", base, merge).split("\0")
        repo.pull(number, title="Aria", files=[name for name in names if name], base=base, merge=merge)
    collect_from(store, REPO, source())
    assert reasons(store) == dict.fromkeys(range(1, 7), "candidate")
    for number, candidate in outcomes(store).items():
        assert isinstance(candidate, Candidate)
        assert rebuilt(history.folder, candidate, tmp_path / str(number)) == history.tree(candidate.merge_sha)


REBASED = {
    "every commit has all files": [
        {"src/Menu.tsx": "1\n2\n", "src/Menu.test.tsx": "1\n"},
        {"src/Menu.tsx": "1\n2\n3\n", "src/Menu.test.tsx": "1\n2\n"},
    ],
    "the last has tests only": [{"src/Menu.tsx": "1\n2\n"}, {"src/Menu.test.tsx": "1\n"}],
    "one was empty on the branch": [{"src/Menu.tsx": "1\n2\n"}, {"src/Menu.test.tsx": "1\n"}, {}],
    "a file comes and goes": [
        {"src/Menu.tsx": "1\n2\n", "gone.ts": "1\n"},
        {"gone.ts": None, "src/Menu.test.tsx": "1\n"},
    ],
}


def rebased(world: World, folder: Path, steps: list[dict[str, Content]], **more: Any) -> tuple[History, str]:
    """A pull request with these commits, rebased onto main after another one; returns its base, too."""
    history = History(folder)
    history.commit("first", {"src/Menu.tsx": "1\n", "other.ts": "1\n"})
    base = history.commit("Another (#9)", {"other.ts": "1\n2\n", "src/Menu.test.tsx": "0\n"})
    for number, step in enumerate(filter(None, steps)):
        merge = history.commit(f"step {number}", step)
    repo = world.repository(str(REPO), clone=history.folder)
    known = tuple(changed_files(history.folder, base, merge))
    repo.pull(1, title="Aria", **{"files": known, "base": base, "merge": merge, "commits": len(steps)} | more)
    return history, base


@pytest.mark.trap("half-a-rebase")
@pytest.mark.parametrize("with_clone", [True, False], ids=["clone", "REST"])
@pytest.mark.parametrize("steps", REBASED.values(), ids=REBASED)
def test_a_rebase_gives_the_whole_patch(
    store: Store, source: Any, world: World, tmp_path: Path, steps: list[dict[str, Content]], with_clone: bool
) -> None:
    """Of several rebased commits, the last one alone is half of gold; numbers of lines show how many there are."""
    history, base = rebased(world, tmp_path / "clone", steps)
    collect_from(store, REPO, source(history.folder if with_clone else None))
    candidate = outcomes(store)[1]
    assert isinstance(candidate, Candidate)
    assert candidate.base.sha == base
    assert rebuilt(history.folder, candidate, tmp_path / "rebuilt") == history.tree(candidate.merge_sha)


@pytest.mark.trap("half-a-rebase")
@pytest.mark.parametrize("with_clone", [True, False], ids=["clone", "REST"])
def test_a_squash_of_several_commits_is_one_commit(
    store: Store, source: Any, world: World, tmp_path: Path, with_clone: bool
) -> None:
    """The number of commits alone says nothing: the commits before a squash are other people's."""
    history, base = rebased(
        world, tmp_path / "clone", [{"src/Menu.tsx": "1\n2\n", "src/Menu.test.tsx": "1\n"}], commits=2
    )
    collect_from(store, REPO, source(history.folder if with_clone else None))
    assert outcomes(store)[1].base.sha == base


@pytest.mark.parametrize("with_clone", [True, False], ids=["clone", "REST"])
def test_a_change_found_in_no_range_of_commits_is_rejected_as_spread(
    store: Store, source: Any, world: World, tmp_path: Path, with_clone: bool
) -> None:
    """GitHub names a path that occurs in no range of commits up to the merge commit."""
    steps = [{"src/Menu.tsx": "1\n2\n"}, {"src/Menu.test.tsx": "1\n"}]
    files = [File("src/Menu.tsx"), File("src/Menu.test.tsx"), File("elsewhere.ts")]
    history, _ = rebased(world, tmp_path / "clone", steps, files=files)
    collect_from(store, REPO, source(history.folder if with_clone else None))
    assert reasons(store) == {1: "spread"}


if REAL:  # A11Y_BENCH_REAL_CLONE=org/repo=PATH: the same proof on a clone that somebody has

    def test_every_candidate_of_a_real_repository(store: Store, tmp_path: Path) -> None:
        from pipeline.core.names import parse_repo
        from pipeline.core.store import read_records

        name, _, path = REAL.partition("=")
        repo, clone = parse_repo(name), Path(path)
        funnel = collect(store, repo, clone)
        candidates = read_records(store.raw(repo) / "candidates.jsonl", Candidate)
        assert len(candidates) == funnel.sample + funnel.without_issue > 0
        wrong = [
            candidate.number
            for candidate in candidates
            if rebuilt(clone, candidate, tmp_path / str(candidate.number))
            != git(clone, "rev-parse", f"{candidate.merge_sha}^{{tree}}")
        ]
        assert wrong == []
