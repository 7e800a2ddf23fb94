"""Which test files are run for an instance: those of its test patch, a snapshot standing for its test."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from pipeline.core.patches import paths

_CODE = re.compile(r"\.[cm]?[jt]sx?$")


def touched(test_patch: str) -> tuple[str, ...]:
    """The test files to run, in order of their names. The runner itself leaves out what is no test (fixtures)."""
    return tuple(sorted({_test_of(path) for path in paths(test_patch) if _CODE.search(_test_of(path))}))


def _test_of(path: str) -> str:
    """`__snapshots__/X.test.tsx.snap` belongs to `X.test.tsx` beside its folder."""
    pure = PurePosixPath(path)
    if pure.suffix != ".snap":
        return path
    folder = pure.parent.parent if pure.parent.name == "__snapshots__" else pure.parent
    return str(folder / pure.stem)
