"""The models of the rehearsal: their edits and commands make the gold patch's change."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from magentless.edits import parse_edits
from magentless.matching import apply_edit

from benchmarks.knowing import DONE, SUBMIT, Change, Knowing, Known, answer
from pipeline.llm.provider import Refusal

ALIKE = "".join(f"<li>\n{'  <b/>' if place == 2 else ''}\n</li>\n" for place in range(4))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        (ALIKE, ALIKE.replace("</li>", "</li>\n<hr>", 1)),
        (ALIKE, ALIKE + "<li>\n\n</li>\n"),
        (ALIKE, ALIKE.removesuffix("<li>\n\n</li>\n")),
        ("a\nb\n", "new\na\nb\n"),
        ("a\nb", "a\nc"),
        ("a\nb\n", ""),
    ],
)
def test_an_edit_makes_the_file_after_of_the_file_before(before: str, after: str) -> None:
    (edit,) = parse_edits(Change("src/a.tsx", before, after).edit)
    assert apply_edit(before, edit)[:2] == (after, "exact")


def test_a_new_file_is_an_edit_but_not_a_location() -> None:
    changes = [Change("src/new.tsx", None, "a\n"), Change("src/a.tsx", "a\nb\nc\n", "a\nB\nc\n")]
    assert [edit.makes_file for edit in parse_edits(answer("repair", changes))] == [True, False]
    assert answer("files", changes) == answer("elements", changes) == "src/a.tsx"
    assert (answer("lines", changes), answer("folders", changes)) == ("src/a.tsx\nline: 2-2", "")


def test_a_shared_issue_means_the_instance_that_matches_most_issues() -> None:
    """Several pull requests may be about one issue: a model that refused would end the rehearsal."""
    changes = [[Change(f"src/{name}.tsx", "a\n", "b\n")] for name in ("one", "both", "again")]
    titles = (["first"], ["first", "second"], ["first"])
    model = Knowing([Known(*of, patch="") for of in zip(titles, changes, strict=True)])
    assert "src/one.tsx" in model.reply("Step: files\n\nIssue: first\n").text
    assert "src/both.tsx" in model.reply("Step: files\n\nIssue: first\nIssue: second\n").text
    with pytest.raises(Refusal, match="no instance"):
        model.reply("Step: files\n\nIssue: third\n")


@pytest.mark.parametrize(("skill", "edits"), [("knows", ["src/b.tsx"]), ("guesses", ["rehearsal-1.js"]), ("talks", [])])
def test_models_that_know_guess_or_only_talk(skill: str, edits: list[str]) -> None:
    known = [Known([name], [Change(f"src/{name}.tsx", "a\n", "c\n")], patch="") for name in "ab"]
    reply = Knowing(known, skill).reply("Step: repair\n\nIssue: b\n").text
    assert [edit.path for edit in parse_edits(reply)] == edits


PATCH = "diff --git a/b.js b/b.js\nnew file mode 100644\n--- /dev/null\n+++ b/b.js\n@@ -0,0 +1 @@\n+it's\n"


@pytest.mark.parametrize(
    ("skill", "files"), [("knows", {"b.js": "it's\n"}), ("guesses", {"rehearsal-1.js": "export {};\n"}), ("talks", {})]
)
def test_models_work_in_a_shell(tmp_path: Path, skill: str, files: dict[str, str]) -> None:
    """They make their change, read in the output that it is made, and submit."""
    model = Knowing([Known([name], [], PATCH) for name in "ab"], skill)
    prompt, commands = "Solve this:\n\n# b\n\nThe menu has no name.\n", []
    while not commands or commands[-1] != SUBMIT:
        tool, arguments = model.reply(prompt).tool or ("", "{}")
        commands.append(json.loads(arguments)["command"])
        prompt += subprocess.run(["sh", "-c", commands[-1]], cwd=tmp_path, capture_output=True, text=True).stdout
    assert tool == "bash" and len(commands) == 1 + bool(files) and (DONE in prompt) == bool(files)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files
