"""Which files are on offer, and which of them a reply names."""

from __future__ import annotations

import pytest
from magentless.causes import Ended
from magentless.localize import named_files, offered, ranked

PATHS = ["src/Button.tsx", "src/menu/Menu.jsx", "src/theme.scss", "pages/[id].vue"]


@pytest.mark.trap("tsx-invisible")
def test_all_languages_of_a_user_interface_are_seen(make_settings):
    """MagentLess sees .ts and .js alone: most of a UI repository is invisible to it."""
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
    ]  # fmt: skip
    assert offered(kept + left_out, make_settings().files) == kept


def test_paths_that_share_words_with_the_issue_come_first(make_task):
    task = make_task({"title": "DropButton loses focus"})
    paths = ["src/a.ts", "src/Box.tsx", "src/Button.tsx", "src/DropButton.tsx"]
    assert ranked(paths, task) == ["src/DropButton.tsx", "src/Button.tsx", "src/a.ts", "src/Box.tsx"]


@pytest.mark.parametrize(
    "reply",
    [
        "Here:\n```\nsrc/menu/Menu.jsx\npages/[id].vue\n```\nsrc/Button.tsx is fine.",
        "~~~text\n- `src/menu/Menu.jsx`\n- **pages/[id].vue**\n~~~",
        "1. `./src/menu/Menu.jsx`: the menu\n2. pages/[id].vue\n",
        "```\nsrc/menu/Menu.jsx - has no role\nsrc/Imagined.tsx\nsrc/menu/Menu.jsx\npages/[id].vue\n```",
    ],
)
def test_answers_are_read_in_the_forms_that_models_give_them(reply):
    assert named_files(reply, PATHS, top=15) == ["src/menu/Menu.jsx", "pages/[id].vue"]


def test_no_more_files_than_asked_for():
    assert named_files("\n".join(PATHS), PATHS, top=2) == PATHS[:2]


@pytest.mark.trap("eval-on-path")
def test_a_path_is_text_and_nothing_else(tmp_path):
    """MagentLess evaluates the paths that a model writes, as Python, on the host."""
    marker = tmp_path / "evaluated"
    with pytest.raises(Ended, match="HALLUCINATED_FILE"):
        named_files(f"```\n__import__('pathlib').Path('{marker}').touch()\n```", PATHS, top=15)
    assert not marker.exists()
