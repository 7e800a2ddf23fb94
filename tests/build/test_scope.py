"""The scope: which test files are run for an instance."""

from __future__ import annotations

import pytest

from pipeline.build.scope import touched


def patch(*paths: str) -> str:
    return "".join(f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..e69de29\n" for path in paths)


@pytest.mark.rule("scope")
@pytest.mark.parametrize(
    ("paths", "files"),
    [
        (["src/Menu.test.tsx"], ["src/Menu.test.tsx"]),
        (["src/__tests__/Menu-test.js"], ["src/__tests__/Menu-test.js"]),
        (["src/__tests__/__snapshots__/Menu.test.tsx.snap"], ["src/__tests__/Menu.test.tsx"]),
        (["src/Menu.test.tsx.snap"], ["src/Menu.test.tsx"]),
        (["__snapshots__/a b.test.mjs.snap"], ["a b.test.mjs"]),
        (["src/Menu.test.tsx", "src/__snapshots__/Menu.test.tsx.snap"], ["src/Menu.test.tsx"]),
        (["b.test.ts", "a.test.ts"], ["a.test.ts", "b.test.ts"]),
        (["test/fixture.json", "test/logo.png", "src/__snapshots__/page.html.snap", "test/README"], []),
        ([], []),
    ],
)
def test_the_files_that_a_test_patch_touches(paths: list[str], files: list[str]) -> None:
    """A snapshot stands for its test; what is no code (fixtures, images) is nothing that a runner could run."""
    assert list(touched(patch(*paths))) == files
