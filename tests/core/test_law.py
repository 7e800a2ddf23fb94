"""The digest of the code that decides: it changes with that code, and with nothing else."""

from __future__ import annotations

import pytest

from pipeline.core import law

CODE = 'LIMIT = 3\n\n\ndef grade(run):\n    return run > LIMIT or "# no"\n'


def test_comments_and_docstrings_do_not_count() -> None:
    remarked = '"""What it is."""\n\n# a number\nLIMIT = 3  # at most\n\n\ndef grade(run):\n    """Why.\n\n    More.\n'
    remarked += '    """\n    # here\n    return run > LIMIT or "# no"\n'
    assert law.without_remarks(remarked) == law.without_remarks(CODE)


@pytest.mark.parametrize("change", [("3", "4"), ("# no", "# yes"), ("run >", "run >=")])
def test_every_other_change_counts(change: tuple[str, str]) -> None:
    assert law.without_remarks(CODE.replace(*change)) != law.without_remarks(CODE)


def test_a_missing_file_cannot_be_registered() -> None:
    with pytest.raises(FileNotFoundError, match=r"pipeline\.core: laws\.py"):
        law.register("reading", "pipeline.core", "laws.py")


def test_each_chapter_has_its_own_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(law, "_registered", {})
    law.register("reading", "pipeline.core", "verdict.py")
    law.register("running", "pipeline.core", "patches.py")
    assert len({law.law("running"), law.law("reading"), law.law("running", "reading")}) == 3


def test_a_chapter_without_registered_files_has_no_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the module that registers it was not imported, every verdict looked outdated."""
    monkeypatch.setattr(law, "_registered", {})
    law.register("running", "pipeline.core", "patches.py")
    with pytest.raises(LookupError, match="no file of the chapter 'grading' is registered"):
        law.law("running", "grading")


def test_a_digest_is_cached_until_more_files_are_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every verdict contains it: computing it from all files each time took most of the time of a report."""
    monkeypatch.setattr(law, "_registered", {})
    law.register("reading", "pipeline.core", "verdict.py")
    first, made = law.law("reading"), law._digest.cache_info().misses
    assert [law.law("reading") for _ in range(5)] == [first] * 5
    assert law._digest.cache_info().misses == made
    law.register("reading", "pipeline.core", "patches.py")
    assert law.law("reading") != first
