"""Globs mean what they mean in npm, pnpm, yarn, Jest and Vitest."""

from __future__ import annotations

import pytest

from pipeline.build.infer import globs


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("test/**/!(*.test).js", "test/a/b.js", "src/a.js"),
        ("test/**/!(*.test).js", "test/b.js", "test/a/b.test.js"),
        ("{a,b}/*.{ts,tsx}", "b/x.tsx", "c/x.ts"),
        ("**/+(ab|c).js", "x/abc.js", "x/d.js"),
        ("*.@(spec|test).?(c|m)[jt]s", "a.test.mjs", "a.test.xjs"),
        ("a,b/?[!c].js", "a,b/xd.js", "a,b/xc.js"),
        ("src/**", "src/a/b", "lib/src/a"),
        ("packages/*", "packages/.a", "packages/a/b"),
        ("src/*.(spec|test).js", "src/a.test.js", "src/a.js"),
        ("{a", "{a", "a"),
        ("a[b", "a[b", "ab"),
    ],
)
def test_paths_match_whole(pattern: str, matching: str, other: str) -> None:
    matches = globs.matcher(pattern)
    assert matches(matching) and not matches(other)


def test_a_glob_with_endless_alternatives_matches_nothing() -> None:
    """Of a configuration that nobody has read."""
    assert not globs.matcher("{1..100000}.js")("1.js")
