"""Which grammar parses which file, and what is found in files that contain other languages."""

from __future__ import annotations

import pytest
from magentless.grammars import EXTENSIONS, GRAMMARS, matches, nodes, trees


@pytest.mark.parametrize(
    ("path", "grammar"),
    [
        ("a.js", "tsx"),
        ("a.JSX", "tsx"),
        ("a.mts", "typescript"),
        ("src/a.d.ts", "typescript"),
        ("a.css", "css"),
        ("a.less", "less"),
        ("a.module.scss", "scss"),
        ("a.vue", "html"),
        ("a.svelte", "svelte"),
    ],
)
def test_a_file_has_a_grammar_by_its_extension(path: str, grammar: str) -> None:
    (first, *_) = trees(path, "")
    assert first.grammar == grammar and first.line == 0


@pytest.mark.parametrize("path", ["a.mdx", "a.json", "README", "a.", "a.js.snap", ""])
def test_other_files_have_no_trees(path: str) -> None:
    assert trees(path, "const a = 1") == []


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_every_grammar_can_be_loaded(extension: str) -> None:
    """An older grammar gives an address where newer ones give a capsule."""
    assert trees(f"a.{extension}", "")[0].root.end_byte == 0


@pytest.mark.parametrize(
    ("path", "text", "strict"),
    [("a.tsx", "", True), ("a.ts", "", True), ("a.css", "", True), ("a.scss", "", False), ("a.vue", "", False)],
)
def test_files_that_grammars_often_misparse_are_not_checked_strictly(path: str, text: str, strict: bool) -> None:
    assert trees(path, text)[0].strict is strict is GRAMMARS[trees(path, text)[0].grammar][2]


@pytest.mark.parametrize(
    ("path", "text", "inside"),
    [
        ("a.vue", "<template/>\n<script>let a</script>\n<style>b{}</style>", [("tsx", 1), ("css", 2)]),
        ("a.vue", '<script setup lang="ts">\nlet a: b\n</script>', [("typescript", 0)]),
        ("a.vue", '<style scoped lang="scss">a{b{}}</style>', [("scss", 0)]),
        ("a.vue", '<style lang="stylus">a</style>', [("css", 0)]),
        ("a.svelte", "<script>let a</script><p>x</p>", [("tsx", 0)]),
        ("a.html", "<p>none</p>", []),
        ("a.html", "<script></script>", [("tsx", 0)]),
    ],
)
def test_scripts_and_styles_are_trees_of_their_own(path: str, text: str, inside: list[tuple[str, int]]) -> None:
    assert [(tree.grammar, tree.line) for tree in trees(path, text)[1:]] == inside


def test_nodes_have_the_order_of_the_text() -> None:
    (tree,) = trees("a.ts", "a(b, c)")
    names = [node.text for node in nodes(tree.root) if node.type == "identifier"]
    assert names == [b"a", b"b", b"c"]


def test_queries_give_their_captures_by_match() -> None:
    (tree,) = trees("a.tsx", "const a = <b></c>;")
    (found,) = matches(tree, "tags")
    assert [found[name][0].text for name in ("opened", "closed")] == [b"b", b"c"]
