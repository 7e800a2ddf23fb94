"""The repository's tree as prompts show it."""

from __future__ import annotations

import pytest
from magentless.tree import FEW, below, branches, folders, offered, ranked


@pytest.mark.trap("tsx-invisible")
def test_all_languages_of_a_user_interface_are_seen(make_settings):
    """MagentLess sees only .ts and .js files, and so misses most of a UI repository."""
    names = ["a.tsx", "a.jsx", "a.ts", "a.js", "a.mjs", "a.vue", "a.svelte", "a.css", "a.scss", "a.less", "a.html"]
    paths = [*(f"src/{name}" for name in names), "docs/a.mdx", "src/messages/en.json"]
    assert offered([*paths, "README.md", "logo.png", "Makefile"], make_settings().files) == paths


@pytest.mark.trap("substring-for-segment")
def test_folders_are_left_out_by_segment_and_never_by_substring(make_settings):
    """`contests/` is not `tests/`, and `latest.js` is not a test."""
    kept = ["src/contests/List.tsx", "src/latest.js", "src/Tools.tsx", "src/distance/a.ts"]
    left_out = [
        "src/Tests/a.tsx", "tools/a.js", "src/__tests__/a.tsx", "node_modules/x/a.js", "dist/a.css",
        "src/Menu.spec.ts", "src/Menu.stories.tsx", "package.json", "tsconfig.build.json", "src/.eslintrc.js",
        ".yarn/releases/yarn.cjs",
    ]  # fmt: skip
    assert offered(kept + left_out, make_settings().files) == kept


def test_paths_that_share_words_with_the_issue_come_first(make_task):
    task = make_task({"title": "DropButton loses focus"})
    paths = ["src/a.ts", "src/Box.tsx", "src/Button.tsx", "src/DropButton.tsx"]
    assert ranked(paths, task) == ["src/DropButton.tsx", "src/Button.tsx", "src/a.ts", "src/Box.tsx"]


def test_a_tree_is_shown_folder_by_folder():
    """For a few files, whole paths are shown, since a small model might otherwise answer with folders."""
    paths = ["src/ui/B.tsx", "a.ts", "src/ui/A.tsx"]
    assert branches(paths) == {"src/ui": "src/ui/B.tsx\nsrc/ui/A.tsx", "": "a.ts"}
    many = branches([*paths, *(f"src/more/{number}.ts" for number in range(FEW))])
    assert (many["src/ui"], many[""]) == ("src/ui/\n  B.tsx\n  A.tsx", "./\n  a.ts")


def test_folders_are_compared_whole():
    assert folders(["src/ui/Menu.tsx", "src/a.ts", "b.ts"]) == ["src", "src/ui"]
    assert below("src/ui/Menu.tsx", ["src"]) and not below("src/uikit/a.ts", ["src/ui"])
