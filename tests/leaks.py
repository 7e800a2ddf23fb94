"""Canaries: lines of a solution that must not be anywhere an agent may look. Reads a clone, writes nothing."""

from __future__ import annotations

import re

import git

from pipeline.core.records import Instance

ADDED = re.compile(r"^\+(?!\+\+ )\s*(\S.{14,})$", re.MULTILINE)


def gold_lines(clone: git.Repo, instance: Instance) -> set[str]:
    """Lines that the gold patch or the test patch adds, and that are neither in the base nor in the statement."""
    known = [*_texts(clone, instance.base.sha), instance.task().model_dump_json()]
    return {line for line in ADDED.findall(instance.fix_patch + instance.test_patch) if not _in(line, known)}


def later_lines(clone: git.Repo, instance: Instance) -> set[str]:
    """Lines that the commits after the base add."""
    known = _texts(clone, instance.base.sha)
    patch = clone.git.diff(instance.base.sha, "HEAD")
    return {line for line in ADDED.findall(patch) if not _in(line, known)}


def _texts(clone: git.Repo, sha: str) -> list[str]:
    tree = clone.commit(sha).tree
    return [blob.data_stream.read().decode() for blob in tree.traverse() if blob.type == "blob"]


def _in(line: str, texts: list[str]) -> bool:
    return any(line in text for text in texts)
