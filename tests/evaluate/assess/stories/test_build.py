"""Building stories in a workspace: with which files and command, and what is reported on failure."""

from __future__ import annotations

import json
from pathlib import Path

import factories
import pytest

from pipeline.core.errors import InfrastructureError
from pipeline.evaluate.assess.stories.build import Built, is_story, run_build
from pipeline.execution.runs import Plan
from pipeline.sandbox.base import Completed
from pipeline.sandbox.scripted import Files, ScriptedSandbox

MANIFEST = json.dumps({"scripts": {"build-storybook": "any program"}}).encode()
ARCHIVE = "/scratch/stories.tar.gz"
HEADER = "diff --git a/src/A.tsx b/src/A.tsx"


def part(path: str, text: str = "after") -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-before\n+{text}\n"


class Place:
    """A workspace with these files, where the build ends as the test says."""

    def __init__(self, tmp_path: Path, files: Files, build: Completed, archive: bytes | None = b"site") -> None:
        self.files, self.build, self.archive = files, build, archive
        self.sandbox = ScriptedSandbox(tmp_path, self.respond)
        self.applied: list[str] = []
        self.changed: list[str] = []
        self.restored: list[str] = []

    def respond(self, argv: tuple[str, ...], files: Files) -> Completed:
        if argv[0] == "sh":
            files |= self.files
            if "git apply --whitespace" in argv[2]:
                self.applied.append(files[argv[3]].decode())
        if "checkout" in argv:
            self.restored = files["/scratch/restore"].decode().split("\0")
        if argv[0] == "npm":
            return self.build
        if argv[0] == "tar" and self.archive is not None:
            files[ARCHIVE] = self.archive
            return Completed(0, b"", 0)
        return Completed(1, b"", 0) if argv[0] == "tar" else factories.own_command(argv, *self.changed)

    def run(self, candidate: str = "", fix: str = "", folder: str = "") -> Built:
        plan = Plan(self.sandbox, "image", factories.make_environment(folder=folder), None)
        return run_build(plan, candidate, fix, "")


@pytest.fixture
def place(tmp_path: Path):
    def make(files: Files | None = None, build: Completed | None = None, **more: bytes | None) -> Place:
        given = {"/repo/package.json": MANIFEST} if files is None else files
        return Place(tmp_path, given, build or Completed(0, b"", 0), **more)

    return make


def test_the_site_is_handed_out_as_an_archive(place) -> None:
    here = place()
    assert here.run() == Built(b"site", "")
    assert ("npm", "run", "build-storybook", "--", "-o", "/scratch/stories") in here.sandbox.commands


def test_a_package_has_its_own_script_before_the_repositorys(place) -> None:
    here = place({"/repo/packages/ui/package.json": MANIFEST, "/repo/package.json": b"{}"})
    assert here.run(folder="packages/ui").folder == "packages/ui"
    here = place({"/repo/packages/ui/package.json": b"{}", "/repo/package.json": MANIFEST})
    assert here.run(folder="packages/ui") == Built(b"site", "")


@pytest.mark.rule("stories-are-golds")
def test_stories_are_golds_whatever_the_patch_does_to_them(place) -> None:
    """Otherwise a patch could hide a fault by changing its story or the configuration that shows it."""
    here = place()
    mine, golds = part("src/A.tsx") + part("src/A.stories.tsx"), part("src/A.stories.tsx", "gold")
    here.changed = ["src/A.tsx", "src/A.stories.tsx", ".storybook/preview.js"]
    here.run(mine, part("src/B.tsx") + golds)
    assert here.applied == [mine, golds]
    assert here.restored == ["src/A.stories.tsx", ".storybook/preview.js"]


@pytest.mark.trap("graded-with-its-own-edits")
def test_a_header_that_names_another_file_hides_no_story(place) -> None:
    """`git apply` uses the name after `+++`; our first version used the header."""
    here = place()
    here.changed = ["src/A.stories.tsx"]
    here.run(part("src/A.stories.tsx").replace("diff --git a/src/A.stories.tsx b/src/A.stories.tsx", HEADER))
    assert here.restored == ["src/A.stories.tsx"]


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("src/A.stories.tsx", True),
        ("src/A.story.js", True),
        ("src/A.stories.mdx", True),
        ("src/stories/data.js", True),
        (".storybook/main.js", True),
        ("src/stories.ts", False),
        ("src/history.tsx", False),
    ],
)
def test_stories_are_recognized_by_their_path(path: str, answer: bool) -> None:
    assert is_story(path) is answer


@pytest.mark.rule("stories-silence")
@pytest.mark.parametrize(
    ("files", "build", "archive", "why"),
    [
        ({}, None, None, "the repository has no script that builds stories"),
        (None, Completed(1, b"no such module", 0), None, "the stories cannot be built: no such module"),
        (None, Completed(-9, b"", 0, "time"), None, "the stories cannot be built: time"),
        (None, None, None, "the script that builds stories writes none to the folder of -o"),
        (None, None, b"", "the stories are larger than a workspace may hand out"),
    ],
)
def test_a_missing_build_of_stories_has_a_reason(place, files, build, archive, why) -> None:
    assert place(files, build, archive=archive).run() == Built(silence=why)


@pytest.mark.invariant(4)
def test_a_build_without_enough_memory_is_no_result(place) -> None:
    with pytest.raises(InfrastructureError, match="ran out of memory"):
        place(build=Completed(-9, b"", 0, "memory")).run()
