"""Files that a repository's own commands generate: they are part of the image, do not appear in diffs, and are
generated again when needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from factories import make_environment

from pipeline.core.git import commit_all
from pipeline.execution import generated
from pipeline.execution.applying import restore
from pipeline.sandbox.base import InstallFailed, Limits
from pipeline.sandbox.local.workspace import LocalWorkspace, copy

#: git ignores icons but not tokens; both lie in `packages/icons`, as does their source
MAKE = ("sh", "-c", "mkdir -p packages/icons/dist && cp packages/icons/src.txt packages/icons/dist/icons.test.js"
        " && echo made > 'packages/icons/a [1].txt' && echo changed > README")  # fmt: skip
FILES = {
    "package.json": "{}",
    "README": "as it was\n",
    ".gitignore": "dist\n",
    "packages/icons/package.json": "{}",
    "packages/icons/src.txt": "old\n",
    "packages/ui/package.json": "{}",
    "packages/ui/a.js": "",
}
MADE = {"packages/icons/dist/icons.test.js", "packages/icons/a [1].txt"}


class Checkouts:
    """A sandbox whose image is a folder on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.sources, self.number = folder, folder / "sources", 0
        for name, text in FILES.items():
            path = self.sources / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        commit_all(self.sources)

    @contextmanager
    def open(self, image: str = "", **how: Any) -> Iterator[LocalWorkspace]:
        self.number += 1
        workspace = LocalWorkspace(self.folder / str(self.number), Path("/nowhere"), how.get("limits", Limits()))
        copy(self.sources, Path(workspace.root))
        yield workspace


@pytest.fixture
def checkouts(tmp_path: Path) -> Checkouts:
    return Checkouts(tmp_path.resolve())


def add(checkouts: Checkouts, *commands: tuple[str, ...]) -> None:
    sandbox: Any = checkouts
    generated.add(sandbox, "plain", make_environment(prepare=commands), checkouts.sources)


@pytest.mark.rule("prepared-files")
def test_generated_files_are_added_and_hidden_from_diffs(checkouts: Checkouts) -> None:
    """An agent's answer is the diff of its checkout, so it must not contain a build's output."""
    add(checkouts, MAKE)
    with checkouts.open() as workspace:
        assert generated.made_in(workspace) == MADE
        assert Path(workspace.root, "packages/icons/dist/icons.test.js").read_text() == "old\n"
        assert Path(workspace.root, "README").read_text() == "as it was\n", "a file of the commit"
        assert workspace.run(["git", "status", "--porcelain"]).output == b""


@pytest.mark.rule("prepared-files")
def test_generated_protected_files_are_not_restored(checkouts: Checkouts) -> None:
    add(checkouts, MAKE)
    with checkouts.open() as workspace:
        Path(workspace.root, "packages/ui/b.test.js").write_text("the patch's own\n")
        assert restore(workspace) == ["packages/ui/b.test.js"]
        assert Path(workspace.root, "packages/icons/dist/icons.test.js").exists()


@pytest.mark.rule("prepared-files")
@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ("packages/icons/src.txt", True),
        ("packages/icons/a [1].txt", True),
        ("packages/ui/a.js", False),
        ("packages/icons/__tests__/a.test.js", False),
    ],
)
def test_generated_files_are_made_again_if_their_package_changes(
    checkouts: Checkouts, changed: str, again: bool
) -> None:
    """Files generated from the base's sources would hide the fix."""
    add(checkouts, MAKE)
    with checkouts.open() as workspace:
        Path(workspace.root, "packages/icons/src.txt").write_text("new\n")
        error = generated.renew(workspace, make_environment(prepare=(MAKE,)), [changed])
        assert bool(error) == again
        made = Path(workspace.root, "packages/icons/dist/icons.test.js").read_text()
        assert made == ("new\n" if again else "old\n")


def test_generated_files_that_cannot_be_renewed_are_removed(checkouts: Checkouts) -> None:
    """A patch that breaks the build is judged without the generated files, not with the base's."""
    add(checkouts, MAKE)
    with checkouts.open() as workspace:
        broken = make_environment(prepare=(("sh", "-c", "echo no; exit 3"),))
        error = generated.renew(workspace, broken, ["packages/icons/src.txt"])
        assert b"(ended with 3)\nno" in error
        assert not any(Path(workspace.root, path).exists() for path in MADE)


@pytest.mark.parametrize(("command", "why"), [("exit 3", "ended with 3"), ("true", "makes no file")])
def test_commands_that_generate_no_files_are_refused(checkouts: Checkouts, command: str, why: str) -> None:
    with pytest.raises(InstallFailed, match=why):
        add(checkouts, ("sh", "-c", command))


def test_files_generated_by_a_failing_command_count(checkouts: Checkouts) -> None:
    """The command builds the whole workspace, and one of its packages needs a program that does not exist; the files
    made before that still count."""
    add(checkouts, ("sh", "-c", "echo no tool; exit 3"), (*MAKE[:2], f"{MAKE[2]}; exit 2"))
    with checkouts.open() as workspace:
        assert generated.made_in(workspace) == MADE
        assert "ended with 3\nno tool\n" in generated.failures_in(workspace)
        assert workspace.run(["git", "status", "--porcelain"]).output == b""


def test_commands_get_the_options_of_node_that_compilers_need(checkouts: Checkouts) -> None:
    """An environment repair had given these options to the tests only. Options that load modules of the tests are not
    passed on."""
    options = {"NODE_OPTIONS": "--require ./set-up.js --openssl-legacy-provider"}
    command = ("sh", "-c", "echo $NODE_OPTIONS > made.txt")
    environment = make_environment(prepare=(command,), test_env=options)
    sandbox: Any = checkouts
    generated.add(sandbox, "plain", environment, checkouts.sources)
    with checkouts.open() as workspace:
        made = Path(workspace.root, "made.txt")
        assert made.read_text() == "--openssl-legacy-provider\n"
        made.write_text("")
        generated.renew(workspace, environment, ["made.txt"])
        assert made.read_text() == "--openssl-legacy-provider\n"


@pytest.mark.trap("write-through-a-link")
def test_nothing_is_written_through_a_link_of_the_repository(checkouts: Checkouts, tmp_path: Path) -> None:
    """The checkout lies on the host until it becomes an image."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (checkouts.sources / "link").symlink_to(outside)
    add(checkouts, ("sh", "-c", "rm link; mkdir link; echo x > link/x; echo y > y"))
    assert not list(outside.iterdir()) and (checkouts.sources / "y").exists()
