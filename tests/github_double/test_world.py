"""Worlds: the same for the same arguments, changes between two runs, pages that lose nothing, real clones."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from histories import ISOLATED, git

from github_double import GitHubDouble, World
from github_double.client import get, post
from github_double.records import Issue
from github_double.world import Repository
from pipeline.core.patches import is_test_file, patterns


def everything(repository: Repository) -> list[Issue]:
    numbers = repository.numbers("pull") + repository.numbers("issue")
    return [repository.get(number) for number in numbers]


def test_the_same_arguments_give_the_same_world() -> None:
    made = [World().generate("acme/ui", pulls=100, seed=3) for _ in range(2)]
    other = World().generate("acme/ui", pulls=100, seed=4)
    assert everything(made[0]) == everything(made[1]) != everything(other)
    assert len(made[0].numbers("pull")) == 100


def test_a_generated_repository_grows_by_newer_ones() -> None:
    repository = World().generate("acme/ui", pulls=50)
    before = everything(repository)
    newest = repository.positions("pull", by="updated_at")[-1]
    repository.grow(20)
    fresh = repository.numbers("pull")[50:]
    assert len(fresh) == 20
    assert min(repository.get(number).updated_at for number in fresh) > newest[0]
    assert [pull for pull in before if repository.get(pull.number) != pull] == []


def test_a_recipe_describes_its_pull_request(world: World) -> None:
    """The project's patterns match exactly where evidence was put, and its test files are those that were put there."""
    repository = world.find("acme/ui")
    for number in repository.numbers("pull"):
        pull, recipe = repository.get(number), repository.recipe(number)
        issues = [repository.get(n) for n in recipe.closes + recipe.mentions + recipe.linked]
        found = places(pull) | {f"issue {place}" for issue in issues for place in places(issue)}
        assert found == set(recipe.evidence), number
        assert any(is_test_file(file.path) for file in pull.files) is recipe.tests
        assert any(not is_test_file(file.path) for file in pull.files) is recipe.source
    assert {repository.recipe(n).state for n in repository.numbers("pull")} == {"MERGED", "CLOSED", "OPEN"}


def places(record: Issue) -> set[str]:
    """Where an accessibility pattern matches, found by a naive loop."""
    texts = [("title", record.title, "text"), ("title", record.title, "label"), ("body", record.body, "text")]
    texts += [("label", label, "label") for label in record.labels]
    rows = patterns()["a11y"]
    return {place for place, text, key in texts for row in rows[key] if re.search(row, text, re.IGNORECASE)}


PAGE = """query ($after: String) { repository(owner: "acme", name: "ui") {
  pullRequests(first: 20, after: $after, orderBy: {field: UPDATED_AT, direction: %s}) {
    pageInfo { hasNextPage endCursor } nodes { number } } } }"""


def page(github: GitHubDouble, direction: str, after: str | None) -> tuple[list[int], str | None]:
    """Numbers of a page, and the cursor of the next one."""
    found = post(github, PAGE % direction, after=after).data["data"]["repository"]["pullRequests"]
    end = found["pageInfo"]["endCursor"] if found["pageInfo"]["hasNextPage"] else None
    return [node["number"] for node in found["nodes"]], end


@pytest.mark.parametrize("direction", ["ASC", "DESC"])
def test_pages_give_everything_once_and_in_order(github: GitHubDouble, direction: str) -> None:
    numbers, after = page(github, direction, None)
    while after:
        more, after = page(github, direction, after)
        numbers += more
    updated = [number for _, number in github.world.find("acme/ui").positions("pull", by="updated_at")]
    assert numbers == (updated if direction == "ASC" else updated[::-1])


def test_pull_requests_changed_between_pages_come_last() -> None:
    world = World()
    repository = world.generate("acme/ui", pulls=30)
    with GitHubDouble(world) as github:
        first, after = page(github, "ASC", None)
        repository.change(first[0], title="Renamed")
        second, after = page(github, "ASC", after)
    assert (len(second), second[-1], after) == (11, first[0], None)


@pytest.fixture(scope="module")
def cloned(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World()
    world.generate("acme/ui", pulls=24, clone=tmp_path_factory.mktemp("cloned") / "clone.git")
    return world


def test_patches_rebuild_the_trees_of_the_clone(cloned: World, tmp_path: Path) -> None:
    """Base plus patch is the merge commit's tree, for every merged pull request."""
    repository = cloned.find("acme/ui")
    index = {"GIT_INDEX_FILE": str(tmp_path / "index")}
    with GitHubDouble(cloned) as github:
        for number in repository.numbers("pull", ["MERGED"]):
            pull = repository.get(number)
            path = f"/repos/acme/ui/compare/{pull.base}...{pull.merge}"
            patch = get(github, path, Accept="application/vnd.github.patch").body
            git(repository.clone, "read-tree", pull.base, **index)
            command = ["git", "apply", "--cached"]
            subprocess.run(command, cwd=repository.clone, env={**ISOLATED, **index}, input=patch, check=True)
            assert git(repository.clone, "write-tree", **index) == git(
                repository.clone, "rev-parse", f"{pull.merge}^{{tree}}"
            )


def test_a_clone_has_changes_of_every_kind(cloned: World) -> None:
    repository = cloned.find("acme/ui")
    pulls = [repository.get(number) for number in repository.numbers("pull", ["MERGED"])]
    assert {file.change for pull in pulls for file in pull.files} == {"ADDED", "MODIFIED", "DELETED", "RENAMED"}
    subject = git(repository.clone, "log", "-1", "--format=%s", pulls[-1].merge)
    assert subject == f"{pulls[-1].title} (#{pulls[-1].number})"
    before = git(repository.clone, "rev-parse", "main")
    repository.grow(5)
    assert git(repository.clone, "merge-base", before, "main") == before
