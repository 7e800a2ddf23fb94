"""Trees that git stores and no disk may hold: every way out is refused, and what real repositories contain is
accepted."""

from __future__ import annotations

import time

import pytest

from pipeline.core.trees import UnsafeTree, check_tree, problem

ZERO_WIDTH = "\u200c"


@pytest.mark.trap("dot-dot-in-a-tree")
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../outside", "does not stay"),
        ("src/../../outside", "does not stay"),
        ("src\\..\\..\\outside", "does not stay"),
        ("..", "does not stay"),
        ("/etc/passwd", "absolute"),
        ("\\\\host\\share", "absolute"),
        ("", "no name"),
        ("src//a.ts", "empty"),
        ("src/./a.ts", "empty"),
        ("src/", "empty"),
        (".git/config", "git's own"),
        ("src/.GIT/hooks/post-checkout", "git's own"),
        (".Git", "git's own"),
        (".git./config", "git's own"),
        (".git /config", "git's own"),
        (".git::$INDEX_ALLOCATION/config", "git's own"),
        ("GIT~1/config", "git's own"),
        (f".g{ZERO_WIDTH}it/config", "git's own"),
        ("src\\.git\\config", "git's own"),
        ("a\nb", "control"),
        (f"src/{'a' * 256}", "too long"),
        (f"src/{'ü' * 128}", "too long"),
        ("a/" * 2047 + "ab", "too long"),
        ("a\x7f", "control"),
    ],
)
def test_a_path_out_of_its_folder_is_unsafe(path: str, why: str) -> None:
    assert why in problem(path)
    with pytest.raises(UnsafeTree) as error:
        check_tree("c0ffee", ["src/a.ts", path], {})
    assert repr(path) in str(error.value) and "c0ffee" in str(error.value)


@pytest.mark.parametrize(
    "path",
    [
        ".gitignore", ".github/workflows/ci.yml", "src/.gitkeep", "a..b/...ts", "src/[id]/(group)/page.tsx",
        "src/ü b.ts", "src/🎉.snap", "a:b", "git~2", "x.git/config", "src/~tmp", "docs/C++/'q'.md", 'a"b', "a\\b",
    ],
)  # fmt: skip
def test_paths_of_real_repositories_are_safe(path: str) -> None:
    assert problem(path) == ""
    check_tree("c0ffee", ["src/a.ts", path], {})


@pytest.mark.trap("dot-dot-in-a-tree")
def test_a_duplicate_path_is_unsafe() -> None:
    with pytest.raises(UnsafeTree, match="twice"):
        check_tree("c0ffee", ["src/a.ts", "src/a.ts"], {})
    with pytest.raises(UnsafeTree, match="a file and a folder"):
        check_tree("c0ffee", ["lib/x/y.ts", "lib"], {})


@pytest.mark.trap("dot-dot-in-a-tree")
@pytest.mark.parametrize(
    ("links", "leads_out"),
    [
        ({"a/link": "../b"}, False),
        ({"a/link": "../../b"}, True),
        ({"link": "/etc/passwd"}, True),
        ({"link": ".."}, True),
        ({"a/b/link": "../../../x"}, True),
        ({"a/b/link": "./../../x/"}, False),
        ({"link": ".git/config"}, True),
        ({"up": "a/b", "a/b": "..", "link": "up/../x"}, True),
        ({"up": "a/b", "a/b": "../c", "link": "up/../x"}, False),
        ({"a/abs": "/etc", "link": "a/abs/passwd"}, True),
        ({"loop": "loop"}, False),
        ({"one": "other", "other": "one"}, False),
        ({"gone": "nothing/there"}, False),
        ({"lost": None}, False),
    ],
)
def test_a_link_out_of_the_tree_is_unsafe(links: dict[str, str | None], leads_out: bool) -> None:
    held = {path: None if target is None else target.encode() for path, target in links.items()}
    if not leads_out:
        check_tree("c0ffee", list(links), held)
        return
    with pytest.raises(UnsafeTree, match="it is a link to"):
        check_tree("c0ffee", list(links), held)


def test_a_large_tree_is_checked_quickly() -> None:
    paths = [f"packages/p{number % 300}/src/components/Name{number}/index.tsx" for number in range(50_000)]
    began = time.perf_counter()
    check_tree("c0ffee", paths, {})
    assert time.perf_counter() - began < 2
