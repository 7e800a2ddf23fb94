"""The formats of other benchmarks that datasets are exported to: one function per format, from an instance to a plain
record.

`collect --source dataset` reads both. SWE-bench's format has less: one statement instead of issues, no merge commit, no
runs, and no mark for a statement that is the pull request's own text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from pipeline.core.errors import unknown
from pipeline.core.records import Instance, Status, Task

#: our statuses -> Multi-SWE-bench's
WORDS = {Status.PASSED: "PASS", Status.FAILED: "FAIL", Status.SKIPPED: "SKIP", Status.NONE: "NONE"}
RESULTS = ("run_result", "test_patch_result", "fix_patch_result")
TRANSITIONS = ("fixed_tests", "p2p_tests", "f2p_tests", "s2p_tests", "n2p_tests")


def multi_swe_bench(instance: Instance) -> dict[str, Any]:
    """Multi-SWE-bench's fields with its values, and our fields, which its classes ignore."""
    words = {name: _with_their_words(getattr(instance, name)) for name in TRANSITIONS}
    results = {name: getattr(instance, name).model_dump(mode="json") for name in RESULTS}
    derived = words | results | {"classes": instance.classes}
    return instance.model_dump(mode="json") | derived | {"state": "closed"}  # GitHub's state of a merged pull request


def _with_their_words(tests: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {name: {run: WORDS[status] for run, status in triple} for name, triple in tests.items()}


def swe_bench(instance: Instance) -> dict[str, Any]:
    """SWE-bench's fields; lists of tests are strings of JSON, as in its published datasets."""
    return {
        "repo": str(instance.repository),
        "instance_id": instance.instance_id,
        "base_commit": instance.base.sha,
        "patch": instance.fix_patch,
        "test_patch": instance.test_patch,
        "problem_statement": _statement(instance.task()),
        "hints_text": instance.hints,
        "image_assets": json.dumps({"problem_statement": [picture.address for picture in instance.pictures]}),
        "created_at": instance.merged_at,
        "version": instance.environment_digest,
        "FAIL_TO_PASS": json.dumps(sorted(instance.fixed_tests)),
        "PASS_TO_PASS": json.dumps(sorted(instance.p2p_tests)),
        "environment_setup_commit": instance.manifests,
    }


def _statement(task: Task) -> str:
    return "\n\n".join(f"{issue.title}\n{issue.body}".strip() for issue in task.statement)


#: format -> the function from an instance to its record
FORMATS: dict[str, Callable[[Instance], dict[str, Any]]] = {
    "multi-swe-bench": multi_swe_bench,
    "swe-bench": swe_bench,
}


def lines(form: str, instances: Iterable[Instance]) -> bytes:
    """The instances as JSON Lines of a format, in ASCII: SWE-bench also ends lines at U+2028, which patches contain.
    Raises UserError for an unknown format."""
    if form not in FORMATS:
        raise unknown("format", form, list(FORMATS))
    return "".join(json.dumps(FORMATS[form](instance)) + "\n" for instance in instances).encode()
